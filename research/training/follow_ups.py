"""Does a turn go on with what was asked before, or does it open a subject? Fits what tells.

On dev of the conversations that people write (tests/data/asked/turns.jsonl), played; on others of
which only that is known (goes-on.jsonl beside it); on the follow-ups among the cases of the sample
and of the handbooks, by other writers; and on new subjects made of the other sets: a question of
dev asked behind another of the same organisation that stands on other pages. Prints what the curve
tells of turns that it was not fitted on, of the follow-ups written apart
(tests/data/apart-handbooks.jsonl), which are never fitted on, and writes
src/ombud/retrieve/follow_ups.json. Run: make follow-ups"""

import asyncio
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from asked import ASKED, open_workspaces, played
from baseline import handbooks, own_cases
from record import say
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from ombud.answer.history import searchable
from ombud.app import Workspace
from ombud.app.asking import filter_of
from ombud.lab import read_cases, select_split, split_of
from ombud.retrieve.follow_ups import TURNS, turn_features
from ombud.types import Case, Message, Person, Question
from research import ROOT

SHIPPED = ROOT / "src/ombud/retrieve/follow_ups.json"
APART = ROOT / "tests/data/apart-handbooks.jsonl"
SETS = ("plain", "own", "terse", "typos")
WEIGHTS = {"played": 1.0, "told": 1.0, "case": 4.0, "made": 0.1}
"""Of a turn that people wrote and that is played, or is not; of a follow-up among the cases, of
which there are few, by other writers; of a made one, of which there are three to each that people
wrote."""
THRESHOLD = 0.6
"""At .55 one of 54 new subjects of dev was answered with the one before, at .6 none; the right page
comes first as often."""
FOLDS = 10
Numbers = npt.NDArray[np.float64]


class LabelledTurn(NamedTuple):
    group: str
    """Conversation, or the case that was asked second."""
    follows: bool
    kind: str
    """Of WEIGHTS."""
    features: Mapping[str, float]


def main() -> None:
    workspaces = open_workspaces()
    shared = handbooks()
    cases = [
        *of_cases(workspaces["sample"], select_split(read_cases(ROOT / "sample/cases"), "dev")),
        *of_cases(shared, select_split(own_cases(), "dev")),
    ]
    turns = [*written(workspaces), *told(workspaces), *cases, *made(workspaces)]
    names = list(turns[0].features)
    values = np.array([[turn.features[name] for name in names] for turn in turns])
    tell(turns, judged_apart(turns, values))
    mean, scale, model = fitted(turns, values)
    apart = [turn.features for turn in of_cases(shared, read_cases(APART))]
    unseen = np.array([[features[name] for name in names] for features in apart])
    likely = model.predict_proba((unseen - mean) / scale)[:, 1]
    heard = (likely >= THRESHOLD).mean()
    sys.stdout.write(f"follow-ups written apart heard as such: {heard:.3f} of {len(apart)}\n")
    content = {
        "features": names,
        "mean": rounded(mean),
        "scale": rounded(scale),
        "weight": rounded(model.coef_[0]),
        "bias": round(float(model.intercept_[0]), 4),
        "threshold": THRESHOLD,
    }
    SHIPPED.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def written(workspaces: Mapping[str, Workspace]) -> Iterator[LabelledTurn]:
    """Later turns of dev."""
    for line in (ASKED / "turns.jsonl").read_text(encoding="utf-8").splitlines():
        conversation = json.loads(line)
        workspace = workspaces.get(conversation["corpus"])
        if workspace is not None and split_of(conversation["id"]) == "dev":
            yield from _of_conversation(workspace, conversation)
    say("conversations played")


def _of_conversation(
    workspace: Workspace, conversation: Mapping[str, Any]
) -> Iterator[LabelledTurn]:
    person = Person(**conversation["person"])
    history: list[Message] = []
    for turn in played(workspace, dict(conversation)):
        question = Question(text=turn.text, asker=person, history=tuple(history))
        features = measured(workspace, searchable(question))
        if features and turn.kind in ("follow_up", "new_subject"):
            follows = turn.kind == "follow_up"
            yield LabelledTurn(turn.conversation, follows, "played", features)
        history.append(Message(role="user", content=turn.text))
        history.append(Message(role="assistant", content=turn.answer.text))


def told(workspaces: Mapping[str, Workspace]) -> Iterator[LabelledTurn]:
    """Later turns of which nobody has read an answer."""
    for line in (ASKED / "goes-on.jsonl").read_text(encoding="utf-8").splitlines():
        conversation = json.loads(line)
        workspace = workspaces.get(conversation["corpus"])
        if workspace is None:
            continue
        person = Person(**conversation["person"])
        history: list[Message] = []
        for turn in conversation["turns"]:
            question = Question(text=turn["text"], asker=person, history=tuple(history))
            features = measured(workspace, question)
            if features:
                follows = turn["kind"] == "follow_up"
                yield LabelledTurn(conversation["id"], follows, "told", features)
            history.append(Message(role="user", content=turn["text"]))
    say("other conversations heard")


