"""The gap report as one HTML file that needs nothing else. What documents and people say is
escaped, always."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ombud.app.gaps.report import Gaps

if TYPE_CHECKING:
    from jinja2 import Environment

OUTCOMES = {
    "full": "answered whole",
    "partial": "answered in part",
    "not in the documents": "not in the documents",
    "outside": "taken for outside",
    "unclear": "asked back",
}
"""As counted -> as said, the best first."""


def render_gaps(found: Gaps, organisation: str, made: datetime | None = None) -> str:
    when = made or datetime.now(UTC)
    told = {
        "gaps": found,
        "organisation": organisation,
        "made": when,
        "outcomes": OUTCOMES,
    }
    page = _environment().get_template("gaps.html").render(told).lstrip()
    return page.encode("utf-8", "replace").decode("utf-8")


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = Path(__file__).parent
    made = Environment(loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined)
    made.trim_blocks = made.lstrip_blocks = True
    return made
