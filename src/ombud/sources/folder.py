"""A folder tree as a source."""

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wcmatch import glob
from wcmatch._wcparse import PatternLimitException

from ombud.errors import SourceError
from ombud.settings import Folder
from ombud.sources.metadata import normalise, read_yaml
from ombud.sources.source import Ref

SIDECAR = "ombud.yaml"
GLOB = glob.GLOBSTAR | glob.BRACE | glob.MATCHBASE


def open_folder(place: Folder, home: Path) -> "FolderSource":
    audience = {"audience": place.audience} if place.audience else {}
    return FolderSource(
        place.name,
        (home / place.path.expanduser()).resolve(),
        include=place.include,
        exclude=place.exclude,
        facts={"country": place.country, **audience},
        patterns=place.patterns,
    )


class FolderSource:
    """Files under `path`. Hidden files, sidecars and links that leave the tree are not documents.

    facts: metadata of documents that say nothing themselves. patterns: glob -> metadata, stronger than facts.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        *,
        include: Sequence[str] = ("**/*",),
        exclude: Sequence[str] = (),
        facts: Mapping[str, Any] | None = None,
        patterns: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.name, self.path = name, path
        self.include, self.exclude = list(include), list(exclude)
        where = f"source `{name}`"
        self.facts = normalise(facts or {}, where, strict=True)
        self.patterns = {p: normalise(layer, where, strict=True) for p, layer in (patterns or {}).items()}

    def list(self) -> list[Ref]:
        if not self.path.is_dir():
            raise SourceError(
                f"The folder {self.path} does not exist.", hint="Was it moved, or is a drive not mounted?"
            )
        sidecars: dict[Path, _Sidecar] = {}
        refs: list[Ref] = []
        for folder, names, files in os.walk(self.path, onerror=_unreadable):
            names[:] = sorted(n for n in names if not n.startswith("."))
            here = Path(folder)
            if SIDECAR in files:
                sidecars[here] = _Sidecar(here / SIDECAR)
            refs += [self._ref(here / name, sidecars) for name in sorted(files) if self._wanted(here / name)]
        return refs

    def read(self, ref: Ref) -> bytes:
        try:
            if not stat.S_ISREG(Path(ref.place).stat().st_mode):  # a pipe would be waited on for ever
                raise SourceError("It is not a regular file.", hint="Leave it out with `exclude`, or remove it.")
            return Path(ref.place).read_bytes()
        except OSError as failed:
            reason = failed.strerror or "unknown error"
            raise SourceError(f"The file cannot be read: {reason}.", hint="Check its permissions.") from failed

    def _wanted(self, file: Path) -> bool:
        relative = file.relative_to(self.path).as_posix()
        if file.name.startswith(".") or file.name == SIDECAR:
            return False
        if file.is_symlink() and _leaves(file, self.path):
            return False
        if self.exclude and _fits(relative, self.exclude):
            return False
        return self.include == ["**/*"] or _fits(relative, self.include)

    def _ref(self, file: Path, sidecars: Mapping[Path, "_Sidecar"]) -> Ref:
        relative = file.relative_to(self.path).as_posix()
        facts = dict(self.facts)
        for pattern, layer in self.patterns.items():
            if _fits(relative, pattern):
                facts |= layer
        for folder in reversed([self.path / p for p in file.relative_to(self.path).parents]):
            if folder in sidecars:
                facts |= sidecars[folder].facts(file.relative_to(folder).as_posix())
        try:
            size = file.stat().st_size
        except OSError:
            size = 0  # `read` will say what is wrong with it
        # Names are bytes; one that is not UTF-8 keeps its odd bytes as \xNN, for a uri is text.
        name = os.fsencode(relative).decode("utf-8", "backslashreplace")
        return Ref(f"{self.name}/{name}", str(file), size, facts)


class _Sidecar:
    """One ombud.yaml: `defaults:` and `files: {glob: {...}}`, for its folder and everything below."""

    def __init__(self, path: Path) -> None:
        try:
            content = read_yaml(path.read_text(encoding="utf-8"), str(path)) or {}
        except (OSError, UnicodeDecodeError) as failed:
            raise SourceError(f"{path} cannot be read.", hint="Check its permissions; it must be UTF-8.") from failed
        unknown = set(content) - {"defaults", "files"} if isinstance(content, dict) else {"?"}
        if unknown:
            raise SourceError(
                f"{path} holds more than `defaults` and `files`.", hint=f"Found: {', '.join(map(str, unknown))}."
            )
        self.defaults = normalise(_map(content.get("defaults"), path), f"{path} defaults", strict=True)
        self.files = {
            str(pattern): normalise(_map(layer, path), f"{path} {pattern}", strict=True)
            for pattern, layer in _map(content.get("files"), path).items()
        }

    def facts(self, relative: str) -> dict[str, Any]:
        facts = dict(self.defaults)
        for pattern, layer in self.files.items():
            if relative == pattern or _fits(relative, pattern.removeprefix("/")):
                facts |= layer
        return facts


def _leaves(link: Path, tree: Path) -> bool:
    try:  # a loop of links ends somewhere inside; `read` will say what is wrong with it
        return not Path(os.path.realpath(link)).is_relative_to(tree.resolve())
    except OSError:
        return False


def _fits(relative: str, patterns: str | Sequence[str]) -> bool:
    try:
        return bool(glob.globmatch(relative, patterns, flags=GLOB))
    except PatternLimitException as many:
        raise SourceError(f"The pattern `{patterns}` stands for too many.", hint="Use fewer braces.") from many


def _map(value: Any, path: Path) -> Mapping[Any, Any]:
    if value is not None and not isinstance(value, Mapping):
        raise SourceError(f"{path}: expected a map, found {type(value).__name__}.")
    return value or {}


def _unreadable(error: OSError) -> None:
    raise SourceError(f"The folder {error.filename} cannot be read: {error.strerror}.", hint="Check its permissions.")
