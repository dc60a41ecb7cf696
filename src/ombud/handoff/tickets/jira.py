"""Requests of Jira Service Management, Cloud and Data Center.

https://developer.atlassian.com/cloud/jira/service-desk/rest/. A request has no field of ours that
every portal shows, so its summary ends with a reference to the handoff. Comments are written by
the platform's API, where a property names their message.
"""

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from ombud.errors import BadRequest, BadSetting, NotSignedIn
from ombud.handoff.desks.wire import NoReply
from ombud.handoff.tickets.client import TicketClient
from ombud.handoff.tickets.system import NewTicket, RemoteTicket, TicketComment, TicketState
from ombud.settings import TicketSettings

REQUESTS = "/rest/servicedeskapi/request"
PROPERTY = "ombud"


class StatusReply(BaseModel):
    statusCategory: str = ""  # noqa: N815 - theirs


class FieldValue(BaseModel):
    fieldId: str = ""  # noqa: N815
    value: Any = None


class Moment(BaseModel):
    epochMillis: int = 0  # noqa: N815


class WebLinks(BaseModel):
    web: str = ""


class CustomerRequest(BaseModel):
    issueId: str  # noqa: N815
    issueKey: str  # noqa: N815
    currentStatus: StatusReply = StatusReply()  # noqa: N815
    createdDate: Moment = Moment()  # noqa: N815
    requestFieldValues: list[FieldValue] = []  # noqa: N815
    links: WebLinks = WebLinks()

    def __init__(self, **data: Any) -> None:
        super().__init__(**{"links": data.get("_links", {}), **data})


class RequestPage(BaseModel):
    isLastPage: bool = True  # noqa: N815
    values: list[CustomerRequest]


class EntityProperty(BaseModel):
    key: str
    value: Any = None


class Author(BaseModel):
    displayName: str = ""  # noqa: N815


class IssueComment(BaseModel):
    id: str
    body: str = ""
    author: Author = Author()
    jsdPublic: bool = False  # noqa: N815
    properties: list[EntityProperty] = []


class CommentPage(BaseModel):
    total: int = 0
    comments: list[IssueComment]


class AnnouncedIssue(BaseModel):
    id: str = ""


class IssueNews(BaseModel):
    issue: AnnouncedIssue = AnnouncedIssue()


class JiraServiceManagement:
    """Requests of one type in one service desk."""

    def __init__(self, settings: TicketSettings) -> None:
        if not settings.queue or not settings.request_type:
            raise BadSetting(
                "The service desk or its request type is missing.",
                hint="Set tickets.queue and tickets.request_type to their ids.",
            )
        self._client = TicketClient(settings, "Jira", "/oauth/token")
        self._desk = settings.queue
        self._request_type = settings.request_type
        self._fields = settings.fields
        self._link = settings.link
        # Jira takes 32,767 characters.
        self.longest_comment = 30_000

    async def find(self, handoff_id: str) -> RemoteTicket | None:
        reference = reference_of(handoff_id)
        query = {
            "serviceDeskId": self._desk,
            "requestOwnership": "OWNED_REQUESTS",
            "searchTerm": reference,
        }
        page = await self._client.ask("GET", REQUESTS, RequestPage, query=query)
        own = [request for request in page.values if reference in summary_of(request)]
        if not own:
            return None
        return self._remote(min(own, key=lambda request: request.createdDate.epochMillis))

    async def create(self, new: NewTicket) -> RemoteTicket:
        values = {
            "summary": f"{new.subject} ({reference_of(new.id)})",
            "description": new.description,
            **self._fields,
        }
        body = {
            "serviceDeskId": self._desk,
            "requestTypeId": self._request_type,
            "requestFieldValues": values,
        }
        return self._remote(await self._client.ask("POST", REQUESTS, CustomerRequest, body=body))

    async def comment(self, ticket_id: str, message_id: str, text: str) -> None:
        properties = [
            {"key": PROPERTY, "value": {"id": message_id}},
            {"key": "sd.public.comment", "value": {"internal": False}},
        ]
        body = {"body": text, "properties": properties}
        await self._client.ask("POST", comments_path(ticket_id), NoReply, body=body)

    async def read(self, ticket_id: str) -> TicketState:
        request = await self._client.ask("GET", f"{REQUESTS}/{ticket_id}", CustomerRequest)
        comments = [as_comment(one) for one in await self._comments(ticket_id) if one.jsdPublic]
        is_closed = request.currentStatus.statusCategory == "DONE"
        return TicketState(is_closed=is_closed, comments=tuple(comments))

    async def check(self) -> str:
        path = f"/rest/servicedeskapi/servicedesk/{self._desk}/requesttype/{self._request_type}"
        await self._client.ask("GET", path, NoReply)
        return f"Jira at {self._client.url}, service desk {self._desk}"

    @staticmethod
    def announced_ticket(headers: Mapping[str, str], body: bytes, key: bytes) -> str:
        expected = f"sha256={hmac.new(key, body, hashlib.sha256).hexdigest()}"
        if not hmac.compare_digest(expected.encode(), headers.get("x-hub-signature", "").encode()):
            raise NotSignedIn("The signature does not match this webhook.")
        try:
            return IssueNews.model_validate_json(body).issue.id
        except ValidationError:
            raise BadRequest("The webhook is not one of Jira.") from None

    async def close(self) -> None:
        await self._client.close()

    def _remote(self, request: CustomerRequest) -> RemoteTicket:
        url = self._link.format(id=request.issueId, number=request.issueKey)
        return RemoteTicket(request.issueId, request.issueKey, url or request.links.web)

    async def _comments(self, ticket_id: str) -> list[IssueComment]:
        """List all comments in order; their ids only grow."""
        comments: dict[str, IssueComment] = {}
        while True:
            query = {
                "expand": "properties",
                "orderBy": "created",
                "startAt": str(len(comments)),
                "maxResults": "100",
            }
            page = await self._client.ask("GET", comments_path(ticket_id), CommentPage, query=query)
            comments |= {comment.id: comment for comment in page.comments}
            if len(comments) >= page.total or not page.comments:
                return sorted(comments.values(), key=lambda comment: int(comment.id))


def reference_of(handoff_id: str) -> str:
    """Make one word of a handoff's id, as a text index splits at hyphens."""
    return f"ombud{handoff_id.replace('-', '')}"


def summary_of(request: CustomerRequest) -> str:
    for field in request.requestFieldValues:
        if field.fieldId == "summary":
            return str(field.value)
    return ""


def comments_path(ticket_id: str) -> str:
    return f"/rest/api/2/issue/{ticket_id}/comment"


def as_comment(comment: IssueComment) -> TicketComment:
    message_id = ""
    for entry in comment.properties:
        if entry.key == PROPERTY and isinstance(entry.value, dict):
            message_id = str(entry.value.get("id", ""))
    author = comment.author.displayName
    return TicketComment(comment.id, comment.body, author, message_id)
