"""Parse PowerPoint decks from their XML: a slide is a page, its title a heading.

Own code rather than python-pptx, which leaves it to the caller to find by layout and master whether
a paragraph is a bullet, and does not limit what it unpacks (`docs/results/parts.md`)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree.ElementTree import Element

from ombud.documents.blocks import Edges, ParsedFile, list_of, paragraph, tidy
from ombud.documents.office.numbering import Counts, whole, written
from ombud.documents.office.packages import Package, Program, Relation, broken, opened
from ombud.documents.office.pptx_graphics import chart, diagram, picture, shapes, table, words
from ombud.documents.runs import link, plain
from ombud.errors import SourceError
from ombud.types import Block, Loss

_POWERPOINT = Program("PowerPoint", "PowerPoint deck", ".pptx")
_TITLES = {"title", "ctrTitle"}
_EDGES = {"dt", "ftr", "hdr", "sldNum"}
_NUMBERED = {
    "arabic": "decimal",
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
}
_MARKS = frozenset(("buNone", "buChar", "buAutoNum", "buBlip"))
_SCHEME = re.compile(r"(arabic|alphaLc|alphaUc|romanLc|romanUc)(ParenBoth|ParenR|Period|Plain)")
_FORMS = {"ParenBoth": "({})", "ParenR": "{})", "Plain": "{}", "Period": "{}."}
LONGEST_TITLE = 100
"""Characters of a first line that becomes the title of a slide without one."""


def read(data: bytes, pages: int) -> ParsedFile:
    """Parse slides in order, with tables, charts, diagrams, alternative texts and notes.

    Hidden slides are left out, but counted. Raises SourceError for more than `pages` slides."""
    blocks: list[Block] = []
    loss = Loss()
    with opened(data, _POWERPOINT) as package:
        path = package.main("ppt/presentation.xml")
        deck = package.part(path, local=True)
        if deck is None:
            raise broken(_POWERPOINT)
        slides = list_slides(package, path, deck, pages)
        drawings: dict[str, _Drawing] = {}
        edges = Edges()
        for number, slide_path in slides:
            slide = package.part(slide_path, local=True)
            if slide is None:
                continue
            if slide.get("show") in {"0", "false"}:
                loss += Loss(hidden=1)
                continue
            links = package.links(slide_path)
            relations = package.relations(slide_path)
            reader = _Slide(package, relations, links, number, drawings, edges=edges)
            blocks += reader.blocks(slide, opens=not blocks)
            loss += reader.loss
    return ParsedFile(blocks + edges.blocks(), loss=loss + Loss(repeated=edges.repeated))


def list_slides(package: Package, path: str, deck: Element, most: int) -> list[tuple[int, str]]:
    """List the number, from 1, and the part of each slide in order."""
    relations = package.relations(path)
    order = [node.get("r:id", "") for node in deck.iterfind("sldIdLst/sldId")]
    if len(order) > most:
        raise SourceError(
            f"The deck has {len(order):,} slides; the limit is {most:,}.",
            hint="Split it, or raise [documents] pages.",
        )
    slides = []
    for number, name in enumerate(order, 1):
        relation = relations.get(name)
        if relation:
            slides.append((number, relation.path))
    return slides


class _Placeholder(NamedTuple):
    """The placeholder of a layout that a shape fills; both are "" for other shapes."""

    kind: str
    position: str
    """Its index in the format."""


@dataclass
class _Drawing:
    """The styles of placeholders in a layout or master."""

    styles: list[tuple[_Placeholder, Element]] = field(default_factory=list)
    """Placeholders with their list styles."""
    body: Element | None = None
    """A master's style of body text."""
    master: "_Drawing | None" = None
    """A layout's master."""


