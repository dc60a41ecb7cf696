"""Questions with the number of passages that settle them: the shipped set, and a file of one's
own."""

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from ombud.errors import BadRequest

SHIPPED = Path(__file__).with_name("questions.jsonl")
"""960 questions over eight policy fields, written for this project by hand; no template more than
five times."""
LABELS = (0, 1, 2)
FORM = (
    'Such as {"question": "...", "label": 0}, one a line; 0 is one passage, 1 two, 2 three or more.'
)


class LabelledQuestion(NamedTuple):
    question: str
    label: int
    """0 one passage, 1 two, 2 three or more."""
    template: str = ""
    """Questions put alike share one; they stand on the same side of every split."""
    field: str = ""


def read_labelled_questions(path: Path = SHIPPED) -> tuple[LabelledQuestion, ...]:
    """The questions of a file; without `template` each is its own group. Raises BadRequest naming
    the line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as failed:
        raise BadRequest(f"{path} cannot be read.", hint=FORM) from failed
    found = [
        _labelled(line, number, path) for number, line in enumerate(lines, start=1) if line.strip()
    ]
    if not found:
        raise BadRequest(f"{path} has no questions.", hint=FORM)
    return tuple(found)


def questions_digest(questions: Sequence[LabelledQuestion]) -> str:
    """First 12 hex digits of the sha256 of what is learnt from: texts, labels and templates, in
    order."""
    return sha256(json.dumps([q[:3] for q in questions], ensure_ascii=False).encode()).hexdigest()[
        :12
    ]


def _labelled(line: str, number: int, path: Path) -> LabelledQuestion:
    try:
        row = json.loads(line)
        question, label = row["question"], row["label"]
        known = (
            isinstance(question, str)
            and question.strip()
            and type(label) is int
            and label in LABELS
        )
    except (ValueError, LookupError, TypeError, RecursionError):
        known = False
    if not known:
        raise BadRequest(f"{path.name}, line {number}, is no labelled question.", hint=FORM)
    return LabelledQuestion(
        question, label, str(row.get("template") or f"line {number}"), str(row.get("field") or "")
    )
