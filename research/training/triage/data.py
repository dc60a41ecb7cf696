"""Labelled messages and turns that teach triage, and what each head learns from them."""

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ombud.answer.triage.classifier import SCOPES, TOPICS, Head
from research.training.router.labelled import read_labelled_questions

FOLDER = Path(__file__).parent
FILES = ("questions.jsonl", "people.jsonl", "listening.jsonl")
WRITTEN = 3.0
"""How much a message counts that was written for triage, beside 1 of one that was first written for
something else: requests for a person in other languages than English rise from .944 to .965, at .02
of the look-alikes (n 142)."""
PAIRS = FOLDER / "pairs.jsonl"
ASKED = FOLDER.parents[2] / "tests/data/asked"
TOPIC_OF_KIND = {
    "harassment": "harassment",
    "sexual_harassment": "harassment",
    "bullying": "harassment",
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
DANGEROUS = frozenset({"self_harm"})
"""Kinds whose messages are all of somebody in danger, whatever their writer noted."""


class LabelledMessage(NamedTuple):
    text: str
    label: str
    """ordinary, sensitive, out_of_scope or person."""
    kind: str = ""
    danger: bool = False
    source: str = ""
    """Messages about one thing share one; they stand on the same side of the split."""
    importance: float = 1.0
    asks_person: bool = False
    """A sensitive message that asks for a person, too."""


class LabelledTurn(NamedTuple):
    earlier: tuple[str, ...]
    """Questions of the subject that is open, oldest first."""
    turn: str
    follows: bool
    source: str


def read_messages() -> list[LabelledMessage]:
    """Return all messages, and the router's other questions as ordinary ones.

    Long stories among these keep ordinary stories from being taken for grave ones."""
    messages: list[LabelledMessage] = []
    for name in FILES:
        for number, row in enumerate(_rows(FOLDER / name)):
            message = _message(row, f"{name} {number}")
            importance = WRITTEN if name == "listening.jsonl" else 1.0
            messages.append(message._replace(importance=importance))
    texts = {message.text for message in messages}
    for question in read_labelled_questions():
        if question.question not in texts:
            source = f"router {question.template}"
            messages.append(LabelledMessage(question.question, "ordinary", source=source))
    return messages


def read_turns() -> list[LabelledTurn]:
    """Return turns with what was asked before: written for this, and of the asked conversations."""
    turns: list[LabelledTurn] = []
    for row in _rows(PAIRS):
        earlier = tuple(row["before"])
        turns.append(LabelledTurn(earlier, row["turn"], row["follows"], earlier[0]))
    for name in ("goes-on.jsonl", "turns.jsonl"):
        for conversation in _rows(ASKED / name):
            turns += _turns_of(conversation)
    return turns


def is_held_out(source: str) -> bool:
    """Tell whether a source teaches nothing and calibrates thresholds: one in ten."""
    return int(sha256(source.encode()).hexdigest()[:8], 16) % 10 == 0


def teaches(message: LabelledMessage, head: Head) -> bool:
    """Tell whether a head learns from a message: only what is sensitive has a topic."""
    if head == "topic":
        return message.label == "sensitive" and message.kind in TOPIC_OF_KIND
    return True


def label_of(message: LabelledMessage, head: Head) -> int:
    """Return the class of a message that teaches this head."""
    if head == "topic":
        return TOPICS.index(TOPIC_OF_KIND[message.kind])
    if head == "danger":
        return int(message.danger)
    if head == "scope":
        if message.label != "out_of_scope":
            return 0
        return SCOPES.index(message.kind) if message.kind in SCOPES else 1
    return int(message.label == head or (head == "person" and message.asks_person))


def _message(row: dict[str, Any], source: str) -> LabelledMessage:
    return LabelledMessage(
        text=row["text"],
        label=row["label"],
        kind=str(row.get("kind") or ""),
        danger=bool(row.get("danger")) or row.get("kind") in DANGEROUS,
        source=str(row.get("source") or source),
        asks_person=bool(row.get("asks_person")),
    )


def _turns_of(conversation: dict[str, Any]) -> Iterator[LabelledTurn]:
    earlier: list[str] = []
    for turn in conversation["turns"]:
        kind = turn.get("kind")
        if earlier and kind in ("follow_up", "new_subject"):
            follows = kind == "follow_up"
            yield LabelledTurn(tuple(earlier), turn["text"], follows, conversation["id"])
        if kind == "new_subject":
            earlier = []
        earlier.append(turn["text"])


def _rows(path: Path) -> Sequence[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
