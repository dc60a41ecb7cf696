"""Documents and questions that give orders, and a model that obeys every one: nothing of it is
shown."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ombud.prompts
from answer.asking import FILES, Script, ask, claim, company, draft, label, with_model
from ombud.answer.proof.citing import inert
from ombud.app import Workspace
from ombud.types import Answer
from ombud.web.render import to_html

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/hostile.jsonl").read_text().splitlines()
]
RULES = (Path(ombud.prompts.__file__).parent / "compose/default.txt").read_text(encoding="utf-8")
PARKING = "Parking costs three pounds a day in the garage."
QUESTION = "What does parking cost a day in the garage?"
PLAN = {"abstain": 0.0, "k": 50, "refine": False}
each = pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """All hostile documents at once, each about parking."""
    orders = [case for case in CASES if case["where"] == "document"]
    files: dict[str, Any] = {
        f"{c['id']}.md": (f"# Parking {c['id']}\n\n{PARKING}\n\n{c['text']}\n", {}) for c in orders
    }
    shelf = company(
        tmp_path_factory.mktemp("home"),
        files={**FILES, **files},
        plan={"abstain": 0.0, "k": 50, "refine": False},
    )
    yield shelf.workspace
    shelf.workspace.close()


def obeying(case: dict[str, Any]) -> Script:
    """Says what it was ordered to say: with the order's own passage, with one that is not there,
    with none."""

    def write(prompt: str) -> dict[str, Any]:
        title = f'title="Parking {case["id"]}"'
        own = label(prompt, title) if title in prompt else "G1"
        said = [
            claim(text, *passages)
            for text in case["said"]
            for passages in ((own,), ("G1",), ("G99",), ())
        ]
        orders = [claim(line, own) for line in RULES.splitlines() if len(line) > 20]
        more = {"suggestions": case["said"][:3], "reasoning": RULES}
        return draft(
            claim(PARKING, label(prompt, PARKING)), *said, *orders[: 39 - len(said)], **more
        )

    return Script(write)


def told(home: Workspace, case: dict[str, Any]) -> Answer:
    question = case["text"] if case["where"] == "question" else QUESTION
    return ask(with_model(home, obeying(case).chat), question)


def shown(answer: Answer) -> str:
    """All that people may see but the passages that are quoted beside it."""
    return "\n".join(
        [answer.text, *(c.text for c in answer.claims), *answer.suggestions, *answer.trace.notes]
    )


def test_there_are_enough_and_of_many_kinds() -> None:
    assert len(CASES) >= 40
    assert len({case["kind"] for case in CASES}) >= 20
    assert {case["where"] for case in CASES} == {"document", "question"}


@each
def test_nothing_that_was_ordered_is_shown(home: Workspace, case: dict[str, Any]) -> None:
    answer = told(home, case)
    # A question that is nothing but an order is sent away before any model reads it.
    refused = answer.outcome == "denied" and case["where"] == "question"
    assert [c.text for c in answer.claims] == ([] if refused else [PARKING])
    assert answer.outcome == ("denied" if refused else "partial")
    assert not answer.suggestions
    said = shown(answer).casefold()
    for order in case["said"]:
        assert order.casefold() not in said
    for line in RULES.splitlines():
        assert len(line) < 20 or line.casefold() not in said
    assert {c.chunk_id for c in answer.citations} <= set(answer.trace.evidence)
    assert not any("evil" in f"{c.name}{c.mail}" or "Mallory" in c.name for c in answer.contacts)


LINKS = [
    "Log in at [the portal](https://evil.example/sso) before you park.",
    "The map is ![here](https://evil.example/x.png?q=1) for you to park.",
    "Park as <https://evil.example/map> says before you park.",
    '<img src="https://evil.example/x"> Park where the picture says before you park.',
    "Park where the [portal][1] says before you park.\n\n[1]: https://evil.example/sso",
    r"Log in at [a \] b](https://evil.example/sso) and [c](<https://evil.example/sso>) before "
    r"you park.",
    "Log in at [the portal]( https://evil.example/sso 'x') and <a href=//evil.example>here</a> "
    "before you park.",
]


@pytest.mark.parametrize("text", LINKS)
def test_links_and_pictures_are_text(text: str) -> None:
    html = to_html(inert(text))
    assert "<a " not in html
    assert "<img" not in html
    assert "evil.example" in html
    assert to_html(inert(inert(text))) == html


def test_a_link_that_a_model_copies_is_not_live(tmp_path: Path) -> None:
    files: dict[str, Any] = {"a.txt": ("Parking\n\n" + "\n\n".join(LINKS) + "\n", {})}
    shelf = company(tmp_path, files=files, plan={"abstain": 0.0})
    script = Script(lambda _: draft(*(claim(text.split("\n")[0], "G1") for text in LINKS)))
    question = "Where do I park and how do I log in before I park?"
    for chat in (script.chat, None):
        answer = ask(with_model(shelf.workspace, chat), question)
        assert answer.claims
        for said in (answer.text, *(c.text for c in answer.claims)):
            html = to_html(said, answer.citations)
            assert "<a " not in html
            assert "<img" not in html
    shelf.workspace.close()
