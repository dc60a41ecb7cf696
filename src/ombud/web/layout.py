"""Templates and static files: read once, named by their digest, so that a browser keeps them until
they change."""

import hashlib
import re
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from ombud.lab import title_of
from ombud.messages import (
    Forms,
    choose_language,
    country_name,
    current_language,
    format_day,
    format_moment,
    format_number,
    language_names,
    message,
    messages_of,
    use_language,
)
from ombud.settings import GeneralSettings, Settings
from ombud.types import Document
from ombud.web.render import to_html

HERE = Path(__file__).parent
_TICKED = re.compile("`([^`]*)`")
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def read_static() -> dict[str, tuple[bytes, str]]:
    files = sorted(path for path in (HERE / "static").iterdir() if path.suffix in _TYPES)
    return {path.name: (path.read_bytes(), _TYPES[path.suffix]) for path in files}


LANGUAGE = "ombud_language"
"""Cookie of a browser in which a language was chosen."""


class PageLanguage:
    """Answers each request in the language that the person chose, or that their browser prefers.

    otherwise: the workspace's language."""

    def __init__(self, app: ASGIApp, otherwise: str) -> None:
        self.app = app
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            request = HTTPConnection(scope)
            accepted = request.headers.get("accept-language", "")
            chosen = request.cookies.get(LANGUAGE, "")
            use_language(choose_language(chosen, accepted, self._otherwise))
        await self.app(scope, receive, send)


STATIC = read_static()
"""File name -> (bytes, media type)."""
VERSION = hashlib.sha256(b"".join(content for content, _ in STATIC.values())).hexdigest()[:10]


def page(name: str, settings: Settings, **values: Any) -> str:
    """Render a template as HTML; all values are escaped."""
    chosen = settings.general.name
    organisation = "" if chosen == GeneralSettings.model_fields["name"].default else chosen
    return templates.get_template(name).render(
        static=f"/static/{VERSION}", organisation=organisation, settings=settings, **values
    )


def in_force(document: Document) -> str:
    """Say from when to when a document applies; empty if it has no dates."""
    first, last = document.effective_from, document.effective_to
    if first and last:
        return message("documents.in_force_between", first=format_day(first), last=format_day(last))
    if first:
        return message("documents.in_force_from", day=format_day(first))
    return message("documents.in_force_to", day=format_day(last)) if last else ""


def script_words(*domains: str) -> dict[str, str | Forms]:
    """Return the messages for the scripts of a page."""
    delivered: dict[str, str | Forms] = {}
    for name in domains:
        delivered |= messages_of(name)
    return delivered


def words(name: str) -> str:
    """Turn an identifier into words: `people-manager` becomes `People manager`."""
    spaced = name.replace("-", " ").replace("_", " ").strip()
    return spaced[:1].upper() + spaced[1:]


def broken(path: str) -> Markup:
    """Allow line breaks in a path after each folder, not inside names."""
    return escape(path).replace("/", Markup("/<wbr>"))


def ticked(text: str) -> Markup:
    """Turn names between backticks into HTML code."""
    return Markup(_TICKED.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped before


templates = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
templates.filters.update(
    broken=broken,
    country=country_name,
    day=format_day,
    moment=format_moment,
    number=format_number,
    percent=partial(format_number, style="percent"),
    price=partial(format_number, style="price"),
    words=words,
    metric=title_of,
    markdown=to_html,
    ticked=ticked,
)
templates.globals.update(
    in_force=in_force,
    language=current_language,
    languages=language_names,
    script_words=script_words,
    t=message,
)
