"""Conversations that wait at a desk, and what was said in them."""

import asyncio
import uuid
from collections.abc import Callable

from ombud.handoff import Delivery, Pace
from ombud.store import Store, append_events, new_conversation, read_events
from ombud.types import Event, HandedOver, Happening, NewEvent, Party, Person, Said


async def at_once(_seconds: float) -> None:
    await asyncio.sleep(0.001)


QUICK = Pace(sleep=at_once, wait=lambda tries: 0.0)


def add(store: Store, talk: str, what: Happening, by: Party = "user", key: str = "") -> Event:
    appended = append_events(store, talk, lambda _: [NewEvent(by=by, what=what, key=key)])
    return appended.events[0]


def handed_over(store: Store, desk: str, *said: str) -> tuple[str, str]:
    """(conversation, ticket) of a conversation that waits at a desk."""
    talk = new_conversation(store, Person(id="ann", country="GB"))
    for text in said:
        add(store, talk, Said(text=text))
    ticket = str(uuid.uuid4())
    add(store, talk, HandedOver(ticket_id=ticket, desk=desk, reason="asked"), by="system")
    return talk, ticket


def said_by_advisor(store: Store, talk: str) -> list[str]:
    return [event.text for event in read_events(store, talk) if event.by == "advisor"]


async def until(condition: Callable[[], object], delivery: Delivery, tries: int = 5_000) -> None:
    for _ in range(tries):
        if condition():
            return
        delivery.wake()
        await asyncio.sleep(0.005)
    raise AssertionError("it never came to that")
