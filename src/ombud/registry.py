"""Names to things: `engine = "lance"` in ombud.toml finds its class here, or in an installed
plugin.

Every kind of part has a table where it is at home, name -> "package.module:attribute", and an entry
point group `ombud.<kind>` for plugins. What is named is imported when it is asked for, not before.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ombud.errors import MissingExtra, SetupError, UnknownName


def find(kind: str, name: str, built_in: Mapping[str, str]) -> Any:
    """Return what `name` stands for: of a plugin, where one has that name, else of `built_in`.

    kind: what the name names, such as `engine`; plugins register under the entry point group
    `ombud.<kind>`. built_in: name -> "package.module:attribute". Raises UnknownName (the nearest
    and all known), MissingExtra (what to install), and SetupError, with the package's name, for a
    plugin that does not load."""
    plugin = _plugins(kind).get(name)
    if plugin is not None:
        return _load_plugin(kind, plugin)
    if name not in built_in:
        raise unknown_name(kind, name, names(kind, built_in))
    return _load_built_in(kind, name, built_in[name])


def names(kind: str, built_in: Iterable[str]) -> tuple[str, ...]:
    """Everything that `find` knows of this kind, sorted."""
    return tuple(sorted({*built_in, *_plugins(kind)}))


def unknown_name(
    kind: str, name: str, known: Iterable[str], spelt: Iterable[str] = ()
) -> UnknownName:
    """The error for a name that stands for nothing; its hint says the nearest and all known.

    spelt: how the known are listed, where that differs from their names."""
    listed = list(known)
    near = get_close_matches(name, listed, n=1)
    guess = f"Did you mean `{near[0]}`? " if near else ""
    spellings = ", ".join(spelt or listed)
    return UnknownName(f"No {kind} is called `{name}`.", hint=f"{guess}Known: {spellings}.")


def imported_later(room: str, modules: Mapping[str, Iterable[str]]) -> Callable[[str], object]:
    """The `__getattr__` of a room's door (PEP 562), for what takes long to import and most
    processes never need.

    modules: their public names, such as {"drawing": ["draw_graph"]}."""
    places: dict[str, str] = {}
    for module, public_names in modules.items():
        places.update(dict.fromkeys(public_names, f"{room}.{module}"))

    def find_public(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(import_module(places[name]), name)

    return find_public


def distribution_of(kind: str, name: str) -> str:
    """The installed package whose plugin has this name; empty where none has."""
    plugin = _plugins(kind).get(name)
    return _distribution(plugin) if plugin else ""


def _plugins(kind: str) -> Mapping[str, EntryPoint]:
    return _installed(tuple(sys.path)).get(kind, {})


@cache
def _installed(path: tuple[str, ...]) -> Mapping[str, Mapping[str, EntryPoint]]:
    """Kind -> name -> plugin. To look through what is installed takes 20 ms, so it is done once for
    each `sys.path`."""
    del path
    installed = entry_points()
    plugins: dict[str, dict[str, EntryPoint]] = {}
    for group in installed.groups:
        room, _, kind = group.partition(".")
        if room == "ombud":
            plugins[kind] = {plugin.name: plugin for plugin in installed.select(group=group)}
    return plugins


def _distribution(plugin: EntryPoint) -> str:
    return plugin.dist.name if plugin.dist else "unknown"


def _load_built_in(kind: str, name: str, place: str) -> Any:
    module, _, attribute = place.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] == "ombud":
            raise
        raise MissingExtra(
            f"The {kind} `{name}` needs the package `{missing.name}`.",
            hint=f"pip install 'ombud[{name}]'",
        ) from missing


def _load_plugin(kind: str, plugin: EntryPoint) -> Any:
    package = _distribution(plugin)
    what = f"The {kind} `{plugin.name}` of the package `{package}`"
    try:
        return plugin.load()
    except ModuleNotFoundError as missing:
        raise MissingExtra(
            f"{what} needs `{missing.name}`.",
            hint=f"pip install --force-reinstall '{package}'",
        ) from missing
    except Exception as broken:  # a plugin may raise anything while it is imported
        raise SetupError(
            f"{what} does not load: {type(broken).__name__}: {broken}",
            hint=f"Update the package, or remove it: pip uninstall '{package}'",
        ) from broken
