"""Sections for colleagues in one country, to those who work there and to all others."""

import pytest

from ombud.answer.quoting.meant_for import favour_own_country
from ombud.answer.quoting.spans import AnswerSpan, candidate_spans
from ombud.types import Chunk, Evidence, Hit, Person, Question

RULE = "Insurance begins on the day on which you begin."
OTHER_RULE = "Insurance is looked after by the health service."
WHEN = "When does my insurance begin?"


def first_span(text: str, *trail: str, countries: tuple[str, ...] = ()) -> AnswerSpan:
    chunk = Chunk(
        id=" ".join((*trail, text)),
        document_id="d",
        title=trail[0],
        trail=trail,
        uri="benefits.md",
        text=text,
        start=0,
        end=len(text),
        countries=countries,
    )
    return candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=1.0),)))[0]


def is_behind(span: AnswerSpan, question: Question) -> bool:
    """Whether a rule for everyone that is far less likely comes first."""
    for_all = first_span(OTHER_RULE, "Benefits", "Health")
    likely = [span._replace(score=0.5), for_all._replace(score=0.2)]
    return favour_own_country(likely, question)[0].text == OTHER_RULE


def asked_in(country: str | None, text: str = WHEN) -> Question:
    return Question(text=text, asker=Person(country=country))


@pytest.mark.parametrize(
    ("section", "country"),
    [
        ("US", "GB"),
        ("**US Teammates**", "GB"),
        ("FAQ for US-based Teammates", "GB"),
        ("Our tools - US teammates only", "GB"),
        ("Parental leave (US)", "GB"),
        ("Health benefits (US teammates)", "DE"),
        ("Q: Whom do I ask? (this only applies to US employees)", "GB"),
        ("Great Britain (Sheffield, Reading)", "DE"),
        ("United Kingdom employees", "DE"),
        ("German employees", "GB"),
        ("For US, UK and Canada employees", "FR"),
        ("Non-US Teammates", "US"),
        ("Non\u2011US Teammates", "US"),
        ("FAQ for non-US-based Teammates", "US"),
        ("Invoices (teammates based outside of US)", "US"),
        ("Teammates outside the US and Canada", "CA"),
    ],
)
def test_a_section_for_another_country_does_not_open_the_answer(section: str, country: str) -> None:
    assert is_behind(first_span(RULE, "Benefits", section), asked_in(country))


@pytest.mark.parametrize(
    ("section", "country"),
    [
        ("US Teammates", "US"),
        ("US Teammates", None),
        ("For US, UK and Canada employees", "GB"),
        ("Non-US Teammates", "GB"),
        ("Non\u2011US Teammates", "GB"),
        ("Travel to Germany", "GB"),
        ("Visa for the US", "GB"),
        ("US customers", "GB"),
        ("Managers of US employees", "GB"),
        ("Hiring US employees", "GB"),
        ("EU and US employees", "DE"),
        ("Everyone, including US employees", "DE"),
        ("Both US and non-US employees", "US"),
        ("Not Germany", "FR"),
        ("Working outside the UK", "GB"),
        ("Expenses in non-US currency", "US"),
        ("Nobody except us may see this", "US"),
        ("Why do only US-based teammates use Tilt?", "GB"),
        ("New employees", "GB"),
        ("A" * 5_000 + " employees", "GB"),
    ],
)
def test_a_section_for_the_asker_or_for_all_stays(section: str, country: str | None) -> None:
    assert not is_behind(first_span(RULE, "Benefits", section), asked_in(country))


def test_a_page_and_its_parts_may_say_for_whom_they_are() -> None:
    assert is_behind(first_span(RULE, "US employees", "Health"), asked_in("GB"))
    assert is_behind(first_span(RULE, "Benefits", "US employees", "Health"), asked_in("GB"))


def test_a_page_of_the_askers_country_is_theirs_whatever_its_headings_say() -> None:
    span = first_span(RULE, "Benefits", "US teammates", countries=("GB", "US"))
    assert not is_behind(span, asked_in("GB"))


def test_a_line_above_a_list_says_for_whom_it_is() -> None:
    item = first_span(
        "US teammates:\n\n- Insurance begins on the day of hire.\n", "Benefits", "New"
    )
    assert item.lead
    assert is_behind(item, asked_in("GB"))


def test_who_names_a_country_is_told_of_it_too() -> None:
    asked = asked_in("GB", "When does insurance begin for US teammates?")
    assert not is_behind(first_span(RULE, "Benefits", "US Teammates"), asked)


def test_who_goes_to_a_country_is_still_told_of_their_own() -> None:
    asked = asked_in("GB", "Can I work from Spain for a month?")
    assert not is_behind(first_span(RULE, "Benefits", "UK employees"), asked)
    assert is_behind(first_span(RULE, "Benefits", "US employees"), asked)
