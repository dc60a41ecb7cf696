"""What every source does."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

WRITTEN_BY = "3"
"""Changes when a source that writes its documents' HTML writes the same page in another way: all
of them are then read anew."""


class Ref(NamedTuple):
    """One document of a source, not yet read."""

    uri: str
    """NAME/relative/path.ext; the document's identity. Its ending says which parser reads it."""
    place: str
    """Where `read` finds it."""
    size: int
    """Bytes; 0 when it is not known before it is read."""
    facts: Mapping[str, Any]
    """Normalised metadata that the source knows; front matter may still override it, but not
    `final`."""
    version: str = ""
    """Changes whenever the bytes would, such as an ETag: what has not changed is not read again.
    Empty = read it."""
    final: tuple[str, ...] = ()
    """Keys of facts that nothing in the document may override, such as who may read it."""
    name: str = ""
    """What people call it, such as its path in the site, where the uri does not say that."""

    def inside(self, name: str, size: int) -> "Ref":
        """A file that is attached to it."""
        shown = f"{self.name}/{name}" if self.name else ""
        return self._replace(uri=f"{self.uri}/{name}", name=shown, size=size)


class LeftOut(NamedTuple):
    """What a source holds and does not list as a document."""

    uri: str
    """Its name or address, as people know it."""
    why: str
    """The reason, as in "it is a sign-in page"."""


class Source(Protocol):
    """A source that leaves something out also has `left_out: list[LeftOut]`, of its last list."""

    name: str

    def list(self) -> list[Ref]:
        """Everything that is there now; raises SourceError rather than returning half a list."""
        ...

    def read(self, ref: Ref) -> bytes:
        """Raises SourceError for this document only."""
        ...
