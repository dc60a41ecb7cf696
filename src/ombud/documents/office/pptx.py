"""PowerPoint decks, read from their XML: a slide is a page, its title a heading.

Own code rather than python-pptx (MIT, but it needs lxml, Pillow and XlsxWriter): whether a
paragraph is a bullet is said in the slide's layout and master, which that leaves to the caller."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from ombud.documents.blocks import ParsedFile, tidy
from ombud.documents.office.docx_styles import whole, written
from ombud.documents.office.packages import Package, Program, Relation, broken, opened
from ombud.documents.office.pptx_graphics import chart, diagram, table, words
from ombud.errors import SourceError
from ombud.types import Block

_POWERPOINT = Program("PowerPoint", "PowerPoint deck", ".pptx")
_TITLES = {"title", "ctrTitle"}
_FURNITURE = {"dt", "ftr", "hdr", "sldNum", "sldImg"}
_FILE = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|tiff?|svg|emf|wmf|webp)", re.IGNORECASE)
_NUMBERED = {"arabic": "decimal", "alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman",
             "romanUc": "upperRoman"}  # fmt: skip
_SCHEME = re.compile(r"(arabic|alphaLc|alphaUc|romanLc|romanUc)(ParenBoth|ParenR|Period|Plain)")
LONGEST_TITLE = 100
"""Characters of a first line that stands for a slide without a title."""


def read(data: bytes, pages: int) -> ParsedFile:
    """Slides in the order they are shown, with tables, charts, diagrams, alternative texts and
    notes.

    Hidden slides are left out, but count. Raises SourceError for more than `pages` slides.
    """
    blocks: list[Block] = []
    with opened(data, _POWERPOINT) as package:
        path = package.main("ppt/presentation.xml")
        deck = package.part(path, local=True)
        if deck is None:
            raise broken(_POWERPOINT)
        relations = package.relations(path)
        order = [node.get("r:id", "") for node in deck.iterfind("sldIdLst/sldId")]
        if len(order) > pages:
            raise SourceError(
                f"The deck has {len(order):,} slides; the limit is {pages:,}.",
                hint="Split it, or raise [documents] pages.",
            )
        drawn: dict[str, _Drawn] = {}
        for number, relation in enumerate(order, 1):
            if found := relations.get(relation):
                slide = package.part(found.path, local=True)
                if slide is not None and slide.get("show") not in {"0", "false"}:
                    reader = _Slide(package, package.relations(found.path), number, drawn)
                    blocks += reader.blocks(slide, opens=not blocks)
    return ParsedFile(blocks)


@dataclass
class _Drawn:
    """What a layout or master says about the placeholders of slides."""

    shapes: list[tuple[str, str, Element]] = field(default_factory=list)
    """(type, index, list style)"""
    body: Element | None = None
    """A master's style of body text."""
    above: "_Drawn | None" = None


@dataclass
class _Slide:
    package: Package
    relations: dict[str, Relation]
    number: int
    drawn: dict[str, _Drawn]
    """By path; every slide of a deck shares a few."""

    def blocks(self, slide: Element, opens: bool) -> Iterator[Block]:
        """`opens`: this is the first slide, whose centred title is the deck's."""
        layout = self._layout(self.relations)
        shapes = list(_shapes(slide.find("cSld/spTree")))
        titles = [shape for shape in shapes if _placeholder(shape)[0] in _TITLES]
        named = tidy(
            " ".join(
                words(paragraph) for shape in titles for paragraph in shape.iterfind("txBody/p")
            )
        )
        centred = any(_placeholder(shape)[0] == "ctrTitle" for shape in titles)
        body = [
            block for shape in shapes if shape not in titles for block in self._shape(shape, layout)
        ]
        if not named and body:
            # Without a heading its words would seem to belong to the slide before.
            first = body[0]
            if (
                first.kind == "text"
                and len(first.text) <= LONGEST_TITLE
                and not first.text.endswith((".", ":", ";"))
            ):
                named, body = first.text, body[1:]
            else:
                named = f"Slide {self.number}"
        if named:
            level = 1 if opens and centred else 2
            yield Block(kind="heading", text=named, level=level, page=self.number)
        yield from (
            block.model_copy(update={"page": self.number}) for block in (*body, *self._notes())
        )

    def _shape(self, shape: Element, layout: "_Drawn | None") -> Iterator[Block]:
        kind, index = _placeholder(shape)
        if kind in _FURNITURE:
            return
        if shape.tag == "graphicFrame":
            yield from self._graphic(shape)
        elif shape.tag == "pic":
            properties = shape.find("nvPicPr/cNvPr")
            described = tidy(properties.get("descr", "")) if properties is not None else ""
            if described and not _FILE.fullmatch(described):
                yield Block(kind="text", text=described)
        else:
            body = shape.find("txBody")
            if body is not None:
                styles = _styles(body, kind, index, layout)
                yield from _paragraphs(body, styles)

    def _graphic(self, frame: Element) -> Iterator[Block]:
        for node in frame.iterfind("graphic/graphicData/*"):
            relation = self.relations.get(node.get("r:id") or node.get("r:dm") or "")
            if node.tag == "tbl":
                yield from table(node)
            elif relation and relation.kind == "chart":
                yield from chart(self.package.part(relation.path, local=True))
            elif relation and relation.kind == "diagramData":
                yield from diagram(self.package.part(relation.path, local=True))

    def _notes(self) -> Iterator[Block]:
        for relation in self.relations.values():
            notes = (
                self.package.part(relation.path, local=True)
                if relation.kind == "notesSlide"
                else None
            )
            for shape in _shapes(notes.find("cSld/spTree")) if notes is not None else ():
                body = shape.find("txBody")
                if _placeholder(shape)[0] == "body" and body is not None:
                    yield from _paragraphs(body, [])

    def _layout(self, relations: dict[str, Relation], kind: str = "slideLayout") -> _Drawn | None:
        path = next((one.path for one in relations.values() if one.kind == kind), None)
        if path is None:
            return None
        if path not in self.drawn:
            made = self.drawn[path] = _Drawn()
            root = self.package.part(path, local=True)
            if root is not None:
                for shape in _shapes(root.find("cSld/spTree")):
                    style = shape.find("txBody/lstStyle")
                    if style is not None:
                        made.shapes.append((*_placeholder(shape), style))
                made.body = root.find("txStyles/bodyStyle")
                if kind == "slideLayout":
                    made.above = self._layout(self.package.relations(path), "slideMaster")
        return self.drawn[path]


