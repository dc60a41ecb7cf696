"""Office files: zip archives of XML parts, read without trusting a size, an entity or a depth that
they declare.

Only the parts that are asked for are unpacked; an archive inside the archive never is.
"""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from ombud.errors import SourceError

LARGEST = 100 * 2**20
"""Bytes of one part when unpacked; the text of the longest handbook has 5 MB."""
MOST = 400 * 2**20
"""Bytes of all parts that are read."""
RATIO = 250
"""Unpacked to packed, from 10 MB on; sheets of equal rows reach 60, nothing but zeros 1,000."""
MOST_PARTS = 20_000
MOST_ELEMENTS = 5_000_000
DEEPEST = 300
"""Open XML elements."""
_BROKEN = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    ParseError,
    EOFError,
    NotImplementedError,
    ValueError,
    OSError,
)
"""What archives and XML raise that are cut short, damaged or something else."""
_RELATIONSHIP = ("officeDocument/2006/relationships}", "officeDocument/relationships}")


class Program(NamedTuple):
    """Who writes such files, for messages."""

    name: str
    kind: str
    ending: str


class Relation(NamedTuple):
    kind: str
    """Last part of its type, such as "slide"."""
    path: str
    """Of the part it leads to, in the archive."""


class Package:
    """The parts of one file. Every failure is a SourceError."""

    def __init__(self, archive: zipfile.ZipFile, program: Program) -> None:
        self.program = program
        self._archive = archive
        self._left = MOST
        self._names = set(archive.namelist())
        if len(self._names) > MOST_PARTS:
            raise SourceError(f"The file holds more than {MOST_PARTS:,} parts.", hint=self._again)

    @property
    def _again(self) -> str:
        return f"Save it again in {self.program.name}."

    def part(self, name: str, local: bool = False) -> Element | None:
        """The XML of one part, None when the archive has no such part.

        local: leave out the namespaces, but for relationships, whose attributes become "r:id".
        Microsoft and ISO have two sets of them for one format."""
        builder = _Local(self._again) if local else _Watched(self._again)
        tree: Element | None = self.feed(name, builder)
        return tree

    def feed(self, name: str, target: Any) -> Any:
        """What `target` makes of the events of one part, as `XMLParser` sends them; None when there
        is no such part."""
        if name not in self._names:
            return None
        # Targets refuse declarations of entities and watch the depth: what the warning is about.
        parser = XMLParser(target=target, encoding="utf-8")  # noqa: S314
        parser.feed(self._unpack(name))
        return parser.close()

    def data(self, name: str) -> bytes:
        """The bytes of a part that is there."""
        return self._unpack(name)

    def holds(self, name: str) -> bool:
        return name in self._names

    def relations(self, name: str) -> dict[str, Relation]:
        """What a part refers to inside the archive, by id."""
        folder, file = posixpath.split(name)
        root = self.part(posixpath.join(folder, "_rels", f"{file}.rels"), local=True)
        if root is None:
            return {}
        relations = {}
        for node in root.iter("Relationship"):
            if node.get("TargetMode") == "External":
                continue
            target = posixpath.join("/", folder, unquote(node.get("Target", "")))
            relations[node.get("Id", "")] = Relation(
                kind=node.get("Type", "").rpartition("/")[2],
                path=posixpath.normpath(target).lstrip("/"),
            )
        return relations

    def links(self, name: str) -> dict[str, str]:
        """The addresses outside of the archive that a part refers to, by id."""
        folder, file = posixpath.split(name)
        root = self.part(posixpath.join(folder, "_rels", f"{file}.rels"), local=True)
        links = {}
        for node in root.iter("Relationship") if root is not None else ():
            if node.get("TargetMode") == "External":
                links[node.get("Id", "")] = node.get("Target", "")
        return links

    def main(self, usual: str) -> str:
        """The part that a reader starts with."""
        for relation in self.relations("").values():
            if relation.kind == "officeDocument" and relation.path in self._names:
                return relation.path
        return usual

    def _unpack(self, name: str) -> bytes:
        # The size that the archive declares may be a lie; how many bytes are packed cannot be.
        plausible = max(10 * 2**20, RATIO * self._archive.getinfo(name).compress_size)
        room = min(LARGEST, self._left, plausible)
        with self._archive.open(name) as packed:
            data = packed.read(room + 1)
        if len(data) > plausible:
            raise SourceError(
                f"The file unpacks to over {RATIO} times its size, as no real one does.",
                hint=self._again,
            )
        if len(data) > room:
            raise SourceError(
                f"The document unpacks to more than {room // 2**20} MB.",
                hint="Split it into several documents.",
            )
        self._left -= len(data)
        if data.startswith(b"PK\x03\x04"):
            raise SourceError(
                "The file holds an archive where its text should be.", hint=self._again
            )
        return data


@contextmanager
def opened(data: bytes, program: Program) -> Iterator[Package]:
    """The parts of a file. What goes wrong with archive or XML inside the block is raised as a
    SourceError."""
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise SourceError(
            f"The file is encrypted, or a {program.kind} of before 2007.",
            hint=f"Save it as {program.ending} without a password.",
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield Package(archive, program)
    except _BROKEN as error:
        raise broken(program) from error
    except RecursionError:
        raise
    except RuntimeError as error:
        # What zipfile raises for a part with a password.
        raise SourceError(
            "The file is encrypted.", hint="Save a copy without a password."
        ) from error


def broken(program: Program) -> SourceError:
    return SourceError(
        f"The file is broken or no {program.kind}.",
        hint=f"Open it in {program.name} and save it again as {program.ending}.",
    )


class Guard:
    """What every reader of events refuses."""

    def __init__(self, again: str) -> None:
        super().__init__()
        self._again = again
        self._depth = 0
        self._count = 0

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise SourceError(
            "The document declares XML entities, which no office program does.", hint=self._again
        )

    def opens(self) -> None:
        self._depth += 1
        self._count += 1
        if self._depth > DEEPEST:
            raise SourceError(f"The document nests more than {DEEPEST} elements.", hint=self._again)
        if self._count > MOST_ELEMENTS:
            raise SourceError(
                f"The document has more than {MOST_ELEMENTS:,} elements.",
                hint="Split it into several documents.",
            )

    def closes(self) -> None:
        self._depth -= 1


class _Watched(Guard, TreeBuilder):
    """Builds the tree as it is."""

    def start(self, tag: str, attributes: dict[str, str], /) -> Element:
        self.opens()
        return super().start(tag, attributes)

    def end(self, tag: str, /) -> Element:
        self.closes()
        return super().end(tag)


class _Local(_Watched):
    """Builds the tree without namespaces."""

    def __init__(self, again: str) -> None:
        super().__init__(again)
        self._short: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str], /) -> Element:
        local = {self._name(name): value for name, value in attributes.items()}
        return super().start(self._name(tag), local)

    def end(self, tag: str, /) -> Element:
        return super().end(self._name(tag))

    def _name(self, name: str) -> str:
        short = self._short.get(name)
        if short is None:
            short = name.rpartition("}")[2]
            if any(mark in name for mark in _RELATIONSHIP):
                short = f"r:{short}"
            self._short[name] = short
        return short
