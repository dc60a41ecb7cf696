"""ServiceNow, Jira Service Management and Zendesk, as their public contracts describe them.

Each keeps tickets in memory behind a real HTTP server. Faults come before a request has its effect
(429, 5xx), after it (the reply is lost or never comes), or with the token, which is forgotten."""

import asyncio
import base64
import hashlib
import hmac
import json
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from socket import create_server
from typing import Any, ClassVar
from uuid import UUID, uuid4

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

SECRET, WEBHOOK_KEY = "s3cret-of-the-account", b"a key that both sides share"
REPLY_SECONDS = 0.15
US, AGENT = "ombud", "Ana Diaz"


@dataclass
class Written:
    """A comment, ours or of an agent. public: the employee may see it."""

    number: int
    text: str
    author: str
    public: bool = True
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class Stored:
    """A ticket as it was sent, and what was written since."""

    id: str
    number: int
    body: dict[str, Any]
    listed_from: float
    comments: list[Written] = field(default_factory=list)
    is_closed: bool = False


class TicketService:
    """A ticket system. fault: chance of each kind of fault; hidden_seconds: how long a new ticket
    is missing in searches."""

    token_path: ClassVar[str]
    settings: ClassVar[dict[str, Any]]

    def __init__(self, seed: int = 0, fault: float = 0.0, hidden_seconds: float = 0.0) -> None:
        self.url = ""
        self.fault = fault
        self.hidden_seconds = hidden_seconds
        self.tickets: dict[str, Stored] = {}
        self.tokens: set[str] = set()
        self.is_down = False
        self.requests = 0
        self.secret = SECRET
        self._random = random.Random(seed)
        self._count = 0

    def app(self) -> Starlette:
        methods = ["GET", "POST", "PUT", "PATCH"]
        return Starlette(routes=[Route("/{path:path}", self.receive, methods=methods)])

    async def receive(self, request: Request) -> Response:
        self.requests += 1
        if self.is_down or self._happens():
            status = self._random.choice([429, 500, 503])
            return JSONResponse({}, status, {"retry-after": "0"} if status == 429 else {})
        if request.url.path == self.token_path:
            return await self._grant(request)
        if not self._is_signed_in(request):
            return JSONResponse({"error": "not authenticated"}, 401)
        body = await request.body()
        status, reply = self.answer(request, json.loads(body) if body else {})
        if self._happens():  # it has had its effect
            if self._random.random() < 0.3:
                await asyncio.sleep(2 * REPLY_SECONDS)
            return Response(status_code=504)
        return JSONResponse(reply, status)

    def answer(self, request: Request, body: dict[str, Any]) -> tuple[int, Any]:
        raise NotImplementedError

    def reference(self, stored: Stored) -> str:
        """Where the system keeps the id of a handoff."""
        raise NotImplementedError

    def message_text(self, written: Written) -> str:
        return written.text

    def announcement(self, stored: Stored) -> tuple[dict[str, str], bytes] | None:
        """Headers and body of the webhook about a ticket; None where there is none."""
        return None

    # The agents' side ---------------------------------------------------------------------------

    def of(self, handoff_id: str) -> Stored | None:
        own = [one for one in self.tickets.values() if self.reference(one) == handoff_id]
        assert len(own) < 2, "one handoff became several tickets"
        return own[0] if own else None

    def reply(self, stored: Stored, text: str, *, public: bool = True) -> None:
        self.write(stored, text, AGENT, public=public)

    def texts(self, stored: Stored) -> list[str]:
        """What arrived from us, without the description."""
        return [self.message_text(one) for one in stored.comments if one.author == US]

    def write(self, stored: Stored, text: str, author: str, **more: Any) -> None:
        stored.comments.append(Written(self.count(), text, author, **more))

    def store(self, body: dict[str, Any]) -> Stored:
        number = self.count()
        listed = time.monotonic() + self.hidden_seconds
        stored = Stored(self.name_of(number), number, body, listed)
        self.tickets[stored.id] = stored
        return stored

    def name_of(self, number: int) -> str:
        return str(number)

    def listed(self) -> list[Stored]:
        """What a search finds, in no order."""
        now = time.monotonic()
        found = [one for one in self.tickets.values() if one.listed_from <= now]
        self._random.shuffle(found)
        return found

    def count(self) -> int:
        self._count += 1
        return 1000 + self._count

    def _happens(self) -> bool:
        return self._random.random() < self.fault

    def _is_signed_in(self, request: Request) -> bool:
        kind, _, value = request.headers.get("authorization", "").partition(" ")
        if kind == "Basic":
            return base64.b64decode(value).decode().endswith(f":{self.secret}")
        return kind == "Bearer" and value in self.tokens

    async def _grant(self, request: Request) -> Response:
        form = dict(pair.split("=") for pair in (await request.body()).decode().split("&"))
        if form != {
            "grant_type": "client_credentials",
            "client_id": "client",
            "client_secret": self.secret,
        }:
            return JSONResponse({"error": "invalid_client"}, 401)
        token = uuid4().hex
        self.tokens.add(token)
        return JSONResponse({"access_token": token, "token_type": "Bearer", "expires_in": 1800})


