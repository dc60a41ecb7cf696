"""Conditions on which an answer depends, as a model lists them, each checked before it is shown."""

from collections.abc import Sequence
from typing import NamedTuple

from ombud.answer.compose.drafts import DraftCondition
from ombud.answer.proof.checking import examine_claim, find_quote
from ombud.answer.proof.citing import inert
from ombud.answer.proof.proving import Prover
from ombud.types import AnswerCondition

MOST_CONDITIONS = 8
MOST_CHOICES = 5
LONGEST_CONDITION = 300
LONGEST_CHOICE = 60


class DraftFacts(NamedTuple):
    """What the asker has said of themselves."""

    text: str

    def hold(self, fact: str) -> bool:
        """Tell whether the asker used these words."""
        return find_quote(fact, self.text) is not None


def checked_conditions(
    drafted: Sequence[DraftCondition], prover: Prover, facts: DraftFacts
) -> tuple[AnswerCondition, ...]:
    """Return the conditions whose quoted words, figures and names their passages have.

    One that is said to be met or not met stays so only where the asker said the fact that decides
    it; it is unknown otherwise, never guessed."""
    conditions: list[AnswerCondition] = []
    for condition in drafted[:MOST_CONDITIONS]:
        citation = prover.find_citation(condition.passage, condition.quote)
        text = inert(" ".join(condition.text.split()))
        if citation is None or not 0 < len(text) <= LONGEST_CONDITION:
            continue
        chunk = prover.labels[condition.passage].chunk
        if examine_claim(text, [chunk], facts.text).problems:
            continue
        is_known = condition.state != "unknown" and facts.hold(condition.fact)
        question = "" if is_known else inert(" ".join(condition.question.split()))
        choices = [choice for choice in condition.choices if 0 < len(choice) <= LONGEST_CHOICE]
        conditions.append(
            AnswerCondition(
                text=text,
                state=condition.state if is_known else "unknown",
                citation=citation,
                question=question[:LONGEST_CONDITION],
                choices=tuple(map(inert, choices[:MOST_CHOICES])) if question else (),
            )
        )
    return tuple(conditions)
