"""What is said of a question that was read otherwise than it was typed."""

from collections.abc import Sequence

from ombud.answer import wording
from ombud.answer.proof.citing import Composed
from ombud.text import SpellingChange, analyse
from ombud.types import Question


def with_reading(text: str, composed: Composed, changes: Sequence[SpellingChange]) -> str:
    """The text of an answer, and after it how mistyped words were read. Only words that stand in
    what the asker is shown are said: others may be of documents that are not for them."""
    shown_terms = _shown_terms(composed)
    said: list[tuple[str, str]] = []
    for change in changes:
        if shown_terms.issuperset(analyse(change.meant)):
            said.append((change.typed, change.meant))
    return f"{text.rstrip()}\n\n{wording.read_as(said)}" if said else text


def without_changes(question: Question, changes: Sequence[SpellingChange]) -> Question:
    """The question without the words that were put in place of what was typed."""
    text = question.text
    for change in changes:
        text = text.replace(change.meant, " ")
    return question.model_copy(update={"text": text})


def _shown_terms(composed: Composed) -> set[str]:
    shown = [composed.text]
    for citation in composed.citations:
        shown += [citation.title, *citation.trail]
    return set(analyse("\n".join(shown)))
