"""Every error as `application/problem+json` (RFC 9457), made in this one place; as a page when a
person browses."""

import logging
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from ombud.errors import OmbudError, TooMuchWork
from ombud.web.layout import page
from ombud.web.logs import told

MEDIA = "application/problem+json"
logger = logging.getLogger(__name__)


class Problem(BaseModel):
    """What went wrong and what to do about it."""

    type: str = "about:blank"
    """urn:ombud:not-found and the like, one per class of error; about:blank for plain HTTP
    errors."""
    title: str
    status: int
    detail: str
    hint: str = ""


def problem(error: Exception) -> Problem:
    """The problem that an error is; what nobody foresaw says nothing of its inside."""
    if isinstance(error, OmbudError):
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__).lower()
        kind, title = "urn:ombud:" + words.replace(" ", "-"), words.capitalize()
        return Problem(
            type=kind, title=title, status=error.status, detail=str(error), hint=error.hint
        )
    if isinstance(error, RequestValidationError):
        detail = "; ".join(_spell(fault) for fault in error.errors()[:5])
        hint = "/openapi.json describes every request."
        return Problem(
            type="urn:ombud:bad-request", title="Bad request", status=422, detail=detail, hint=hint
        )
    if isinstance(error, HTTPException):
        status = HTTPStatus(error.status_code)
        detail = str(error.detail)
        if detail == HTTPStatus.NOT_FOUND.phrase:
            detail = "There is nothing at this address."
        return Problem(title=status.phrase, status=status, detail=detail)
    detail, hint = "Something went wrong on the server.", "The server's log says more."
    return Problem(
        type="urn:ombud:unexpected", title="Unexpected error", status=500, detail=detail, hint=hint
    )


def refusal(status: int, detail: str, hint: str = "") -> JSONResponse:
    """A plain HTTP error as a response, for what is refused before any route is reached."""
    return _json(
        Problem(
            title=HTTPStatus(status).phrase,
            status=status,
            detail=detail,
            hint=hint,
        )
    )


def answer_errors(app: FastAPI) -> None:
    """Make the application answer every error as a problem."""
    for kind in (OmbudError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, respond)


def unexpected(request: Request, error: Exception) -> Response:
    logger.error("%s %s failed\n%s", request.method, request.url.path, told(error))
    return respond(request, error)


def respond(request: Request, error: Exception) -> Response:
    """As a page where a person browses, or has sent a form."""
    found = problem(error)
    if isinstance(error, OmbudError) and error.detail:
        logger.error("%s %s: %s %s", request.method, request.url.path, error, error.detail)
    browsed = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(
        "/api/"
    )
    response: Response
    again = getattr(request.state, "again", None)
    if browsed and again is not None and found.status < 500:
        # Where a form was sent from, with what was typed into it.
        response = HTMLResponse(again(found), found.status)
    elif browsed and (request.method == "GET" or _is_form(request)):
        settings = request.app.state.workspace.settings
        response = HTMLResponse(page("problem.html", settings, problem=found), found.status)
    else:
        response = _json(found)
    response.headers.update(_headers(error))
    return response


def _headers(error: Exception) -> Mapping[str, str]:
    """What the response says beside its body."""
    if isinstance(error, TooMuchWork):
        return {"retry-after": str(error.retry_after)}
    return (error.headers or {}) if isinstance(error, HTTPException) else {}


def _is_form(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0]
    return kind in ("application/x-www-form-urlencoded", "multipart/form-data")


def _json(found: Problem) -> JSONResponse:
    return JSONResponse(found.model_dump(), found.status, media_type=MEDIA)


def _spell(fault: Any) -> str:
    where = ".".join(str(part) for part in fault["loc"][1:])  # the first says body, query or path
    said = fault["msg"].removeprefix("Value error, ")
    return f"{where}: {said}" if where else str(said)
