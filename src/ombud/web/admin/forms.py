"""What all pages under `/admin` share: forms as fields and files, who does it, the way back, and
the page again with what was typed where that cannot be done."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import UploadFile

from ombud.app import Workspace, callers
from ombud.errors import BadRequest
from ombud.messages import country_name, message
from ombud.text import country_list
from ombud.web.layout import page
from ombud.web.problems import Problem

MOST_FILES = 50
MOST_FIELDS = 200
TABS: Sequence[tuple[str, str, frozenset[str]]] = (
    ("/admin", "admin.tab_usage", frozenset({"policy", "lab", "admin"})),
    ("/admin/sources", "admin.tab_sources", frozenset({"policy", "lab", "admin"})),
    ("/admin/documents", "admin.tab_documents", frozenset({"policy", "lab", "admin"})),
    ("/admin/drafts", "admin.tab_drafts", frozenset({"policy"})),
    ("/admin/prompts", "admin.tab_prompts", frozenset({"lab"})),
    ("/admin/flags", "admin.tab_flags", frozenset({"lab"})),
    ("/admin/desk", "admin.tab_desk", frozenset({"policy", "admin"})),
    ("/admin/replies", "admin.tab_replies", frozenset({"desk", "policy", "admin"})),
    ("/admin/people", "admin.tab_people", frozenset({"admin"})),
    ("/admin/groups", "admin.tab_groups", frozenset({"admin"})),
    ("/admin/audit", "admin.tab_audit", frozenset({"policy", "admin"})),
    ("/lab", "page.lab", frozenset({"lab"})),
    ("/playground", "admin.tab_playground", frozenset({"lab"})),
)
"""Address, key of the name, and the rights of which any one opens it."""


class Form(NamedTuple):
    fields: dict[str, list[str]]
    files: list[tuple[str, bytes]]
    """Name and bytes of those that were chosen."""

    def one(self, name: str) -> str:
        return self.fields.get(name, [""])[0].strip()

    def all(self, name: str) -> list[str]:
        return [value for value in self.fields.get(name, []) if value.strip()]

    def number(self, name: str) -> int:
        """Return a field as a number. Raises BadRequest."""
        text = self.one(name)
        if not text.isdecimal() or len(text) > 9:
            raise BadRequest(message("admin.error_number", text=text[:20]))
        return int(text)


class RefusedForm(NamedTuple):
    """A refused form: the problem, and what had been typed."""

    place: str = ""
    """Address that the form was sent to; empty = nothing was refused."""
    fields: Mapping[str, Sequence[str]] = {}
    problem: Problem | None = None

    def typed(self, place: str, name: str, otherwise: str = "") -> str:
        """Return the value of a field of the form that is sent to `place`."""
        return self.fields.get(name, [""])[0] if place == self.place else otherwise

    def chosen(self, place: str, name: str, otherwise: Sequence[str] = ()) -> Sequence[str]:
        """Return the ticked boxes of the form that is sent to `place`."""
        return self.fields.get(name, []) if place == self.place else otherwise


NOT_REFUSED = RefusedForm()
Show = Callable[[Workspace, callers.Caller, RefusedForm], str]
"""A page as HTML."""


async def read_form(
    request: Request, again: Show | None = None, most_fields: int = MOST_FIELDS
) -> Form:
    """Read a form. Raises BadRequest for a body that is no form, and HTTPException (400) for a
    broken one or too many fields or files.

    again: the page of the form, shown with the problem if the form is refused from now on."""
    kind = request.headers.get("content-type", "").partition(";")[0]
    if kind not in ("", "application/x-www-form-urlencoded", "multipart/form-data"):
        raise no_form()
    form = Form({}, [])
    try:
        async with request.form(max_files=MOST_FILES, max_fields=most_fields) as parts:
            for name, value in parts.multi_items():
                if not isinstance(value, UploadFile):
                    form.fields.setdefault(_text(name), []).append(_text(value))
                elif value.filename:
                    form.files.append((_text(value.filename), await value.read()))
    except UnicodeError as garbled:  # in a character set of the sender's choice
        raise no_form() from garbled
    if again is not None:
        request.state.again = with_problem(again, request, form)
    return form


def no_form() -> BadRequest:
    return BadRequest(message("admin.error_no_form"), hint=message("admin.error_no_form_hint"))


def read_day(text: str) -> date | None:
    """Parse the day of a date field; None if it is empty. Raises BadRequest."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as wrong:
        raise BadRequest(
            message("admin.error_day", text=text[:20]), hint=message("admin.error_day_hint")
        ) from wrong


def _text(value: str) -> str:
    """Return the value as text that a database can store. Raises UnicodeError."""
    value.encode()
    if "\0" in value:
        raise UnicodeError
    return value


def with_problem(again: Show, request: Request, form: Form) -> Callable[[Problem], str]:
    """Return how `problems.respond` shows the page again."""

    def show_again(problem: Problem) -> str:
        refused = RefusedForm(place=request.url.path, fields=form.fields, problem=problem)
        return again(request.app.state.workspace, callers.caller_of(request.scope), refused)

    return show_again


def actor(caller: callers.Caller) -> str:
    """Return the id of the acting account, for the audit."""
    return caller.account.id if caller.account else "demo"


def render_admin(
    name: str,
    workspace: Workspace,
    caller: callers.Caller,
    refused: RefusedForm = NOT_REFUSED,
    **values: Any,
) -> str:
    """Render a page with the tabs that the caller may open."""
    tabs = [(href, message(key)) for href, key, rights in TABS if rights & caller.rights]
    countries = {code: country_name(code) for code in country_list()}
    return page(
        name,
        workspace.settings,
        asking=caller,
        tabs=tabs,
        said=refused,
        country_names=countries,
        **values,
    )


def back_to(path: str) -> Response:
    """Redirect to the page by GET after an action."""
    return RedirectResponse(path, status_code=303)
