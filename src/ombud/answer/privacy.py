"""What models that are not on this machine see of sensitive messages: `models.sensitive`.

Kept from them is what triage on this machine calls sensitive, and every later turn of a
conversation that holds such a message or a hand-over: what is asked then is seldom free of it."""

from collections.abc import Sequence
from typing import NamedTuple

from ombud.answer.languages import wording
from ombud.answer.parts import AnswerParts
from ombud.answer.triage.checking import Triage
from ombud.models import Chat, is_remote
from ombud.retrieve import SearchParts, classify
from ombud.text import redact
from ombud.types import PRIVACY, Message, Question, ResolvedQuestion


class Guarded(NamedTuple):
    """A question, and the models that it may be put before."""

    question: Question
    parts: AnswerParts
    degraded: tuple[str, ...] = ()


def guard(question: Question, parts: AnswerParts, *, is_private: bool) -> Guarded:
    """Return the question with the models that may see it; those on this machine see it all.

    is_private: it or its conversation holds something sensitive."""
    policy = parts.settings.models.sensitive
    names = remote_names(parts.knowledge, parts.chat, parts.verifier)
    if policy == "allowed" or not names or not is_private:
        return Guarded(question, parts)
    if policy == "redacted":
        redacted = question.model_copy(update={"text": redact(question.text), "history": ()})
        note = f"{PRIVACY}{_listed(names)} got this without names, numbers and what was said before"
        return Guarded(redacted, parts, (note,))
    note = f"{PRIVACY}kept from {_listed(names)}, which no sensitive conversation reaches"
    local = parts._replace(
        knowledge=_on_this_machine(parts.knowledge),
        chat=_local_only(parts.chat),
        verifier=_local_only(parts.verifier),
    )
    return Guarded(question, local, (note,))


def guard_search(resolved: ResolvedQuestion, parts: AnswerParts) -> Guarded:
    """Return the same for a question that is only searched for."""
    parts = parts._replace(chat=None, verifier=None)
    is_private = resolved.is_private or parts.triage.question(resolved).matter is not None
    return guard(resolved.for_search(), parts, is_private=is_private)


def was_handed_over(history: Sequence[Message]) -> bool:
    """Tell from our own words whether a message in it was handed over; cheap enough for a long
    conversation, of which only the last turns are read again."""
    answers = [message.content for message in history if message.role == "assistant"]
    return any(map(wording.is_handed_over, answers))


def follows_sensitive(history: Sequence[Message], triage: Triage) -> bool:
    """Tell whether something in a conversation is sensitive, or was handed over."""
    messages = [turn.content for turn in history if turn.role == "user"]
    return was_handed_over(history) or triage.is_sensitive(messages)


def refining_knowledge(parts: AnswerParts) -> SearchParts:
    """Return the search parts for triage, whose chat model may see any message. It is a local one
    where remote models may not see sensitive messages."""
    knowledge = parts.knowledge
    if parts.settings.models.sensitive == "allowed":
        return knowledge
    return knowledge._replace(chat=_local_only(knowledge.chat))


def remote_names(knowledge: SearchParts, *writing: Chat | None) -> tuple[str, ...]:
    """Return the names of the remote models of a search and of those in `writing`, without
    repetition."""
    names: dict[str, None] = {}
    for role in (knowledge.chat, knowledge.ranker, *writing):
        if role:
            names.update(dict.fromkeys(role.remote_models))
    if knowledge.embedder and is_remote(knowledge.embedder):
        names[knowledge.embedder.fingerprint] = None
    if knowledge.cross_encoder and is_remote(knowledge.cross_encoder):
        names[knowledge.cross_encoder.name] = None
    return tuple(names)


def _on_this_machine(knowledge: SearchParts) -> SearchParts:
    """Leave out remote models. Without an embedder the search is by words only, because an index
    holds the vectors of one embedder."""
    embedder = knowledge.embedder
    cross_encoder = knowledge.cross_encoder
    if embedder and is_remote(embedder):
        knowledge = knowledge._replace(embedder=None, router=classify)
    if cross_encoder and is_remote(cross_encoder):
        knowledge = knowledge._replace(cross_encoder=None)
    return knowledge._replace(
        chat=_local_only(knowledge.chat), ranker=_local_only(knowledge.ranker)
    )


def _local_only(chat: Chat | None) -> Chat | None:
    return chat.on_this_machine() if chat else None


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
