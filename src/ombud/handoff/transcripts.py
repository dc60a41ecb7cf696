"""Text of a conversation: what the advisor receives first, and what the employee may download."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from ombud.errors import NotFound
from ombud.messages import message
from ombud.store import Store, read_answer
from ombud.types import Answered, Citation, Ended, Event, HandedOver, Joined, Party, Said

WHO: Mapping[Party, str] = {
    "user": "notices.who_user",
    "assistant": "notices.who_assistant",
    "advisor": "notices.who_advisor",
    "system": "notices.who_system",
    "desk": "notices.who_system",
}


def transcript(store: Store, events: Iterable[Event], public_url: str) -> str:
    """Write out every message with its sender and time in UTC, the sources of each answer, and who
    came and went. Empty if there is no message."""
    lines: list[str] = []
    for event in events:
        line = transcript_line(event)
        if line:
            lines.append(line + source_list(store, event, public_url))
    return "\n\n".join(lines)


def source_list(store: Store, event: Event, public_url: str) -> str:
    """List the title and link of each source of an answer, one a line, below its text. Empty for
    other events and for erased answers. public_url: address of our own pages; without one titles
    stand alone."""
    lines: list[str] = []
    for number, citation in enumerate(citations_of(store, event), start=1):
        linked = linked_title(citation.title, citation.document_id, public_url)
        lines.append(f"\n[{number}] {linked}")
    return "".join(lines)


def citations_of(store: Store, event: Event) -> Sequence[Citation]:
    """Return what an answer cites; nothing for other events and for erased answers."""
    if not isinstance(event.what, Answered) or not event.what.answer_id:
        return ()
    try:
        return read_answer(store, event.what.answer_id).citations
    except NotFound:
        return ()


def linked_title(title: str, document_id: str, public_url: str) -> str:
    return f"{title} {public_url}/documents/{document_id}" if public_url else title


def parts_of(text: str, longest: int) -> list[str]:
    """Split a text into numbered parts of at most `longest` characters, `[1/3] ...`, between words
    where possible; a short text is returned whole.

    Raises ValueError if `longest` leaves no room for text.
    """
    if len(text) <= longest:
        return [text]
    room = longest - len("[999/999] ")
    if room < 1:
        raise ValueError(f"{longest} characters leave no room for a numbered part")
    pieces = list(split_text(text, room))
    return [f"[{place}/{len(pieces)}] {piece}" for place, piece in enumerate(pieces, start=1)]


def split_text(text: str, room: int) -> Iterator[str]:
    while text:
        if len(text) <= room:
            yield text
            return
        border = max(text.rfind(mark, 0, room) for mark in "\n ")
        # Cutting at an early break would make many short parts.
        end = border + 1 if border > room // 2 else room
        yield text[:end]
        text = text[end:]


def transcript_line(event: Event) -> str:
    what = event.what
    if isinstance(what, Joined):
        return f"[{format_time(event.at)}] {message('notices.joined', name=what.name)}"
    if isinstance(what, HandedOver):
        return f"[{format_time(event.at)}] {message('notices.handed_over')}"
    if isinstance(what, Ended):
        return f"[{format_time(event.at)}] {message('notices.person_ended')}"
    if not isinstance(what, Said | Answered):
        return ""
    who = message(WHO[event.by])
    if isinstance(what, Said) and what.name:
        who = message("notices.named", name=what.name, who=who)
    return f"[{format_time(event.at)}] {message('notices.line', who=who, text=event.text)}"


def format_time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
