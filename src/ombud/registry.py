"""Names to things: `engine = "lance"` in ombud.toml finds its class here, or in an installed
plugin."""

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from ombud.errors import MissingExtra, UnknownName


def find(kind: str, name: str, built_in: Mapping[str, str]) -> Any:
    """Return what `name` stands for; raises UnknownName (lists the known) or MissingExtra (says the
    pip command).

    built_in: name -> "package.module:attribute". Plugins register under the entry point group
    `ombud.<kind>`."""
    known = {**built_in, **{e.name: e.value for e in entry_points(group=f"ombud.{kind}")}}
    if name not in known:
        raise UnknownName(
            f"No {kind} is called `{name}`.", hint=f"Known: {', '.join(sorted(known))}."
        )
    module, _, attribute = known[name].partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] == "ombud":
            raise
        raise MissingExtra(
            f"The {kind} `{name}` needs the package `{missing.name}`.",
            hint=f"pip install 'ombud[{name}]'",
        ) from missing
