"""Whose conversation it is: of who has signed in; in a demo, of who has a secret, a browser's or a
client's."""

import secrets
from typing import Annotated

from fastapi import Depends, Request, Response
from starlette.requests import HTTPConnection

from ombud.app import callers

KEY = "ombud_key"
ADVISOR = "ombud_advisor"
HEADER = "ombud-key"
YEAR = 365 * 24 * 3600
LONGEST = 200
"""Characters."""


def key_of(request: HTTPConnection) -> str:
    """Return the caller's account or secret; empty if there is none. A client's header wins over a
    browser's cookie."""
    caller = callers.caller_of(request.scope)
    if caller.account is not None:
        return caller.key
    key = request.headers.get(HEADER) or request.cookies.get(KEY) or ""
    return key if len(key) <= LONGEST else ""


def ensure_key(request: Request, response: Response) -> str:
    """Return the caller's key, a new one for a browser without any."""
    key = key_of(request)
    if not key:
        key = secrets.token_urlsafe(32)
        keep(response, KEY, key)
    return key


def keep(response: Response, name: str, value: str) -> None:
    """Set the key as a cookie that no script reads and no other site sends."""
    response.set_cookie(name, value, max_age=YEAR, httponly=True, samesite="strict", path="/")


def _asking(request: HTTPConnection) -> callers.Caller:
    return callers.caller_of(request.scope)


Asking = Annotated[callers.Caller, Depends(_asking)]
"""Who a request comes from."""


Secret = Annotated[str, Depends(key_of)]