def of_cases(workspace: Workspace, cases: Sequence[Case]) -> Iterator[LabelledTurn]:
    """Those with something before: all of them go on with it."""
    for case in cases:
        question = Question(text=case.question, asker=case.person, history=case.history)
        features = measured(workspace, searchable(question))
        if features and case.expect != "deny":
            yield LabelledTurn(case.id, follows=True, kind="case", features=features)


def made(workspaces: Mapping[str, Workspace]) -> Iterator[LabelledTurn]:
    """Each question of dev behind another one."""
    chance = random.Random(7)
    for name in SETS:
        of_corpus: dict[str, list[Case]] = {}
        for case in read_cases(ASKED / f"{name}.jsonl"):
            if split_of(case.id) == "dev" and case.tags[1] in workspaces:
                of_corpus.setdefault(case.tags[1], []).append(case)
        for corpus, cases in of_corpus.items():
            for case in cases:
                others = [other for other in cases if _stands_elsewhere(other, case)]
                if others:
                    before = chance.choice(others).question
                    yield _second(workspaces[corpus], case, before)
        say(f"{name} asked second")


def _stands_elsewhere(one: Case, other: Case) -> bool:
    pages = {item.document for item in one.evidence}
    return one.id != other.id and pages.isdisjoint(item.document for item in other.evidence)


def _second(workspace: Workspace, case: Case, before: str) -> LabelledTurn:
    history = (Message(role="user", content=before),)
    question = Question(text=case.question, asker=case.person, history=history)
    features = measured(workspace, question)
    return LabelledTurn(case.id, follows=False, kind="made", features=features)


def measured(workspace: Workspace, question: Question) -> Mapping[str, float]:
    """Features of a turn; none where nothing was asked before it."""
    earlier = [message.content for message in question.history if message.role == "user"]
    if not earlier:
        return {}
    plan = workspace.settings.plan
    where = filter_of(workspace, question, plan)
    asked = turn_features(question.text, earlier[-TURNS:], plan, where, workspace.index)
    return asyncio.run(asked)


def judged_apart(turns: Sequence[LabelledTurn], values: Numbers) -> Numbers:
    """What curves fitted without its conversation say of each turn."""
    folds = np.array([_fold(turn.group) for turn in turns])
    likely = np.zeros(len(turns))
    for fold in range(FOLDS):
        taught = [turn for turn, other in zip(turns, folds, strict=True) if other != fold]
        mean, scale, model = fitted(taught, values[folds != fold])
        apart = folds == fold
        likely[apart] = model.predict_proba((values[apart] - mean) / scale)[:, 1]
    return likely


def _fold(group: str) -> int:
    return int(sha256(f"fold {group}".encode()).hexdigest()[:8], 16) % FOLDS


def fitted(
    turns: Sequence[LabelledTurn], values: Numbers
) -> tuple[Numbers, Numbers, LogisticRegression]:
    """Means, standard deviations and the curve over standardised features."""
    weights = np.array([WEIGHTS[turn.kind] for turn in turns])
    mean = np.average(values, axis=0, weights=weights)
    scale = np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weights)) + 1e-6
    model = LogisticRegression(max_iter=1000)
    model.fit((values - mean) / scale, [turn.follows for turn in turns], sample_weight=weights)
    return mean, scale, model


def tell(turns: Sequence[LabelledTurn], likely: Numbers) -> None:
    follows = np.array([turn.follows for turn in turns])
    kinds = np.array([turn.kind for turn in turns])
    played_out = kinds == "played"
    unplayed = kinds == "told"
    as_follow_up = likely >= THRESHOLD
    lines = {
        "follow-ups heard as such": (follows & played_out, as_follow_up),
        "follow-ups of other writers heard as such": (kinds == "case", as_follow_up),
        "new subjects heard as such": (~follows & played_out, ~as_follow_up),
        "follow-ups of conversations that were not played": (follows & unplayed, as_follow_up),
        "new subjects of these": (~follows & unplayed, ~as_follow_up),
        "questions behind another heard as new": (kinds == "made", ~as_follow_up),
    }
    for name, (chosen, right) in lines.items():
        sys.stdout.write(f"{name}: {right[chosen].mean():.3f} of {chosen.sum()}\n")
    area = roc_auc_score(follows[played_out], likely[played_out])
    sys.stdout.write(f"area under the curve, conversations that were played: {area:.3f}\n")


def rounded(values: Numbers) -> list[float]:
    return [round(float(value), 4) for value in values]


if __name__ == "__main__":
    main()
