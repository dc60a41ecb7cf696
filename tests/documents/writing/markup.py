"""HTML, Markdown, CSV and mail."""

import csv
import io
import zipfile
from collections.abc import Iterator
from email.message import EmailMessage
from html import escape

from .elements import (
    FORM,
    Cell,
    Element,
    Elements,
    Folded,
    Hidden,
    ImpossibleFault,
    Paragraph,
    Picture,
    Piece,
    Table,
)

LOOKS = {
    "": "{}",
    "raised": "<sup>{}</sup>",
    "struck": "<s>{}</s>",
    "hidden": '<span style="display:none">{}</span>',
    "link": f'<a href="{FORM}">{{}}</a>',
    "inserted": "<ins>{}</ins>",
    "deleted": "<del>{}</del>",
    "comment": "<!-- {} -->",
}
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Html:
    """The body of a page; kinds of sites write some of it in their own way."""

    def body(self, elements: Elements) -> str:
        self.notes: list[str] = []
        made = [self.element(element) for element in elements]
        return "\n".join([*made, self.all_notes()])

    def all_notes(self) -> str:
        items = "".join(
            f'<li id="fn{number}"><p>{escape(words)}</p></li>'
            for number, words in enumerate(self.notes, 1)
        )
        return f'<section class="footnotes"><ol>{items}</ol></section>' if items else ""

    def element(self, element: Element) -> str:
        match element:
            case Paragraph():
                return f"<p>{self.words(element.pieces)}</p>"
            case Table():
                return self.table(element)
            case Picture():
                return f'<p><img src="map.png" alt="{escape(element.description)}"></p>'
            case Hidden():
                return f'<div style="display:none"><p>{escape(element.words)}</p></div>'
            case Folded():
                return self.folded(element)
            case _:
                raise ImpossibleFault

    def folded(self, element: Folded) -> str:
        title, words = escape(element.title), escape(element.words)
        return f"<details><summary>{title}</summary><p>{words}</p></details>"

    def words(self, pieces: tuple[Piece, ...]) -> str:
        return "".join(map(self.piece, pieces))

    def piece(self, piece: Piece) -> str:
        if piece.look == "note":
            self.notes.append(piece.words)
            number = len(self.notes)
            return f'<sup><a href="#fn{number}">{number}</a></sup>'
        if piece.look not in LOOKS:
            raise ImpossibleFault
        return LOOKS[piece.look].format(escape(piece.words))

    def table(self, table: Table) -> str:
        if table.hidden_column >= 0 or table.broken_before:
            raise ImpossibleFault
        lines = []
        for number, cells in enumerate(table.rows):
            look = ' style="display:none"' if number == table.hidden_row else ""
            inner = "".join(self.cell(cell, "td" if number else "th") for cell in cells)
            lines.append(f"<tr{look}>{inner}</tr>")
        caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
        return f"<table>{caption}<tbody>{''.join(lines)}</tbody></table>"

    def cell(self, cell: Cell, tag: str) -> str:
        inner = ""
        for cells in cell.inner:
            inner += f"<tr>{''.join(f'<td>{escape(words)}</td>' for words in cells)}</tr>"
        below = f"<table><tbody>{inner}</tbody></table>" if inner else ""
        span = f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
        return f"<{tag}{span}>{self.words(cell.pieces)}{below}</{tag}>"


class ConfluenceStorage(Html):
    """The storage format of Confluence."""

    def folded(self, element: Folded) -> str:
        return (
            '<ac:structured-macro ac:name="expand">'
            f'<ac:parameter ac:name="title">{escape(element.title)}</ac:parameter>'
            f"<ac:rich-text-body><p>{escape(element.words)}</p></ac:rich-text-body>"
            "</ac:structured-macro>"
        )

    def element(self, element: Element) -> str:
        if isinstance(element, Picture):
            description = escape(element.description)
            attached = '<ri:attachment ri:filename="map.png" />'
            return f'<p><ac:image ac:alt="{description}">{attached}</ac:image></p>'
        return super().element(element)

    def piece(self, piece: Piece) -> str:
        if piece.look == "hidden":
            return f"<ac:placeholder>{escape(piece.words)}</ac:placeholder>"
        return super().piece(piece)


class MediaWikiHtml(Html):
    """What MediaWiki makes of a page."""

    def folded(self, element: Folded) -> str:
        title, words = escape(element.title), escape(element.words)
        inner = f'<div class="mw-collapsible-content"><p>{words}</p></div>'
        return f'<div class="mw-collapsible mw-collapsed"><p>{title}</p>{inner}</div>'


