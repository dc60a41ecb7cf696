"""Teaching triage: four logistic regressions over one reading, thresholds from cross-validation.
Needs `train`."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from ombud.answer import (
    HEADS,
    SCOPES,
    TOPICS,
    TRIAGE_READING,
    FineTunedTriage,
    Head,
    Thresholds,
    TriageWeights,
    join_opinions,
    judges,
    read_sensitive,
    split_heads,
)
from ombud.errors import BadRequest
from ombud.models import linear
from research.training.linear import (
    NO_EMBEDDER,
    SEED,
    Recipe,
    TrainingEmbedder,
    TrainingTexts,
    fit_linear,
    grouped_folds,
    import_sklearn,
)
from research.training.router.labelled import read_labelled_questions
from research.training.triage.held_out import HeldOutLogits
from research.training.triage.labelled import (
    LabelledMessage,
    are_dangerous,
    have_label,
    messages_digest,
    sources_of,
    texts_of,
)

TOPIC_OF_KIND = {
    "harassment": "harassment",
    "sexual_harassment": "harassment",
    "discrimination": "harassment",
    "identity": "harassment",
    "mental_health": "wellbeing",
    "self_harm": "wellbeing",
    "addiction": "wellbeing",
    "illness": "wellbeing",
    "disability": "wellbeing",
    "domestic_abuse": "wellbeing",
    "whistleblowing": "whistleblowing",
    "retaliation": "whistleblowing",
    "grievance": "grievance",
    "accusation": "grievance",
    "immigration": "grievance",
    "bereavement": "family",
    "pregnancy_loss": "family",
    "violence": "health-safety",
}
"""Kind of a sensitive message -> topic of its contact."""
FALSE_ALARMS = 0.035
"""Share of the messages without need of a person that may be handed to one. Many of these were
written to mislead: of ordinary ones it is fewer."""
FALSE_ALARMS_TOGETHER = 0.04
"""The same of messages that the second opinion judges, too. Of the sensitive in English .92 are
found at it (.91 before `told4` and `asked2` were taught), by words and vectors at the other .83; of
ordinary messages written blind .04 are handed over (.05), of those made to mislead .08 (.16)."""
WRONGLY_OUTSIDE = 0.05
"""Share of the ordinary messages that may be taken for out of scope."""
SURELY_OUTSIDE = 0.9
"""Least probability from which a message is called outside: at it none of twelve wrong refusals was
left."""
CERTAIN_ALARMS = 0.01
"""The same, where a message counts as certainly sensitive."""
INJECTION_ALARMS = 0.005
DANGER_ALARMS = 0.4
"""Share of the sensitive messages without danger that may look dangerous all the same. Of those in
danger that are found, .3 misses one in twenty, .4 one in thirty, .5 one in forty."""
PERIL_ALARMS = 0.002
"""Share of the messages without need of a person that may be handed to one for the danger in them
alone. .005 finds one more in a hundred of those in danger, .01 another; ordinary ones pay for it.
"""
NEAR = 0.04
"""Of the threshold: as likely must a message be in which a strong sensitive term was found. Recall
first: a story that also asks for a hotel cap looks half ordinary. Of 251 sensitive messages with a
strong term, none of danger, it misses one, with .1 three; of 41 ordinary ones 11 are handed over,
with .1 7 (cross-validated, with the second opinion)."""
NEAR_BY_WORDS = 0.02
"""The same where no vectors tell: with "what can I do?" behind it "My manager is bullying and
harassing me" is .02 likely by its words, .04 with vectors."""
WEAKLY_NEAR = 0.5
"""The same where the term was a weak one: of 114 sensitive messages it misses three, at .2 one; of
84 ordinary ones 10 are handed over, at .2 12."""
TEXT = {"surface": 0.3, "words": 0.7}
RECIPES: Mapping[Head, Recipe] = {
    "sensitive": Recipe(
        {"surface": 0.2, "words": 2.0, "letters": 4.0, "vector": 3.0}, strictness=1.5, least=8
    ),
    "danger": Recipe(
        {"surface": 0.2, "words": 2.0, "letters": 4.0, "vector": 3.0}, strictness=1.5, least=8
    ),
    "topic": Recipe({**TEXT, "vector": 1.5}, strictness=2.0),
    "scope": Recipe({**TEXT, "vector": 0.7}, strictness=2.0),
}
"""Chosen by grouped cross-validation on the training messages; without an embedder `vector` is left
out."""
READING = TRIAGE_READING._replace(
    surface=cache(TRIAGE_READING.surface),
    terms={name: cache(terms) for name, terms in TRIAGE_READING.terms.items()},
)
"""The reading of triage; each message is taken apart once, however many folds and heads read it."""
Probabilities = Mapping[Head, linear.Numbers]
"""Head -> shape (messages, classes of the head)."""


