"""What a desk learns of a handoff: its ticket, the history before it, and where it ended."""

from collections.abc import Iterable

from ombud.errors import NotFound
from ombud.handoff.transcripts import citations_of, transcript
from ombud.messages import message
from ombud.store import LineRow, Store, owner_of, read_events, read_session
from ombud.types import (
    Closed,
    Ended,
    Event,
    HandedOver,
    HandoffReason,
    Ticket,
    TicketSource,
)


def reason_in_words(reason: HandoffReason | None) -> str:
    """Say why a conversation was handed over, in the current language."""
    return message(f"desklive.reason_{reason}") if reason else message("desk.not_known")


def ticket_of(store: Store, row: LineRow) -> Ticket:
    """Build the ticket that the desk receives for a line. Raises NotFound if the handoff was
    erased."""
    session = read_session(store, row.conversation_id)
    events = read_events(store, row.conversation_id)
    for place, event in enumerate(events):
        if isinstance(event.what, HandedOver) and event.what.ticket_id == row.ticket_id:
            return Ticket(
                id=row.ticket_id,
                conversation_id=row.conversation_id,
                desk=row.desk,
                reason=event.what.reason,
                topic=event.what.topic,
                asker=session.asker,
                owner=owner_of(store, row.conversation_id),
                consent=event.what.consent,
                sources=cited_sources(store, events[:place]) if event.what.consent else (),
            )
    raise NotFound(f"The hand-over `{row.ticket_id}` was erased.")


def cited_sources(store: Store, events: Iterable[Event]) -> tuple[TicketSource, ...]:
    """Collect the documents that the answers of a conversation cite, each once."""
    sources: dict[str, TicketSource] = {}
    for event in events:
        for citation in citations_of(store, event):
            source = TicketSource(title=citation.title, document_id=citation.document_id)
            sources.setdefault(citation.document_id, source)
    return tuple(sources.values())


def history_before(store: Store, handover: Event, public_url: str) -> str:
    """Write out what was said before a handoff; empty if the employee did not agree to pass it
    on."""
    if isinstance(handover.what, HandedOver) and handover.what.consent is False:
        return ""
    events = read_events(store, handover.conversation_id)
    earlier = [event for event in events if event.place < handover.place]
    return transcript(store, earlier, public_url)


def end_of(store: Store, row: LineRow) -> int | None:
    """Find the place of the event that ended a line's handoff; None while it is open."""
    is_open = False
    for event in read_events(store, row.conversation_id):
        if isinstance(event.what, HandedOver):
            is_open = event.what.ticket_id == row.ticket_id
        elif is_open and isinstance(event.what, Ended | Closed):
            return event.place
    return None
