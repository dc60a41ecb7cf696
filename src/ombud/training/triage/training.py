"""Teaching triage: four logistic regressions over one reading, thresholds from cross-validation.
Needs `train`."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ombud.answer import (
    HEADS,
    SCOPES,
    TOPICS,
    TRIAGE_READING,
    Head,
    Thresholds,
    Trained,
    read_sensitive,
)
from ombud.errors import BadRequest
from ombud.models import linear
from ombud.training.router.labelled import read_labelled_questions as read_router
from ombud.training.triage.labelled import LabelledMessage, messages_digest

KINDS = {
    "harassment": "harassment", "sexual_harassment": "harassment", "discrimination": "harassment",
    "identity": "harassment", "mental_health": "wellbeing", "self_harm": "wellbeing", "addiction": "wellbeing",
    "illness": "wellbeing", "disability": "wellbeing", "domestic_abuse": "wellbeing",
    "whistleblowing": "whistleblowing", "retaliation": "whistleblowing", "grievance": "grievance",
    "accusation": "grievance", "immigration": "grievance", "bereavement": "family", "pregnancy_loss": "family",
    "violence": "health-safety",
}  # fmt: skip
"""Kind of a sensitive message -> topic of its contact."""
FALSE_ALARMS, FEW, FEWEST = 0.05, 0.01, 0.005
"""Shares of messages that thresholds may take wrongly."""
DANGER_ALARMS = 0.2
"""Share of the sensitive messages without danger that get the emergency wording all the same."""
NEAR = 0.2
"""Of the threshold: as likely must a message be in which a sensitive term was found. Recall first:
.8 loses messages that plainly tell of harassment, and saves four false alarms in a thousand. """


class TriageTrainingParts(NamedTuple):
    embed: linear.Embed | None = None
    fingerprint: str = ""
    """Of the embedder."""

    def remembering(self) -> "TriageTrainingParts":
        """The same, embedding each text once however many folds and heads read it."""
        if self.embed is None:
            return self
        embed, known = self.embed, dict[str, linear.Numbers]()

        def look_up(texts: Sequence[str]) -> linear.Numbers:
            new = [text for text in dict.fromkeys(texts) if text not in known]
            known.update(zip(new, embed(new) if new else (), strict=True))
            return np.array([known[text] for text in texts])

        return self._replace(embed=look_up)


NONE = TriageTrainingParts()
TEXT = {"surface": 0.3, "words": 0.7}
RECIPES: Mapping[Head, linear.Recipe] = {
    "sensitive": linear.Recipe({**TEXT, "vector": 1.5}, strictness=2.0),
    "danger": linear.Recipe({**TEXT, "vector": 1.5}, strictness=2.0),
    "topic": linear.Recipe({**TEXT, "vector": 1.5}, strictness=2.0),
    "scope": linear.Recipe({**TEXT, "vector": 0.7}, strictness=2.0),
}
"""Chosen by grouped cross-validation on the training messages; without an embedder `vector` is left
out."""


class _Set(NamedTuple):
    """What one head learns from."""

    texts: list[str]
    labels: list[int]
    groups: list[str]
    importance: list[float]


def taught(messages: Sequence[LabelledMessage]) -> tuple[LabelledMessage, ...]:
    """The messages with the complexity router's questions as ordinary ones, save those that hold a
    sensitive term.

    They are long stories as often as short questions, which keeps ordinary stories from being taken
    for grave ones."""
    terms = read_sensitive()
    ordinary = [q for q in read_router() if not terms.find(q.question)]
    more = (
        LabelledMessage(q.question, "ordinary", source=f"router {q.template}") for q in ordinary
    )
    return (*messages, *more)


def train(
    messages: Sequence[LabelledMessage],
    tools: TriageTrainingParts = NONE,
    folds: Mapping[Head, linear.Numbers] | None = None,
) -> Trained:
    """Weights taught on all messages, which `taught` has completed; the same messages give the same
    weights.

    folds: what `cross_validate` found of them, where the caller has it already. Raises BadRequest
    where a class has no messages, MissingExtra without scikit-learn."""
    tools = tools.remembering()
    about = {
        "messages": len(messages), "digest": messages_digest(messages), "seed": linear.SEED,
        "trained by": f"scikit-learn {linear.sklearn_kit().version}",
    }  # fmt: skip
    heads = {
        head: fit(messages, head, tools)._replace(variant=head, provenance=about) for head in HEADS
    }
    found = folds or cross_validate(messages, tools)
    return Trained(heads, choose(messages, found), tools.fingerprint if tools.embed else "")


def cross_validate(
    messages: Sequence[LabelledMessage], tools: TriageTrainingParts = NONE
) -> dict[Head, linear.Numbers]:
    """Head -> probabilities of each message by weights that saw none of its source (GroupKFold, ten
    folds).

    `topic` and `danger` are given for every message, whether it is sensitive or not.
    """
    tools, found = tools.remembering(), dict[Head, linear.Numbers]()
    for known, held in linear.grouped_folds([m.source for m in messages]):
        for head in HEADS:
            weights = fit([messages[n] for n in known], head, tools)
            rows = linear.score(
                [messages[n].text for n in held], weights, TRIAGE_READING, tools.embed
            )
            found.setdefault(head, np.zeros((len(messages), rows.shape[1])))[held] = rows
    return found


def fit(
    messages: Sequence[LabelledMessage], head: Head, tools: TriageTrainingParts = NONE
) -> linear.LinearWeights:
    """One head, without a name and provenance."""
    recipe, taught = RECIPES[head], _set(messages, head)
    if tools.embed is None:
        recipe = recipe._replace(
            parts={part: weight for part, weight in recipe.parts.items() if part != "vector"}
        )
    return linear.fit(*taught, recipe, TRIAGE_READING, tools.embed, tools.fingerprint)


def choose(messages: Sequence[LabelledMessage], found: Mapping[Head, linear.Numbers]) -> Thresholds:
    """Thresholds from probabilities that were cross-validated."""
    sensitive = np.array([m.label == "sensitive" for m in messages])
    ordinary = np.array([m.label == "ordinary" for m in messages])
    danger = np.array([m.danger for m in messages])
    alarm, risk = found["sensitive"][:, 1], found["danger"][:, 1]
    calm = risk[sensitive & ~danger]
    outside, strange = 1 - found["scope"][:, 0], found["scope"][:, 2:].sum(axis=1)
    if not (sensitive.any() and ordinary.any() and danger.any()):
        raise BadRequest(
            "Triage needs messages of every label, some with danger.", hint="Add the missing ones."
        )
    chosen = _above(alarm[~sensitive], FALSE_ALARMS)
    return Thresholds(
        sensitive=chosen,
        term=NEAR * chosen,
        certain=max(chosen, _above(alarm[~sensitive], FEW)),
        danger=_above(calm, DANGER_ALARMS),
        outside=_above(outside[ordinary], FALSE_ALARMS),
        injection=_above(strange[ordinary | sensitive], FEWEST),
    )


def scope_of(message: LabelledMessage) -> int:
    """Place in `SCOPES`."""
    if message.label != "out_of_scope":
        return 0
    return SCOPES.index(message.kind) if message.kind in SCOPES else 1


def _above(values: linear.Numbers, share: float) -> float:
    """The least threshold that at most `share` of the values reach."""
    order = np.sort(values)[::-1]
    allowed = int(share * len(order))
    return float(order[allowed]) + 1e-4 if allowed < len(order) else 0.0


def _set(messages: Sequence[LabelledMessage], head: Head) -> _Set:
    if head == "topic":
        messages = [m for m in messages if m.label == "sensitive" and m.kind in KINDS]
        labels = [TOPICS.index(KINDS[m.kind]) for m in messages]
    elif head == "danger":
        messages = [m for m in messages if m.label == "sensitive"]
        labels = [int(m.danger) for m in messages]
    elif head == "sensitive":
        labels = [int(m.label == "sensitive") for m in messages]
    else:
        labels = [scope_of(m) for m in messages]
    return _Set(
        [m.text for m in messages], labels, [m.source for m in messages], [1.0] * len(messages)
    )
