"""Short paragraphs and short tables are quoted whole."""

from ombud.answer.quoting.completing import completed
from ombud.answer.quoting.spans import AnswerSpan, candidate_spans
from ombud.types import Chunk, Evidence, Hit

PAY = "Payment is the rule. Time off is given if you choose it in Compass by the last day."
LEAVE = "| Service | Leave |\n|---|---|\n| under 5 years | 26 days |\n| 5 years or more | 28 days |"


def spans_of(text: str, chunk: str = "a") -> list[AnswerSpan]:
    of = Chunk(
        id=chunk, document_id="d", title="Leave", uri="leave.md", text=text, start=0, end=len(text)
    )
    return candidate_spans(Evidence(shared=(Hit(chunk=of, score=1.0),)))


def shown(text: str, *chosen: int) -> list[str]:
    """What becomes of the spans at these places."""
    spans = spans_of(text)
    return [span.text.strip() for span in completed([spans[place] for place in chosen], spans)]


def test_the_sentence_that_one_goes_on_from_is_shown_before_it() -> None:
    assert shown(PAY, 1) == ["Payment is the rule.", PAY.removeprefix("Payment is the rule. ")]


def test_of_a_short_table_all_rows_are_shown_once() -> None:
    rows = ["| under 5 years | 26 days |", "| 5 years or more | 28 days |"]
    assert shown(LEAVE, 1) == rows
    assert shown(LEAVE, 1, 0) == rows


def test_of_a_short_list_all_items_are_shown() -> None:
    items = ["- Ask your manager first.", "- Book it in Compass."]
    assert shown("\n".join(items), 1) == items


def test_long_tables_and_lists_and_paragraphs_stay_as_chosen() -> None:
    months = "\n".join(f"| month {n} | {n} days |" for n in range(7))
    assert shown(f"| When | Days |\n|---|---|\n{months}", 3) == ["| month 3 | 3 days |"]
    items = "\n".join(f"- Step number {n} of the way." for n in range(8))
    assert shown(items, 3) == ["- Step number 3 of the way."]
    long = " ".join(f"Rule number {n} of this page holds for all of us here." for n in range(8))
    assert len(shown(long, 4)) == 1


ILL = (
    "- Ill on leave. Phone your manager on the first day. The days are given back.\n"
    "- Long illness. You go on earning leave."
)


def test_an_item_of_several_sentences_is_one_of_a_list() -> None:
    assert shown(ILL, 0) == [
        "- Ill on leave.",
        "Phone your manager on the first day.",
        "The days are given back.",
        "- Long illness.",
        "You go on earning leave.",
    ]


def test_of_a_list_of_long_items_one_is_whole_and_the_others_begun() -> None:
    begun = "You are paid for twelve weeks after the birth of a child."  # 11 words
    more = "This may be taken at once or in parts, as you agree with whoever leads your team."  # 17
    items = [f"- {begun} {more}"] * 4  # 116 words with their marks; briefly 65
    first = [f"- {begun}", more]
    assert shown("\n".join(items), 1) == [*first, *[f"- {begun}"] * 3]


def test_of_a_long_list_the_whole_item_is_shown() -> None:
    others = "\n".join(f"- Step number {n} of the way." for n in range(8))
    item = "- Ill on leave. Phone your manager on the first day. The days are given back."
    whole = ["- Ill on leave.", "Phone your manager on the first day.", "The days are given back."]
    assert shown(f"{item}\n{others}", 0) == whole
    assert shown(f"{item}\n{others}", 2) == whole


def test_a_long_item_is_begun_or_stands_under_its_label() -> None:
    further = [f"Rule number {n} of this page holds for all of us." for n in range(8)]  # 10 words
    text = "- Ill on leave. " + " ".join(further)
    label = "- Ill on leave."
    assert shown(text, 0) == [label, *further[:5]]  # with its mark 4 words, of 60
    assert shown(text, 6) == [label, further[5]]


def test_an_answer_that_is_full_is_not_made_longer() -> None:
    rows = "\n".join(f"| {n} | {'word ' * 26}|" for n in range(4))  # 30 words a row
    table = f"| A | B |\n|---|---|\n{rows}"
    first, second = spans_of(table), spans_of(table, chunk="b")
    # Two rows are 60 words, with the first table whole 150; the second would make it 240.
    whole = completed([first[0], second[0]], [*first, *second])
    assert [span.hit.chunk.id for span in whole] == ["a", "a", "a", "a", "b"]
