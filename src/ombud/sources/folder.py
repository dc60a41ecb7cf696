"""A folder tree as a source."""

import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ombud.errors import SourceError
from ombud.settings import Folder
from ombud.sources.matching import Matching, fits, matching_of
from ombud.sources.metadata import normalise_metadata, read_yaml
from ombud.sources.source import LeftOut, Ref

SIDECAR = "ombud.yaml"
SETTLED = 2.0
"""Seconds after which a file's times are sure to change with the next write."""


def open_folder(place: Folder, home: Path) -> "FolderSource":
    path = (home / place.path.expanduser()).resolve()
    return FolderSource(place.name, path, matching_of(place))


class FolderSource:
    """Files under `path`. Hidden files, sidecars, and links that leave the tree or lead to another
    document of it are not documents.

    options: of `Matching`, if that is not given."""

    def __init__(
        self, name: str, path: Path, matching: Matching | None = None, **options: Any
    ) -> None:
        self.name = name
        self.path = path
        self._matching = matching or Matching(name, **options)
        self.facts = self._matching.facts
        self.left_out: list[LeftOut] = []

    def list(self) -> list[Ref]:
        if not self.path.is_dir():
            raise SourceError(
                f"The folder {self.path} does not exist.",
                hint="Was it moved, or is a drive not mounted?",
            )
        refs: list[Ref] = []
        self.left_out = []
        top = str(self.path)
        above: dict[str, Sidecars] = {os.path.dirname(top): ()}  # noqa: PTH120
        for folder, names, files in os.walk(top, onerror=raise_unreadable):
            visible = [name for name in names if not name.startswith(".")]
            names[:] = sorted(visible)
            inside = folder[len(top) :].lstrip(os.sep)
            for name in names:
                if os.path.islink(f"{folder}{os.sep}{name}"):  # noqa: PTH114
                    link = self._uri(f"{inside}/{name}" if inside else name)
                    self.left_out.append(LeftOut(link, "links to folders are not followed"))
            parent = os.path.dirname(folder)  # noqa: PTH120
            sidecars = above[parent]
            if SIDECAR in files:
                own = Sidecar(Path(folder) / SIDECAR)
                sidecars = (*sidecars, (inside, own))
            above[folder] = sidecars
            refs += self._refs(inside, files, sidecars)
        return refs

    def _refs(self, inside: str, files: Sequence[str], sidecars: "Sidecars") -> Iterator[Ref]:
        for name in sorted(files):
            relative = f"{inside}/{name}" if inside else name
            if not self._wanted(name, relative):
                continue
            ref = self._ref(relative, sidecars)
            if ref:
                yield ref

    def read(self, ref: Ref) -> bytes:
        try:
            mode = Path(ref.place).stat().st_mode
            if not stat.S_ISREG(mode):  # a pipe would be waited on for ever
                raise SourceError(
                    "It is not a regular file.", hint="Leave it out with `exclude`, or remove it."
                )
            return Path(ref.place).read_bytes()
        except OSError as failed:
            reason = failed.strerror or "unknown error"
            raise SourceError(
                f"The file cannot be read: {reason}.", hint="Check its permissions."
            ) from failed

    def facts_at(self, relative: str) -> dict[str, Any] | None:
        """Return the metadata of a document at this place, whether or not there is one; None if it
        would be left out. Raises SourceError for a broken ombud.yaml."""
        *folders, name = relative.split("/")
        if any(part.startswith(".") for part in folders) or not self._wanted(name, relative):
            return None
        sidecars: Sidecars = ()
        for depth in range(len(folders) + 1):
            inside = "/".join(folders[:depth])
            sidecar = self.path / inside / SIDECAR
            if sidecar.is_file():
                sidecars = (*sidecars, (inside, Sidecar(sidecar)))
        return self._facts(relative, sidecars)

    def _facts(self, relative: str, sidecars: "Sidecars") -> dict[str, Any]:
        facts = self._matching.facts_of(relative)
        for folder, sidecar in sidecars:
            below = relative[len(folder) + 1 :] if folder else relative
            facts |= sidecar.facts(below)
        return facts

    def _wanted(self, name: str, relative: str) -> bool:
        return not name.startswith(".") and name != SIDECAR and self._matching.wanted(relative)

    def _why_covered(self, link: Path) -> str:
        """Explain why a link is no document: it leaves the tree, or its target is listed itself.
        Empty for other links."""
        try:  # a loop of links ends somewhere inside; `read` will report it
            target = Path(os.path.realpath(link))
        except OSError:
            return ""
        tree = self.path.resolve()
        if not target.is_relative_to(tree):
            return "it is a link out of the folder"
        *folders, name = target.relative_to(tree).parts
        relative = "/".join((*folders, name))
        is_hidden = any(folder.startswith(".") for folder in folders)
        is_listed = target.is_file() and not is_hidden and self._wanted(name, relative)
        return f"it is a link to {self._uri(relative)}" if is_listed else ""

    def _uri(self, relative: str) -> str:
        # Names are bytes; bytes that are not UTF-8 become \xNN, as a uri is text.
        name = os.fsencode(relative).decode("utf-8", "backslashreplace")
        return f"{self.name}/{name}"

    def _ref(self, relative: str, sidecars: "Sidecars") -> Ref | None:
        """Make the Ref of a file; None for a link that leaves the tree or leads to a document of
        it."""
        file = f"{self.path}{os.sep}{relative}"  # ten thousand Path objects would cost a second
        try:
            status = os.lstat(file)
            if stat.S_ISLNK(status.st_mode):
                why = self._why_covered(Path(file))
                if why:
                    self.left_out.append(LeftOut(self._uri(relative), why))
                    return None
                status = os.stat(file)  # noqa: PTH116
        except OSError:
            status = None  # `read` will report it
        facts = self._facts(relative, sidecars)
        return Ref(
            uri=self._uri(relative),
            place=file,
            size=status.st_size if status else 0,
            facts=facts,
            version=file_version(status),
        )