class ServiceNowService(TicketService):
    token_path = "/oauth_token.do"
    settings: ClassVar[dict[str, Any]] = {"system": "servicenow"}

    def answer(self, request: Request, body: dict[str, Any]) -> tuple[int, Any]:
        table, _, row = request.url.path.removeprefix("/api/now/table/").partition("/")
        query = request.query_params
        if table == "sys_journal_field":
            return 200, {"result": self._journal(query["sysparm_query"], query)}
        if table != "sn_hr_core_case" or (row and row not in self.tickets):
            return 404, {"error": {"message": "No Record found"}}
        if request.method == "POST":
            return 201, {"result": self._case(self.store(body))}
        if request.method == "PATCH":
            self.write(self.tickets[row], body["comments"], US)
        if row:
            return 200, {"result": self._case(self.tickets[row])}
        wanted = query.get("sysparm_query", "").partition("^")[0].removeprefix("correlation_id=")
        cases = [one for one in self.listed() if not wanted or self.reference(one) == wanted]
        return 200, {"result": [self._case(one) for one in cases][: int(query["sysparm_limit"])]}

    def reference(self, stored: Stored) -> str:
        return str(stored.body["correlation_id"])

    def name_of(self, number: int) -> str:
        return f"{number:032x}"

    def message_text(self, written: Written) -> str:
        return written.text.rpartition("\n\n(ombud ")[0]

    def _case(self, stored: Stored) -> dict[str, str]:
        return {
            "sys_id": stored.id,
            "number": f"HRC{stored.number:07d}",
            "active": "false" if stored.is_closed else "true",
            "sys_created_by": US,
        }

    def _journal(self, wanted: str, query: Any) -> list[dict[str, str]]:
        conditions = dict(part.split("=") for part in wanted.split("^") if "=" in part)
        assert wanted.endswith("^ORDERBYsys_created_on")
        rows = []
        for one in self.tickets[conditions["element_id"]].comments:
            element = "comments" if one.public else "work_notes"
            if element == conditions["element"]:
                created = f"2026-11-29 10:{one.number // 60 % 60:02d}:{one.number % 60:02d}"
                row = {"sys_id": f"{one.number:032x}", "value": one.text, "sys_created_on": created}
                rows.append({**row, "sys_created_by": one.author, "element": element})
        start = int(query["sysparm_offset"])
        return rows[start : start + int(query["sysparm_limit"])]


class JiraService(TicketService):
    token_path = "/oauth/token"
    settings: ClassVar[dict[str, Any]] = {"system": "jira", "queue": "7", "request_type": "25"}

    def answer(self, request: Request, body: dict[str, Any]) -> tuple[int, Any]:
        path, query = request.url.path, request.query_params
        if path == "/rest/servicedeskapi/servicedesk/7/requesttype/25":
            return 200, {"id": "25", "name": "Question"}
        if path == "/rest/servicedeskapi/request":
            if request.method == "POST":
                assert (body["serviceDeskId"], body["requestTypeId"]) == ("7", "25")
                return 201, self._request(self.store(body))
            word = query["searchTerm"]
            found = [one for one in self.listed() if word in self._summary(one)]
            return 200, {"isLastPage": True, "values": [self._request(one) for one in found]}
        name = path.removeprefix("/rest/servicedeskapi/request/")
        if name in self.tickets:
            return 200, self._request(self.tickets[name])
        name = path.removeprefix("/rest/api/2/issue/").removesuffix("/comment")
        if name not in self.tickets:
            return 404, {"errorMessage": "The request was not found"}
        if request.method == "POST":
            properties = {one["key"]: one["value"] for one in body["properties"]}
            public = not properties["sd.public.comment"]["internal"]
            extra = {"properties": body["properties"]}
            self.write(self.tickets[name], body["body"], US, public=public, extra=extra)
            return 201, {}
        return 200, self._comments(self.tickets[name], int(query["startAt"]))

    def reference(self, stored: Stored) -> str:
        word = self._summary(stored).rpartition("(ombud")[2].rstrip(")")
        return str(UUID(word))

    def announcement(self, stored: Stored) -> tuple[dict[str, str], bytes]:
        body = json.dumps({"webhookEvent": "comment_created", "issue": {"id": stored.id}}).encode()
        digest = hmac.new(WEBHOOK_KEY, body, hashlib.sha256).hexdigest()
        return {"x-hub-signature": f"sha256={digest}"}, body

    def _summary(self, stored: Stored) -> str:
        return str(stored.body["requestFieldValues"]["summary"])

    def _request(self, stored: Stored) -> dict[str, Any]:
        values = stored.body["requestFieldValues"].items()
        return {
            "issueId": stored.id,
            "issueKey": f"HR-{stored.number}",
            "requestFieldValues": [{"fieldId": key, "value": value} for key, value in values],
            "createdDate": {"epochMillis": stored.number},
            "currentStatus": {"statusCategory": "DONE" if stored.is_closed else "INDETERMINATE"},
            "_links": {"web": f"{self.url}/servicedesk/customer/portal/7/HR-{stored.number}"},
        }

    def _comments(self, stored: Stored, start: int) -> dict[str, Any]:
        rows = []
        for one in stored.comments:
            row = {"id": str(one.number), "body": one.text, "jsdPublic": one.public, **one.extra}
            rows.append({**row, "author": {"displayName": one.author}})
        # A page may be shorter than what was asked for.
        return {"startAt": start, "total": len(rows), "comments": rows[start : start + 15]}


