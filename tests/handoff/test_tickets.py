"""Ticket systems: what a new ticket says, whose secret counts, and webhooks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest

from handoff.memory import Memory, new_ticket
from handoff.ticket_services import SECRET, SERVICES, WEBHOOK_KEY, Stored, TicketService, serving
from ombud.errors import BadSetting, HandoffError, NotSignedIn
from ombud.handoff import Outgoing, open_tickets, ticket_system
from ombud.handoff.tickets.line import TicketDesk
from ombud.settings import TicketSettings
from ombud.types import Ticket, TicketSource

BY_CLIENT, BY_USER = {"client": "client"}, {"user": "ombud@example.org"}


@pytest.fixture(params=SERVICES)
def service(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> TicketService:
    monkeypatch.setenv("TICKETS_SECRET", SECRET)
    return SERVICES[request.param]()


@asynccontextmanager
async def desk_at(service: TicketService, **values: Any) -> AsyncIterator[TicketDesk]:
    async with serving(service):
        settings = TicketSettings.model_validate(
            {**service.settings, "url": service.url, **(values or BY_CLIENT)}
        )
        desk = open_tickets(settings, "https://ombud.example/")
        assert desk is not None
        try:
            yield desk
        finally:
            await desk.close()


def description_of(stored: Stored) -> str:
    return str(stored.body)


async def opened(service: TicketService, ticket: Ticket, **values: Any) -> Stored:
    """Open a ticket as a process does that is killed, and as the one that takes over."""
    memory = Memory()
    async with desk_at(service, **values) as desk:
        await desk.line(ticket, memory).open()
        await desk.line(ticket, memory).open()
        await desk.line(ticket, Memory()).open()  # as after a restored backup
    stored = service.of(ticket.id)
    assert stored is not None
    return stored


@pytest.mark.parametrize("account", [BY_CLIENT, BY_USER])
def test_a_ticket_names_topic_sources_and_consent_once(
    service: TicketService, account: dict[str, str]
) -> None:
    source = TicketSource(title="Leave policy", document_id="d1")
    ticket = new_ticket().model_copy(update={"consent": True, "sources": (source,)})
    written = description_of(asyncio.run(opened(service, ticket, **account)))
    for part in ("parental leave", "GB", "Leave policy", "https://ombud.example/documents/d1"):
        assert part in written
    assert "the employee agreed" in written
    declined = ticket.model_copy(update={"id": str(uuid4()), "consent": False, "sources": ()})
    written = description_of(asyncio.run(opened(service, declined, **account)))
    assert "did not agree" in written
    assert len(service.tickets) == 2


def test_the_employee_is_given_number_and_link_then_comments(service: TicketService) -> None:
    async def talk() -> list[Any]:
        ticket, memory = new_ticket(), Memory()
        async with desk_at(service) as desk:
            line = desk.line(ticket, memory)
            await line.open()
            message = Outgoing(id=str(uuid4()), text="Grüße 🏡\n\n(ombud quoted)")
            await line.send(message)
            await desk.line(ticket, memory).send(message)
            stored = service.of(ticket.id)
            assert stored is not None
            assert service.texts(stored) == [message.text]
            service.reply(stored, "only for colleagues", public=False)
            service.reply(stored, message.text)  # an agent quotes it
            stored.is_closed = True
            return [event async for event in line.events()]

    notice, quoted, ended = asyncio.run(talk())
    (link,) = notice.links
    assert "100" in link.name
    assert link.url.startswith(service.url)
    assert quoted.text == "Grüße 🏡\n\n(ombud quoted)"
    assert ended.kind == "ended"


def test_a_wrong_secret_is_told_with_its_variable(
    service: TicketService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check() -> str:
        async with desk_at(service) as desk:
            return await desk.system.check()

    assert "http://127.0.0.1" in asyncio.run(check())
    service.secret = "another"
    service.tokens.clear()
    with pytest.raises(HandoffError) as wrong:
        asyncio.run(check())
    assert "TICKETS_SECRET" in wrong.value.hint
    monkeypatch.delenv("TICKETS_SECRET")
    with pytest.raises(BadSetting) as missing:
        asyncio.run(check())
    assert "TICKETS_SECRET" in missing.value.hint


@pytest.mark.parametrize("name", ["jira", "zendesk"])
def test_a_webhook_counts_only_with_its_signature(name: str) -> None:
    system, stored = ticket_system(name), Stored("77", 77, {}, 0.0)
    announced = SERVICES[name]().announcement(stored)
    assert announced is not None
    headers, body = announced
    assert system.announced_ticket(headers, body, WEBHOOK_KEY) == "77"
    for changed in (
        (headers, body + b" ", WEBHOOK_KEY),
        ({}, body, WEBHOOK_KEY),
        (headers, body, b"x"),
    ):
        with pytest.raises(NotSignedIn):
            system.announced_ticket(*changed)
