"""The rule and not its example; sentences and not remains of a page."""

import pytest

from ombud.answer.quoting.fitness import is_example, is_remains, quotable
from ombud.answer.quoting.spans import AnswerSpan, candidate_spans
from ombud.types import Chunk, Evidence, Hit


def span(text: str, heading: str = "Overtime", lead: str = "") -> AnswerSpan:
    chunk = Chunk(
        id="a",
        document_id="d",
        title="Pay",
        uri="pay.md",
        trail=("Pay", heading),
        text=text,
        start=0,
        end=len(text),
    )
    hit = Hit(chunk=chunk, score=1.0)
    return AnswerSpan(
        hit=hit,
        start=0,
        end=len(text),
        text=text,
        lead=lead,
    )


@pytest.mark.parametrize(
    "example",
    [
        span("For example, Amira works three days and has 15.6 days of leave."),
        span("Example: 30 hours at 20 dollars are 600 dollars."),
        span("Amira works three days a week.", heading="Worked example"),
        span("- Amira works three days a week.", lead="For instance:"),
    ],
)
def test_examples_are_not_the_rule(example: AnswerSpan) -> None:
    rule = span("Overtime is paid at one and a half times the hourly rate.")
    assert is_example(example)
    assert not is_example(rule)
    assert quotable([example, rule], "how is overtime paid") == [rule]
    assert quotable([example, rule], "can you give me an example of overtime") == [example, rule]
    assert quotable([example], "how is overtime paid") == [example]


@pytest.mark.parametrize(
    "asked",
    [
        "My train was late and I had dinner on the way home at 20:30.",
        "I'm on a six-month contract.",
        "**I moved from one country to another in July.",
    ],
)
def test_what_an_asker_says_of_himself_is_not_the_rule(asked: str) -> None:
    rule = span("Dinner is paid up to 35 pounds on a day away from your site.")
    assert quotable([span(asked), rule], "can i claim my dinner") == [rule]


def test_words_for_a_readers_mouth_may_be_quoted() -> None:
    said = span('I will tell only those who need to know, and I will tell you who they are."')
    assert quotable([said], "what may i promise") == [said]
    assert quotable([said, span("Nobody is promised silence.")], "what may i promise")[0] == said


@pytest.mark.parametrize(
    "remains",
    [
        "To be updated",
        "Click on Details",
        "Benefits overview >",
        "<b>Pay</b> and more",
        "Read more",
    ],
)
def test_remains_of_a_page_are_not_quoted(remains: str) -> None:
    assert is_remains(span(remains))


@pytest.mark.parametrize(
    "text",
    [
        "Overtime needs the approval of your manager.",
        "- Manager's approval",
        "| Sunday | double |",
        "Click on Details only after your manager has approved the claim and the receipts are in.",
    ],
)
def test_sentences_items_and_rows_are(text: str) -> None:
    assert not is_remains(span(text))


def test_an_example_told_in_several_sentences_is_left_out_as_a_whole() -> None:
    text = (
        "Advance leave is limited to what you would earn by December.\n"
        "For example: it is June. You earn 4 hours a fortnight. So you can ask for 56 hours.\n"
        "Ask your manager first."
    )
    chunk = span(text).hit.chunk
    spans = candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=1.0),)))
    shown = [span.text.strip() for span in quotable(spans, "can i take leave in advance")]
    assert shown == [
        "Advance leave is limited to what you would earn by December.",
        "Ask your manager first.",
    ]


def test_an_example_that_ends_the_last_page_is_not_the_rule() -> None:
    text = (
        "Submit within 30 days of the last day of the trip.\n\n"
        "Example. Last day of the trip 6 February 2026: the claim is due by 8 March 2026."
    )
    chunk = span(text).hit.chunk
    spans = candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=1.0),)))
    shown = [span.text.strip() for span in quotable(spans, "when are claims due")]
    assert shown == ["Submit within 30 days of the last day of the trip."]


def test_an_example_told_in_sentences_and_a_table_is_not_the_rule() -> None:
    text = (
        "4.1 Overtime is paid at 1.5 times the regular rate.\n\n"
        "4.3 *Example.* An assembler earns 24 dollars and works 46 hours.\n\n"
        "| Step | Amount |\n|---|---|\n| Straight time | 1,104 dollars |\n| Premium | 76 dollars |"
    )
    chunk = Chunk(
        id="a",
        document_id="d",
        title="Pay",
        uri="pay.md",
        text=text,
        start=0,
        end=len(text),
    )
    spans = candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=1.0),)))
    assert len(spans) > 2
    kept = quotable(spans, "hourly, did 46 hours, what should my check say")
    assert [span.text for span in kept] == ["4.1 Overtime is paid at 1.5 times the regular rate."]