def _shapes(tree: Element | None) -> Iterator[Element]:
    """In the order they are read aloud; groups are opened."""
    for node in tree if tree is not None else ():
        if node.tag in {"sp", "pic", "graphicFrame"}:
            yield node
        elif node.tag in {"grpSp", "AlternateContent", "Choice"}:
            yield from _shapes(node)


def _placeholder(shape: Element) -> tuple[str, str]:
    """(type, index), ("", "") for a shape of the slide's own."""
    found = next(shape.iterfind("*/nvPr/ph"), None)
    return ("", "") if found is None else (found.get("type", "obj"), found.get("idx", "0"))


def _styles(body: Element, kind: str, index: str, layout: _Drawn | None) -> list[Element]:
    """List styles that apply to a text, the nearest first."""
    own = body.find("lstStyle")
    styles = [own] if own is not None else []
    if not kind:
        return styles
    if layout:
        styles += [style for _, position, style in layout.shapes if position == index]
    master = layout.above if layout else None
    if master:
        wanted = kind if kind in _TITLES else "body"
        styles += [style for role, _, style in master.shapes if role == wanted]
        styles += [master.body] if master.body is not None and kind not in _TITLES else []
    return styles


def _paragraphs(body: Element, styles: list[Element]) -> Iterator[Block]:
    """Bullets that follow each other are one list."""
    items: list[str] = []
    counts: dict[int, int] = {}
    for paragraph in body.iterfind("p"):
        text = tidy(words(paragraph))
        if not text:
            continue
        properties = paragraph.find("pPr")
        depth = min(
            max(whole(properties.get("lvl") if properties is not None else None) or 0, 0), 8
        )
        mark = _mark(properties, depth, styles)
        label = _label(mark, depth, counts) if mark is not None else ""
        if label:
            items.append(f"{'  ' * depth}{label} {text}")
            continue
        if items:
            yield Block(kind="list", text="\n".join(items))
            items, counts = [], {}
        yield Block(kind="text", text=text)
    if items:
        yield Block(kind="list", text="\n".join(items))


def _mark(properties: Element | None, depth: int, styles: list[Element]) -> Element | None:
    """What stands before a paragraph: its own word on that counts, then its styles', the nearest
    first."""
    levels = [style.find(f"lvl{depth + 1}pPr") for style in styles]
    for said in (properties, *levels):
        for node in said if said is not None else ():
            if node.tag in {"buNone", "buChar", "buAutoNum", "buBlip"}:
                return None if node.tag == "buNone" else node
    return None


def _label(mark: Element, depth: int, counts: dict[int, int]) -> str:
    """The bullet or number of an item, counted."""
    for deeper in [level for level in counts if level > depth]:
        del counts[deeper]
    if mark.tag != "buAutoNum":
        counts.pop(depth, None)
        return "-"
    counts[depth] = counts[depth] + 1 if depth in counts else whole(mark.get("startAt")) or 1
    scheme = _SCHEME.fullmatch(mark.get("type", ""))
    number = written(counts[depth], _NUMBERED[scheme[1]] if scheme else "decimal")
    around = {"ParenBoth": f"({number})", "ParenR": f"{number})", "Plain": number}
    return around.get(scheme[2] if scheme else "", f"{number}.")
