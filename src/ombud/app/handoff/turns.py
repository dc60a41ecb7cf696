"""A question inside a conversation: kept before it is answered, so that it outlives who answers."""

from typing import NamedTuple

from ombud.app.workspace import Workspace
from ombud.errors import Busy, NotFound
from ombud.store import append_events, is_held, read_answer, read_events, read_session
from ombud.types import (
    Answer,
    Answered,
    Answering,
    Event,
    Interrupted,
    NewEvent,
    Said,
    Session,
)


class BegunTurn(NamedTuple):
    conversation_id: str
    answer: Answer | None
    """Where the same question was answered already."""


def begin_turn(workspace: Workspace, conversation_id: str, text: str, key: str) -> BegunTurn:
    """Keep the question, and that it is being answered.

    key: UUID of the sender; the same again is the same question. Raises NotFound, IllegalTransition
    where a person has taken over, and Busy where this question is being answered elsewhere."""
    lease = workspace.answering_lease
    begun = NewEvent(by="assistant", what=Answering(owner=lease.name, fence=lease.fence))
    asked = NewEvent(by="user", what=Said(text=text.replace("\0", "")), key=key)
    appended = append_events(workspace.store, conversation_id, lambda _: [asked, begun])
    if appended.is_new:
        return BegunTurn(conversation_id, None)
    earlier = _answer_to(workspace, appended.events[0])
    if earlier is None:
        _begin_again(workspace, conversation_id, begun)
    return BegunTurn(conversation_id, earlier)


def interrupt_turn(workspace: Workspace, conversation_id: str) -> None:
    """The answer that this process was writing will not come. Says nothing where it has come."""
    lease = workspace.answering_lease
    _interrupt(workspace, conversation_id, lease.name, lease.fence)


def recover(workspace: Workspace, session: Session) -> Session:
    """The session, where its answer was begun by somebody who is no more marked as interrupted."""
    if not session.answering:
        return session
    if is_held(workspace.store, session.answering, session.answering_fence):
        return session
    _interrupt(workspace, session.id, session.answering, session.answering_fence)
    return read_session(workspace.store, session.id)


def _interrupt(workspace: Workspace, conversation_id: str, owner: str, fence: int) -> None:
    def decide(session: Session) -> list[NewEvent]:
        if (session.answering, session.answering_fence) != (owner, fence):
            return []
        return [NewEvent(by="system", what=Interrupted())]

    append_events(workspace.store, conversation_id, decide)


def _begin_again(workspace: Workspace, conversation_id: str, begun: NewEvent) -> None:
    session = recover(workspace, read_session(workspace.store, conversation_id))
    if session.answering:
        raise Busy("This question is being answered already.", hint="Its answer comes in a moment.")
    append_events(workspace.store, conversation_id, lambda _: [begun])


def _answer_to(workspace: Workspace, asked: Event) -> Answer | None:
    """The answer that followed a question; None where it has none yet."""
    for event in read_events(workspace.store, asked.conversation_id, asked.place):
        if isinstance(event.what, Said) and event.by == "user":
            return None
        if isinstance(event.what, Answered):
            try:
                return read_answer(workspace.store, event.what.answer_id)
            except NotFound:
                return None
    return None