class SecondOpinion(NamedTuple):
    """Of a fine-tuned classifier."""

    held_out: HeldOutLogits
    """Of the training messages."""
    fine_tuned: FineTunedTriage
    """Of all others."""

    def join(
        self, messages: Sequence[LabelledMessage], probabilities: Probabilities
    ) -> dict[Head, linear.Numbers]:
        """Cross-validated probabilities of the training messages together with it."""
        logits = split_heads(self.held_out.of(texts_of(messages)))
        return {head: join_opinions(probabilities[head], logits[head]) for head in HEADS}


def with_router_questions(messages: Sequence[LabelledMessage]) -> tuple[LabelledMessage, ...]:
    """The messages with the complexity router's questions as ordinary ones, save those that hold a
    sensitive term or are among the messages, with a label of their own.

    They are long stories as often as short questions, which keeps ordinary stories from being taken
    for grave ones."""
    terms = read_sensitive()
    taught = list(messages)
    labelled_already = set(texts_of(messages))
    for question in read_labelled_questions():
        if question.question in labelled_already or terms.find(question.question):
            continue
        source = f"router {question.template}"
        taught.append(LabelledMessage(question.question, "ordinary", source=source))
    return tuple(taught)


def train(
    messages: Sequence[LabelledMessage],
    embedder: TrainingEmbedder = NO_EMBEDDER,
    opinion: SecondOpinion | None = None,
    folds: Probabilities | None = None,
) -> TriageWeights:
    """Weights taught on all messages, which `with_router_questions` has completed; the same
    messages give the same weights.

    opinion: for which thresholds are chosen, too. folds: what `cross_validate` found of them, where
    the caller has it already. Raises BadRequest where a class has no messages, MissingExtra without
    scikit-learn."""
    embedder = embedder.remembering()
    provenance = {
        "messages": len(messages),
        "digest": messages_digest(messages),
        "seed": SEED,
        "trained by": f"scikit-learn {import_sklearn().version}",
    }
    heads = {}
    for head in HEADS:
        weights = fit(messages, head, embedder)
        heads[head] = weights._replace(variant=head, provenance=provenance)
    folds = folds or cross_validate(messages, embedder)
    thresholds = choose_thresholds(messages, folds)
    if embedder.embed is None:
        thresholds = thresholds._replace(term=NEAR_BY_WORDS * thresholds.sensitive)
    return TriageWeights(
        heads=heads,
        thresholds=thresholds,
        embedder=embedder.fingerprint if embedder.embed else "",
        fine_tuned=opinion.fine_tuned.fingerprint if opinion else "",
        joined=_joined_thresholds(messages, opinion.join(messages, folds)) if opinion else None,
    )


def cross_validate(
    messages: Sequence[LabelledMessage],
    embedder: TrainingEmbedder = NO_EMBEDDER,
) -> dict[Head, linear.Numbers]:
    """Head -> probabilities of each message by weights that saw none of its source (GroupKFold, ten
    folds).

    `topic` and `danger` are given for every message, whether it is sensitive or not.
    """
    embedder = embedder.remembering()
    probabilities: dict[Head, linear.Numbers] = {}
    for taught_places, held_out in grouped_folds(sources_of(messages)):
        taught = [messages[place] for place in taught_places]
        texts = texts_of([messages[place] for place in held_out])
        for head in HEADS:
            weights = fit(taught, head, embedder)
            rows = linear.score(texts, weights, READING, embedder.embed)
            if head not in probabilities:
                probabilities[head] = np.zeros((len(messages), rows.shape[1]))
            probabilities[head][held_out] = rows
    return probabilities


