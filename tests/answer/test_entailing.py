"""A chat model's verdicts on claims whose quotes, figures and names are right."""

from collections.abc import Iterator
from typing import Any

import pytest

from answer.asking import LEAVE, Script, ask, claim, company, draft, label, with_model
from ombud.answer.compose.streaming import OnEvent
from ombud.app import Workspace
from ombud.types import Answer

OTHERWISE = "Whoever works here may rest for twenty-six days."
PARAPHRASE = "Your leave comes to 26 days a year."
AGAIN = "Employees in Great Britain have 26 days of annual leave a year."
"""The very words of the passage."""
PART = "26 days of annual leave a year."
WRONG = "You have 40 days of annual leave a year."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    shelf = company(tmp_path_factory.mktemp("home"), plan={"abstain": 0.0, "refine": False})
    yield shelf.workspace
    shelf.workspace.close()


def quoting(text: str, passage: str) -> dict[str, Any]:
    return claim(text, passage) | {"quotes": ["26 days of annual leave a year"]}


def answered(
    home: Workspace,
    verifier: Script | None,
    *texts: str,
    listen: OnEvent | None = None,
    **more: Any,
) -> Answer:
    def write(prompt: str) -> Any:
        passage = label(prompt, "26 days")
        return draft(*(quoting(text, passage) for text in texts), **more)

    asked = with_model(home, Script(write).chat)
    checking = verifier.named("test:verifier") if verifier else None
    asked.__dict__["answering"] = asked.answering._replace(verifier=checking)
    return ask(asked, LEAVE, on_event=listen)


def verdicts(*said: str) -> Script:
    claims = [{"number": n, "verdict": one} for n, one in enumerate(said, start=1)]
    return Script({"claims": claims})


def test_what_is_said_in_other_words_may_stand_where_a_model_confirms_it(home: Workspace) -> None:
    verifier = verdicts("borne_out")
    answer = answered(home, verifier, OTHERWISE)
    assert [one.text for one in answer.claims] == [OTHERWISE]
    assert "26 days of annual leave" in answer.citations[0].quote
    assert "Employees in Great Britain have 26 days" in verifier.prompts[0]
    assert "test:verifier" in answer.trace.model


def test_else_it_is_left_out(home: Workspace) -> None:
    answer = answered(home, verdicts("not_said"), OTHERWISE)
    assert OTHERWISE not in answer.text


def test_what_the_rules_refute_is_never_asked_for(home: Workspace) -> None:
    verifier = verdicts("borne_out", "borne_out")
    answer = answered(home, verifier, WRONG)
    assert verifier.prompts == []
    assert "40" not in answer.text


def test_without_a_verifier_a_claim_needs_the_words_of_its_passage(home: Workspace) -> None:
    assert PARAPHRASE in answered(home, None, PARAPHRASE).text
    assert OTHERWISE not in answered(home, None, OTHERWISE).text


def test_a_paraphrase_stands_only_where_the_verifier_confirms_it(home: Workspace) -> None:
    assert PARAPHRASE in answered(home, verdicts("borne_out"), PARAPHRASE).text
    assert PARAPHRASE not in answered(home, verdicts("not_said"), PARAPHRASE).text


def test_what_says_its_passage_again_is_not_asked_for(home: Workspace) -> None:
    verifier = verdicts("not_said")
    assert AGAIN in answered(home, verifier, AGAIN).text
    assert verifier.prompts == []


def test_a_part_of_a_sentence_is_asked_for(home: Workspace) -> None:
    """What is left out of it may be a condition, or that it is an example."""
    verifier = verdicts("not_said")
    assert PART not in [one.text for one in answered(home, verifier, PART).claims]
    assert len(verifier.prompts) == 1


def test_a_verifier_that_fails_takes_nothing_away(home: Workspace) -> None:
    assert PARAPHRASE in answered(home, Script("no form at all"), PARAPHRASE).text