def html(elements: Elements) -> bytes:
    body = Html().body(elements)
    page = f'<meta charset="utf-8"><title>Rules</title></head><body>{body}</body>'
    return f"<!DOCTYPE html><html><head>{page}</html>".encode()


def xhtml(elements: Elements) -> bytes:
    head = "<head><title>Rules</title></head>"
    body = Html().body(elements).replace('"></p>', '"/></p>')  # of pictures
    page = f'<html xmlns="http://www.w3.org/1999/xhtml">{head}<body>{body}</body></html>'
    return f'<?xml version="1.0" encoding="utf-8"?>\n{page}'.encode()


def book(elements: Elements) -> bytes:
    """An electronic book of one chapter."""
    place = '<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/>'
    chapter = '<item id="one" href="one.xhtml" media-type="application/xhtml+xml"/>'
    parts = {
        "META-INF/container.xml": f"<container><rootfiles>{place}</rootfiles></container>",
        "book.opf": f'<package><manifest>{chapter}</manifest><spine><itemref idref="one"/></spine>'
        "</package>",
        "one.xhtml": html(elements).decode(),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        for name, text in parts.items():
            package.writestr(name, text)
    return out.getvalue()


def mail(elements: Elements) -> bytes:
    message = EmailMessage()
    message["Subject"] = "Rules"
    message["From"] = "hr@example.org"
    message["Date"] = "Mon, 05 Jan 2026 09:00:00 +0000"
    page = f"<html><body>{Html().body(elements)}</body></html>"
    message.set_content(page, subtype="html")
    return message.as_bytes()


class Markdown(Html):
    """Marks of its own where it has some, else HTML."""

    def element(self, element: Element) -> str:
        match element:
            case Paragraph():
                return f"{self.words(element.pieces)}\n"
            case Picture():
                return f"![{element.description}](map.png)\n"
            case Table() if any(map(_is_plain, element.rows)):
                return self.pipes(element)
            case Table():
                raise ImpossibleFault
            case _:
                return f"{super().element(element)}\n"

    def pipes(self, table: Table) -> str:
        if table.hidden_row >= 0 or table.hidden_column >= 0 or table.caption:
            raise ImpossibleFault
        if table.broken_before or not all(map(_is_plain, table.rows)):
            raise ImpossibleFault
        lines = [f"| {' | '.join(self.words(cell.pieces) for cell in row)} |" for row in table.rows]
        lines.insert(1, "|" + " --- |" * table.width)
        return "\n".join([*lines, ""])

    def piece(self, piece: Piece) -> str:
        if piece.look == "note":
            self.notes.append(piece.words)
            return f"[^{len(self.notes)}]"
        own = {"struck": "~~{}~~", "deleted": "~~{}~~", "link": f"[{{}}]({FORM})"}
        if piece.look in own:
            return own[piece.look].format(piece.words)
        return super().piece(piece)

    def all_notes(self) -> str:
        return "\n".join(f"[^{n}]: {words}" for n, words in enumerate(self.notes, 1))


def _is_plain(cells: tuple[Cell, ...]) -> bool:
    return all(cell.rows == 1 and not cell.inner for cell in cells)


def markdown(elements: Elements) -> bytes:
    return f"# Rules\n\n{Markdown().body(elements)}\n".encode()


def csv_file(elements: Elements) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(row for element in elements for row in _lines(element))
    return out.getvalue().encode()


def _lines(element: Element) -> Iterator[list[str]]:
    if isinstance(element, Paragraph):
        yield [letters(element.pieces)]
        return
    if not isinstance(element, Table) or element.hidden_row >= 0 or element.hidden_column >= 0:
        raise ImpossibleFault
    if element.caption or element.broken_before or not all(map(_is_plain, element.rows)):
        raise ImpossibleFault
    for cells in element.rows:
        yield [letters(cell.pieces) for cell in cells]


def letters(pieces: tuple[Piece, ...]) -> str:
    """Raised figures are letters of their own; nothing else of a look is."""
    words = ""
    for piece in pieces:
        raised = piece.words.translate(RAISED)
        if piece.look and (piece.look != "raised" or raised == piece.words):
            raise ImpossibleFault
        words += raised if piece.look else piece.words
    return words
