"""Electronic books: their chapters are pages, read one after the other as HTML."""

import posixpath
from urllib.parse import unquote

from ombud.documents.blocks import ParsedFile, tidy
from ombud.documents.markup import html
from ombud.documents.office.packages import Package, Program, broken, opened
from ombud.errors import SourceError
from ombud.types import Block, Loss

_READER = Program("an editor of books", "electronic book", ".epub")
_PAGES = ("application/xhtml+xml", "text/html")


def read(data: bytes, pages: int) -> ParsedFile:
    """The chapters in the order in which they are read, without what that order leaves out."""
    blocks: list[Block] = []
    loss = Loss()
    with opened(data, _READER) as package:
        if package.holds("META-INF/encryption.xml") and not package.holds("META-INF/rights.xml"):
            loss += Loss(notes=("parts of it are encrypted, such as fonts",))
        elif package.holds("META-INF/rights.xml"):
            raise SourceError("The book is protected.", hint="Ask its publisher for a PDF.")
        path, title, chapters = _contents(package)
        for chapter in chapters:
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(chapter)))
            if package.holds(place):
                read_chapter = html.read(package.data(place), pages)
                blocks += read_chapter.blocks
                loss += read_chapter.loss
    return ParsedFile(blocks, title, loss)


def _contents(package: Package) -> tuple[str, str, list[str]]:
    """(part that lists the others, title, paths of the chapters)."""
    container = package.part("META-INF/container.xml", local=True)
    root = container.find("rootfiles/rootfile") if container is not None else None
    path = root.get("full-path", "") if root is not None else ""
    book = package.part(path, local=True)
    if book is None:
        raise broken(_READER)
    files = {}
    for item in book.iterfind("manifest/item"):
        if item.get("media-type") in _PAGES:
            files[item.get("id", "")] = item.get("href", "")
    read_in_order = []
    for place in book.iterfind("spine/itemref"):
        if place.get("linear") != "no" and place.get("idref") in files:
            read_in_order.append(files[place.get("idref", "")])
    return path, tidy(book.findtext("metadata/title") or ""), read_in_order
