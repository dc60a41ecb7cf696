"""The row of a table that applies to the asker."""

from datetime import date

import pytest

from ombud.answer.quoting.applying import applying_rows
from ombud.answer.quoting.spans import AnswerSpan
from ombud.messages import message
from ombud.text import Calendar, find_first_day
from ombud.types import Chunk, Hit, Person, Question

TODAY = date(2026, 11, 30)


def table(header: str, *rows: str, chunk_id: str = "a") -> list[AnswerSpan]:
    lines = [header, "| --- | --- |", *rows]
    text = "\n".join(lines)
    chunk = Chunk(
        id=chunk_id,
        document_id="d",
        title="Pay",
        uri="pay.md",
        text=text,
        start=0,
        end=len(text),
    )
    spans: list[AnswerSpan] = []
    for row in rows:
        start = text.index(row)
        spans.append(AnswerSpan(Hit(chunk=chunk, score=1.0), start, start + len(row), row, 0.5))
    return spans


def marked(question: str, spans: list[AnswerSpan], person: Person | None = None) -> dict[str, str]:
    asked = Question(
        text=question,
        asker=person or Person(),
        began=find_first_day(question, Calendar(TODAY)),
        as_of=TODAY,
    )
    applying = applying_rows(spans, asked)
    return {one.text: applying["a", one.start] for one in spans if ("a", one.start) in applying}


NOTICE = table("| Grade | Notice |", "| G1 to G4 | 1 month |", "| G5 to G7 | 3 months |")
SERVICE = table(
    "| Completed service | Days |",
    "| Less than 5 years | 26 |",
    "| 5 years or more | 28 |",
)
LIMITS = table(
    "| Value | Who approves |", "| up to 50 EUR | nobody |", "| 51 to 150 EUR | manager |"
)

COURSES = table(
    "| Cost of the course | Approved by |",
    "| up to EUR 1,200 | line manager |",
    "| EUR 1,200.01 to EUR 3,000 | M1 |",
    "| above EUR 3,000 | M1 and HR |",
)
HOTELS = table(
    "| Place | Cap a night |",
    "| Germany | EUR 130 |",
    "| Munich, Hamburg | EUR 180 |",
    "| abroad | EUR 220 |",
)

MONTHS = table(
    "| Service | Notice |",
    "| first 6 months (probation) | 2 weeks |",
    "| up to 2 years | 4 weeks |",
    "| above 2 years | 1 month |",
)
EUROS = table(
    "| Case | Rule |",
    "| above EUR 150 | refuse |",
    "| Raffle prize at a fair above EUR 100 | hand it in |",
    "| Lunch | accept |",
)


@pytest.mark.parametrize(
    ("question", "spans", "row", "fact"),
    [
        ("notice of a G6", NOTICE, "| G5 to G7 | 3 months |", "G6"),
        ("im g6, how much notice do i give", NOTICE, "| G5 to G7 | 3 months |", "G6"),
        ("been here 6 years, how much holiday", SERVICE, "| 5 years or more | 28 |", "6 years"),
        ("ive worked here 18 months, holiday?", SERVICE, "| Less than 5 years | 26 |", "18 months"),
        ("i have been here 7 months", MONTHS, "| up to 2 years | 4 weeks |", "7 months"),
        ("a gift worth 200 euros, ok?", EUROS, "| above EUR 150 | refuse |", "200 euros"),
        ("got a gift worth 120 euros", LIMITS, "| 51 to 150 EUR | manager |", "120 euros"),
        ("my gift is 50 euros", LIMITS, "| up to 50 EUR | nobody |", "50 euros"),
        ("a course for 1200 eur", COURSES, "| up to EUR 1,200 | line manager |", "1200 eur"),
        ("it costs 1,500 euros", COURSES, "| EUR 1,200.01 to EUR 3,000 | M1 |", "1,500 euros"),
        ("i want a course for 4000 eur", COURSES, "| above EUR 3,000 | M1 and HR |", "4000 eur"),
    ],
)
def test_what_is_said_picks_the_row(
    question: str, spans: list[AnswerSpan], row: str, fact: str
) -> None:
    assert marked(question, spans) == {row: fact}


def test_what_is_known_of_the_asker_counts_too() -> None:
    assert marked("how much notice", NOTICE, Person(grade="G2")) == {"| G1 to G4 | 1 month |": "G2"}
    by_country = table("| Country | Days |", "| France | 25 |", "| Germany | 30 |")
    assert marked("leave?", by_country, Person(country="DE")) == {"| Germany | 30 |": "DE"}


def test_a_country_beside_other_words_is_not_the_row_of_whoever_works_there() -> None:
    us = Person(country="US")
    sees = table(
        "| Who | Sees |", "| Accommodation Coordinator, HR US | request |", "| You | all |"
    )
    assert marked("standing desk", sees, us) == {}
    hotels = table(
        "| City | A night |", "| New York City | 260 |", "| All other US locations | 190 |"
    )
    assert marked("hotel limit", hotels, us) == {}
    mails = table(
        "| Team | Mail |", "| HR US (Rochester, Portland) | hr-us |", "| HR France | hr |"
    )
    assert marked("who is hr", mails, us) == {"| HR US (Rochester, Portland) | hr-us |": "US"}


@pytest.mark.parametrize(
    ("label", "country"),
    [
        ("Germany, Austria and Switzerland", "DE"),
        ("Belgium, Netherlands, Luxembourg", "BE"),
        ("United States of America", "US"),
        ("Great Britain and Northern Ireland", "GB"),
        ("Full-time employees in Germany", "DE"),
    ],
)
def test_a_row_of_several_countries_or_of_all_who_work_there_is_the_askers(
    label: str, country: str
) -> None:
    days = table("| Where | Days |", f"| {label} | 25 |", "| Elsewhere | 20 |")
    assert marked("leave?", days, Person(country=country)) == {f"| {label} | 25 |": f"{country}"}


def test_a_place_that_is_named_comes_before_the_askers_country() -> None:
    de = Person(country="DE")
    assert marked("hotel in munich over the limit?", HOTELS, de) == {
        "| Munich, Hamburg | EUR 180 |": "Munich"
    }
    assert marked("hotel limit?", HOTELS, de) == {"| Germany | EUR 130 |": "DE"}
    # "Notice" in a column of no places is no name.
    other = table("| What | How |", "| Notice | two days |", "| Pay | none |")
    assert marked("can i go at short notice", other) == {}


def test_a_table_that_tells_nobody_apart_is_left_alone() -> None:
    assert marked("how much notice", NOTICE) == {}
    # A child's age is no service, and five years are not grades.
    assert marked("my 4 years old son", SERVICE) == {}
    assert marked("been here 6 years", NOTICE) == {}


def test_the_row_that_is_asked_for_by_its_key_is_marked() -> None:
    codes = table("| Code | Meaning |", "| L23 | Unpaid leave |", "| L24 | Study leave |")
    assert marked("what does L23 stand for", codes) == {
        "| L23 | Unpaid leave |": message("answer.asked_row")
    }
    caps = table("| Item | Limit |", "| Hotel, outside London | 140 |", "| Hotel, London | 190 |")
    assert marked("What is the hotel cap in London?", caps) == {
        "| Hotel, London | 190 |": message("answer.asked_row")
    }
    # Of two that are named none is the one.
    assert marked("are L23 and L24 the same", codes) == {}


@pytest.mark.parametrize(
    "question", ["a gift worth 200 pounds, ok?", "a gift worth 150 euros, ok?"]
)
def test_another_currency_or_the_limit_itself_is_not_above_it(question: str) -> None:
    assert marked(question, EUROS) == {}
