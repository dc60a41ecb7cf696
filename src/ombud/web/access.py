"""Authorisation: who may use which route by their rights. One table, and nothing else is allowed.

A route asks for any one of the rights beside it. What stands before the routes finds who a request
comes from and refuses the others; in a demo on this machine everybody may do everything. What stays
open, a socket or a stream, ends when its caller is signed out or may no longer do the same."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from re import Pattern
from typing import NamedTuple, get_args
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ombud.app import callers
from ombud.errors import NotAllowed, NotFound, NotSignedIn, OmbudError
from ombud.types import Right
from ombud.web.problems import problem, refusal, respond

LOGIN = "ombud_login"
"""Cookie of a browser that has signed in."""
FRAME = "ombud_frame"
"""Cookie of a frame in a page of another site; it opens only what employees may."""
Rights = frozenset[Right]
PUBLIC: Rights = frozenset()
ANY: Rights = frozenset(get_args(Right))
ASK: Rights = frozenset({"ask"})
DESK: Rights = frozenset({"desk"})
POLICY: Rights = frozenset({"policy"})
LAB: Rights = frozenset({"lab"})
ADMIN: Rights = frozenset({"admin"})
RUNS: Rights = POLICY | LAB | ADMIN
"""Whoever looks after it, in whichever way."""

SCIM_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
CONVERSATION = "/api/v1/conversations/{conversation_id}"
DESK_TALK = "/api/v1/desk/{conversation_id}"
ACCESS: Mapping[str, Rights] = {
    # Before anybody has signed in.
    "GET /healthz": PUBLIC,
    "GET /readyz": PUBLIC,
    "GET /static/{version}/{name}": PUBLIC,
    "GET /login": PUBLIC,
    "POST /login": PUBLIC,
    "GET /login/provider": PUBLIC,
    "GET /login/back": PUBLIC,
    "POST /login/frame": PUBLIC,
    "POST /logout": PUBLIC,
    "POST /logout/backchannel": PUBLIC,
    "POST /language": PUBLIC,
    # Signed with the secret that both sides share.
    "POST /api/v1/desk/webhook": PUBLIC,
    # Signed by Slack; who writes is looked up by the channel.
    "POST /api/slack": PUBLIC,
    "POST /api/v1/tickets/webhook": PUBLIC,
    # With a token that Microsoft has signed for this bot; who writes is looked up by the channel.
    "POST /api/messages": PUBLIC,
    # With the directory's token, which the service checks itself.
    **{f"{method} /scim/v2/{{path:path}}": PUBLIC for method in SCIM_METHODS},
    # Employees.
    "GET /": ASK,
    "GET /login/done": ASK,
    "POST /chat/ask": ASK,
    "GET /documents": ASK,
    "GET /documents/{document_id}": ASK,
    "GET /documents/{document_id}/changes": ASK,
    "GET /documents/{document_id}/pages/{number}": ASK,
    "POST /api/v1/ask": ASK,
    "POST /api/v1/search": ASK,
    "GET /api/v1/documents": ASK,
    "GET /api/v1/documents/{document_id}": ASK,
    "POST /api/v1/answers/{answer_id}/feedback": ASK,
    "GET /api/v1/conversations": ASK,
    "POST /api/v1/conversations": ASK,
    f"GET {CONVERSATION}": ASK,
    f"PATCH {CONVERSATION}": ASK,
    f"DELETE {CONVERSATION}": ASK,
    f"GET {CONVERSATION}/events": ASK,
    f"POST {CONVERSATION}/messages": ASK,
    f"POST {CONVERSATION}/handoff": ASK,
    f"DELETE {CONVERSATION}/handoff": ASK,
    f"POST {CONVERSATION}/read": ASK,
    f"POST {CONVERSATION}/rating": ASK,
    f"POST {CONVERSATION}/close": ASK,
    f"GET {CONVERSATION}/transcript": ASK,
    f"POST {CONVERSATION}/transcript": ASK,
    f"GET {CONVERSATION}/share": ASK,
    f"PUT {CONVERSATION}/share": ASK,
    f"DELETE {CONVERSATION}/share": ASK,
    "GET /shared/{secret}": ASK,
    "GET /v1/models": ASK,
    "GET /v1/models/{name:path}": ASK,
    "POST /v1/chat/completions": ASK,
    "POST /v1/responses": ASK,
    "POST /mcp": ASK,
    "SOCKET /live": ASK | DESK,
    # Advisors.
    "GET /desk": DESK,
    "GET /api/v1/desk": DESK,
    "POST /api/v1/desk/sign-in": DESK,
    "POST /api/v1/desk/sign-out": DESK,
    "POST /api/v1/desk/away": DESK,
    "GET /api/v1/desk/closed": DESK,
    f"GET {DESK_TALK}": DESK,
    f"POST {DESK_TALK}/claim": DESK,
    f"POST {DESK_TALK}/messages": DESK,
    f"POST {DESK_TALK}/notes": DESK,
    f"POST {DESK_TALK}/labels": DESK,
    f"POST {DESK_TALK}/transfer": DESK,
    f"POST {DESK_TALK}/snooze": DESK,
    f"POST {DESK_TALK}/end": DESK,
    f"POST {DESK_TALK}/read": DESK,
    f"POST {DESK_TALK}/suggest": DESK,
    "GET /admin/replies": DESK | POLICY | ADMIN,
    "POST /admin/replies": DESK | POLICY | ADMIN,
    # Whoever looks after it.
    "GET /admin": RUNS,
    "GET /admin/sources": RUNS,
    "POST /admin/sources/run": POLICY | ADMIN,
    "POST /admin/sources/folder": ADMIN,
    "POST /admin/sources/remove": ADMIN,
    "POST /admin/sources/upload": POLICY | ADMIN,
    "GET /admin/documents": RUNS,
    "GET /admin/documents/{document_id}": RUNS,
    "GET /admin/drafts": POLICY,
    "POST /admin/drafts/upload": POLICY,
    "POST /admin/drafts/{identity}/{action}": POLICY,
    "GET /admin/drafts/{identity}/report": POLICY,
    "GET /admin/prompts": LAB,
    "GET /admin/prompts/{task}/{variant}": LAB,
    "POST /admin/prompts/{task}/{variant}": LAB,
    "GET /admin/flags": LAB,
    "POST /admin/flags/experiment": LAB,
    "POST /admin/flags/country": LAB,
    "GET /lab": LAB,
    "GET /lab/cases": LAB,
    "GET /lab/case": LAB,
    "GET /lab/report": LAB,
    "GET /lab/study": LAB,
    "GET /lab/datasets": LAB,
    "POST /lab/datasets": LAB,
    "GET /lab/datasets/{name}": LAB,
    "POST /lab/datasets/{name}": LAB,
    "GET /lab/production": LAB,
    "POST /lab/production/baseline": LAB,
    "POST /lab/annotate": LAB,
    "GET /lab/annotate/{identity}": LAB,
    "POST /lab/annotate/{identity}": LAB,
    "GET /lab/annotate/{identity}/agreement": LAB,
    "GET /playground": LAB,
    "POST /playground/pages": LAB,
    "POST /playground/route": LAB,
    "GET /admin/people": ADMIN,
    "POST /admin/people": ADMIN,
    "GET /admin/people/{name}/export": ADMIN,
    "POST /admin/people/{name}/{action}": ADMIN,
    "GET /admin/groups": ADMIN,
    "POST /admin/groups": ADMIN,
    "POST /admin/groups/remove": ADMIN,
    "POST /admin/tokens": ADMIN,
    "POST /admin/tokens/{identity}/revoke": ADMIN,
    "GET /admin/desk": POLICY | ADMIN,
    "GET /admin/desk.csv": POLICY | ADMIN,
    "GET /admin/audit": POLICY | ADMIN,
    "POST /admin/audit": POLICY | ADMIN,
    "GET /openapi.json": ANY,
    "GET /api/v1/describe": LAB,
    "GET /api/v1/passages": LAB,
    "GET /api/v1/usage": RUNS,
    "GET /api/v1/sync": RUNS,
    "GET /metrics": LAB | ADMIN,
}
WHO_GIVES = "Whoever runs this can give you the duty."
NOT_SIGNED_IN = "You are not signed in, or no longer."
CHECK_SECONDS = 3.0
"""How often a socket on which nothing happens is judged anew, and how long a client that reads
nothing may hold up the closing."""


class Closing(NamedTuple):
    """Why a socket is closed. Pages do not open it again after a code from 4000 on, and show the
    reason."""

    code: int
    reason: str


SIGNED_OUT = Closing(4401, "You are no longer signed in. Load this page again to sign in.")
CHANGED = Closing(4403, "What you may do here has changed. Load this page again.")
UNCHECKED = Closing(1013, "It cannot be checked just now who you are.")
NO_ACCESS = Closing(1008, "This is not for you.")


def _compiled() -> Iterator[tuple[str, Pattern[str], Rights]]:
    for name, rights in ACCESS.items():
        method, path = name.split(" ")
        pattern, _, _ = compile_path(path)
        yield method, pattern, rights


_PATTERNS = list(_compiled())


def rights_for(method: str, path: str) -> Rights | None:
    """Return the rights of which a route requires any; empty for `PUBLIC`, None if there is no such
    route."""
    wanted = "GET" if method == "HEAD" else method
    for named, pattern, rights in _PATTERNS:
        if named == wanted and pattern.match(path):
            return rights
    return None


class AccessControl:
    """Finds who each request and socket comes from, and refuses what is not theirs: 401 where
    nobody has signed in (a page leads to where that is done), 403 where they may not, 404 for what
    does not stand in the table. The routes find the caller in the scope's state."""

    def __init__(self, app: ASGIApp, accounts: callers.Callers) -> None:
        self.app = app
        self._known = accounts
        # Threads of its own: answers that are being written hold up no check.
        self._threads = ThreadPoolExecutor(thread_name_prefix="access")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._known.is_open:
            await self.app(scope, receive, send)
            return
        method = "SOCKET" if scope["type"] == "websocket" else scope["method"]
        rights = rights_for(method, scope["path"])
        # A page fetches ten public files at once; whatever is somebody's own is checked each time.
        caller = await self._find_caller(HTTPConnection(scope), anew=rights is not PUBLIC)
        refused = self._refuse(scope, rights, caller)
        scope.setdefault("state", {})["caller"] = caller or NOBODY
        if scope["type"] == "websocket":
            await self._serve_socket(scope, receive, send, refused)
        elif refused is not None:
            await refused(scope, receive, send)
        elif caller is None:
            await self.app(scope, receive, send)
        else:
            look = partial(self._find_caller, HTTPConnection(scope))
            await _RevocableStream(caller, look, send).serve(self.app, scope, receive)

    async def _serve_socket(
        self, scope: Scope, receive: Receive, send: Send, refused: Response | None
    ) -> None:
        caller = callers.caller_of(scope)
        if refused is None:
            look = partial(self._find_caller, HTTPConnection(scope), anew=True)
            await _RevocableSocket(caller, look, receive, send).serve(self.app, scope)
            return
        await receive()  # the handshake
        if caller is NOBODY:
            # Accepted first: of a handshake that is refused a page learns neither code nor reason.
            await send({"type": "websocket.accept"})
            await send(_closing(SIGNED_OUT))
        else:
            await send(_closing(NO_ACCESS))

    async def _find_caller(
        self, request: HTTPConnection, *, anew: bool = False
    ) -> callers.Caller | None:
        """Identify the caller by a program's key, else by the browser's cookie. anew: ask the
        store, and not the cache."""
        secret, is_token = proof_of(request)
        if not secret:
            return None
        is_cached, caller = self._known.remembered(secret)
        if anew or not is_cached:
            find = self._known.of_token if is_token else self._known.of_browser
            loop = asyncio.get_running_loop()
            caller = await loop.run_in_executor(self._threads, partial(find, secret, anew=anew))
        if caller is not None and secret == request.cookies.get(FRAME):
            return caller._replace(rights=caller.rights & ASK)
        return caller

    def _refuse(
        self, scope: Scope, rights: Rights | None, caller: callers.Caller | None
    ) -> Response | None:
        if rights is PUBLIC:
            return None
        if caller is None:
            return _unknown(scope)
        if rights is None:
            return respond(Request(scope), NotFound("There is nothing here."))
        if not rights & caller.rights:
            refused = NotAllowed("This is not for you.", hint=WHO_GIVES)
            return respond(Request(scope), refused)
        return None


