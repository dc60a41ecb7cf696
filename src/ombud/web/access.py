"""Who may use which route: one table, and nothing that does not stand in it.

A route asks for any one of the rights beside it. What stands before the routes finds who a request
comes from and refuses the others; in a demo on this machine everybody may do everything."""

import asyncio
from collections.abc import Iterator, Mapping
from re import Pattern
from typing import get_args
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from ombud.app import callers
from ombud.errors import NotAllowed, NotFound
from ombud.types import Right
from ombud.web.problems import refusal, respond

LOGIN = "ombud_login"
"""Cookie of a browser that has signed in."""
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
    "POST /logout": PUBLIC,
    # Signed with the secret that both sides share.
    "POST /api/v1/desk/webhook": PUBLIC,
    # With a token that Microsoft has signed for this bot; who writes is looked up by the channel.
    "POST /api/messages": PUBLIC,
    # Employees.
    "GET /": ASK,
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
    f"POST {CONVERSATION}/close": ASK,
    f"GET {CONVERSATION}/transcript": ASK,
    f"POST {CONVERSATION}/transcript": ASK,
    "GET /v1/models": ASK,
    "GET /v1/models/{name:path}": ASK,
    "POST /v1/chat/completions": ASK,
    "POST /mcp": ASK,
    "SOCKET /live": ASK | DESK,
    # Advisors.
    "GET /desk": DESK,
    "GET /api/v1/desk": DESK,
    "POST /api/v1/desk/sign-in": DESK,
    "POST /api/v1/desk/sign-out": DESK,
    "POST /api/v1/desk/away": DESK,
    f"GET {DESK_TALK}": DESK,
    f"POST {DESK_TALK}/claim": DESK,
    f"POST {DESK_TALK}/messages": DESK,
    f"POST {DESK_TALK}/transfer": DESK,
    f"POST {DESK_TALK}/end": DESK,
    f"POST {DESK_TALK}/read": DESK,
    f"POST {DESK_TALK}/suggest": DESK,
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
    "POST /lab/annotate": LAB,
    "GET /lab/annotate/{identity}": LAB,
    "POST /lab/annotate/{identity}": LAB,
    "GET /lab/annotate/{identity}/agreement": LAB,
    "GET /playground": LAB,
    "POST /playground/pages": LAB,
    "POST /playground/route": LAB,
    "GET /admin/people": ADMIN,
    "POST /admin/people": ADMIN,
    "POST /admin/people/{name}/{action}": ADMIN,
    "POST /admin/tokens": ADMIN,
    "POST /admin/tokens/{identity}/revoke": ADMIN,
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


def _compiled() -> Iterator[tuple[str, Pattern[str], Rights]]:
    for name, rights in ACCESS.items():
        method, path = name.split(" ")
        pattern, _, _ = compile_path(path)
        yield method, pattern, rights


_PATTERNS = list(_compiled())


def rights_for(method: str, path: str) -> Rights | None:
    """Any one of these is asked for; none at all where that is `PUBLIC`. None = no such route."""
    wanted = "GET" if method == "HEAD" else method
    for named, pattern, rights in _PATTERNS:
        if named == wanted and pattern.match(path):
            return rights
    return None


class AccessControl:
    """Finds who each request and socket comes from, and refuses what is not theirs: 401 where
    nobody has signed in (a page leads to where that is done), 403 where they may not, 404 for what
    does not stand in the table. The routes find the caller in the scope's state."""

    def __init__(self, app: ASGIApp, known: callers.Callers) -> None:
        self.app = app
        self._known = known

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._known.is_open:
            await self.app(scope, receive, send)
            return
        caller = await find_caller(self._known, HTTPConnection(scope))
        refused = self._refuse(scope, caller)
        if refused is None:
            scope.setdefault("state", {})["caller"] = caller or NOBODY
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()  # the handshake
            await send({"type": "websocket.close", "code": 1008, "reason": NOT_SIGNED_IN})
        else:
            await refused(scope, receive, send)

    def _refuse(self, scope: Scope, caller: callers.Caller | None) -> Response | None:
        method = "SOCKET" if scope["type"] == "websocket" else scope["method"]
        rights = rights_for(method, scope["path"])
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


async def find_caller(known: callers.Callers, request: HTTPConnection) -> callers.Caller | None:
    """By the key of a program where one is given, else by the browser's cookie."""
    kind, _, key = request.headers.get("authorization", "").partition(" ")
    if kind:
        if kind.lower() != "bearer" or not key:
            return None
        return await _found(known, key.strip(), known.of_token)
    secret = request.cookies.get(LOGIN, "")
    return await _found(known, secret, known.of_browser) if secret else None


async def _found(known: callers.Callers, secret: str, find: callers.Find) -> callers.Caller | None:
    """In a thread only where the store must be asked."""
    is_known, caller = known.remembered(secret)
    return caller if is_known else await asyncio.to_thread(find, secret)


def owner_of(known: callers.Callers, request: HTTPConnection) -> str:
    """Id of the account that a request comes from, as far as that is known already."""
    _, _, key = request.headers.get("authorization", "").partition(" ")
    _, caller = known.remembered(key.strip() or request.cookies.get(LOGIN, ""))
    return caller.account.id if caller and caller.account else ""


def _unknown(scope: Scope) -> Response:
    headers = Headers(scope=scope)
    if scope["type"] == "http" and _is_browsed(scope["method"], headers):
        query = scope.get("query_string", b"").decode("latin-1")
        place = quote(scope["path"]) + (f"?{query}" if query else "")
        return RedirectResponse(f"/login?next={quote(place, safe='')}", status_code=303)
    response = refusal(401, NOT_SIGNED_IN, "Load the page again, or send a token as Bearer.")
    response.headers["www-authenticate"] = 'Bearer realm="ombud"'
    return response


def _is_browsed(method: str, headers: Headers) -> bool:
    return method in {"GET", "HEAD"} and "text/html" in headers.get("accept", "")
