"""Messages with what triage should make of them: the shipped set, and a file of one's own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from ombud.answer import Label
from research.training.labelled import ExampleFormat, examples_digest, read_examples

SHIPPED = Path(__file__).with_name("questions.jsonl")
"""Written for this project: what a person should hear, what is not about policies, and the ordinary
rest."""
PEOPLE = Path(__file__).with_name("people.jsonl")
"""Messages as people at work write them: the dev split of tests/data/asked (`sens-…` and the like),
others written apart (`told-…` to `told3-…`, `en-…`), those written after dev had shown what was
missed (`heard-…` to `heard3-…`), ordinary ones of which .05 had been handed over (`asked2-…`), and
such as look like them, four ordinary ones to each that needs a person (`told4-…`)."""
LABELS: tuple[Label, ...] = get_args(Label)
FORMAT = ExampleFormat(
    noun="message",
    hint='Such as {"text": "...", "label": "sensitive"}, one a line; labels: '
    + ", ".join(LABELS)
    + ".",
)
OUTSIDE = ("general", "task", "other_company", "injection", "gibberish")
"""Kinds of what is out of scope."""
Flags = npt.NDArray[np.bool_]
"""One for each message."""


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


def read_labelled_messages(path: Path | None = None) -> tuple[LabelledMessage, ...]:
    """The messages of a file, or of the two that ship; without `source` each is its own group.
    Raises BadRequest naming the line."""
    if path:
        return read_examples(path, FORMAT, _parse)
    return (*read_examples(SHIPPED, FORMAT, _parse), *read_examples(PEOPLE, FORMAT, _parse))


def texts_of(messages: Sequence[LabelledMessage]) -> list[str]:
    return [message.text for message in messages]


def sources_of(messages: Sequence[LabelledMessage]) -> list[str]:
    return [message.source for message in messages]


def have_label(messages: Sequence[LabelledMessage], label: Label) -> Flags:
    return np.array([message.label == label for message in messages], bool)


def are_dangerous(messages: Sequence[LabelledMessage]) -> Flags:
    return np.array([message.danger for message in messages], bool)


def messages_digest(messages: Sequence[LabelledMessage]) -> str:
    """Of all but the language, in order."""
    return examples_digest([message[:6] for message in messages])


def _parse(row: dict[str, Any], number: int) -> LabelledMessage | None:
    text = row["text"]
    label = row["label"]
    if not isinstance(text, str) or not text.strip() or label not in LABELS:
        return None
    return LabelledMessage(
        text=text,
        label=label,
        kind=str(row.get("kind") or ""),
        danger=bool(row.get("danger")),
        hard=bool(row.get("hard")),
        source=str(row.get("source") or f"line {number}"),
        language=str(row.get("language") or "en"),
    )
