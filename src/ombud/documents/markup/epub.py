"""Parse electronic books: their chapters are HTML pages."""

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
    """Parse the chapters in reading order, without files outside that order."""
    blocks: list[Block] = []
    loss = Loss()
    with opened(data, _READER) as package:
        if package.holds("META-INF/encryption.xml") and not package.holds("META-INF/rights.xml"):
            loss += Loss(notes=("parts of it are encrypted, such as fonts",))
        elif package.holds("META-INF/rights.xml"):
            raise SourceError("The book is protected.", hint="Ask its publisher for a PDF.")
        title, chapters, sheets = read_contents(package)
        style = b"".join(package.data(sheet) for sheet in sheets if package.holds(sheet))
        for place in chapters:
            if package.holds(place):
                page = package.data(place)
                # Separate style sheets say what is struck or hidden.
                page = page.replace(b"</head>", b"<style>" + style + b"</style></head>", 1)
                read_chapter = html.read(page, pages)
                blocks += read_chapter.blocks
                loss += read_chapter.loss
    return ParsedFile(blocks, title, loss)


def read_contents(package: Package) -> tuple[str, list[str], list[str]]:
    """Read the title, the paths of the chapters and the paths of style sheets."""
    container = package.part("META-INF/container.xml", local=True)
    root = container.find("rootfiles/rootfile") if container is not None else None
    path = root.get("full-path", "") if root is not None else ""
    book = package.part(path, local=True)
    if book is None:
        raise broken(_READER)
    files = {}
    sheets = []
    for item in book.iterfind("manifest/item"):
        href = posixpath.join(posixpath.dirname(path), unquote(item.get("href", "")))
        if item.get("media-type") in _PAGES:
            files[item.get("id", "")] = posixpath.normpath(href)
        elif item.get("media-type") == "text/css":
            sheets.append(posixpath.normpath(href))
    read_in_order = []
    for place in book.iterfind("spine/itemref"):
        if place.get("linear") != "no" and place.get("idref") in files:
            read_in_order.append(files[place.get("idref", "")])
    return tidy(book.findtext("metadata/title") or ""), read_in_order, sheets
