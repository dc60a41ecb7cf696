"""A conversation as text: what an advisor is given first, and what the employee may take away."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from ombud.types import Answered, Ended, Event, HandedOver, Joined, Party, Said

WHO: Mapping[Party, str] = {
    "user": "Employee",
    "assistant": "Assistant",
    "advisor": "Advisor",
    "system": "Notice",
    "desk": "Notice",
}


def transcript(events: Iterable[Event]) -> str:
    """Every message with its time in UTC and who said it; who came and went. Empty where nothing
    was said."""
    return "\n\n".join(line for line in map(_entry, events) if line)


def parts_of(text: str, longest: int) -> list[str]:
    """The text as it is, or in parts of at most `longest` characters, each with its number:
    `[1/3] ...`. They are cut between words where that is possible.

    Raises ValueError where `longest` leaves no room for words.
    """
    if len(text) <= longest:
        return [text]
    room = longest - len("[999/999] ")
    if room < 1:
        raise ValueError(f"{longest} characters leave no room for a numbered part")
    pieces = list(_cut(text, room))
    return [f"[{place}/{len(pieces)}] {piece}" for place, piece in enumerate(pieces, start=1)]


def _cut(text: str, room: int) -> Iterator[str]:
    while text:
        if len(text) <= room:
            yield text
            return
        border = max(text.rfind(mark, 0, room) for mark in "\n ")
        # A border far ahead of the end would make many short parts.
        end = border + 1 if border > room // 2 else room
        yield text[:end]
        text = text[end:]


def _entry(event: Event) -> str:
    what = event.what
    if isinstance(what, Joined):
        return f"[{_time(event.at)}] {what.name} joined."
    if isinstance(what, HandedOver):
        return f"[{_time(event.at)}] Handed over to a person."
    if isinstance(what, Ended):
        return f"[{_time(event.at)}] The conversation with a person ended."
    if not isinstance(what, Said | Answered):
        return ""
    who = WHO[event.by]
    if isinstance(what, Said) and what.name:
        who = f"{what.name} ({who.lower()})"
    return f"[{_time(event.at)}] {who}: {event.text}"


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