Sidecars = tuple[tuple[str, "Sidecar"], ...]
"""(folder inside the tree, its ombud.yaml), outermost first."""


class Sidecar:
    """An ombud.yaml: `defaults:` and `files: {glob: {...}}` for its folder and everything below."""

    def __init__(self, path: Path) -> None:
        try:
            content = read_yaml(path.read_text(encoding="utf-8"), str(path)) or {}
        except (OSError, UnicodeDecodeError) as failed:
            raise SourceError(
                f"{path} cannot be read.", hint="Check its permissions; it must be UTF-8."
            ) from failed
        unknown = {"?"}
        if isinstance(content, dict):
            unknown = set(content) - {"defaults", "files"}
        if unknown:
            raise SourceError(
                f"{path} holds more than `defaults` and `files`.",
                hint=f"Found: {', '.join(map(str, unknown))}.",
            )
        defaults = require_map(content.get("defaults"), path)
        self.defaults = normalise_metadata(defaults, f"{path} defaults", strict=True)
        self.files: dict[str, dict[str, Any]] = {}
        for pattern, value in require_map(content.get("files"), path).items():
            layer = require_map(value, path)
            facts = normalise_metadata(layer, f"{path} {pattern}", strict=True)
            self.files[str(pattern)] = facts

    def facts(self, relative: str) -> dict[str, Any]:
        facts = dict(self.defaults)
        for pattern, layer in self.files.items():
            if relative == pattern or fits(relative, pattern.removeprefix("/")):
                facts |= layer
        return facts


def file_version(status: os.stat_result | None) -> str:
    """Make a version that changes with every write; empty for a file written just now, which could
    change within the same tick of the file system's clock."""
    if status is None:
        return ""
    last_written = max(status.st_mtime, status.st_ctime)
    if time.time() - last_written < SETTLED:
        return ""
    return f"{status.st_mtime_ns}.{status.st_ctime_ns}.{status.st_size}.{status.st_ino}"


def require_map(value: Any, path: Path) -> Mapping[Any, Any]:
    if value is not None and not isinstance(value, Mapping):
        raise SourceError(f"{path}: expected a map, found {type(value).__name__}.")
    return value or {}


def raise_unreadable(error: OSError) -> None:
    raise SourceError(
        f"The folder {error.filename} cannot be read: {error.strerror}.",
        hint="Check its permissions.",
    )