NOBODY = callers.Caller(account=None, rights=PUBLIC)


Look = Callable[[], Awaitable[callers.Caller | None]]
"""Finds who the caller of a request is by now."""


def proof_of(request: HTTPConnection) -> tuple[str, bool]:
    """Return (secret, whether it is a program's key). The secret is empty if there is none or its
    scheme is unknown."""
    kind, _, key = request.headers.get("authorization", "").partition(" ")
    if kind:
        return (key.strip() if kind.lower() == "bearer" else ""), True
    return cookie_of(request), False


def cookie_of(request: HTTPConnection) -> str:
    return request.cookies.get(LOGIN) or request.cookies.get(FRAME) or ""


def why_over(before: callers.Caller, now: callers.Caller | None) -> Closing | None:
    """Return why a stream has to end; None while the caller is the same and still has the right."""
    if now is None or now.account is None:
        return SIGNED_OUT
    is_same_person = before.account is not None and before.account.person == now.account.person
    return None if is_same_person and before.rights == now.rights else CHANGED


class _RevocableSocket:
    """A socket whose caller is looked up for each message, in and out, and every few seconds; it is
    closed before anything passes that they may no longer send or see."""

    def __init__(self, caller: callers.Caller, look: Look, receive: Receive, send: Send) -> None:
        self._caller = caller
        self._look = look
        self._receive = receive
        self._send = send
        self._over = asyncio.Event()

    async def serve(self, app: ASGIApp, scope: Scope) -> None:
        """Run the application until it ends or the socket is closed."""

        async def serving() -> None:
            await app(scope, self.take, self.pass_on)

        tasks = [asyncio.create_task(serving()), asyncio.create_task(self.watch())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            outcome, _ = await asyncio.gather(*tasks, return_exceptions=True)
        if isinstance(outcome, Exception):
            raise outcome

    async def watch(self) -> None:
        while not self._over.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_SECONDS):
                    await self._over.wait()
            await self.may_go_on()

    async def take(self) -> Message:
        message = await self._receive()
        if message["type"] != "websocket.receive" or await self.may_go_on():
            return message
        return {"type": "websocket.disconnect", "code": SIGNED_OUT.code}

    async def pass_on(self, message: Message) -> None:
        if message["type"] != "websocket.send" or await self.may_go_on():
            await self._send(message)

    async def may_go_on(self) -> bool:
        closing: Closing | None = UNCHECKED
        with suppress(OmbudError):  # such as a database that restarts
            closing = why_over(self._caller, await self._look())
        if closing is not None and not self._over.is_set():
            self._over.set()
            with suppress(OSError):  # the client has gone, or reads nothing
                async with asyncio.timeout(CHECK_SECONDS):
                    await self._send(_closing(closing))
        return not self._over.is_set()