class ZendeskService(TicketService):
    token_path = "/oauth/tokens"
    settings: ClassVar[dict[str, Any]] = {"system": "zendesk"}

    def __init__(self, seed: int = 0, fault: float = 0.0, hidden_seconds: float = 0.0) -> None:
        super().__init__(seed, fault, hidden_seconds)
        self._keys: dict[str, Stored] = {}

    def answer(self, request: Request, body: dict[str, Any]) -> tuple[int, Any]:
        path = request.url.path.removeprefix("/api/v2/")
        if path == "users/me":
            return 200, {"user": {"id": 1, "name": US}}
        if path == "tickets" and request.method == "POST":
            key = request.headers["idempotency-key"]
            if key not in self._keys:
                self._keys[key] = self.store(body["ticket"])
                self._write(self._keys[key], body["ticket"])
                self._keys[key].comments.clear()
            return 201, {"ticket": self._ticket(self._keys[key])}
        if path == "tickets":
            wanted = request.query_params["external_id"]
            found = [one for one in self.listed() if self.reference(one) == wanted]
            return 200, {"tickets": [self._ticket(one) for one in found]}
        name, _, rest = path.removeprefix("tickets/").partition("/")
        if name not in self.tickets:
            return 404, {"error": "RecordNotFound"}
        stored = self.tickets[name]
        if request.method == "PUT":
            self._write(stored, body["ticket"])
        if rest == "audits":
            return 200, self._audits(stored, int(request.query_params.get("page[after]", "0")))
        return 200, {"ticket": self._ticket(stored)}

    def reference(self, stored: Stored) -> str:
        return str(stored.body["external_id"])

    def announcement(self, stored: Stored) -> tuple[dict[str, str], bytes]:
        kind = "zen:event-type:ticket.comment_added"
        body = json.dumps({"type": kind, "detail": {"id": stored.id}}).encode()
        timestamp = "2026-11-29T10:00:00Z"
        digest = hmac.new(WEBHOOK_KEY, timestamp.encode() + body, hashlib.sha256).digest()
        headers = {"x-zendesk-webhook-signature-timestamp": timestamp}
        return {**headers, "x-zendesk-webhook-signature": base64.b64encode(digest).decode()}, body

    def _write(self, stored: Stored, change: dict[str, Any]) -> None:
        comment, extra = change["comment"], {"custom": change["metadata"]}
        self.write(stored, comment["body"], US, public=comment["public"], extra=extra)

    def _ticket(self, stored: Stored) -> dict[str, Any]:
        return {"id": int(stored.id), "status": "solved" if stored.is_closed else "open"}

    def _audits(self, stored: Stored, start: int) -> dict[str, Any]:
        size = 15
        audits = []
        for one in stored.comments[start : start + size]:
            author = 1 if one.author == US else 2
            event = {"id": one.number, "type": "Comment", "author_id": author, "body": one.text}
            events = [{"id": 1, "type": "Notification"}, {**event, "public": one.public}]
            audits.append({"id": one.number, "metadata": one.extra, "events": events})
        more = len(stored.comments) > start + size
        users = [{"id": 1, "name": US}, {"id": 2, "name": AGENT}]
        meta = {"has_more": more, "after_cursor": str(start + size) if more else None}
        return {"audits": audits, "users": users, "meta": meta}


SERVICES: dict[str, type[TicketService]] = {
    "servicenow": ServiceNowService,
    "jira": JiraService,
    "zendesk": ZendeskService,
}


@asynccontextmanager
async def serving(service: TicketService) -> AsyncIterator[TicketService]:
    """Serve on a free port of this machine, in this event loop."""
    listening = create_server(("127.0.0.1", 0))
    service.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    config = uvicorn.Config(
        service.app(), log_level="critical", timeout_graceful_shutdown=0, lifespan="off"
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield service
    finally:
        server.should_exit = True
        server.force_exit = True
        await running
        listening.close()
