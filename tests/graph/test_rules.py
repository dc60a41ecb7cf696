"""What the rules read out of sentences as policies and laws write them, and what they leave
alone."""

import pytest

from ombud.graph.rules import triplets_of
from ombud.types import Chunk


def said(
    text: str, title: str = "Handbook", language: str = "en", **fields: object
) -> list[tuple[str, str, str]]:
    chunk = Chunk.model_validate(
        {
            "id": "d-1",
            "document_id": "d",
            "uri": "d",
            "title": title,
            "text": text,
            "start": 0,
            "end": len(text),
        }
        | {"language": language}
        | fields
    )
    return [(one.subject, one.predicate, one.object) for one in triplets_of(chunk)]


@pytest.mark.parametrize(
    ("text", "triplet"),
    [
        (
            "“Test data” means data used to conduct a bias audit that is not historical data.",
            ("Test data", "means", "data used to conduct a bias audit that is not historical data"),
        ),
        (
            'The term "bias audit" means an impartial evaluation by an independent auditor.',
            ("bias audit", "means", "impartial evaluation by an independent auditor"),
        ),
        (
            "Remote work means working from your home.",
            ("Remote work", "means", "working from your home"),
        ),
        (
            "Employees must report an accident within 24 hours.",
            ("Employees", "must report", "accident within 24 hours"),
        ),
        (
            "An employer or employment agency may not use or continue to use an AEDT if more "
            "than one year has passed.",
            (
                "employer or employment agency",
                "may not use or continue to use",
                "AEDT if more than one year has passed",
            ),
        ),
        (
            "If a bias audit uses test data, the summary of results must explain why.",
            ("summary of results", "must explain", "why (if a bias audit uses test data)"),
        ),
        (
            "Any employer that uses such a tool shall notify each candidate.",
            ("employer that uses such a tool", "shall notify", "candidate"),
        ),
        (
            "In the city, it shall be unlawful for an employer to use a tool to screen a"
            " candidate.",
            ("employer", "must not use", "tool to screen a candidate"),
        ),
        ("You may carry over up to 5 days.", ("employee", "may carry over", "up to 5 days")),
        (
            "You are entitled to 26 days of leave.",
            ("employee", "is entitled to", "26 days of leave"),
        ),
        (
            "Such information shall be provided within 30 days of the request.",
            ("information", "shall be provided within", "30 days of the request"),
        ),
        (
            "Full-time employees have 25 working days of annual leave a year.",
            ("Full-time employees", "have", "25 working days of annual leave a year"),
        ),
        (
            "The notice period is 4 weeks.",
            ("notice period", "is", "4 weeks"),
        ),
        (
            "Hotel costs are reimbursed up to 220 euros a night.",
            ("Hotel costs", "are reimbursed", "up to 220 euros a night"),
        ),
        (
            "Local Law 144 of 2021 prohibits employers from using such tools.",
            ("Local Law 144 of 2021", "prohibits", "employers from using such tools"),
        ),
        (
            "This policy applies to all contractors.",
            ("Handbook", "applies to", "contractors"),
        ),
        (
            "The Annual Cash Bonus (ACB) is paid in June.",
            ("ACB", "is short for", "Annual Cash Bonus"),
        ),
    ],
)
def test_rules_as_they_are_written(text: str, triplet: tuple[str, str, str]) -> None:
    assert said(text) == [triplet]


def test_what_is_defined_elsewhere_says_where() -> None:
    assert said("“Bias audit” means “Bias audit” as defined by § 20-870 of the Code.") == [
        ("Handbook", "refers to", "section 20-870 of the Code"),
        ("Bias audit", "is defined by", "§ 20-870 of the Code"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Must an employer give notice?",
        "It must be signed.",
        "Example: An employer must give notice of ten days.",
        "For example, employees may travel by train.",
        "The notices that employers must give are listed in the annex.",
        "This process should be finished soon.",
        "Anna said that the manager must sign.",
        "The office is near the station.",
        "Desired start date: 120 days.",
    ],
)
def test_what_no_rule_states_gives_nothing(text: str) -> None:
    assert said(text) == []


def test_two_clauses_of_one_sentence_are_two_statements() -> None:
    assert said(
        "Employees must lock the screen and must report a loss, and managers may wipe the device."
    ) == [
        ("Employees", "must lock", "screen"),
        ("Employees", "must report", "loss"),
        ("managers", "may wipe", "device"),
    ]


def test_items_of_a_list_are_said_with_the_words_before_it() -> None:
    text = (
        "(b) Where a tool scores candidates, a bias audit must, at a minimum:\n"
        "  (1) Calculate the median score;\n"
        "  (2) Ensure that the calculations compare:\n"
        "    i. sex categories,\n"
        "  (3) Indicate the number of individuals.\n"
        "(c) Another paragraph.\n"
        "  (1) Not an item of the first list."
    )
    condition = " (where a tool scores candidates)"
    assert said(text) == [
        ("bias audit", "must calculate", "median score" + condition),
        ("bias audit", "must ensure", "calculations compare" + condition),
        ("bias audit", "must indicate", "number of individuals" + condition),
    ]
    assert said(
        "Employees who carry over leave need:\n\n- approval of the manager\n- a form\n"
    ) == [
        ("Employees who carry over leave", "need", "approval of the manager"),
        ("Employees who carry over leave", "need", "form"),
    ]


def test_rows_of_tables_are_said_by_their_columns() -> None:
    text = (
        "| City | Hotel cap | Note |\n| --- | --- | --- |\n| London | 180 pounds | - |\n| "
        "Oslo | 1,900 kroner | high |"
    )
    assert said(text) == [
        ("London", "Hotel cap", "180 pounds"),
        ("Oslo", "Hotel cap", "1,900 kroner"),
        ("Oslo", "Note", "high"),
    ]
    # The head of a table that was cut stands in the chunk's header.
    head = "| City | Hotel cap |\n| --- | --- |"
    assert said("| Paris | 210 euros |", header=head) == [("Paris", "Hotel cap", "210 euros")]
    # Also where nothing else is understood.
    assert said("| Stadt | Grenze |\n| --- | --- |\n| Jena | 90 Euro |", language="de") == [
        ("Jena", "Grenze", "90 Euro")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "| New Year | January 1 |\n| --- | --- |\n| Christmas | December 25 |",
        "| | | 408 |\n| --- | --- | --- |\n| White | 797 | 52% |",
        "| EUR | Paid |\n| --- | --- |\n| EUR 281.66 | 337.99 |",
        "| # | Step |\n| --- | --- |\n| one | Sign |",
    ],
)
def test_tables_without_a_head_are_left_out(text: str) -> None:
    assert said(text) == []


def test_references_stand_between_clauses() -> None:
    text = (
        "The notice required by § 20-871(b)(1) of the Code is short. See section 4 of this "
        "rule and section 7."
    )
    trail = ("Rule", "§ 5-304 Notice to Candidates")
    assert said(text, trail=trail) == [
        ("section 5-304", "is about", "Notice to Candidates"),
        ("section 5-304", "refers to", "section 20-871(b)(1) of the Code"),
    ]
    text = "Leave is regulated, see section 7 of the family leave floor and section 616 BGB."
    assert said(text, title="Leave") == [
        ("Leave", "refers to", "section 7 of the family leave floor"),
        ("Leave", "refers to", "section 616 BGB"),
    ]
