"""What of a conversation a search may use: never what a hand-over or a refusal was about, and never
the assistant's own wording."""

from ombud.answer import wording
from ombud.answer.triage.pleasantries import pleasantry_of
from ombud.types import Message, Question


def searchable(question: Question) -> Question:
    """The question with what was asked before and with what documents answered to it.

    A turn that was handed to a person or called outside is left out with its answer. Of what was
    not found, or asked back, the asker's words stay and the assistant's go. A greeting or a thank
    you is no turn."""
    kept: list[Message] = []
    was_pleasantry = False
    for message in question.history:
        if message.role == "user":
            was_pleasantry = pleasantry_of(message.content) is not None
            if not was_pleasantry:
                kept.append(message)
        elif was_pleasantry:
            continue
        elif message.role == "assistant" and wording.is_turned_away(message.content):
            _drop_asked(kept)
        elif message.role == "assistant" and not wording.is_own(message.content):
            content = wording.without_own(message.content)
            kept.append(message.model_copy(update={"content": content}))
    return question.model_copy(update={"history": tuple(kept)})


def _drop_asked(kept: list[Message]) -> None:
    """Take back the turns that stand unanswered."""
    while kept and kept[-1].role == "user":
        kept.pop()
