"""The interface of sources."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

T = TypeVar("T")
WRITTEN_BY = "3"
"""Version of the HTML that our sources write; when it changes, all their documents are read
again."""


class Ref(NamedTuple):
    """A document of a source, not read yet."""

    uri: str
    """NAME/relative/path.ext: the document's identity. The ending decides which parser reads it."""
    place: str
    """Where `read` finds it."""
    size: int
    """Bytes; 0 if unknown before it is read."""
    facts: Mapping[str, Any]
    """Normalised metadata of the source; front matter may override it, except for `final`."""
    version: str = ""
    """Changes whenever the bytes do, such as an ETag; an unchanged document is not read again.
    Empty = always read it."""
    final: tuple[str, ...] = ()
    """Keys of facts that nothing in the document may override, such as its audience."""
    name: str = ""
    """Display name, such as its path in the site, if the uri does not tell it."""

    def inside(self, name: str, size: int) -> "Ref":
        """Make the Ref of a file attached to this document."""
        display_name = f"{self.name}/{name}" if self.name else ""
        return self._replace(uri=f"{self.uri}/{name}", name=display_name, size=size)


class LeftOut(NamedTuple):
    """An item of a source that is not listed as a document."""

    uri: str
    """Its name or address as people know it."""
    why: str
    """The reason, as in "it is a sign-in page"."""


def first_of(
    named: Iterable[tuple[str, T]], most: int, setting: str
) -> tuple[dict[str, T], list[LeftOut]]:
    """Take the first `most` items of a source, by name, and report where the setting cut them
    off."""
    taken: dict[str, T] = {}
    for name, one in named:
        if len(taken) >= most and name not in taken:
            why = f"`{setting}` is {most:,}; what follows it is left out, too"
            return taken, [LeftOut(uri=name, why=why)]
        taken.setdefault(name, one)
    return taken, []


class Source(Protocol):
    """Lists and reads documents. A source that leaves items out also has `left_out: list[LeftOut]`
    of its last list."""

    name: str

    def list(self) -> list[Ref]:
        """List all documents; raises SourceError rather than return an incomplete list."""
        ...

    def read(self, ref: Ref) -> bytes:
        """Read a document; raises SourceError for this document only."""
        ...
