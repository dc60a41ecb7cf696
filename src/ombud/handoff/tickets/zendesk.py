"""Zendesk tickets by the Ticketing API.

https://developer.zendesk.com/api-reference/ticketing/introduction/. A ticket keeps the handoff's
id as `external_id`; the audit of each of our comments names its message in its metadata.
"""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from ombud.errors import BadRequest, NotSignedIn
from ombud.handoff.desks.desk import DeskLink
from ombud.handoff.desks.wire import NoReply
from ombud.handoff.tickets.client import TicketClient
from ombud.handoff.tickets.system import NewTicket, RemoteTicket, TicketComment, TicketState
from ombud.settings import TicketSettings

TICKETS = "/api/v2/tickets"
MESSAGE = "ombud_message"
"""Key in the custom metadata of an audit."""


class TicketFields(BaseModel):
    id: int
    status: str = ""


class OneTicket(BaseModel):
    ticket: TicketFields


class TicketList(BaseModel):
    tickets: list[TicketFields]


class SentFile(BaseModel):
    file_name: str = ""
    content_url: str = ""


class AuditEvent(BaseModel):
    id: int
    type: str = ""
    author_id: int | None = None
    body: str | None = None
    public: bool = False
    attachments: list[SentFile] = []


class AuditMetadata(BaseModel):
    custom: dict[str, Any] = {}


class Audit(BaseModel):
    id: int
    metadata: AuditMetadata = AuditMetadata()
    events: list[AuditEvent] = []


class User(BaseModel):
    id: int | None = None
    name: str = ""


class PageMeta(BaseModel):
    has_more: bool = False
    after_cursor: str | None = None


class AuditPage(BaseModel):
    audits: list[Audit]
    users: list[User] = []
    meta: PageMeta = PageMeta()


class CurrentUser(BaseModel):
    user: User


class AnnouncedTicket(BaseModel):
    id: str | int = ""


class TicketNews(BaseModel):
    detail: AnnouncedTicket = AnnouncedTicket()


class Zendesk:
    """Tickets of an account, in one group if the settings name it."""

    def __init__(self, settings: TicketSettings) -> None:
        self._client = TicketClient(settings, "Zendesk", "/oauth/tokens", "/token")
        self._fields = {
            **({"group_id": settings.queue} if settings.queue else {}),
            **settings.fields,
        }
        self._link = settings.link or f"{self._client.url}/hc/requests/{{id}}"
        # Zendesk takes 64 kB.
        self.longest_comment = 15_000

    async def find(self, handoff_id: str) -> RemoteTicket | None:
        query = {"external_id": handoff_id}
        found = await self._client.ask("GET", TICKETS, TicketList, query=query)
        tickets = sorted(ticket.id for ticket in found.tickets)
        return self._remote(tickets[0]) if tickets else None

    async def create(self, new: NewTicket) -> RemoteTicket:
        ticket = {
            "external_id": new.id,
            "subject": new.subject,
            "comment": {"body": new.description, "public": True},
            "metadata": {MESSAGE: new.id},
            "tags": ["ombud"],
            **self._fields,
        }
        headers = {"idempotency-key": new.id}
        body = {"ticket": ticket}
        created = await self._client.ask("POST", TICKETS, OneTicket, body=body, headers=headers)
        return self._remote(created.ticket.id)

    async def comment(self, ticket_id: str, message_id: str, text: str) -> None:
        ticket = {
            "comment": {"body": text, "public": True},
            "metadata": {MESSAGE: message_id},
        }
        await self._client.ask("PUT", f"{TICKETS}/{ticket_id}", NoReply, body={"ticket": ticket})

    async def read(self, ticket_id: str) -> TicketState:
        ticket = (await self._client.ask("GET", f"{TICKETS}/{ticket_id}", OneTicket)).ticket
        comments = await self._comments(ticket_id)
        return TicketState(ticket.status in {"solved", "closed"}, tuple(comments))

    async def check(self) -> str:
        me = await self._client.ask("GET", "/api/v2/users/me", CurrentUser)
        if me.user.id is None:  # an anonymous visitor
            raise self._client.not_signed_in()
        return f"Zendesk at {self._client.url}, as {me.user.name}"

    @staticmethod
    def announced_ticket(headers: Mapping[str, str], body: bytes, key: bytes) -> str:
        # A replay only causes one more look, so the age of the timestamp does not matter.
        signed = headers.get("x-zendesk-webhook-signature-timestamp", "").encode() + body
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
        signature = headers.get("x-zendesk-webhook-signature", "").encode()
        if not hmac.compare_digest(expected, signature):
            raise NotSignedIn("The signature does not match this webhook.")
        try:
            return str(TicketNews.model_validate_json(body).detail.id)
        except ValidationError:
            raise BadRequest("The webhook is not an event of a ticket.") from None

    async def close(self) -> None:
        await self._client.close()

    def _remote(self, number: int) -> RemoteTicket:
        url = self._link.format(id=number, number=number)
        return RemoteTicket(str(number), f"#{number}", url)

    async def _comments(self, ticket_id: str) -> list[TicketComment]:
        """List all public comments in order; the ids of audits only grow."""
        audits: dict[int, Audit] = {}
        names: dict[int | None, str] = {}
        query = {"page[size]": "100", "include": "users"}
        while True:
            path = f"{TICKETS}/{ticket_id}/audits"
            page = await self._client.ask("GET", path, AuditPage, query=query)
            audits |= {audit.id: audit for audit in page.audits}
            names |= {user.id: user.name for user in page.users}
            if not page.meta.has_more or not page.meta.after_cursor:
                break
            query["page[after]"] = page.meta.after_cursor
        comments: list[TicketComment] = []
        for _, audit in sorted(audits.items()):
            for event in audit.events:
                if event.type == "Comment" and event.public:
                    comments.append(as_comment(event, audit, names.get(event.author_id, "")))
        return comments


def as_comment(event: AuditEvent, audit: Audit, author: str) -> TicketComment:
    links = [DeskLink(name=file.file_name, url=file.content_url) for file in event.attachments]
    message_id = str(audit.metadata.custom.get(MESSAGE, ""))
    return TicketComment(str(event.id), event.body or "", author, message_id, tuple(links))
