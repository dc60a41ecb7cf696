"""Messages with what triage should make of them: the shipped set, and a file of one's own."""

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, get_args

from ombud.answer import Label
from ombud.errors import BadRequest

SHIPPED = Path(__file__).with_name("questions.jsonl")
"""Written for this project: what a person should hear, what is not about policies, and the ordinary
rest."""
LABELS: tuple[Label, ...] = get_args(Label)
FORM = (
    'Such as {"text": "...", "label": "sensitive"}, one a line; labels: ' + ", ".join(LABELS) + "."
)
OUTSIDE = ("general", "task", "other_company", "injection", "gibberish")
"""Kinds of what is out of scope."""


class LabelledMessage(NamedTuple):
    text: str
    label: Label
    kind: str = ""
    """Of a sensitive matter, such as `bereavement`; of what is out of scope, one of `OUTSIDE`."""
    danger: bool = False
    """Somebody may be at risk now."""
    hard: bool = False
    """Written to be mistaken for another label."""
    source: str = ""
    """Messages about one thing share one; they stand on the same side of every split."""
    language: str = "en"


def read_labelled_messages(path: Path = SHIPPED) -> tuple[LabelledMessage, ...]:
    """The messages of a file; without `source` each is its own group. Raises BadRequest naming the
    line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as failed:
        raise BadRequest(f"{path} cannot be read.", hint=FORM) from failed
    found = [
        _labelled(line, number, path) for number, line in enumerate(lines, start=1) if line.strip()
    ]
    if not found:
        raise BadRequest(f"{path} has no messages.", hint=FORM)
    return tuple(found)


def messages_digest(messages: Sequence[LabelledMessage]) -> str:
    """First 12 hex digits of the sha256 of what is learnt from, in order."""
    return sha256(json.dumps([m[:6] for m in messages], ensure_ascii=False).encode()).hexdigest()[
        :12
    ]


def _labelled(line: str, number: int, path: Path) -> LabelledMessage:
    try:
        row = json.loads(line)
        text, label = row["text"], row["label"]
        known = isinstance(text, str) and bool(text.strip()) and label in LABELS
    except (ValueError, LookupError, TypeError, RecursionError):
        known = False
    if not known:
        raise BadRequest(f"{path.name}, line {number}, is no labelled message.", hint=FORM)
    return LabelledMessage(
        text, label, str(row.get("kind") or ""), bool(row.get("danger")), bool(row.get("hard")),
        str(row.get("source") or f"line {number}"), str(row.get("language") or "en"),
    )  # fmt: skip
