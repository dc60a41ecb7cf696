"""Reports of training: a Markdown template beside the module that judges."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def render_report(template: Path, **values: Any) -> str:
    """The template as text; a name that it uses and nobody gave is an error."""
    return _templates(template.parent).get_template(template.name).render(**values)


def _templates(folder: Path) -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.tests["of_router"] = lambda source: source.startswith("router ")
    templates.filters["share"] = _share
    return templates


def _share(value: float) -> str:
    """`.853`, as statistics are printed."""
    return f"{value:.3f}".lstrip("0") if value < 1 else "1.000"
