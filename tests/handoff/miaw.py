"""An emulator of Messaging for In-App and Web that does what its contract says, and what networks
do to it; seeded.

Written from the contract alone: endpoints, headers, status codes and payloads are those of the
service, nothing of them is the client's.
"""

import asyncio
import json
import random
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from socket import create_server
from typing import Any

import uvicorn
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

API = "/iamessage/api/v2"
ORGANISATION = "00D5g00000ABCDE"
DEPLOYMENT = "ombud_people_team"
KEY_ID, ISSUER = "key-1", "ombud"
KEY = RSAKey.generate_key(2048)
"""Its public part stands in the key set that the organisation has uploaded."""
TOKEN_SECONDS = 3600.0

Json = dict[str, Any]


@dataclass
class Faults:
    """How often something goes wrong, 0 to 1 each."""

    before: float = 0.0
    """A request is refused with 401, 429, 500 or 503 and has no effect."""
    after: float = 0.0
    """A request has its effect and is answered with 504."""
    lost: float = 0.0
    """A message is answered with 202 and forgotten."""
    drop: float = 0.0
    """The stream breaks in the middle of an event."""
    repeat: float = 0.0
    """An event of the stream comes twice, or an older one again."""
    swap: float = 0.0
    """Two events of the stream come in the wrong order."""


@dataclass
class Conversation:
    id: str
    owner: str
    attributes: Json
    entries: list[Json] = field(default_factory=list)
    """As a listing gives them, payloads as objects."""
    routing: str = "INITIAL"
    is_closed: bool = False
    acks: list[Json] = field(default_factory=list)
    typed: list[str] = field(default_factory=list)

    def texts(self, role: str) -> list[str]:
        return [
            entry["entryPayload"]["abstractMessage"]["staticContent"]["text"]
            for entry in self.entries
            if entry["entryType"] == "Message" and entry["sender"]["role"] == role
        ]


def signed_for(person: str, **changes: Any) -> str:
    """A customer identity token as User Verification wants it."""
    claims = {"iss": ISSUER, "sub": person, "exp": int(time.time()) + 60, **changes}
    return jwt.encode({"alg": "RS256", "kid": KEY_ID}, claims, KEY)


class Refusal(Exception):
    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers


