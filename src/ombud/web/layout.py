"""Templates and static files: read once, named by their digest, so that a browser keeps them until
they change."""

import hashlib
import re
from datetime import date
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from ombud.lab import title_of
from ombud.settings import GeneralSettings, Settings
from ombud.web.render import to_html

HERE = Path(__file__).parent
_TICKED = re.compile("`([^`]*)`")
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def _read_static() -> dict[str, tuple[bytes, str]]:
    files = sorted(path for path in (HERE / "static").iterdir() if path.suffix in _TYPES)
    return {path.name: (path.read_bytes(), _TYPES[path.suffix]) for path in files}


STATIC = _read_static()
"""File name -> (bytes, media type)."""
VERSION = hashlib.sha256(b"".join(content for content, _ in STATIC.values())).hexdigest()[:10]


def page(name: str, settings: Settings, **values: Any) -> str:
    """A template as HTML; everything put into it is escaped."""
    chosen = settings.general.name
    organisation = "" if chosen == GeneralSettings.model_fields["name"].default else chosen
    return _templates.get_template(name).render(
        static=f"/static/{VERSION}", organisation=organisation, settings=settings, **values
    )


def day(value: date) -> str:
    """As people write it: 6 April 2026."""
    return f"{value.day} {value:%B %Y}"


def words(name: str) -> str:
    """An identifier as words: `people-manager` -> `People manager`."""
    spaced = name.replace("-", " ").replace("_", " ").strip()
    return spaced[:1].upper() + spaced[1:]


def broken(path: str) -> Markup:
    """A path whose line breaks where a folder ends, not inside a name."""
    return escape(path).replace("/", Markup("/<wbr>"))


def ticked(text: str) -> Markup:
    """A message whose names stand between backticks, as HTML."""
    return Markup(_TICKED.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped before


_templates = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters.update(
    broken=broken,
    day=day,
    words=words,
    metric=title_of,
    markdown=to_html,
    ticked=ticked,
)
