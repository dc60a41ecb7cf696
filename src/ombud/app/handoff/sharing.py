"""Conversations shared by a link: whoever opens it reads the answers whose documents they may read.

Permissions are checked when the link is opened. It shows questions and answers of the assistant,
and nothing that was written to or by an advisor."""

from collections.abc import Iterator
from typing import NamedTuple

from ombud.app import asking, library
from ombud.app.workspace import Workspace
from ombud.errors import NotAllowed, NotFound
from ombud.messages import message
from ombud.store import (
    ShareLink,
    find_document,
    find_share,
    owner_of,
    read_events,
    read_session,
    read_title,
    share_conversation,
)
from ombud.types import Account, Answer, Answered, Event, Person, Said


class SharedTurn(NamedTuple):
    question: str
    answer: Answer | None
    """None if the reader may not read a document that it rests on."""


class SharedConversation(NamedTuple):
    title: str
    turns: list[SharedTurn]


def share(workspace: Workspace, conversation_id: str, owner: Account | None) -> ShareLink:
    """Make the link of a conversation, or extend the present one to its latest answer. Raises
    NotAllowed where nobody signs in, because nobody's permissions could be checked."""
    if owner is None:
        raise NotAllowed(message("chat.share_needs_sign_in"))
    last = read_session(workspace.store, conversation_id).last
    return share_conversation(workspace.store, conversation_id, last)


def open_link(workspace: Workspace, secret: str, reader: Account | None) -> SharedConversation:
    """Return what a reader may see of a shared conversation. Raises NotFound if the link was
    withdrawn or its conversation is no longer kept, NotAllowed where nobody signs in."""
    if reader is None:
        raise NotAllowed(message("chat.share_needs_sign_in"))
    link = find_share(workspace.store, secret=secret)
    if link is None or not owner_of(workspace.store, link.conversation_id):
        raise NotFound(message("chat.share_ended"))
    events = read_events(workspace.store, link.conversation_id)
    shown = [event for event in events if event.place <= link.place]
    turns = list(turns_for(workspace, shown, reader.person))
    title = read_title(workspace.store, link.conversation_id)
    return SharedConversation(title or (turns[0].question if turns else ""), turns)


def turns_for(workspace: Workspace, events: list[Event], reader: Person) -> Iterator[SharedTurn]:
    """Yield each question that the assistant answered; an answer that was erased is left out."""
    question = ""
    for event in events:
        what = event.what
        if isinstance(what, Said) and event.by == "user":
            question = what.text
        if not isinstance(what, Answered):
            continue
        try:
            answer = asking.stored_answer(workspace, what.answer_id)
        except NotFound:
            continue
        yield SharedTurn(question, answer if may_see(workspace, answer, reader) else None)


def may_see(workspace: Workspace, answer: Answer, reader: Person) -> bool:
    """Tell whether a person may read all documents that an answer rests on: those that it cites
    and, if some of it has no citation, every document that was found for it."""
    cited = [*answer.citations, *(condition.citation for condition in answer.conditions)]
    documents = {(citation.document_id, citation.version) for citation in cited}
    if not answer.is_answered or not all(claim.citations for claim in answer.claims):
        documents |= {(chunk.rpartition("-")[0], "") for chunk in answer.trace.evidence}
    return all(is_open(workspace, *document, reader) for document in documents)


def is_open(workspace: Workspace, document_id: str, version: str, reader: Person) -> bool:
    try:
        stored = find_document(workspace.store, document_id, version, removed=True)
    except NotFound:
        return False
    return library.may_read(stored, reader, of_any_country=True)