class Miaw:
    """The service of one organisation, and its advisors."""

    def __init__(self, seed: int = 0, faults: Faults | None = None) -> None:
        self.url = ""
        self.random = random.Random(seed)
        self.faults = faults or Faults()
        self.conversations: dict[str, Conversation] = {}
        self.streams: dict[str, list[tuple[int, str, Json]]] = {}
        """Subject -> every event of its conversations, numbered."""
        self.news = asyncio.Condition()
        self.tokens: dict[str, tuple[str, float]] = {}
        """Token -> subject, and when it ends."""
        self.requests: list[tuple[str, str]] = []
        self.resumed_from: list[str] = []
        """Last-Event-Id of each stream that was opened."""
        self.is_silent = False
        """Streams stay open and say nothing."""
        self.forgets_subjects = False
        """A token that has ended cannot be continued."""
        self.hidden_seconds = 0.0
        """How long an entry is in the stream before it is in the listing."""
        self.knows_repeats = True
        """A message id that was had before is answered with 409."""
        self._clock = 1_700_000_000_000
        self._number = 2_147_867_834

    # What advisors do -----------------------------------------------------------------------------

    async def accept(self, conversation: str, name: str = "Ana") -> None:
        self._of(conversation).routing = "ROUTED"
        await self.happen(conversation, "ROUTING_WORK_RESULT", {"workType": "Accepted"})
        await self._participant(conversation, "add", name)
        await self.session(conversation, "Active")

    async def leave(self, conversation: str, name: str = "Ana") -> None:
        self._of(conversation).routing = "NEEDS_ROUTING"
        await self._participant(conversation, "remove", name)

    async def say(
        self, conversation: str, text: str, name: str = "Ana", role: str = "Agent", **more: Any
    ) -> str:
        content = {"formatType": "Text", "text": text}
        message = {"messageType": "StaticContentMessage", "id": str(uuid.uuid4())}
        message_id = message["id"]
        payload = {
            "id": message_id,
            "abstractMessage": {**message, "staticContent": content},
            "messageReason": more.get("reason"),
        }
        await self.happen(
            conversation, "MESSAGE", payload, name=name, role=role, identifier=message_id
        )
        return message_id

    async def typing(self, conversation: str, on: bool, name: str = "Ana") -> None:
        kind = "TYPING_STARTED_INDICATOR" if on else "TYPING_STOPPED_INDICATOR"
        await self.happen(conversation, kind, {"timestamp": self._clock}, name=name, role="Agent")

    async def position(self, conversation: str, position: int) -> None:
        payload = {"pendingServiceRoutingId": "0JR", "workItemId": "0Bz", "position": position}
        await self.happen(conversation, "QUEUE_POSITION", payload, role="System")

    async def route(self, conversation: str, failure: str = "None", seconds: int = -1) -> None:
        wait = {"isEWTRequested": seconds >= 0, "estimatedWaitTimeInSeconds": max(0, seconds)}
        payload = {
            "recordId": None,
            "failureType": failure,
            "failureReason": None,
            "routingType": "Initial",
            "estimatedWaitTime": wait,
        }
        await self.happen(conversation, "ROUTING_RESULT", payload, role="Router")

    async def work(self, conversation: str, kind: str) -> None:
        await self.happen(conversation, "ROUTING_WORK_RESULT", {"workType": kind}, role="Router")

    async def has_read(self, conversation: str, message_id: str) -> None:
        payload = {
            "acknowledgedConversationEntryIdentifier": message_id,
            "acknowledgementTimestamp": self._clock,
        }
        await self.happen(conversation, "READ_ACKNOWLEDGEMENT", payload, role="Agent")

    async def end(self, conversation: str) -> None:
        await self.session(conversation, "Ended", "Agent")

    async def session(self, conversation: str, status: str, by: str | None = None) -> None:
        payload = {
            "sessionId": "0Mw",
            "channelAddressIdentifier": "c",
            "conversationIdentifier": conversation,
            "sessionStatus": status,
            "sessionStatusPrev": None,
            "sessionStartTime": self._clock,
            "sessionEndTime": None,
            "sessionEndedByRole": by,
        }
        await self.happen(conversation, "SESSION_STATUS_CHANGED", payload, role="System")

    async def happen(
        self,
        conversation: str,
        event: str,
        payload: Json,
        *,
        name: str = "",
        role: str = "System",
        identifier: str = "",
    ) -> None:
        """An event of a conversation, in its listing where listings hold its kind."""
        talk = self._of(conversation)
        self._clock += 1
        kind = event.title().replace("_", "")
        entry = {
            "identifier": identifier or str(uuid.uuid4()),
            "entryType": kind,
            "entryPayload": payload,
            "transcriptedTimestamp": self._clock,
            "clientTimestamp": self._clock,
            "senderDisplayName": name,
            "sender": {"role": role, "appType": "agent", "subject": "s", "clientIdentifier": "c"},
        }
        data = {
            "channelPlatformKey": "k",
            "channelType": "embedded_messaging",
            "channelAddressIdentifier": "c",
            "conversationId": conversation,
            "conversationEntry": {**entry, "entryPayload": json.dumps(payload)},
        }
        entry["shown_from"] = time.monotonic() + self.hidden_seconds
        async with self.news:
            if kind in {"Message", "ParticipantChanged", "RoutingResult"}:
                talk.entries.append(entry)
            self._number += 1
            self.streams[talk.owner].append((self._number, f"CONVERSATION_{event}", data))
            self.news.notify_all()

    async def listened(self) -> None:
        """Until somebody has opened a stream."""
        async with self.news:
            await self.news.wait_for(lambda: self.resumed_from)

    async def raw(self, conversation: str, event: str, data: str) -> None:
        """Anything at all in the stream."""
        async with self.news:
            self._number += 1
            owner = self._of(conversation).owner
            self.streams[owner].append((self._number, event, {"raw": data}))
            self.news.notify_all()

    async def break_streams(self) -> None:
        """Every stream that is open ends in the middle of an event."""
        self.faults.drop = 1.0
        talk = next(iter(self.conversations))
        await self.happen(talk, "PROGRESS_INDICATOR", {})

    def expire(self) -> None:
        """Every token has ended."""
        self.tokens = {token: (subject, 0.0) for token, (subject, _) in self.tokens.items()}

    async def _participant(self, conversation: str, operation: str, name: str) -> None:
        participant = {"role": "Agent", "subject": "s", "appType": "agent", "clientIdentifier": "c"}
        change = {
            "operation": operation,
            "displayName": name,
            "participant": participant,
            "menuMetadata": None,
        }
        payload = {"entries": [change]}
        await self.happen(conversation, "PARTICIPANT_CHANGED", payload, name=name, role="System")

    def _of(self, conversation: str) -> Conversation:
        return self.conversations[conversation]

    # What the service answers ---------------------------------------------------------------------

    def routes(self) -> list[Route]:
        tokens = f"{API}/authorization"
        one = f"{API}/conversation/{{id}}"
        return [
            self._route("POST", f"{tokens}/unauthenticated/access-token", self._mint_anonymous),
            self._route("POST", f"{tokens}/authenticated/access-token", self._mint_known),
            self._route("GET", f"{tokens}/continuation-access-token", self._continue),
            self._route("POST", f"{API}/conversation", self._create),
            self._route("GET", f"{API}/conversation/list", self._list),
            self._route("GET", one, self._status),
            self._route("GET", f"{one}/entries", self._entries),
            self._route("POST", f"{one}/message", self._message),
            self._route("POST", f"{one}/entry", self._entry),
            self._route("POST", f"{one}/acknowledge-entries", self._acknowledge),
            self._route("DELETE", f"{one}/session", self._end_session),
            self._route("DELETE", one, self._close),
            Route("/eventrouter/v1/sse", self._stream, methods=["GET"]),
        ]

    def _route(self, method: str, path: str, answer: Any) -> Route:
        async def endpoint(request: Request) -> Response:
            self.requests.append((method, request.url.path))
            try:
                self._fail_before()
                status, body = await answer(request)
            except Refusal as refused:
                problem = {"message": refused.message, "code": refused.status}
                headers = {key.replace("_", "-"): value for key, value in refused.headers.items()}
                return JSONResponse(problem, refused.status, headers)
            if self.random.random() < self.faults.after:
                return Response(status_code=504)
            return JSONResponse(body, status) if body is not None else Response(status_code=status)

        return Route(path, endpoint, methods=[method])

    def _fail_before(self) -> None:
        if self.random.random() >= self.faults.before:
            return
        status = self.random.choice([401, 429, 500, 503])
        raise Refusal(status, "not now", **({"retry_after": "0"} if status == 429 else {}))

    def _subject(self, request: Request) -> str:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        subject, until = self.tokens.get(token, ("", 0.0))
        if kind != "Bearer" or until <= time.monotonic():
            raise Refusal(401, "The JWT has expired")
        return subject

    def _own(self, request: Request) -> Conversation:
        subject = self._subject(request)
        talk = self.conversations.get(request.path_params["id"])
        if talk is None or talk.owner != subject:
            raise Refusal(404, "There is no such conversation")
        return talk

    async def _body(self, request: Request, **types: type) -> Json:
        try:
            body: Json = json.loads(await request.body())
        except ValueError:
            raise Refusal(400, "Malformed request body") from None
        for key, kind in types.items():
            if not isinstance(body.get(key), kind):
                raise Refusal(400, f"Specify {key}")
        return body

    def _token(self, subject: str, kind: str) -> Json:
        token = f"jwt.{uuid.uuid4().hex}"
        self.tokens[token] = (subject, time.monotonic() + TOKEN_SECONDS)
        seen = self.streams.setdefault(subject, [])
        deployed = {"name": DEPLOYMENT, "deploymentType": "API"}
        channel = {"channelAddressIdentifier": "c", "authMode": kind}
        deployed["embeddedServiceMessagingChannel"] = channel  # type: ignore[assignment]
        return {
            "accessToken": token,
            "lastEventId": str(seen[-1][0]) if seen else "0",
            "context": {
                "deviceId": "d",
                "endUser": {"subject": subject},
                "configuration": {"embeddedServiceConfig": deployed},
            },
        }

    async def _minted(self, request: Request) -> Json:
        wanted = {"orgId": str, "esDeveloperName": str, "capabilitiesVersion": str, "platform": str}
        body = await self._body(request, **wanted)
        if not body["orgId"].startswith(ORGANISATION) or body["esDeveloperName"] != DEPLOYMENT:
            raise Refusal(400, "Unknown organisation or deployment")
        return body

    async def _mint_anonymous(self, request: Request) -> tuple[int, Json]:
        await self._minted(request)
        return 200, self._token(f"v2/iamessage/ANON/{uuid.uuid4()}", "UNAUTH")

    async def _mint_known(self, request: Request) -> tuple[int, Json]:
        body = await self._minted(request)
        person = self._verified(str(body.get("customerIdentityToken")))
        if body.get("authorizationType") != "JWT" or not person:
            # As the service does where a signature is wrong.
            return 200, self._token(f"v2/iamessage/ANON/{uuid.uuid4()}", "UNAUTH")
        return 200, self._token(f"v2/iamessage/AUTH/{person}", "AUTH")

    def _verified(self, token: str) -> str:
        """User Verification: RS256 by the uploaded key of that id, with issuer, subject and end."""
        try:
            read = jwt.decode(token, KEY, algorithms=["RS256"])
        except (JoseError, ValueError):
            return ""
        claims = read.claims
        is_right = read.header.get("kid") == KEY_ID and claims.get("iss") == ISSUER
        return str(claims.get("sub", "")) if is_right and claims["exp"] > time.time() else ""

    async def _continue(self, request: Request) -> tuple[int, Json]:
        token = request.headers.get("authorization", "").partition(" ")[2]
        subject, _ = self.tokens.get(token, ("", 0.0))
        if not subject or self.forgets_subjects:
            raise Refusal(401, "The JWT cannot be continued")
        return 200, self._token(subject, "UNAUTH")

    async def _create(self, request: Request) -> tuple[int, Json | None]:
        subject = self._subject(request)
        body = await self._body(request, conversationId=str, esDeveloperName=str)
        name = body["conversationId"]
        if not _is_v4(name):
            raise Refusal(400, "Specify the conversationId in UUID format.")
        if name in self.conversations:
            raise Refusal(409, "The conversation exists")
        attributes = body.get("routingAttributes") or {}
        self.conversations[name] = Conversation(name, subject, attributes)
        await self.route(name)
        await self.session(name, "Waiting")
        return 201, None

    async def _status(self, request: Request) -> tuple[int, Json]:
        talk = self._own(request)
        return 200, {"conversationId": talk.id, "routingStatus": talk.routing}

    async def _list(self, request: Request) -> tuple[int, Json]:
        subject = self._subject(request)
        with_closed = request.query_params.get("inclClosedConvs") == "true"
        own = [
            {"id": talk.id}
            for talk in self.conversations.values()
            if talk.owner == subject and (with_closed or not talk.is_closed)
        ]
        return 200, {"openConversationsFound": len(own), "conversations": own}

    async def _end_session(self, request: Request) -> tuple[int, None]:
        talk = self._own(request)
        if request.query_params.get("esDeveloperName") != DEPLOYMENT:
            raise Refusal(400, "Specify esDeveloperName")
        await self.session(talk.id, "Ended", "EndUser")
        return 204, None

    async def _entries(self, request: Request) -> tuple[int, Json]:
        talk = self._own(request)
        query = request.query_params
        limit = int(query.get("limit", "20"))
        if not 1 <= limit <= 50:
            raise Refusal(400, "limit")
        kinds = query.get("entryTypeFilter", "Message,ParticipantChanged,RoutingResult").split(",")
        begin, now = int(query.get("startTimestamp", "0")), time.monotonic()
        found = [
            {key: value for key, value in entry.items() if key != "shown_from"}
            for entry in talk.entries
            if entry["entryType"] in kinds
            and entry["transcriptedTimestamp"] >= begin
            and entry["shown_from"] <= now
        ]
        if query.get("direction", "FromEnd") == "FromEnd":
            found.reverse()
        return 200, {"conversationEntries": found[:limit]}

    async def _message(self, request: Request) -> tuple[int, Json]:
        talk = self._own(request)
        body = await self._body(request, message=dict, esDeveloperName=str)
        message = body["message"]
        text = (message.get("staticContent") or {}).get("text")
        if message.get("messageType") != "StaticContentMessage" or not isinstance(text, str):
            raise Refusal(400, "Specify the message")
        if talk.is_closed:
            raise Refusal(404, "The conversation is closed")
        known = {entry["identifier"] for entry in talk.entries}
        receipt = {"conversationEntries": [{"id": message["id"], "clientTimestamp": self._clock}]}
        if message["id"] in known and self.knows_repeats:
            raise Refusal(409, "The message exists")
        if self.random.random() >= self.faults.lost:
            payload = {"id": message["id"], "abstractMessage": message, "messageReason": None}
            await self.happen(
                talk.id, "MESSAGE", payload, name="Guest", role="EndUser", identifier=message["id"]
            )
        return 202, receipt

    async def _entry(self, request: Request) -> tuple[int, None]:
        talk = self._own(request)
        body = await self._body(request, entryType=str, id=str)
        if body["entryType"] not in {"TypingStartedIndicator", "TypingStoppedIndicator"}:
            raise Refusal(400, "Specify the entryType")
        talk.typed.append(body["entryType"])
        return 202, None

    async def _acknowledge(self, request: Request) -> tuple[int, None]:
        talk = self._own(request)
        body = await self._body(request, acks=list)
        talk.acks.extend(body["acks"])
        return 202, None

    async def _close(self, request: Request) -> tuple[int, None]:
        talk = self._own(request)
        if request.query_params.get("esDeveloperName") != DEPLOYMENT:
            raise Refusal(400, "Specify esDeveloperName")
        talk.is_closed = True
        await self.happen(talk.id, "CLOSE_CONVERSATION", {"conversationIdentifier": talk.id})
        return 204, None

    # The stream -----------------------------------------------------------------------------------

    async def _stream(self, request: Request) -> Response:
        self.requests.append(("GET", request.url.path))
        try:
            self._fail_before()
            subject = self._subject(request)
        except Refusal as refused:
            return JSONResponse({"message": refused.message}, refused.status)
        if request.headers.get("x-org-id") != ORGANISATION:
            return JSONResponse({"message": "Specify X-Org-Id"}, 400)
        since = request.headers.get("last-event-id", "")
        async with self.news:
            self.resumed_from.append(since)
            self.news.notify_all()
        return StreamingResponse(self._lines(subject, int(since)), media_type="text/event-stream")

    async def _lines(self, subject: str, since: int) -> AsyncIterator[str]:
        yield "event: ping\ndata: 0\n\n"
        events = self.streams[subject]
        place = sum(number <= since for number, _, _ in events)
        while True:
            async with self.news:
                while place >= len(events) or self.is_silent:
                    await self.news.wait()
            batch = list(events[place:])
            place += len(batch)
            for line in self._shaken(batch, events):
                if self.random.random() < self.faults.drop:
                    yield line[: len(line) // 2]
                    return
                yield line

    def _shaken(
        self, batch: list[tuple[int, str, Json]], events: list[tuple[int, str, Json]]
    ) -> list[str]:
        lines = [_line(*event) for event in batch]
        for number in range(len(lines) - 1):
            if self.random.random() < self.faults.swap:
                lines[number : number + 2] = reversed(lines[number : number + 2])
        if self.random.random() < self.faults.repeat:
            lines.append(_line(*self.random.choice(events)))
        return lines


def _line(number: int, name: str, data: Json) -> str:
    text = data["raw"] if "raw" in data else json.dumps(data)
    return f"event: {name}\nid: {number}\ndata: {text}\n\n"


def _is_v4(name: str) -> bool:
    try:
        read = uuid.UUID(name)
    except ValueError:
        return False
    return str(read) == name and read.version == 4 and read.variant == uuid.RFC_4122


@asynccontextmanager
async def emulated(seed: int = 0, faults: Faults | None = None) -> AsyncIterator[Miaw]:
    """The service on a free port of this machine, in this event loop."""
    miaw = Miaw(seed, faults)
    socket = create_server(("127.0.0.1", 0))
    miaw.url = f"http://127.0.0.1:{socket.getsockname()[1]}"
    config = uvicorn.Config(
        Starlette(routes=miaw.routes()),
        log_level="critical",
        timeout_graceful_shutdown=0,
        lifespan="off",
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[socket]))
    try:
        yield miaw
    finally:
        server.should_exit = True
        server.force_exit = True
        await serving
        socket.close()
