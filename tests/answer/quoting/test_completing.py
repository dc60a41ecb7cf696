"""Short paragraphs, tables and sections are quoted whole; a longer section begins as it begins."""

import pytest

from ombud.answer.quoting.completing import completed, opened
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


PASS = (
    "Larkmere reimburses 75 % of a transport pass.\n\n"
    "- Upload the receipt in Compass.\n\n"
    "The refund comes with the next pay."
)


def leads(text: str, *chosen: int) -> list[str]:
    """What an answer opens with where the spans at these places were chosen, likeliest first."""
    spans = spans_of(text)
    return [span.text.strip() for span in opened([spans[place] for place in chosen], spans)]


def test_a_short_section_is_shown_whole_in_its_order() -> None:
    whole = [part.strip() for part in PASS.split("\n\n")]
    assert leads(PASS, 1) == whole
    assert leads(PASS, 2, 0) == whole


def test_a_longer_section_leads_with_the_sentence_that_opens_it() -> None:
    rule = "Larkmere reimburses 75 % of a transport pass."
    more = [f"Rule number {n} of this page holds for all of us here." for n in range(8)]
    text = "\n\n".join([rule, *more])
    assert leads(text, 5) == [rule, more[4]]
    # A sentence of 36 words is no opening.
    long = f"{'word ' * 35}end."
    assert leads("\n\n".join([long, *more]), 5) == [more[4]]


@pytest.mark.parametrize(("words", "follows"), [(99, ["b"]), (100, ["c"])])
def test_what_was_chosen_elsewhere_follows_where_there_is_room(
    words: int, follows: list[str]
) -> None:
    first = spans_of(PASS)  # 8 + 6 + 7 words
    far = spans_of(f"{'word ' * (words - 1)}end.", chunk="b")
    near = spans_of("Season tickets are paid once a year.", chunk="c")
    shown = opened([first[1], *far, *near], [*first, *far, *near])
    assert [span.hit.chunk.id for span in shown] == ["a", "a", "a", *follows]


def test_a_table_that_leads_stays_first() -> None:
    table = f"The leave year is the calendar year.\n\n{LEAVE}"
    assert leads(table, 2) == ["| 5 years or more | 28 days |"]


def test_a_section_that_adds_too_much_is_not_shown_whole() -> None:
    long = [f"{'word ' * 29}end." for _ in range(2)]  # 30 words each
    rule = "Larkmere reimburses 75 % of a pass."  # 7 words
    # 67 words, 60 of them beside what was chosen; a word more is too much.
    assert leads("\n\n".join([*long, rule]), 2) == [*long, rule]
    assert leads("\n\n".join([f"more {long[0]}", long[1], rule]), 2) == [f"more {long[0]}", rule]


FAQ = (
    "**Do I lose my Navigo refund when I telework?**\n\n"
    "No. It is refunded in full at 75 %.\n\n"
    "The allowance for telework is a matter of its own, which the next page describes at length."
)


def test_a_question_of_the_page_is_shown_with_its_reply_and_a_reply_with_its_question() -> None:
    exchange = [
        "**Do I lose my Navigo refund when I telework?**",
        "No. It is refunded in full at 75 %.",
    ]
    assert " ".join(shown(FAQ, 0)) == " ".join(exchange)
    assert " ".join(shown(FAQ, 1)) == " ".join(exchange)


def test_a_list_that_goes_on_below_a_heading_is_completed() -> None:
    text = (
        "- Ask your manager first.\n## Trains\n- Are tickets paid back to you?\n- Yes, by payroll."
    )
    of = Chunk(
        id="a",
        document_id="d",
        title="Travel",
        uri="travel.md",
        trail=("Travel", "Flights / Trains"),
        text=text,
        start=0,
        end=len(text),
    )
    spans = candidate_spans(Evidence(shared=(Hit(chunk=of, score=1.0),)))
    for span in spans:
        assert span in completed(opened([span], spans), spans)


def test_yes_or_no_is_of_the_sentence_that_says_why() -> None:
    text = "No. It is refunded in full.\n\nYes.\n\nAsk your boss first."
    said = [span.text.strip() for span in spans_of(text)]
    assert said == ["No. It is refunded in full.", "Yes.", "Ask your boss first."]


def test_the_next_paragraph_does_not_pass_for_the_reply() -> None:
    asked = "**Can I claim first class?**\n\nNo.\n\nTaxi rides are reimbursed in full."
    assert shown(asked, 0) == ["**Can I claim first class?**", "No."]
