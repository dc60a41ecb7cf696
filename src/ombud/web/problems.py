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
from ombud.web.logs import describe_error

MEDIA = "application/problem+json"
logger = logging.getLogger(__name__)


class Problem(BaseModel):
    """A problem and what to do about it."""

    type: str = "about:blank"
    """urn:ombud:not-found and the like, one per class of error; about:blank for plain HTTP
    errors."""
    title: str
    status: int
    detail: str
    hint: str = ""


def problem(error: Exception) -> Problem:
    """Turn an error into a problem; an unforeseen one reveals no internals."""
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
    """Return a plain HTTP error for what is refused before any route."""
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
    logger.error("%s %s failed\n%s", request.method, request.url.path, describe_error(error))
    return respond(request, error)


def respond(request: Request, error: Exception) -> Response:
    """Respond with a page to a browser or a form, else with JSON."""
    answered = problem(error)
    if isinstance(error, OmbudError) and error.detail:
        logger.error("%s %s: %s %s", request.method, request.url.path, error, error.detail)
    browsed = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(
        "/api/"
    )
    response: Response
    again = getattr(request.state, "again", None)
    if browsed and again is not None and answered.status < 500:
        # Where a form was sent from, with what was typed into it.
        response = HTMLResponse(again(answered), answered.status)
    elif browsed and (request.method == "GET" or is_form(request)):
        settings = request.app.state.workspace.settings
        response = HTMLResponse(page("problem.html", settings, problem=answered), answered.status)
    else:
        response = _json(answered)
    response.headers.update(_headers(error))
    return response


def _headers(error: Exception) -> Mapping[str, str]:
    """Return the response's headers."""
    if isinstance(error, TooMuchWork):
        return {"retry-after": str(error.retry_after)}
    return (error.headers or {}) if isinstance(error, HTTPException) else {}


def is_form(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0]
    return kind in ("application/x-www-form-urlencoded", "multipart/form-data")


def _json(problem: Problem) -> JSONResponse:
    return JSONResponse(problem.model_dump(), problem.status, media_type=MEDIA)


def _spell(fault: Any) -> str:
    where = ".".join(str(part) for part in fault["loc"][1:])  # the first says body, query or path
    message = fault["msg"].removeprefix("Value error, ")
    return f"{where}: {message}" if where else str(message)
