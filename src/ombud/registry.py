"""Names to things: `engine = "lance"` in ombud.toml finds its class here, or in an installed
plugin.

Every kind of part has a table where it is at home, name -> "package.module:attribute", and an entry
point group `ombud.<kind>` for plugins. What is named is imported when it is asked for, not before.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ombud.errors import MissingExtra, OmbudError, SetupError, UnknownName

OWN_PACKAGES = {"desk": {"matrix": "ombud-matrix"}, "engine": {"milvus": "ombud-milvus"}}
"""Kind -> name -> our package beside ombud that has it, in `plugins/` of the repository."""

Plugins = Mapping[str, Mapping[str, tuple[EntryPoint, ...]]]
"""Kind -> name -> who has it; more than one where packages fall out with each other."""


def find(kind: str, name: str, built_in: Mapping[str, str]) -> Any:
    """Return what `name` stands for: of a plugin, where one has that name, else of `built_in`.

    kind: what the name names, such as `engine`; plugins register under the entry point group
    `ombud.<kind>`. built_in: name -> "package.module:attribute". Raises UnknownName (the nearest
    and all known), MissingExtra (what to install), and SetupError, with the package's name, for a
    plugin that does not load, and for two that have the same name."""
    plugins = _plugins(kind).get(name, ())
    if plugins:
        return _load_plugin(kind, _only(kind, plugins))
    if name not in built_in:
        raise missing_name(kind, name, names(kind, built_in))
    return _load_built_in(kind, name, built_in[name])


def open_part(
    kind: str, name: str, built_in: Mapping[str, str], *arguments: object, needs: Iterable[str]
) -> Any:
    """Find a part and call it with the arguments. Errors of a plugin become a SetupError that names
    its package, as does a part that lacks an attribute of `needs`.

    needs: names that the part must have, such as "embed"."""
    opener = find(kind, name, built_in)
    package = distribution_of(kind, name)
    if not package:
        return opener(*arguments)
    with plugin_faults(kind, name):
        part = opener(*arguments)
    missing = [attribute for attribute in needs if not hasattr(part, attribute)]
    if missing:
        raise SetupError(
            f"What the {_plain(kind)} `{name}` of the package `{package}` opens has no "
            f"`{missing[0]}`.",
            hint=f"Update the package, or remove it: pip uninstall '{package}'",
        )
    return part


@contextmanager
def plugin_faults(kind: str, name: str) -> Iterator[None]:
    """Turn what a plugin raises, our own errors aside, into a SetupError that names its package.
    Errors of built-in parts pass unchanged."""
    package = distribution_of(kind, name)
    try:
        yield
    except OmbudError:
        raise
    except Exception as broken:  # a plugin may raise anything
        if not package:
            raise
        raise SetupError(
            f"The {_plain(kind)} `{name}` of the package `{package}` failed: {_reason(broken)}",
            hint=f"Update the package, or remove it: pip uninstall '{package}'",
        ) from broken


def names(kind: str, built_in: Iterable[str]) -> tuple[str, ...]:
    """List all names of this kind that `find` knows, sorted."""
    return tuple(sorted({*built_in, *_plugins(kind)}))


def missing_name(kind: str, name: str, known: Iterable[str]) -> SetupError:
    """Make the error for a missing part: MissingExtra for one of our packages that is not
    installed, UnknownName for anything else."""
    package = OWN_PACKAGES.get(kind, {}).get(name)
    if not package:
        return unknown_name(kind, name, known)
    return MissingExtra(
        f"The {_plain(kind)} `{name}` needs the package `{package}`.",
        hint=f"In a checkout of ombud: pip install ./plugins/{package}",
    )


def unknown_name(
    kind: str, name: str, known: Iterable[str], spelt: Iterable[str] = ()
) -> UnknownName:
    """Make the error for an unknown name; its hint gives the nearest and all known names.

    spelt: how the known are listed, where that differs from their names."""
    listed = list(known)
    near = get_close_matches(name, listed, n=1)
    guess = f"Did you mean `{near[0]}`? " if near else ""
    spellings = ", ".join(spelt or listed)
    return UnknownName(f"No {_plain(kind)} is called `{name}`.", hint=f"{guess}Known: {spellings}.")


def imported_later(room: str, modules: Mapping[str, Iterable[str]]) -> Callable[[str], object]:
    """Make the `__getattr__` of a room's door (PEP 562), for what takes long to import and most
    processes never need.

    modules: their public names, or modules below them, such as {"extraction":
    ["GraphExtractor"]}."""
    places: dict[str, str] = {}
    for module, public_names in modules.items():
        places.update(dict.fromkeys(public_names, f"{room}.{module}"))

    def find_public(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        module = import_module(places[name])
        if hasattr(module, name):
            return getattr(module, name)
        return import_module(f"{module.__name__}.{name}")

    return find_public


def distribution_of(kind: str, name: str) -> str:
    """Return the installed package whose plugin has this name; empty if there is none."""
    plugins = _plugins(kind).get(name)
    return _distribution(plugins[0]) if plugins else ""


def _plugins(kind: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    return _installed(tuple(sys.path)).get(kind, {})


@cache
def _installed(path: tuple[str, ...]) -> Plugins:
    """List installed plugins, once for each `sys.path`, because the search takes 20 ms."""
    del path
    installed = entry_points()
    kinds: dict[str, dict[str, tuple[EntryPoint, ...]]] = {}
    for group in installed.groups:
        room, _, kind = group.partition(".")
        if room == "ombud":
            kinds[kind] = _by_name(installed.select(group=group))
    return kinds


def _by_name(plugins: Iterable[EntryPoint]) -> dict[str, tuple[EntryPoint, ...]]:
    by_name: dict[str, tuple[EntryPoint, ...]] = {}
    for plugin in plugins:
        by_name[plugin.name] = (*by_name.get(plugin.name, ()), plugin)
    return by_name


def _only(kind: str, plugins: Sequence[EntryPoint]) -> EntryPoint:
    """Return the plugin of this name; raises SetupError if several packages have one, since the
    order of installation must not decide."""
    packages = sorted({_distribution(plugin) for plugin in plugins})
    if len(packages) > 1:
        listed = " and ".join(f"`{package}`" for package in packages)
        raise SetupError(
            f"The {_plain(kind)} `{plugins[0].name}` is in several packages: {listed}.",
            hint=f"Remove one of them: pip uninstall '{packages[0]}'",
        )
    return plugins[0]


def _plain(kind: str) -> str:
    return kind.replace("_", " ")


def _reason(broken: BaseException) -> str:
    """Format the type and message of an error in one line."""
    message = " ".join(str(broken).split())
    return f"{type(broken).__name__}: {message}" if message else type(broken).__name__


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
    what = f"The {_plain(kind)} `{plugin.name}` of the package `{package}`"
    try:
        return plugin.load()
    except ModuleNotFoundError as missing:
        raise MissingExtra(
            f"{what} needs `{missing.name}`.",
            hint=f"pip install --force-reinstall '{package}'",
        ) from missing
    except (Exception, SystemExit) as broken:  # a plugin may raise anything while it is imported
        raise SetupError(
            f"{what} does not load: {_reason(broken)}",
            hint=f"Update the package, or remove it: pip uninstall '{package}'",
        ) from broken