def test_the_verifier_knows_who_asks_and_on_which_day(home: Workspace) -> None:
    verifier = verdicts("borne_out")
    answered(home, verifier, PARAPHRASE)
    assert "The asker works in: GB" in verifier.prompts[0]
    assert f"Today is {home.today().isoformat()}" in verifier.prompts[0]


def test_passages_and_question_are_told_once_for_all_claims(home: Workspace) -> None:
    verifier = verdicts("borne_out", "borne_out")
    answered(home, verifier, PARAPHRASE, OTHERWISE)
    (prompt,) = verifier.prompts
    assert prompt.count("26 days of annual leave") == 1
    assert prompt.count(LEAVE) == 1
    assert PARAPHRASE in prompt
    assert OTHERWISE in prompt


def test_nobody_reads_a_paraphrase_before_the_verifier_has(home: Workspace) -> None:
    shown: list[str] = []

    def listen(kind: str, event: dict[str, Any]) -> None:
        if kind == "claim":
            shown.append(event["text"])

    answered(home, verdicts("not_said"), AGAIN, PARAPHRASE, listen=listen)
    assert shown == [AGAIN]


def test_what_was_confirmed_stays_so_when_another_claim_is_repaired(home: Workspace) -> None:
    def write(prompt: str) -> Any:
        passage = label(prompt, "26 days")
        return draft(quoting(WRONG, passage), quoting(PARAPHRASE, passage))

    writer = Script(write, lambda prompt: draft(quoting(AGAIN, label(prompt, "26 days"))))
    verifier = verdicts("borne_out")
    asked = with_model(home, writer.chat)
    asked.__dict__["answering"] = asked.answering._replace(verifier=verifier.named("test:verifier"))
    answer = ask(asked, LEAVE, plan={"refine": True})
    assert [one.text for one in answer.claims] == [AGAIN, PARAPHRASE]
    assert answer.outcome == "full"
    assert len(verifier.prompts) == 1


ABSENT = "The policy does not say whether part-time staff have less."


@pytest.mark.parametrize(("verdict", "is_shown"), [("borne_out", True), ("not_said", False)])
def test_what_the_documents_do_not_say_is_verified(
    home: Workspace, verdict: str, is_shown: bool
) -> None:
    verifier = verdicts(verdict)
    answer = answered(home, verifier, AGAIN, missing=[ABSENT])
    assert (ABSENT in answer.text) is is_shown
    assert answer.missing == ((ABSENT,) if is_shown else ())
    assert answer.outcome == ("partial" if is_shown else "full")
    assert "26 days of annual leave" in verifier.prompts[0]


CONDITION = {
    "text": "You have worked here for a year.",
    "passage": "L1",
    "quote": "26 days of annual leave a year",
    "question": "How long have you worked here?",
    "choices": ["Less than a year", "A year or more"],
}


def test_the_first_unknown_condition_is_asked_for(home: Workspace) -> None:
    answer = answered(home, verdicts("borne_out"), AGAIN, conditions=[CONDITION])
    (condition,) = answer.conditions
    assert (condition.state, answer.outcome, answer.action) == ("unknown", "partial", "clarify")
    assert answer.suggestions == ("Less than a year", "A year or more")
    assert "How long have you worked here?" in answer.text


@pytest.mark.parametrize(
    ("fact", "state"),
    [
        ("I have worked here for six years", "unknown"),
        ("annual leave", "met"),
        ("GB", "met"),
        ("FR", "unknown"),
    ],
)
def test_a_condition_is_met_only_by_what_is_known_of_the_asker(
    home: Workspace, fact: str, state: str
) -> None:
    known = CONDITION | {"state": "met", "fact": fact}
    (condition,) = answered(home, None, AGAIN, conditions=[known]).conditions
    assert condition.state == state


def test_a_condition_without_its_words_in_a_passage_is_no_condition(home: Workspace) -> None:
    invented = CONDITION | {"quote": "only after a probation of six months"}
    assert answered(home, None, AGAIN, conditions=[invented]).conditions == ()
