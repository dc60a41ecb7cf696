"""What every source does."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol


class Ref(NamedTuple):
    """One document of a source, not yet read."""

    uri: str
    """NAME/relative/path.ext; the document's identity. Its ending says which parser reads it."""
    place: str
    """Where `read` finds it."""
    size: int
    """Bytes; 0 when it is not known before it is read."""
    facts: Mapping[str, Any]
    """Normalised metadata that the source knows; front matter may still override it."""
    version: str = ""
    """Changes whenever the bytes would, such as an ETag: what has not changed is not read again.
    Empty = read it."""


class Source(Protocol):
    name: str

    def list(self) -> list[Ref]:
        """Everything that is there now; raises SourceError rather than returning half a list."""
        ...

    def read(self, ref: Ref) -> bytes:
        """Raises SourceError for this document only."""
        ...