@dataclass
class _Slide:
    package: Package
    relations: dict[str, Relation]
    links: dict[str, str]
    """Relation -> external address."""
    number: int
    drawings: dict[str, _Drawing]
    """Layouts and masters by path, which all slides of a deck share."""
    edges: Edges
    loss: Loss = field(default_factory=Loss)

    def blocks(self, slide: Element, opens: bool) -> Iterator[Block]:
        """Read a slide. opens: it is the first slide, whose centred title is the deck's."""
        layout = self._layout()
        titles = []
        body: list[Block] = []
        for shape in shapes(slide.find("cSld/spTree")):
            if shape.tag == "hidden":
                self.loss += Loss(hidden=1)
            elif placeholder_of(shape).kind in _TITLES:
                titles.append(shape)
            else:
                body += self._shape(shape, layout)
        name = title_text(titles)
        if not name and body:
            name, body = self._name_from(body)
        if name:
            is_centred = any(placeholder_of(shape).kind == "ctrTitle" for shape in titles)
            level = 1 if opens and is_centred else 2
            yield Block(kind="heading", text=name, level=level, page=self.number)
        for block in (*body, *self._notes()):
            yield block.model_copy(update={"page": self.number})

    def _name_from(self, body: list[Block]) -> tuple[str, list[Block]]:
        """Name a slide without a title, and return the rest of its text. Without a heading the text
        would seem to belong to the slide before."""
        first = body[0]
        is_short = first.kind == "text" and len(plain(first.text)) <= LONGEST_TITLE
        if is_short and not first.text.endswith((".", ":", ";")):
            return first.text, body[1:]
        return f"Slide {self.number}", body

    def _shape(self, shape: Element, layout: _Drawing | None) -> Iterator[Block]:
        placeholder = placeholder_of(shape)
        if placeholder.kind in _EDGES:
            is_filled_in = next(shape.iter("fld"), None) is not None
            is_number = is_filled_in or placeholder.kind == "sldNum"
            for node in shape.iterfind("txBody/p"):
                self.edges.add(tidy(words(node, self.links)), counts_pages=is_number)
            return
        if shape.tag == "graphicFrame":
            yield from self._graphic(shape)
        elif shape.tag == "pic":
            described = list(picture(shape))
            self.loss += Loss(pictures=not described)
            yield from described
        else:
            body = shape.find("txBody")
            if body is not None:
                click = shape.find("nvSpPr/cNvPr/hlinkClick")
                url = self.links.get(click.get("r:id", ""), "") if click is not None else ""
                styles = list_styles(body, placeholder, layout)
                yield from read_paragraphs(body, styles, self.links, url)

    def _graphic(self, frame: Element) -> Iterator[Block]:
        for node in frame.iterfind("graphic/graphicData/*"):
            relation = self.relations.get(node.get("r:id") or node.get("r:dm") or "")
            if node.tag == "tbl":
                yield from table(node, self.links)
            elif relation and relation.kind == "chart":
                yield from chart(self.package.part(relation.path, local=True))
            elif relation and relation.kind == "diagramData":
                yield from diagram(self.package.part(relation.path, local=True))

    def _notes(self) -> Iterator[Block]:
        for relation in self.relations.values():
            if relation.kind != "notesSlide":
                continue
            notes = self.package.part(relation.path, local=True)
            if notes is None:
                continue
            for shape in shapes(notes.find("cSld/spTree")):
                body = shape.find("txBody")
                if placeholder_of(shape).kind == "body" and body is not None:
                    yield from read_paragraphs(body, [], {})

    def _layout(self) -> _Drawing | None:
        path = first_path(self.relations, "slideLayout")
        if path is None:
            return None
        if path not in self.drawings:
            layout = self._read_drawing(path)
            master_path = first_path(self.package.relations(path), "slideMaster")
            if master_path is not None:
                layout.master = self._read_drawing(master_path)
        return self.drawings[path]

    def _read_drawing(self, path: str) -> _Drawing:
        if path in self.drawings:
            return self.drawings[path]
        drawing = self.drawings[path] = _Drawing()
        root = self.package.part(path, local=True)
        if root is None:
            return drawing
        for shape in shapes(root.find("cSld/spTree")):
            style = shape.find("txBody/lstStyle")
            if style is not None:
                drawing.styles.append((placeholder_of(shape), style))
        drawing.body = root.find("txStyles/bodyStyle")
        return drawing


def first_path(relations: dict[str, Relation], kind: str) -> str | None:
    """Find the path of the first part of a kind."""
    for relation in relations.values():
        if relation.kind == kind:
            return relation.path
    return None


def title_text(titles: list[Element]) -> str:
    texts = []
    for shape in titles:
        texts += list(map(words, shape.iterfind("txBody/p")))
    return tidy(" ".join(texts))


def placeholder_of(shape: Element) -> _Placeholder:
    node = next(shape.iterfind("*/nvPr/ph"), None)
    if node is None:
        return _Placeholder("", "")
    return _Placeholder(node.get("type", "obj"), node.get("idx", "0"))


def list_styles(body: Element, placeholder: _Placeholder, layout: _Drawing | None) -> list[Element]:
    """Collect the list styles that apply to a text, nearest first."""
    own = body.find("lstStyle")
    styles = [own] if own is not None else []
    if not placeholder.kind or layout is None:
        return styles
    for role, style in layout.styles:
        if role.position == placeholder.position:
            styles.append(style)
    if layout.master:
        styles += master_styles(layout.master, placeholder.kind)
    return styles


def master_styles(master: _Drawing, kind: str) -> list[Element]:
    is_title = kind in _TITLES
    style_kind = kind if is_title else "body"
    styles = [style for role, style in master.styles if role.kind == style_kind]
    if not is_title and master.body is not None:
        styles.append(master.body)
    return styles


def read_paragraphs(
    body: Element, styles: list[Element], links: dict[str, str], url: str = ""
) -> Iterator[Block]:
    """Read paragraphs; consecutive bullets are one list. url: link of their shape."""
    items: list[str] = []
    counts = Counts()
    for node in body.iterfind("p"):
        text = link(tidy(words(node, links)), url)
        if not text:
            continue
        properties = node.find("pPr")
        depth = depth_of(properties)
        mark = find_mark(properties, depth, styles)
        if mark is not None:
            label = write_label(mark, depth, counts)
            items.append(f"{'  ' * depth}{label} {text}")
            continue
        if items:
            yield from list_of(items)
            items = []
            counts = Counts()
        yield paragraph(text)
    yield from list_of(items)


def depth_of(properties: Element | None) -> int:
    """Return the depth of a paragraph, 0 to 8."""
    level = properties.get("lvl") if properties is not None else None
    return min(max(whole(level) or 0, 0), 8)


def find_mark(properties: Element | None, depth: int, styles: list[Element]) -> Element | None:
    """Find the bullet or number of a paragraph: its own, or that of the nearest style."""
    levels = [style.find(f"lvl{depth + 1}pPr") for style in styles]
    for level in (properties, *levels):
        if level is None:
            continue
        for node in level:
            if node.tag in _MARKS:
                return None if node.tag == "buNone" else node
    return None


def write_label(mark: Element, depth: int, counts: Counts) -> str:
    """Count an item and write its bullet or number."""
    if mark.tag != "buAutoNum":
        counts.end(depth)
        return "-"
    count = counts.count(depth, whole(mark.get("startAt")) or 1)
    scheme = _SCHEME.fullmatch(mark.get("type", ""))
    if scheme is None:
        return f"{count}."
    digits, form = scheme.groups()
    number = written(count, _NUMBERED[digits])
    return _FORMS[form].format(number)
