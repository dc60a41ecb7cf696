"""What an answer says of words that were corrected."""

from collections.abc import Sequence

from ombud.answer import wording
from ombud.types import Correction, Question


def with_reading(text: str, changes: Sequence[Correction]) -> str:
    """The text of an answer, and after it which words were corrected."""
    if not changes:
        return text
    pairs = [(change.typed, change.meant) for change in changes]
    return f"{text.rstrip()}\n\n{wording.read_as(pairs)}"


def without_changes(question: Question, changes: Sequence[Correction]) -> Question:
    """The question without the words that were put in place of what was typed."""
    text = question.text
    for change in changes:
        text = text.replace(change.meant, " ")
    return question.model_copy(update={"text": text})
