"""What all pages under `/admin` share: forms as fields and files, who does it, the way back, and
the page again with what was typed where that cannot be done."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import UploadFile

from ombud.app import Workspace, callers
from ombud.errors import BadRequest
from ombud.text import country_list
from ombud.web.layout import page
from ombud.web.problems import Problem

MOST_FILES = 50
MOST_FIELDS = 200
NO_FORM = BadRequest("This is no form.", hint="Send it as a page does.")
TABS: Sequence[tuple[str, str, frozenset[str]]] = (
    ("/admin", "Usage", frozenset({"policy", "lab", "admin"})),
    ("/admin/sources", "Sources", frozenset({"policy", "lab", "admin"})),
    ("/admin/documents", "Documents", frozenset({"policy", "lab", "admin"})),
    ("/admin/drafts", "Drafts", frozenset({"policy"})),
    ("/admin/prompts", "Prompts", frozenset({"lab"})),
    ("/admin/flags", "Flags", frozenset({"lab"})),
    ("/admin/people", "People", frozenset({"admin"})),
    ("/admin/audit", "Audit", frozenset({"policy", "admin"})),
    ("/lab", "Lab", frozenset({"lab"})),
    ("/playground", "Playground", frozenset({"lab"})),
)
"""Address, name, and the rights of which any one opens it."""


class Form(NamedTuple):
    fields: dict[str, list[str]]
    files: list[tuple[str, bytes]]
    """Name and bytes of those that were chosen."""

    def one(self, name: str) -> str:
        return self.fields.get(name, [""])[0].strip()

    def all(self, name: str) -> list[str]:
        return [value for value in self.fields.get(name, []) if value.strip()]

    def number(self, name: str) -> int:
        """Raises BadRequest."""
        text = self.one(name)
        if not text.isdecimal() or len(text) > 9:
            raise BadRequest(f"`{name}` is no number.")
        return int(text)


class RefusedForm(NamedTuple):
    """What a form was refused with, and what had been typed into it."""

    place: str = ""
    """Address that the form was sent to; empty = nothing was refused."""
    fields: Mapping[str, Sequence[str]] = {}
    problem: Problem | None = None

    def typed(self, place: str, name: str, otherwise: str = "") -> str:
        """The value of a field of the form that is sent to `place`."""
        return self.fields.get(name, [""])[0] if place == self.place else otherwise

    def chosen(self, place: str, name: str, otherwise: Sequence[str] = ()) -> Sequence[str]:
        """The same of boxes to tick."""
        return self.fields.get(name, []) if place == self.place else otherwise


NOT_REFUSED = RefusedForm()
Show = Callable[[Workspace, callers.Caller, RefusedForm], str]
"""A page as HTML."""


async def read_form(
    request: Request, again: Show | None = None, most_fields: int = MOST_FIELDS
) -> Form:
    """again: the page of the form; what is refused from now on is said on it, above the form.

    Raises BadRequest for a body that is no form, and HTTPException (400) for one that is broken or
    has too many fields or files."""
    kind = request.headers.get("content-type", "").partition(";")[0]
    if kind not in ("", "application/x-www-form-urlencoded", "multipart/form-data"):
        raise NO_FORM
    form = Form({}, [])
    try:
        async with request.form(max_files=MOST_FILES, max_fields=most_fields) as parts:
            for name, value in parts.multi_items():
                if not isinstance(value, UploadFile):
                    form.fields.setdefault(_text(name), []).append(_text(value))
                elif value.filename:
                    form.files.append((_text(value.filename), await value.read()))
    except UnicodeError as garbled:  # in a character set of the sender's choice
        raise NO_FORM from garbled
    if again is not None:
        request.state.again = _with_problem(again, request, form)
    return form


def _text(value: str) -> str:
    """The value, which a database can store. Raises UnicodeError."""
    value.encode()
    if "\0" in value:
        raise UnicodeError
    return value


def _with_problem(again: Show, request: Request, form: Form) -> Callable[[Problem], str]:
    """How `problems.respond` shows the page again."""

    def shown_again(found: Problem) -> str:
        said = RefusedForm(place=request.url.path, fields=form.fields, problem=found)
        return again(request.app.state.workspace, callers.caller_of(request.scope), said)

    return shown_again


def actor(caller: callers.Caller) -> str:
    """Id of who does it, for the audit."""
    return caller.account.id if caller.account else "demo"


def shown(
    name: str,
    workspace: Workspace,
    caller: callers.Caller,
    said: RefusedForm = NOT_REFUSED,
    **values: Any,
) -> str:
    """A page with the tabs that the caller may open."""
    tabs = [(href, label) for href, label, rights in TABS if rights & caller.rights]
    return page(
        name,
        workspace.settings,
        asking=caller,
        tabs=tabs,
        said=said,
        country_names=country_list(),
        **values,
    )


def back_to(path: str) -> Response:
    """After something was done: the page again, by GET."""
    return RedirectResponse(path, status_code=303)
