"""Decide which paths of a source are documents, and the metadata that the settings give each."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from wcmatch import glob
from wcmatch._wcparse import PatternLimitException

from ombud.errors import SourceError
from ombud.registry import names
from ombud.settings import SourceSettings
from ombud.sources.metadata import normalise_metadata

GLOB = glob.GLOBSTAR | glob.BRACE | glob.MATCHBASE
EVERYTHING = ["**/*"]
_FILES = frozenset((
    ".adoc", ".asciidoc", ".csv", ".docm", ".docx", ".eml", ".epub", ".htm", ".html", ".markdown",
    ".md", ".mdx", ".msg", ".ods", ".odt", ".pdf", ".pptm", ".pptx", ".rst", ".rtf", ".tsv", ".txt",
    ".xht", ".xhtml", ".xls", ".xlsm", ".xlsx",
))  # fmt: skip
"""Endings of files in a site that are read besides its pages."""


def is_document(name: str) -> bool:
    """Tell by its ending whether a file of a site is read."""
    suffix = PurePosixPath(name).suffix.lower()
    return suffix in _FILES or suffix in plugin_endings()


def why_unreadable(name: str) -> str:
    """Explain by its ending why a file is not read."""
    suffix = PurePosixPath(name).suffix.lower()
    return f"there is no parser for `{suffix}`" if suffix else "its name has no ending"


def plugin_endings() -> frozenset[str]:
    """Return the file endings that parsers of plugins read, such as ".memo"."""
    return frozenset(f".{name}" for name in names("parser", ()))


class Matching:
    """Includes, excludes and metadata by path; paths are relative to the source, with slashes.

    facts: default metadata. patterns: glob -> metadata, stronger than facts. Raises SourceError,
    naming the source, for invalid metadata."""

    def __init__(
        self,
        name: str,
        *,
        include: Sequence[str] = EVERYTHING,
        exclude: Sequence[str] = (),
        facts: Mapping[str, Any] | None = None,
        patterns: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        where = f"source `{name}`"
        self.include = list(include)
        self.exclude = list(exclude)
        self.facts = normalise_metadata(facts or {}, where, strict=True)
        self.patterns: dict[str, dict[str, Any]] = {}
        for pattern, layer in (patterns or {}).items():
            self.patterns[pattern] = normalise_metadata(layer, where, strict=True)

    def included(self, path: str) -> bool:
        return self.include == EVERYTHING or fits(path, self.include)

    def excluded(self, path: str) -> bool:
        return bool(self.exclude) and fits(path, self.exclude)

    def wanted(self, path: str) -> bool:
        return not self.excluded(path) and self.included(path)

    def facts_of(self, path: str) -> dict[str, Any]:
        facts = dict(self.facts)
        for pattern, layer in self.patterns.items():
            if fits(path, pattern):
                facts |= layer
        return facts


def matching_of(place: SourceSettings) -> Matching:
    facts: dict[str, Any] = {"country": place.country}
    if place.audience:
        facts["audience"] = place.audience
    return Matching(
        place.name,
        include=place.include,
        exclude=place.exclude,
        facts=facts,
        patterns=place.patterns,
    )


def fits(path: str, patterns: str | Sequence[str]) -> bool:
    try:
        return bool(glob.globmatch(path, patterns, flags=GLOB))
    except PatternLimitException as many:
        raise SourceError(
            f"The pattern `{patterns}` stands for too many.", hint="Use fewer braces."
        ) from many
