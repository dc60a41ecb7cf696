"""Tables and lists of which only some is shown say so."""

from ombud.answer.quoting.quotes import quote_spans
from ombud.answer.quoting.spans import candidate_spans
from ombud.types import Chunk, Document, Evidence, Hit

ROWS = [f"| Holiday {day} | May {day} |" for day in range(1, 7)]
TEXT = "\n".join(["| Holiday | Day |", "|---|---|", *ROWS])
CHUNK = Chunk(
    id="a", document_id="d", title="Holidays", uri="days.md", text=TEXT, start=0, end=len(TEXT)
)
SPANS = candidate_spans(Evidence(shared=(Hit(chunk=CHUNK, score=1.0),)))


def stored(document_id: str, digest: str) -> Document:
    return Document(
        id=document_id, source="files", uri="days.md", title="Holidays", text=TEXT, digest=digest
    )


def test_rows_that_are_left_out_are_counted() -> None:
    assert len(SPANS) == len(ROWS)
    composed = quote_spans(SPANS[:4], SPANS, stored)
    assert composed.text.endswith("*2 more in this table.*")
    assert all("more in" not in claim.text for claim in composed.claims)


def test_a_whole_table_says_nothing_of_rows() -> None:
    assert "more in" not in quote_spans(SPANS, SPANS, stored).text


def test_where_one_row_applies_it_suffices() -> None:
    applying = {("a", SPANS[0].start): "6 years"}
    assert "more in" not in quote_spans(SPANS[:2], SPANS, stored, applying).text


def test_a_row_is_shown_once_where_the_chosen_stand_in_another_order() -> None:
    composed = quote_spans([SPANS[1], SPANS[0], SPANS[2]], SPANS, stored)
    for row in ROWS[:3]:
        assert composed.text.count(row.removesuffix(" |")) == 1


def test_a_list_of_what_is_not_paid_says_so() -> None:
    text = "Fines and penalties; minibar, films and spa; airport lounges."
    quoted = {}
    for section in ("9. What is not reimbursed", "9. What is reimbursed"):
        chunk = Chunk(
            id="a",
            document_id="d",
            title="Travel",
            trail=("Travel", section),
            uri="days.md",
            text=text,
            start=0,
            end=len(text),
        )
        spans = candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=1.0),)))
        page = stored("d", "").model_copy(update={"text": text})
        quoted[section] = quote_spans(spans, spans, lambda *_, page=page: page).text
    assert quoted["9. What is not reimbursed"].startswith("**What is not reimbursed**\n\nFines")
    assert quoted["9. What is reimbursed"].startswith("Fines")
