"""A chat model's word on claims that the rules can neither confirm nor refute."""

from collections.abc import Iterator
from typing import Any

import pytest

from answer.asking import LEAVE, Script, ask, claim, company, draft, label, with_model
from ombud.answer.compose.streaming import OnEvent
from ombud.app import Workspace
from ombud.types import Answer

OTHERWISE = "Whoever works here may rest for twenty-six days."
PARAPHRASE = "Your leave comes to 26 days a year."
AGAIN = "You have 26 days of annual leave a year."
WRONG = "You have 40 days of annual leave a year."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    shelf = company(tmp_path_factory.mktemp("home"), plan={"abstain": 0.0, "refine": False})
    yield shelf.workspace
    shelf.workspace.close()


def answered(
    home: Workspace, verifier: Script | None, *texts: str, listen: OnEvent | None = None
) -> Answer:
    def write(prompt: str) -> Any:
        passage = label(prompt, "26 days")
        return draft(*(claim(text, passage) for text in texts))

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


@pytest.mark.parametrize("said", ["contradicted", "not_said"])
def test_else_it_is_left_out(home: Workspace, said: str) -> None:
    answer = answered(home, verdicts(said), OTHERWISE)
    assert OTHERWISE not in answer.text


def test_what_the_rules_refute_is_never_asked_for(home: Workspace) -> None:
    verifier = verdicts("borne_out", "borne_out")
    answer = answered(home, verifier, WRONG)
    assert verifier.prompts == []
    assert "40" not in answer.text


def test_without_a_model_of_its_own_nothing_is_asked(home: Workspace) -> None:
    assert home.models.chat("verify") is None
    assert OTHERWISE not in answered(home, None, OTHERWISE).text


def test_a_verifier_that_fails_confirms_nothing(home: Workspace) -> None:
    assert OTHERWISE not in answered(home, Script("no form at all"), OTHERWISE).text


def test_a_paraphrase_stands_only_where_the_verifier_confirms_it(home: Workspace) -> None:
    assert PARAPHRASE in answered(home, None, PARAPHRASE).text
    assert PARAPHRASE in answered(home, verdicts("borne_out"), PARAPHRASE).text
    assert PARAPHRASE not in answered(home, verdicts("not_said"), PARAPHRASE).text


def test_what_says_its_passage_again_is_not_asked_for(home: Workspace) -> None:
    verifier = verdicts("contradicted")
    assert AGAIN in answered(home, verifier, AGAIN).text
    assert verifier.prompts == []


def test_a_verifier_that_fails_takes_nothing_away(home: Workspace) -> None:
    assert PARAPHRASE in answered(home, Script("no form at all"), PARAPHRASE).text


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
        return draft(claim(WRONG, passage), claim(PARAPHRASE, passage))

    writer = Script(write, lambda prompt: draft(claim(AGAIN, label(prompt, "26 days"))))
    verifier = verdicts("borne_out")
    asked = with_model(home, writer.chat)
    asked.__dict__["answering"] = asked.answering._replace(verifier=verifier.named("test:verifier"))
    answer = ask(asked, LEAVE, plan={"refine": True})
    assert [one.text for one in answer.claims] == [AGAIN, PARAPHRASE]
    assert answer.outcome == "full"
    assert len(verifier.prompts) == 1