def fit(
    messages: Sequence[LabelledMessage], head: Head, embedder: TrainingEmbedder = NO_EMBEDDER
) -> linear.LinearWeights:
    """One head, without a name and provenance."""
    recipe = RECIPES[head]
    if embedder.embed is None:
        parts = dict(recipe.parts)
        parts.pop("vector", None)
        recipe = recipe._replace(parts=parts)
    return fit_linear(_examples(messages, head), recipe, READING, embedder)


def choose_thresholds(
    messages: Sequence[LabelledMessage],
    probabilities: Probabilities,
    false_alarms: float = FALSE_ALARMS,
) -> Thresholds:
    """Thresholds from probabilities that were cross-validated."""
    sensitive = have_label(messages, "sensitive")
    ordinary = have_label(messages, "ordinary")
    danger = are_dangerous(messages)
    danger_found = probabilities["danger"][:, 1]
    if not (sensitive.any() and ordinary.any() and danger.any()):
        raise BadRequest(
            "Triage needs messages of every label, some with danger.", hint="Add the missing ones."
        )
    alarm = probabilities["sensitive"][:, 1]
    calm = danger_found[sensitive & ~danger]
    outside = 1 - probabilities["scope"][:, 0]
    injection = probabilities["scope"][:, 2:].sum(axis=1)
    threshold = _threshold_above(alarm[~sensitive], false_alarms)
    certain = _threshold_above(alarm[~sensitive], CERTAIN_ALARMS)
    return Thresholds(
        sensitive=threshold,
        term=NEAR * threshold,
        weak_term=WEAKLY_NEAR * threshold,
        certain=max(threshold, certain),
        danger=_threshold_above(calm, DANGER_ALARMS),
        peril=_threshold_above(danger_found[~sensitive], PERIL_ALARMS),
        outside=max(SURELY_OUTSIDE, _threshold_above(outside[ordinary], WRONGLY_OUTSIDE)),
        injection=_threshold_above(injection[ordinary | sensitive], INJECTION_ALARMS),
    )


def _joined_thresholds(
    messages: Sequence[LabelledMessage], probabilities: Probabilities
) -> Thresholds:
    """Of the messages alone that the second opinion judges."""
    places = [place for place, message in enumerate(messages) if judges(message.text)]
    judged = [messages[place] for place in places]
    of_judged = {head: rows[places] for head, rows in probabilities.items()}
    return choose_thresholds(judged, of_judged, FALSE_ALARMS_TOGETHER)


def scope_of(message: LabelledMessage) -> int:
    """Place in `SCOPES`."""
    if message.label != "out_of_scope":
        return 0
    return SCOPES.index(message.kind) if message.kind in SCOPES else 1


def _threshold_above(values: linear.Numbers, share: float) -> float:
    """The least threshold that at most `share` of the values reach."""
    descending = np.sort(values)[::-1]
    allowed = int(share * len(descending))
    return float(descending[allowed]) + 1e-4 if allowed < len(descending) else 0.0


def _examples(messages: Sequence[LabelledMessage], head: Head) -> TrainingTexts:
    """The messages that a head learns from, with its labels; all count alike."""
    taught = []
    for message in messages:
        if teaches(message, head):
            taught.append(message)
    return TrainingTexts(
        texts=texts_of(taught),
        labels=[label_of(message, head) for message in taught],
        groups=sources_of(taught),
        importance=[1.0] * len(taught),
    )


def teaches(message: LabelledMessage, head: Head) -> bool:
    """Only what is sensitive has a topic."""
    return head != "topic" or (message.label == "sensitive" and message.kind in TOPIC_OF_KIND)


def label_of(message: LabelledMessage, head: Head) -> int:
    """Class of a message that teaches this head."""
    if head == "topic":
        return TOPICS.index(TOPIC_OF_KIND[message.kind])
    if head == "danger":
        return int(message.danger)
    if head == "sensitive":
        return int(message.label == "sensitive")
    return scope_of(message)
