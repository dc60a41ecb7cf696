"""Tables and lists of which only some is shown say so; what is torn out stays whole."""

import re

from ombud.answer.quoting.quotes import quote_spans
from ombud.answer.quoting.runs import in_page_order
from ombud.answer.quoting.spans import AnswerSpan, candidate_spans, with_short_end
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


def of_section(section: str, text: str, whole: str, score: float) -> Hit:
    chunk = Chunk(
        id=section,
        document_id="d",
        title="Travel",
        trail=("Travel", section),
        uri="days.md",
        text=text,
        start=whole.index(text),
        end=whole.index(text) + len(text),
    )
    return Hit(chunk=chunk, score=score)


FINES = "Fines and penalties; minibar, films and spa; airport lounges."
HOTELS = "Hotel rooms are paid up to 150 euros a night."


def quoted(*sections: tuple[str, str]) -> str:
    whole = "\n\n".join(text for _, text in sections)
    hits: list[Hit] = []
    for place, (section, text) in enumerate(sections):
        hits.append(of_section(section, text, whole, score=1.0 / (1 + place)))
    spans = candidate_spans(Evidence(shared=tuple(hits)))
    page = stored("d", "").model_copy(update={"text": whole})
    return quote_spans(spans, spans, lambda *_: page).text


def test_a_quote_stands_under_its_heading() -> None:
    assert quoted(("9. What is not reimbursed", FINES)).startswith(
        "**What is not reimbursed**\n\nFines"
    )


def test_what_stands_behind_it_is_not_taken_for_a_part_of_it() -> None:
    text = quoted(("9. What is not reimbursed", FINES), ("3. Hotels", HOTELS))
    assert "**Hotels**\n\nHotel rooms" in text


def test_a_heading_is_read_and_not_followed() -> None:
    text = quoted(("What is not covered [log in](https://evil.example)", FINES))
    assert "](https" not in text.replace("\\](", "")


def test_of_short_sections_cut_as_one_the_nearest_heading_counts() -> None:
    receipts = "Receipts of up to 25 euros may be declared as lost."
    both = f"{receipts}\n\n9. What is not reimbursed\n\n{FINES}"
    merged = "8. Lost receipts / 9. What is not reimbursed"
    text = quoted((merged, both))
    assert text.startswith("**Lost receipts**\n\nReceipts of up to 25 euros")
    assert "**What is not reimbursed**\n\nFines" in text


USE = (
    "The network serves the company.\n\n"
    "Users shall not use it to:\n\n"
    "- Send chain letters to all of a site.\n"
    "- Engage in the copying of licensed films.\n"
    "- Offer goods of their own for sale.\n"
)


def spans_of(text: str, begins: str, section: str = "Policy") -> list[AnswerSpan]:
    """Of a passage that begins in the middle of the page."""
    start = text.index(begins)
    chunk = Chunk(
        id="a",
        document_id="d",
        title="Network",
        trail=("Network", section),
        uri="network.md",
        text=text[start:],
        start=start,
        end=len(text),
    )
    return candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=1.0),)))


def shown(text: str, begins: str, *places: int, section: str = "Policy") -> str:
    spans = spans_of(text, begins, section)
    page = stored("d", "").model_copy(update={"text": text})
    return quote_spans([spans[place] for place in places], spans, lambda *_: page).text


def test_an_item_stands_under_what_introduces_its_list_in_an_earlier_passage() -> None:
    text = shown(USE, "- Send", 1)
    assert "Users shall not use it to:\n\n- Engage in the copying of licensed films. [1]" in text
    assert text.endswith("*2 more in this list.*")


def test_an_indented_item_stands_under_its_parent() -> None:
    nested = "You may book:\n\n- Five days ahead for:\n  - Training of less than 2,500 dollars.\n"
    assert "Five days ahead for: Training of" in shown(nested, "  - Training", 0)


DEADLINES = """# Deadlines

- Five days to ten days in advance for:
  - Training that costs less than 2,500 dollars, travel included
- Ten days to two weeks
  - Conference events that cost less than 2,500 dollars, travel included
- Fifteen days to three weeks in advance for:
  - Training that costs more than 2,500 dollars, travel included
  - Certificates that cost more than 2,500 dollars, fees included
"""


def test_an_item_does_not_move_under_the_parent_of_another() -> None:
    begins = "- Five"
    spans = spans_of(DEADLINES, begins)
    texts = [span.text for span in spans]
    conference = next(n for n, text in enumerate(texts) if "Conference" in text)
    fifteen = next(n for n, text in enumerate(texts) if "Fifteen" in text)
    said = shown(DEADLINES, begins, conference, fifteen, fifteen + 1, fifteen + 2)
    assert "Five days" not in said
    lines = [re.sub(r" \[\d+\]", "", line) for line in said.splitlines() if line.strip()]
    assert lines[-6:-1] == [
        "- Ten days to two weeks",
        "  - Conference events that cost less than 2,500 dollars, travel included",
        "- Fifteen days to three weeks in advance for:",
        "  - Training that costs more than 2,500 dollars, travel included",
        "  - Certificates that cost more than 2,500 dollars, fees included",
    ]


def test_sentences_of_two_items_are_not_joined() -> None:
    items = (
        "- Your insurance must cover work.\n- The tyres must have a profile.\n"
        "- The brakes must be tested each year.\n- The lights must all be working.\n"
        "- The car must be in good order. No mileage is paid for a car without either.\n"
    )
    text = shown(items, "- Your", 0, 5)
    assert "work. [1]\n- No mileage" in text


def test_a_lead_in_that_says_the_heading_again_is_left_out() -> None:
    steps = "How to send it:\n\n- Send it by mail to the accounts team.\n- Wait for the receipt.\n"
    assert shown(steps, "- Send", 0, section="How to send it").count("How to send it") == 1


def test_tags_that_say_how_words_look_are_left_out() -> None:
    text = quoted(("Travel", "Ask <em>before</em> you book a trip for <b>work</b>."))
    assert "Ask before you book a trip for work." in text


def test_a_short_sentence_is_shown_with_the_one_before_it() -> None:
    text = "If it gets into an eye do not rub it. Call 7112. The person is driven to the hospital."
    first, second = map(with_short_end, spans_of(text, "If it"))
    assert first.text.endswith("rub it. Call 7112.")
    assert second.text == "The person is driven to the hospital."


def test_a_section_is_read_in_the_order_of_its_page() -> None:
    text = (
        "First send the form to payroll. Then wait for the letter of HR. Last sign it in Compass."
    )
    first, second, third = spans_of(text, "First")
    assert in_page_order([second, third, first]) == [first, second, third]
