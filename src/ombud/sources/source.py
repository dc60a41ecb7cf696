"""What every source does."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol


class Ref(NamedTuple):
    """One document of a source, not yet read."""

    uri: str
    """NAME/relative/path.ext; the document's identity."""
    place: str
    """Where `read` finds it."""
    size: int
    """Bytes."""
    facts: Mapping[str, Any]
    """Normalised metadata that the source knows; front matter may still override it."""


class Source(Protocol):
    name: str

    def list(self) -> list[Ref]:
        """Everything that is there now; raises SourceError rather than returning half a list."""
        ...

    def read(self, ref: Ref) -> bytes:
        """Raises SourceError for this document only."""
        ...
