"""What models that are not on this machine see of sensitive messages: `models.sensitive`.

Kept from them is what triage on this machine calls sensitive, and every later turn of a
conversation that holds such a message or a hand-over: what is asked then is seldom free of it."""

from collections.abc import Sequence
from typing import NamedTuple

from ombud.answer import wording
from ombud.answer.parts import AnswerParts
from ombud.answer.triage.classifying import Triage, TriageResult, open_triage
from ombud.answer.triage.following import triaged_message, triaged_turn
from ombud.errors import BadSetting
from ombud.models import Chat, Embedder, is_remote
from ombud.retrieve import SearchParts, classify
from ombud.settings import ModelSettings
from ombud.text import redact
from ombud.types import PRIVACY, Message, Question


class Guarded(NamedTuple):
    """A question, and whom it may be put before."""

    question: Question
    parts: AnswerParts
    degraded: tuple[str, ...] = ()


def guard(
    question: Question, parts: AnswerParts, triaged: TriageResult, *, is_private: bool = False
) -> Guarded:
    """The question with the models that it may be put before. Those on this machine see it all.

    is_private: it is known already that its conversation holds something sensitive."""
    policy = parts.settings.models.sensitive
    names = remote_names(parts.knowledge, parts.chat, parts.verifier)
    if policy == "allowed" or not names:
        return Guarded(question, parts)
    triage = parts.triage or open_triage(parts.sensitive)
    if not (is_private or triaged.matter or follows_sensitive(question.history, triage)):
        return Guarded(question, parts)
    if policy == "redacted":
        redacted = question.model_copy(update={"text": redact(question.text), "history": ()})
        note = f"{PRIVACY}{_listed(names)} got this without names, numbers and what was said before"
        return Guarded(redacted, parts, (note,))
    note = f"{PRIVACY}kept from {_listed(names)}, which no sensitive conversation reaches"
    kept = parts._replace(
        knowledge=_on_this_machine(parts.knowledge),
        chat=_kept_here(parts.chat),
        verifier=_kept_here(parts.verifier),
    )
    return Guarded(question, kept, (note,))


def guard_search(
    question: Question, typed: Question, parts: AnswerParts, *, is_private: bool = False
) -> Guarded:
    """The same for a question that is only searched for. typed: as it came in, before words were
    read otherwise."""
    parts = parts._replace(chat=None, verifier=None)
    triage = parts.triage or open_triage(parts.sensitive)
    triaged = triaged_message(triage, question, typed, parts.knowledge.engine)
    return guard(question, parts, triaged, is_private=is_private)


def was_handed_over(history: Sequence[Message]) -> bool:
    """Tell from our own words whether a message in it was handed over; cheap enough for a long
    conversation, of which only the last turns are read again."""
    answers = [message.content for message in history if message.role == "assistant"]
    return any(map(wording.is_handed_over, answers))


def follows_sensitive(history: Sequence[Message], triage: Triage) -> bool:
    """Whether something in it is sensitive, or was handed over."""
    for place, message in enumerate(history):
        if message.role == "assistant" and wording.is_handed_over(message.content):
            return True
        if message.role != "user":
            continue
        if triaged_turn(triage, message.content, history[:place]).matter:
            return True
    return False


def refining_knowledge(parts: AnswerParts) -> SearchParts:
    """With the chat model that triage may put any message before: where remote ones are to see none
    that is sensitive, they cannot be asked whether one is."""
    knowledge = parts.knowledge
    if parts.settings.models.sensitive == "allowed":
        return knowledge
    return knowledge._replace(chat=_kept_here(knowledge.chat))


def remote_names(knowledge: SearchParts, *writing: Chat | None) -> tuple[str, ...]:
    """The models of a search that are not on this machine, and those among `writing`, each once."""
    names: dict[str, None] = {}
    for role in (knowledge.chat, knowledge.ranker, *writing):
        if role:
            names.update(dict.fromkeys(role.remote_models))
    if knowledge.embedder and is_remote(knowledge.embedder):
        names[knowledge.embedder.fingerprint] = None
    if knowledge.cross_encoder and is_remote(knowledge.cross_encoder):
        names[knowledge.cross_encoder.name] = None
    return tuple(names)


def triage_embedder(
    embedder: Embedder | None, settings: ModelSettings, *, needs_vectors: bool
) -> Embedder | None:
    """What triage may read every message with; None where that would send what is sensitive away.
    Raises BadSetting where triage can do nothing without it."""
    if embedder is None or settings.sensitive == "allowed" or not is_remote(embedder):
        return embedder
    if needs_vectors:
        raise BadSetting(
            "Triage by vectors would send every message, also sensitive ones, to "
            f"{embedder.fingerprint}.",
            hint="Train weights with `python -m research.training.triage --no-vectors`, or set "
            'models.sensitive = "allowed".',
        )
    return None


def _on_this_machine(knowledge: SearchParts) -> SearchParts:
    """Without an embedder search is by words, and every trace says so; there is no second one
    beside it, for an index holds vectors of one."""
    embedder = knowledge.embedder
    cross_encoder = knowledge.cross_encoder
    if embedder and is_remote(embedder):
        knowledge = knowledge._replace(embedder=None, router=classify)
    if cross_encoder and is_remote(cross_encoder):
        knowledge = knowledge._replace(cross_encoder=None)
    return knowledge._replace(chat=_kept_here(knowledge.chat), ranker=_kept_here(knowledge.ranker))


def _kept_here(chat: Chat | None) -> Chat | None:
    return chat.on_this_machine() if chat else None


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