def test_a_story_of_somebody_named_is_not_the_rule() -> None:
    text = (
        "Sick pay counts a rolling year. Owen passed probation in 2023. Two weeks are left.\n"
        "Compass shows what is left."
    )
    chunk = span(text).hit.chunk
    spans = candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=1.0),)))
    shown = [span.text.strip() for span in quotable(spans, "how does sick pay work")]
    assert shown == ["Sick pay counts a rolling year.", "Compass shows what is left."]


def test_what_an_older_version_said_is_quoted_only_where_somebody_asks_for_it() -> None:
    old = "| Version | Change |\n|---|---|\n| 1.0 | referral bonus EUR 1,000 |"
    now = "The referral bonus is EUR 1,500 for each hire."
    chunk = span(f"{now}\n\n{old}").hit.chunk
    spans = candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=1.0),)))
    assert len(spans) == 2
    assert [one.text.strip() for one in quotable(spans, "how much is the referral bonus")] == [now]
    assert quotable(spans, "what was the referral bonus before") == spans
    assert quotable(spans[1:], "how much is the referral bonus") == spans[1:]


@pytest.mark.parametrize(
    "rule",
    [
        "Georgia employees are entitled to 14 weeks.",
        "Jordan has a statutory minimum of 14 days.",
        "Sarah in Finance approves expenses above EUR 500.",
        "Maria is the data protection officer.",
    ],
)
def test_a_name_at_the_beginning_makes_no_story(rule: str) -> None:
    assert not is_example(span(rule))


def test_versions_of_something_else_are_a_rule() -> None:
    table = "| Version | Supported until |\n|---|---|\n| macOS 14 | September 2026 |"
    chunk = span(f"Keep the system up to date.\n\n{table}").hit.chunk
    spans = candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=1.0),)))
    assert quotable(spans, "until when is macOS 14 supported") == spans


def test_a_heading_that_looks_like_an_item_is_not_quoted() -> None:
    both = "Personal data / 9. Export control and sanctions"
    assert is_remains(span("9. Export control and sanctions", heading=both))
    assert not is_remains(span("9. Export control applies to all goods.", heading=both))


def test_what_only_announces_what_stands_below_does_not_answer() -> None:
    rule = span("Fill out the swag form.")
    announced = span("Below are the steps to order swag.")
    assert quotable([announced, rule], "swag order") == [rule]


def test_examples_by_letter_are_left_out_as_a_whole() -> None:
    text = (
        "Completed years on the day the notice arrives count.\n\n"
        "Examples. (a) Three years, letter received on 20 April: end on 31 May. (b) One year, "
        "letter received on 17 March: the end is 15 April."
    )
    chunk = span(text).hit.chunk
    spans = candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=1.0),)))
    shown = [span.text.strip() for span in quotable(spans, "how long is my notice period")]
    assert shown == ["Completed years on the day the notice arrives count."]


def test_an_examples_table_is_left_out_where_it_is_a_passage_of_its_own() -> None:
    rule = "The rate never falls below zero.\n\nExample 1: three days in Stuttgart, hotel included."
    table = "| Day | Paid |\n| --- | --- |\n| Tuesday, departure 13:00 | EUR 14.00 |"
    above = span(rule).hit.chunk
    below = above.model_copy(
        update={"id": "b", "text": table, "start": above.end + 2, "end": above.end + 2 + len(table)}
    )
    hits = (Hit(chunk=below, score=2.0), Hit(chunk=above, score=1.0))
    spans = candidate_spans(Evidence(shared=hits))
    shown = [span.text.strip() for span in quotable(spans, "how much do i get a day")]
    assert shown == ["The rate never falls below zero."]


def test_a_sentence_that_only_announces_a_list_is_no_answer() -> None:
    text = (
        "Chairs are lent for the home office.\n\n"
        "If you answer yes to any of the following questions, stop here.\n\n"
        "- Is the room rented?\n- Is the chair older than a year?"
    )
    chunk = span(text).hit.chunk
    spans = candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=1.0),)))
    shown = [one.text.strip() for one in quotable(spans, "do i get a chair")]
    assert "Chairs are lent for the home office." in shown
    assert not any("following questions" in said for said in shown)
