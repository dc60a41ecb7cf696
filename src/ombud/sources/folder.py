"""A folder tree as a source."""

import os
import stat
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ombud.errors import SourceError
from ombud.settings import Folder
from ombud.sources.matching import Matching, fits
from ombud.sources.metadata import normalise_metadata, read_yaml
from ombud.sources.source import Ref

SIDECAR = "ombud.yaml"
SETTLED = 2.0
"""Seconds after which a file's times can be trusted to tell a later write."""


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

    facts: metadata of documents that say nothing themselves. patterns: glob -> metadata, stronger
    than facts."""

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
        self._matching = Matching(
            name, include=include, exclude=exclude, facts=facts, patterns=patterns
        )
        self.facts = self._matching.facts

    def list(self) -> list[Ref]:
        if not self.path.is_dir():
            raise SourceError(
                f"The folder {self.path} does not exist.",
                hint="Was it moved, or is a drive not mounted?",
            )
        refs: list[Ref] = []
        top = str(self.path)
        above: dict[str, Sidecars] = {os.path.dirname(top): ()}  # noqa: PTH120
        for folder, names, files in os.walk(top, onerror=_unreadable):
            names[:] = sorted(n for n in names if not n.startswith("."))
            inside = folder[len(top) :].lstrip(os.sep)
            above[folder] = above[os.path.dirname(folder)]  # noqa: PTH120
            if SIDECAR in files:
                above[folder] = (*above[folder], (inside, _Sidecar(Path(folder) / SIDECAR)))
            for name in sorted(files):
                relative = f"{inside}/{name}" if inside else name
                if self._wanted(name, relative) and (ref := self._ref(relative, above[folder])):
                    refs.append(ref)
        return refs

    def read(self, ref: Ref) -> bytes:
        try:
            if not stat.S_ISREG(
                Path(ref.place).stat().st_mode
            ):  # a pipe would be waited on for ever
                raise SourceError(
                    "It is not a regular file.", hint="Leave it out with `exclude`, or remove it."
                )
            return Path(ref.place).read_bytes()
        except OSError as failed:
            reason = failed.strerror or "unknown error"
            raise SourceError(
                f"The file cannot be read: {reason}.", hint="Check its permissions."
            ) from failed

    def _wanted(self, name: str, relative: str) -> bool:
        return not name.startswith(".") and name != SIDECAR and self._matching.wanted(relative)

    def _ref(self, relative: str, sidecars: "Sidecars") -> Ref | None:
        """None for a link that leaves the tree."""
        file = f"{self.path}{os.sep}{relative}"  # ten thousand paths cost a second as objects
        try:
            found = os.lstat(file)
            if stat.S_ISLNK(found.st_mode):
                if _leaves(Path(file), self.path):
                    return None
                found = os.stat(file)  # noqa: PTH116
        except OSError:
            found = None  # `read` will say what is wrong with it
        facts = self._matching.facts_of(relative)
        for folder, sidecar in sidecars:
            facts |= sidecar.facts(relative[len(folder) + 1 :] if folder else relative)
        # Names are bytes; one that is not UTF-8 keeps its odd bytes as \xNN, for a uri is text.
        name = os.fsencode(relative).decode("utf-8", "backslashreplace")
        return Ref(
            f"{self.name}/{name}", file, found.st_size if found else 0, facts, _version(found)
        )


Sidecars = tuple[tuple[str, "_Sidecar"], ...]
"""(folder inside the tree, its ombud.yaml), outermost first."""


class _Sidecar:
    """One ombud.yaml: `defaults:` and `files: {glob: {...}}`, for its folder and everything
    below."""

    def __init__(self, path: Path) -> None:
        try:
            content = read_yaml(path.read_text(encoding="utf-8"), str(path)) or {}
        except (OSError, UnicodeDecodeError) as failed:
            raise SourceError(
                f"{path} cannot be read.", hint="Check its permissions; it must be UTF-8."
            ) from failed
        unknown = set(content) - {"defaults", "files"} if isinstance(content, dict) else {"?"}
        if unknown:
            raise SourceError(
                f"{path} holds more than `defaults` and `files`.",
                hint=f"Found: {', '.join(map(str, unknown))}.",
            )
        self.defaults = normalise_metadata(
            _map(content.get("defaults"), path), f"{path} defaults", strict=True
        )
        self.files = {
            str(pattern): normalise_metadata(_map(layer, path), f"{path} {pattern}", strict=True)
            for pattern, layer in _map(content.get("files"), path).items()
        }

    def facts(self, relative: str) -> dict[str, Any]:
        facts = dict(self.defaults)
        for pattern, layer in self.files.items():
            if relative == pattern or fits(relative, pattern.removeprefix("/")):
                facts |= layer
        return facts


def _version(found: os.stat_result | None) -> str:
    """What changes with every write. A file that was written just now may be written again within
    one tick of the file system's clock, unseen: it has no version yet."""
    if found is None or time.time() - max(found.st_mtime, found.st_ctime) < SETTLED:
        return ""
    return f"{found.st_mtime_ns}.{found.st_ctime_ns}.{found.st_size}.{found.st_ino}"


def _leaves(link: Path, tree: Path) -> bool:
    try:  # a loop of links ends somewhere inside; `read` will say what is wrong with it
        return not Path(os.path.realpath(link)).is_relative_to(tree.resolve())
    except OSError:
        return False


def _map(value: Any, path: Path) -> Mapping[Any, Any]:
    if value is not None and not isinstance(value, Mapping):
        raise SourceError(f"{path}: expected a map, found {type(value).__name__}.")
    return value or {}


def _unreadable(error: OSError) -> None:
    raise SourceError(
        f"The folder {error.filename} cannot be read: {error.strerror}.",
        hint="Check its permissions.",
    )