class _RevocableStream:
    """A response whose caller is looked up before each part of a stream; events end with one that
    says so, other streams break off."""

    def __init__(self, caller: callers.Caller, look: Look, send: Send) -> None:
        self._caller = caller
        self._look = look
        self._send = send
        self._is_events = False
        self._is_over = False

    async def serve(self, app: ASGIApp, scope: Scope, receive: Receive) -> None:
        """Run the application until it ends or the stream does."""
        try:
            await app(scope, receive, self.pass_on)
        except (ClientDisconnect, OSError):
            if not (self._is_over and self._is_events):
                raise

    async def pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            kind = Headers(raw=message["headers"]).get("content-type", "")
            self._is_events = kind.startswith("text/event-stream")
        elif message.get("more_body"):
            await self.check()
        await self._send(message)

    async def check(self) -> None:
        """Raise OSError, as for a disconnected client, if the stream has to end."""
        closing = None if self._is_over else why_over(self._caller, await self._look())
        if closing is not None:
            self._is_over = True
            if self._is_events:
                body_of_problem = problem(NotSignedIn(closing.reason)).model_dump()
                body = f"event: error\ndata: {json.dumps(body_of_problem)}\n\n".encode()
                await self._send({"type": "http.response.body", "body": body, "more_body": False})
        if self._is_over:
            raise OSError("The caller may no longer read this.")


def _closing(closing: Closing) -> Message:
    return {"type": "websocket.close", "code": closing.code, "reason": closing.reason}


def owner_of(accounts: callers.Callers, request: HTTPConnection) -> str:
    """Return the account id of a request, as far as it is known without the store."""
    _, _, key = request.headers.get("authorization", "").partition(" ")
    _, caller = accounts.remembered(key.strip() or cookie_of(request))
    return caller.account.id if caller and caller.account else ""


def _unknown(scope: Scope) -> Response:
    headers = Headers(scope=scope)
    if scope["type"] == "http" and is_browsed(scope["method"], headers):
        query = scope.get("query_string", b"").decode("latin-1")
        place = quote(scope["path"]) + (f"?{query}" if query else "")
        return RedirectResponse(f"/login?next={quote(place, safe='')}", status_code=303)
    response = refusal(401, NOT_SIGNED_IN, "Load the page again, or send a token as Bearer.")
    response.headers["www-authenticate"] = 'Bearer realm="ombud"'
    return response


def is_browsed(method: str, headers: Headers) -> bool:
    return method in {"GET", "HEAD"} and "text/html" in headers.get("accept", "")
