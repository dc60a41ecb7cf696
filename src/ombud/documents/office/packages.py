"""Read office files: zip archives of XML parts, without trusting declared sizes, entities or
depths.

Only requested parts are unpacked, and never an archive inside the archive."""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from ombud.errors import SourceError

LARGEST = 100 * 2**20
"""Bytes of a part when unpacked; the text of the longest handbook has 5 MB."""
MAX_TOTAL_BYTES = 400 * 2**20
"""Bytes of all parts that are read."""
RATIO = 250
"""Ratio of unpacked to packed bytes, from 10 MB on; sheets of equal rows reach 60, zeros 1,000."""
MAX_PARTS = 20_000
MAX_ELEMENTS = 5_000_000
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
"""Exceptions for archives and XML that are truncated, damaged or something else."""
_RELATIONSHIP = ("officeDocument/2006/relationships}", "officeDocument/relationships}")


class Program(NamedTuple):
    """The program that writes a kind of file, for messages."""

    name: str
    kind: str
    ending: str


class Relation(NamedTuple):
    kind: str
    """Last component of its type, such as "slide"."""
    path: str
    """Path of its target in the archive."""


class Package:
    """The parts of one file. Every failure is a SourceError."""

    def __init__(self, archive: zipfile.ZipFile, program: Program) -> None:
        self.program = program
        self._archive = archive
        self._budget = MAX_TOTAL_BYTES
        self._names = set(archive.namelist())
        if len(self._names) > MAX_PARTS:
            raise SourceError(f"The file holds more than {MAX_PARTS:,} parts.", hint=self._again)

    @property
    def _again(self) -> str:
        return f"Save it again in {self.program.name}."

    def part(self, name: str, local: bool = False) -> Element | None:
        """Parse the XML of a part; None if the archive has no such part.

        local: leave out namespaces, except of relationships, whose attributes become "r:id".
        Microsoft and ISO use different namespaces for one format."""
        if name not in self._names:
            return None
        data = self._unpack(name)
        may_have_too_many = data.count(b"<") - data.count(b"</") > MAX_ELEMENTS
        is_suspect = may_have_too_many or b"<!DOCTYPE" in data
        # The builder that checks each element takes three times as long.
        tree: Element = parse_xml(
            data, GuardedTreeBuilder(self._again) if is_suspect else TreeBuilder()
        )
        if is_too_deep(tree):
            raise too_deep_error(self._again)
        if local:
            remove_namespaces(tree)
        return tree

    def feed(self, name: str, target: Any) -> Any:
        """Send the events of a part to `target`, as `XMLParser` does, and return its result; None
        if there is no such part."""
        if name not in self._names:
            return None
        return parse_xml(self._unpack(name), target)

    def data(self, name: str) -> bytes:
        """Return the bytes of an existing part."""
        return self._unpack(name)

    def holds(self, name: str) -> bool:
        return name in self._names

    def relations(self, name: str) -> dict[str, Relation]:
        """Map ids to the parts of the archive that a part refers to."""
        relations = {}
        for node in self._relationships(name, is_external=False):
            target = posixpath.join("/", posixpath.dirname(name), unquote(node.get("Target", "")))
            kind = node.get("Type", "").rpartition("/")[2]
            path = posixpath.normpath(target).lstrip("/")
            relations[node.get("Id", "")] = Relation(kind, path)
        return relations

    def links(self, name: str) -> dict[str, str]:
        """Map ids to the external addresses that a part refers to."""
        external = self._relationships(name, is_external=True)
        return {node.get("Id", ""): node.get("Target", "") for node in external}

    def _relationships(self, name: str, *, is_external: bool) -> Iterator[Element]:
        folder, file = posixpath.split(name)
        root = self.part(posixpath.join(folder, "_rels", f"{file}.rels"), local=True)
        for node in root.iter("Relationship") if root is not None else ():
            if (node.get("TargetMode") == "External") == is_external:
                yield node

    def main(self, usual: str) -> str:
        """Return the path of the main part."""
        for relation in self.relations("").values():
            if relation.kind == "officeDocument" and relation.path in self._names:
                return relation.path
        return usual

    def _unpack(self, name: str) -> bytes:
        # The declared size may be a lie, but not the number of packed bytes.
        plausible = max(10 * 2**20, RATIO * self._archive.getinfo(name).compress_size)
        room = min(LARGEST, self._budget, plausible)
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
        self._budget -= len(data)
        if data.startswith(b"PK\x03\x04"):
            raise SourceError(
                "The file holds an archive where its text should be.", hint=self._again
            )
        return data


@contextmanager
def opened(data: bytes, program: Program) -> Iterator[Package]:
    """Open a file; errors of archive or XML inside the block become SourceErrors."""
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
        # zipfile raises this for a part with a password.
        raise SourceError(
            "The file is encrypted.", hint="Save a copy without a password."
        ) from error


def broken(program: Program) -> SourceError:
    return SourceError(
        f"The file is broken or no {program.kind}.",
        hint=f"Open it in {program.name} and save it again as {program.ending}.",
    )


class Guard:
    """The limits of all readers of XML events."""

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
            raise too_deep_error(self._again)
        if self._count > MAX_ELEMENTS:
            raise SourceError(
                f"The document has more than {MAX_ELEMENTS:,} elements.",
                hint="Split it into several documents.",
            )

    def closes(self) -> None:
        self._depth -= 1


class GuardedTreeBuilder(Guard, TreeBuilder):
    """Builds a tree within the limits."""

    def start(self, tag: str, attributes: dict[str, str], /) -> Element:
        self.opens()
        return super().start(tag, attributes)

    def end(self, tag: str, /) -> Element:
        self.closes()
        return super().end(tag)


def parse_xml(data: bytes, target: Any) -> Any:
    # The warning is about entities and depth, which are checked.
    parser = XMLParser(target=target, encoding="utf-8")  # noqa: S314
    parser.feed(data)
    return parser.close()


def too_deep_error(again: str) -> SourceError:
    return SourceError(f"The document nests more than {DEEPEST} elements.", hint=again)


def is_too_deep(root: Element) -> bool:
    level = [root]
    for _ in range(DEEPEST):
        level = [child for node in level for child in node]
        if not level:
            return False
    return True


def remove_namespaces(root: Element) -> None:
    """Remove the namespaces of a tree."""
    for node in root.iter():
        node.tag = local_name(node.tag)
        if node.keys():
            node.attrib = {local_name(name): value for name, value in node.items()}


@lru_cache(maxsize=1000)
def local_name(name: str) -> str:
    short = name.rpartition("}")[2]
    is_relationship = any(mark in name for mark in _RELATIONSHIP)
    return f"r:{short}" if is_relationship else short
