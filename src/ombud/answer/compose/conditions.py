"""Conditions on which an answer depends, as a model lists them, each checked before it is shown."""

import operator
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, Literal, NamedTuple

from ombud.answer.proof.checking import examine_claim, find_quote
from ombud.answer.proof.citing import inert
from ombud.answer.proof.drafts import DraftCondition
from ombud.answer.proof.figures import figures_of
from ombud.answer.proof.proving import Prover
from ombud.text import moved, units_named
from ombud.types import AnswerCondition

MOST_CONDITIONS = 8
MOST_CHOICES = 5
LONGEST_CONDITION = 300
LONGEST_CHOICE = 60


State = Literal["met", "not_met", "unknown"]
COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
"""Sign -> how it is worked out; longer signs first."""
LENGTHS = ("day", "week", "month", "year")
"""Units that can be compared with one another."""


class DraftFacts(NamedTuple):
    """The facts that askers gave about themselves."""

    text: str

    def hold(self, fact: str) -> bool:
        """Tell whether the asker used these words."""
        return find_quote(fact, self.text) is not None


def checked_conditions(
    drafted: Sequence[DraftCondition], prover: Prover, facts: DraftFacts
) -> tuple[AnswerCondition, ...]:
    """Return the conditions whose quoted words, figures and names their passages have.

    One that is said to be met or not met stays so only where the asker said the fact that decides
    it; it is unknown otherwise, never guessed. Figures are compared here, not by the model."""
    conditions: list[AnswerCondition] = []
    for condition in drafted[:MOST_CONDITIONS]:
        citation = prover.find_citation(condition.passage, condition.quote)
        text = inert(" ".join(condition.text.split()))
        if citation is None or not 0 < len(text) <= LONGEST_CONDITION:
            continue
        chunk = prover.labels[condition.passage].chunk
        if examine_claim(text, [chunk], facts.text).problems:
            continue
        state = condition_state(condition, facts, citation.quote)
        is_settled = state != "unknown"
        question = "" if is_settled else inert(" ".join(condition.question.split()))
        choices = [choice for choice in condition.choices if 0 < len(choice) <= LONGEST_CHOICE]
        conditions.append(
            AnswerCondition(
                text=text,
                state=state,
                citation=citation,
                question=question[:LONGEST_CONDITION],
                choices=tuple(map(inert, choices[:MOST_CHOICES])) if question else (),
            )
        )
    return tuple(conditions)


def condition_state(condition: DraftCondition, facts: DraftFacts, quote: str) -> State:
    """Return whether a condition is met, by what the asker said and by arithmetic of our own."""
    if condition.state == "unknown" or not facts.hold(condition.fact):
        return "unknown"
    if not condition.comparison.strip():
        return condition.state
    is_met = compare_quantities(condition.comparison, condition.fact, quote)
    if is_met is None:
        return "unknown"
    return "met" if is_met else "not_met"


def compare_quantities(comparison: str, fact: str, quote: str) -> bool | None:
    """Work out "3 months >= 7 years"; None where it cannot be, or where a figure is neither the
    asker's nor the rule's."""
    sign = next((sign for sign in COMPARE if sign in comparison), "")
    own, _, wanted = comparison.partition(sign) if sign else ("", "", "")
    left = parse_quantity(own, fact)
    right = parse_quantity(wanted, quote)
    if left is None or right is None or type(left) is not type(right):
        return None
    return COMPARE[sign](left, right)


def parse_quantity(written: str, source: str) -> date | float | None:
    """Return the one figure of a text, if its source has it too; a length of time as a date."""
    figures = figures_of(written, "en")
    if len(figures) != 1 or not figures <= figures_of(source, "en"):
        return None
    count = float(*figures)
    units = units_named(written) & set(LENGTHS)
    if not units:
        return count
    if not count.is_integer() or len(units) > 1:
        return None
    try:
        return moved(date.min, next(iter(units)), int(count))
    except (OverflowError, ValueError):
        return None
