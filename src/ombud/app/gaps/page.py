"""The gap report as one self-contained HTML file; text of documents and people is always
escaped."""

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
"""Outcome -> its wording, best first."""


def render_gaps(gaps: Gaps, organisation: str, made: datetime | None = None) -> str:
    when = made or datetime.now(UTC)
    variables = {
        "gaps": gaps,
        "organisation": organisation,
        "made": when,
        "outcomes": OUTCOMES,
    }
    page = template_environment().get_template("gaps.html").render(variables).lstrip()
    return page.encode("utf-8", "replace").decode("utf-8")


@cache
def template_environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = Path(__file__).parent
    made = Environment(loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined)
    made.trim_blocks = made.lstrip_blocks = True
    return made
