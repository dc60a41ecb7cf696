"""Whoever works in a country is told its rule, in whatever words they ask for it."""

from collections.abc import Iterator

import pytest

from answer.asking import GB, NOBODY, ask, company
from ombud.app import Workspace
from ombud.types import Person

DE = Person(country="DE")
EVERYWHERE = """\
# Annual leave, global default

## Your entitlement

Full-time employees have 25 working days of paid annual leave for each calendar year, in addition to
the public holidays of the place where they work.

## Buying days

Up to three days a year can be bought; the price is the salary of a day.
"""
GERMANY = """\
# Urlaub in Jena

## Scope

Works council and company have agreed on these rules. They hold for everybody in Jena.

## How many days

| Working week | Annual leave |
| --- | --- |
| 5 days | 30 days |
| 3 days | 18 days |

## Public holidays

No leave is deducted when a public holiday falls on a working day. Holiday pay is as usual.
"""
FRANCE = """\
# Annual leave and public holidays (France)

## How much leave you have

The leave year begins on 1 June. A working day has seven hours.

| Completed service | Annual leave | Extra days | Total |
| --- | --- | --- | --- |
| Less than 5 years | 26 days | 2 | 28 days |
| 5 years or more | 28 days | 2 | 30 days |

## Part-timers

Your entitlement to paid annual leave is that of full-time employees, times your hours divided by
35, for each calendar year. Where hours vary from week to week, leave is earned at 15.04 % of hours.

## Booking

Requests are made in the tool and answered within five working days by the line manager.
"""
TRAVEL = """\
# Travel and expenses

## Hotels

| City | Cap per night |
| --- | --- |
| London, Paris, Munich | EUR 220 |
| everywhere else | EUR 160 |

## Meals

Meals on a business trip are paid up to EUR 40 a day, against receipts.
"""
EXPENSES = """\
# Expenses in Great Britain

## At a glance

| Item | Limit |
| --- | --- |
| Hotel, London | GBP 190 a night |
| Hotel, outside London | GBP 140 a night |
| Meals | GBP 35 a day |

## Receipts

Keep the receipts of business trips: meals and hotels are paid against them within a month.
"""
FILES: dict[str, tuple[str, dict[str, str]]] = {
    "expenses.md": (TRAVEL, {"topic": "travel"}),
    "gb.md": (EXPENSES, {"topic": "expenses", "country": "GB"}),
    "all.md": (EVERYWHERE, {"topic": "leave"}),
    "de.md": (GERMANY, {"topic": "leave", "country": "DE"}),
    "fr.md": (FRANCE, {"topic": "leave", "country": "FR"}),
    "de-sick.md": (
        "# Krankheit\n\n## Sick pay\n\nSick pay is paid for six weeks of an illness.\n",
        {"topic": "sickness", "country": "DE"},
    ),
}
FILES |= {
    f"{name}.md": (f"# {name}\n\n## Rules\n\n{text}\n", {"topic": name.lower()})
    for name, text in (
        ("Travel", "Trips are booked in the tool, at the latest a week before they begin."),
        ("Equipment", "Laptops are replaced after four years; phones after three."),
        ("Training", "Courses of up to 500 euros are approved by the line manager."),
        ("Pension", "The company doubles what an employee pays in, up to four per cent."),
        ("Security", "Visitors wear a badge and are met at the gate by their host."),
        ("Meetings", "Meetings end five minutes before the hour."),
    )
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    shelf = company(tmp_path_factory.mktemp("home"), embedder="minilm", files=FILES)
    yield shelf.workspace
    shelf.workspace.close()


@pytest.mark.parametrize(
    "question",
    [
        "How many days holiday do I get?",
        "how much vacation do I get",
        "how many days of annual leave do I have",
    ],
)
def test_the_rule_of_the_country_is_given_in_place_of_the_default(
    home: Workspace, question: str
) -> None:
    answer = ask(home, question, DE)
    assert "30 days" in answer.text
    assert "25 working days" not in answer.text


def test_a_section_for_part_timers_is_not_shown_to_all(home: Workspace) -> None:
    answer = ask(home, "How many days holiday do I get?", Person(country="FR"))
    assert "26 days" in answer.text
    assert "Part-timers" not in answer.text


def test_who_works_part_time_is_told_of_part_timers(home: Workspace) -> None:
    answer = ask(home, "How many days holiday do I get part-time?", Person(country="FR"))
    assert "Part-timers" in answer.text
    assert "times your hours divided by 35" in answer.text


@pytest.mark.parametrize("person", [GB, NOBODY])
def test_elsewhere_the_default_holds(home: Workspace, person: Person) -> None:
    answer = ask(home, "How many days holiday do I get?", person)
    assert "25 working days" in answer.text
    assert "30 days" not in answer.text


def test_what_only_the_default_says_is_still_said(home: Workspace) -> None:
    answer = ask(home, "can I buy extra days of leave", DE)
    assert "Up to three days a year can be bought" in answer.text


@pytest.mark.parametrize(
    "asked",
    [
        "What is the hotel cap in London?",
        "max per night for a hotel in london?",
        "how much can I spend on a hotel in London",
    ],
)
def test_the_page_of_a_country_takes_the_place_of_the_global_one_on_its_subject(
    home: Workspace, asked: str
) -> None:
    answer = ask(home, asked, GB)
    assert answer.citations[0].uri == "docs/gb.md"
    assert "GBP" in answer.text.partition("EUR")[0]
