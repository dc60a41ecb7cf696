"""Open the source that a `[[source]]` block of the settings describes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from ombud.errors import OmbudError, SourceError
from ombud.registry import distribution_of, find
from ombud.settings import PluginSource, SourceSettings
from ombud.sources.source import Ref, Source


def open_source(place: SourceSettings, home: Path) -> Source:
    """Open the source of a block of the settings, without reading or requesting anything yet.

    home: folder of relative paths. Raises SourceError for invalid settings, MissingExtra."""
    if isinstance(place, PluginSource):
        return _PluginGuard(place, home)
    kind = str(cast(Any, place).type)
    source: Source = find("source", kind, SOURCES)(place, home)
    return source


class _PluginGuard:
    """A source of a plugin. Its faults become SourceErrors that name the package, so that they
    concern this source or document and not the whole sync."""

    def __init__(self, place: PluginSource, home: Path) -> None:
        self.name = place.name
        self._kind = place.type
        with self._faults("cannot be opened"):
            self._source: Source = place.open(home)
        self._expect(hasattr(self._source, "list") and hasattr(self._source, "read"), "no Source")

    def list(self) -> list[Ref]:
        with self._faults("cannot list its documents"):
            refs = list(self._source.list())
        self._expect(all(isinstance(ref, Ref) for ref in refs), "a list without Refs")
        return refs

    def read(self, ref: Ref) -> bytes:
        with self._faults("cannot read a document"):
            content = self._source.read(ref)
        self._expect(isinstance(content, bytes), "no bytes")
        return content

    @contextmanager
    def _faults(self, what: str) -> Iterator[None]:
        try:
            yield
        except OmbudError:
            raise
        except Exception as broken:  # a plugin may raise anything
            raise self._error(f"{what} ({type(broken).__name__}: {broken})") from broken

    def _expect(self, right: bool, what: str) -> None:
        if not right:
            raise self._error(f"returned {what}")

    def _error(self, what: str) -> SourceError:
        package = distribution_of("source", self._kind)
        return SourceError(
            f"The source `{self._kind}` of the package `{package}` {what}.",
            hint="Update the package, or leave the source out.",
        )


SOURCES: dict[str, str] = {
    "arxiv": "ombud.sources.arxiv:open_arxiv",
    "confluence": "ombud.sources.confluence.source:open_confluence",
    "drive": "ombud.sources.drive.source:open_drive",
    "folder": "ombud.sources.folder:open_folder",
    "sharepoint": "ombud.sources.sharepoint.source:open_sharepoint",
    "web": "ombud.sources.web.source:open_web",
    "wikipedia": "ombud.sources.wikipedia:open_wikipedia",
}
"""Kind -> `(settings, home) -> Source`. Kinds of plugins are opened by `PluginSource.open`."""
