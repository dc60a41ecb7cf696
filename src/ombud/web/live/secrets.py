"""Whose conversation it is, until there is identity: a secret of the browser, or of a client."""

import secrets
from typing import Annotated

from fastapi import Depends, Request, Response
from starlette.requests import HTTPConnection

KEY = "ombud_key"
ADVISOR = "ombud_advisor"
HEADER = "ombud-key"
YEAR = 365 * 24 * 3600
LONGEST = 200
"""Characters."""


def key_of(request: HTTPConnection) -> str:
    """The secret of who asks; empty where there is none. The header of a client wins over the
    cookie of a browser."""
    key = request.headers.get(HEADER) or request.cookies.get(KEY) or ""
    return key if len(key) <= LONGEST else ""


def ensure_key(request: Request, response: Response) -> str:
    """The same, and a new one for a browser that has none."""
    key = key_of(request)
    if not key:
        key = secrets.token_urlsafe(32)
        keep(response, KEY, key)
    return key


def keep(response: Response, name: str, value: str) -> None:
    """As a cookie that no script reads and no other site sends."""
    response.set_cookie(name, value, max_age=YEAR, httponly=True, samesite="strict", path="/")


Secret = Annotated[str, Depends(key_of)]
