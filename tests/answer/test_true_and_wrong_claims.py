"""True claims that must stand as a model wrote them, and wrong ones that must not be shown."""

from collections.abc import Iterator
from typing import Any

import pytest

from answer.asking import Script, ask, company, draft, label, with_model
from ombud.answer import check_claim
from ombud.app import Workspace, library
from ombud.types import Answer

PAGES = {
    "sickness": (
        "Fit notes",
        "A fit note is needed after seven calendar days of sickness in a row. The number of days "
        "is the same for all, whatever their FTE %.",
    ),
    "sabbatical": (
        "Sabbaticals",
        "A sabbatical is a period of unpaid leave. A Director decides whether you can take one.",
    ),
    "volunteering": (
        "Volunteering",
        "You have 14 hours a year for volunteering. Whether you take them in one go or over the "
        "year is up to you.",
    ),
    "devices": (
        "Devices",
        "Our devices are locked whenever nobody is with them. Larkmere insures them.",
    ),
    "training": (
        "Training costs",
        "| If you leave within | You pay back |\n| --- | --- |\n| 1 year | 100 % |\n"
        "| 2 years | 75 % |\n| 3 years | 50 % |\n\nYou meet any costs of travel to an exam.",
    ),
    "leave": (
        "Annual leave",
        "Everybody has 5.6 weeks of leave. For example, with a 4-day week you have 22.4 days of "
        "leave a year. Part-time staff have a share of it. You can carry over 5 days.",
    ),
}
TRUE = [
    (
        "sickness",
        "You need a fit note if you are unwell for more than 7 calendar days in a row, regardless "
        "of your FTE %.",
        "after seven calendar days of sickness in a row",
    ),
    (
        "sabbatical",
        "You will not receive your salary during a sabbatical.",
        "a period of unpaid leave",
    ),
    (
        "volunteering",
        "You can take all the hours off at once or spread them out.",
        "in one go or over the year",
    ),
    (
        "devices",
        "When you leave your device unattended you must lock it.",
        "locked whenever nobody is with them",
    ),
    (
        "training",
        "If you leave within one, two or three years you pay back 100, 75 or 50 % of the costs.",
        "1 year | 100 %",
    ),
]
WRONG = [
    ("leave", "You have 22.4 days of leave a year.", "you have 22.4 days of leave a year"),
    (
        "sabbatical",
        "You can take a sabbatical if your line manager agrees.",
        "whether you can take one",
    ),
    (
        "training",
        "Larkmere meets any costs of travel to an exam.",
        "any costs of travel to an exam",
    ),
    (
        "leave",
        "You can carry over 5 days, and they never expire.",
        "You can carry over 5 days",
    ),
]
ABSENT = "The rules do not mention part-time staff."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    files: dict[str, Any] = {}
    for name, (title, text) in PAGES.items():
        files[f"{name}.md"] = (f"# {title}\n\n## {title}\n\n{text}\n", {})
    plan = {"abstain": 0.0, "refine": False, "evidence": "chunk"}
    general = {"name": "Larkmere"}
    shelf = company(tmp_path_factory.mktemp("home"), files=files, plan=plan, general=general)
    yield shelf.workspace
    shelf.workspace.close()


def answered(
    home: Workspace, page: str, text: str, quote: str, verdict: str, **more: Any
) -> tuple[Answer, Script]:
    """The answer of a model that makes this claim, and what the verifier was asked."""
    title, said = PAGES[page]

    def write(prompt: str) -> Any:
        passage = label(prompt, said[:30])
        return draft({"text": text, "passages": [passage], "quotes": [quote]}, **more)

    verdicts = [{"number": number, "verdict": verdict} for number in (1, 2)]
    verifier = Script({"claims": verdicts})
    asked = with_model(home, Script(write).chat)
    asked.__dict__["answering"] = asked.answering._replace(verifier=verifier.named("test:verifier"))
    return ask(asked, f"What are the rules on {title.lower()}?"), verifier


@pytest.mark.parametrize(("page", "text", "quote"), TRUE)
def test_a_true_claim_stands_as_it_was_written(
    home: Workspace, page: str, text: str, quote: str
) -> None:
    answer, _ = answered(home, page, text, quote, "borne_out")
    assert [claim.text for claim in answer.claims] == [text]
    assert answer.outcome == "full"


@pytest.mark.parametrize(("page", "text", "quote"), WRONG)
def test_a_wrong_claim_is_shown_to_nobody_before_a_model_has_compared_it(
    home: Workspace, page: str, text: str, quote: str
) -> None:
    answer, verifier = answered(home, page, text, quote, "not_said")
    assert text in verifier.prompts[0]
    assert PAGES[page][1][:30] in verifier.prompts[0]
    assert text not in [claim.text for claim in answer.claims]


def test_that_nothing_is_said_is_compared_with_all_that_was_read(home: Workspace) -> None:
    _, text, quote = WRONG[-1]
    answer, verifier = answered(home, "leave", text, quote, "not_said", missing=[ABSENT])
    assert ABSENT in verifier.prompts[0]
    assert "Part-time staff have a share of it." in verifier.prompts[0]
    assert ABSENT not in answer.text
    assert answer.missing == ()


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("training", "If you leave within two years you pay back 50.5 %."),
        ("sabbatical", "A sabbatical is decided by Human Resources."),
        ("sickness", "You need a fit note after 7 working weeks."),
        ("leave", "With a 3-day week you have 5.6 x 3 = 17 days."),
    ],
)
def test_other_figures_names_and_units_need_no_model(home: Workspace, page: str, text: str) -> None:
    passages = [one for one in library.passages(home) if one.uri.endswith(f"{page}.md")]
    assert passages
    assert check_claim(text, passages)
