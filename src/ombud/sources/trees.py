"""Parse foreign XML, such as sitemaps and feeds, within limits."""

from io import BytesIO
from xml.etree.ElementTree import Element, ParseError, iterparse

from ombud.errors import SourceError
from ombud.sources.client import LARGEST
from ombud.sources.decompression import expanded

DEEPEST = 100
MAX_ELEMENTS = 2_000_000


def read_tree(data: bytes, what: str) -> Element:
    """Parse XML and return its root; raises SourceError naming `what`.

    Document types are refused, as a few lines of entities can expand to gigabytes."""
    try:
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data or b"\0" in data:
            raise SourceError(
                f"{what} has a document type or is not UTF-8.", hint="Only plain XML is read."
            )
        root = bounded_tree(data, what)
    except (ParseError, ValueError, LookupError) as wrong:
        raise SourceError(
            f"{what} is not valid XML.", hint="Open it in a browser: is it the right address?"
        ) from wrong
    if root is None:
        raise SourceError(f"{what} is empty.")
    return root


def bounded_tree(data: bytes, what: str) -> Element | None:
    """Parse XML; None without an element. Raises SourceError for a tree that is too deep or too
    long."""
    root: Element | None = None
    depth = count = 0
    events = iterparse(BytesIO(data), events=("start", "end"))  # noqa: S314 - bounded, no entities
    for event, element in events:
        if event == "start":
            depth += 1
            count += 1
        else:
            depth -= 1
        if root is None:
            root = element
        if depth > DEEPEST or count > MAX_ELEMENTS:
            raise SourceError(f"{what} nests too deeply or is too long.")
    return root


def unpacked(data: bytes, what: str) -> bytes:
    """Decompress gzipped data and return other data as it is; raises SourceError naming `what` if
    it is damaged or too large."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    whole = bytearray()
    for piece in expanded(iter((data,)), "gzip", what):
        whole += piece
        if len(whole) > LARGEST:
            raise SourceError(f"{what} is larger than {LARGEST // 2**20} MB.")
    return bytes(whole)


def local(element: Element) -> str:
    """Return the name without its namespace, which many write wrongly."""
    return str(element.tag).rpartition("}")[2]


def words(element: Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""
