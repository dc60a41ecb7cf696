"""Turns of a conversation: the question is stored before it is answered, so that it survives a
crash."""

from typing import NamedTuple

from ombud.app.workspace import Workspace
from ombud.errors import Busy, NotFound
from ombud.store import append_events, has_lease, read_answer, read_events, read_session
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
    """A turn that has begun."""

    conversation_id: str
    question_id: str
    """Id of the question's event."""
    answer: Answer | None
    """The answer, if the same question was answered before."""


def begin_turn(workspace: Workspace, conversation_id: str, text: str, key: str) -> BegunTurn:
    """Store the question and that it is being answered. key: UUID made by the sender; a repeated
    key is the same question.

    Raises NotFound, IllegalTransition if a person has taken over, and Busy if another process is
    answering this question.
    """
    lease = workspace.answering_lease
    begun = NewEvent(by="assistant", what=Answering(owner=lease.name, fence=lease.fence))
    question = NewEvent(by="user", what=Said(text=text.replace("\0", "")), key=key)
    appended = append_events(workspace.store, conversation_id, lambda _: [question, begun])
    if appended.is_new:
        return BegunTurn(conversation_id, appended.events[0].id, None)
    question_event = appended.events[0]
    earlier = answer_to(workspace, question_event)
    if earlier is None:
        begin_again(workspace, conversation_id, begun)
    return BegunTurn(conversation_id, question_event.id, earlier)


def interrupt_turn(workspace: Workspace, conversation_id: str) -> None:
    """Record that this process will not finish its answer; do nothing if the answer is stored."""
    lease = workspace.answering_lease
    interrupt(workspace, conversation_id, lease.name, lease.fence)


def recover(workspace: Workspace, session: Session) -> Session:
    """Return the session, with its answer marked as interrupted if the process that began it has
    ended."""
    if not session.answering:
        return session
    if has_lease(workspace.store, session.answering, session.answering_fence):
        return session
    interrupt(workspace, session.id, session.answering, session.answering_fence)
    return read_session(workspace.store, session.id)


def interrupt(workspace: Workspace, conversation_id: str, owner: str, fence: int) -> None:
    def decide(session: Session) -> list[NewEvent]:
        if (session.answering, session.answering_fence) != (owner, fence):
            return []
        return [NewEvent(by="system", what=Interrupted())]

    append_events(workspace.store, conversation_id, decide)


def begin_again(workspace: Workspace, conversation_id: str, begun: NewEvent) -> None:
    session = recover(workspace, read_session(workspace.store, conversation_id))
    if session.answering:
        raise Busy(
            "This question is being answered already.", hint="Its answer will follow shortly."
        )
    append_events(workspace.store, conversation_id, lambda _: [begun])


def answer_to(workspace: Workspace, question: Event) -> Answer | None:
    """Return the answer to a stored question; None if there is none yet."""
    events = read_events(workspace.store, question.conversation_id)
    others = {event.id for event in events if event.by == "user" and event.id != question.id}
    is_last = True
    for event in events[question.place :]:
        if isinstance(event.what, Said) and event.by == "user":
            is_last = False
        if not isinstance(event.what, Answered):
            continue
        try:
            answer = read_answer(workspace.store, event.what.answer_id)
        except NotFound:
            continue
        # Answers stored earlier do not name their question.
        is_unnamed = is_last and answer.question_id not in others
        if answer.question_id == question.id or is_unnamed:
            return answer
    return None
