"""Sections for colleagues in one country, to those who work there and to all others."""

import pytest

from ombud.answer.quoting.own_country import favour_own_country
from ombud.answer.quoting.spans import candidate_spans
from ombud.types import Chunk, Evidence, Hit, Person, Question

RULE = "Insurance begins on the day on which you begin."
OTHER_RULE = "Insurance is looked after by the health service."


def opening(section: str, question: Question) -> str:
    """The rule of a section and, somewhat less likely, one for everyone: which comes first?"""
    spans = [
        candidate_spans(Evidence(shared=(Hit(chunk=chunk(heading, text), score=1.0),)))[0]
        for heading, text in ((section, RULE), ("Health", OTHER_RULE))
    ]
    likely = [span._replace(score=score) for span, score in zip(spans, (0.5, 0.4), strict=True)]
    return favour_own_country(likely, question)[0].text


def chunk(heading: str, text: str) -> Chunk:
    return Chunk(
        id=heading,
        document_id="d",
        title="Benefits",
        trail=("Benefits", heading),
        uri="benefits.md",
        text=text,
        start=0,
        end=len(text),
    )


def asked_in(country: str | None, text: str = "When does my insurance begin?") -> Question:
    return Question(text=text, asker=Person(country=country))


@pytest.mark.parametrize(
    ("section", "country"),
    [
        ("US Teammates", "GB"),
        ("Health benefits (US teammates)", "DE"),
        ("Q: Whom do I ask? (this only applies to US employees)", "GB"),
        ("Great Britain (Sheffield, Reading)", "DE"),
        ("For US, UK and Canada employees", "FR"),
        ("Non-US Teammates", "US"),
        ("Invoices (teammates based outside of US)", "US"),
        ("Outside the United States", "US"),
    ],
)
def test_a_section_for_another_country_does_not_open_the_answer(section: str, country: str) -> None:
    assert opening(section, asked_in(country)) == OTHER_RULE


@pytest.mark.parametrize(
    ("section", "country"),
    [
        ("US Teammates", "US"),
        ("US Teammates", None),
        ("For US, UK and Canada employees", "GB"),
        ("Non-US Teammates", "GB"),
        ("Travel to Germany", "GB"),
        ("If I am moving out of the US, will my insurance go on?", "US"),
        ("Flights booked outside of Concur", "US"),
        ("Tell us", "GB"),
    ],
)
def test_a_section_for_the_asker_or_for_all_stays(section: str, country: str | None) -> None:
    assert opening(section, asked_in(country)) == RULE


def test_who_names_a_country_is_told_of_it() -> None:
    text = "When does insurance begin for US teammates?"
    assert opening("US Teammates", asked_in("GB", text)) == RULE
    assert opening("Non-US Teammates", asked_in("GB", text)) == OTHER_RULE


def test_a_line_above_a_list_says_for_whom_it_is() -> None:
    text = "US teammates:\n\n- Insurance begins on the day of hire, for all.\n"
    (item, *_) = candidate_spans(Evidence(shared=(Hit(chunk=chunk("Enrolment", text), score=1.0),)))
    other = candidate_spans(Evidence(shared=(Hit(chunk=chunk("Health", OTHER_RULE), score=1.0),)))[
        0
    ]
    likely = [item._replace(score=0.5), other._replace(score=0.4)]
    assert favour_own_country(likely, asked_in("GB"))[0].text == OTHER_RULE
