"""Questions with the number of passages that settle them: the shipped set, and a file of one's
own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from research.training.labelled import ExampleFormat, examples_digest, read_examples

SHIPPED = Path(__file__).with_name("questions.jsonl")
"""960 questions over eight policy fields, written for this project by hand; no template more than
five times."""
LABELS = (0, 1, 2)
FORMAT = ExampleFormat(
    noun="question",
    hint='Such as {"question": "...", "label": 0}, one a line; '
    "0 is one passage, 1 two, 2 three or more.",
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
    return read_examples(path, FORMAT, _parse)


def texts_of(questions: Sequence[LabelledQuestion]) -> list[str]:
    return [question.question for question in questions]


def labels_of(questions: Sequence[LabelledQuestion]) -> list[int]:
    return [question.label for question in questions]


def templates_of(questions: Sequence[LabelledQuestion]) -> list[str]:
    return [question.template for question in questions]


def questions_digest(questions: Sequence[LabelledQuestion]) -> str:
    """Of texts, labels and templates, in order."""
    return examples_digest([question[:3] for question in questions])


def _parse(row: dict[str, Any], number: int) -> LabelledQuestion | None:
    text = row["question"]
    label = row["label"]
    if not isinstance(text, str) or not text.strip():
        return None
    # JSON's true is an int to Python, and no label.
    if type(label) is not int or label not in LABELS:
        return None
    return LabelledQuestion(
        question=text,
        label=label,
        template=str(row.get("template") or f"line {number}"),
        field=str(row.get("field") or ""),
    )
