"""Read the words of Word paragraphs with the look of their runs: struck, hidden, raised, linked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from ombud.documents.blocks import tidy
from ombud.documents.office import docx_names as w
from ombud.documents.office.docx_styles import RunLook, Style, inherited, read_look, value
from ombud.documents.office.numbering import written
from ombud.documents.runs import field_link, link, run, unmarked

_SKIPPED = {
    w.DELETED,
    w.MOVED_AWAY,
    w.PARAGRAPH_PROPERTIES,
    w.RUN_PROPERTIES,
    w.FIELD_CODE,
    w.TEXT_BOX,
}
_BLANKS = (w.TAB, w.BREAK, w.CARRIAGE_RETURN)
_SYMBOLS = {
    "wingdings": {0xFE: "☑", 0xFD: "☒", 0xA8: "☐", 0x6F: "☐", 0xFC: "✓", 0xFB: "✗", 0xE0: "→"},
    "wingdings 2": {0x52: "☑", 0x54: "☒", 0x53: "☒", 0xA3: "☐", 0x2A: "☐", 0x50: "✓", 0x4F: "✗"},
}
"""Font -> number of a sign -> character."""


@dataclass
class WordRuns:
    """Reads the words of one document."""

    styles: dict[str, Style] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    """Relation -> address outside of the document."""
    notes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """(element of the reference, id) -> mark."""

    def read(self, node: Element, chain: Sequence[Style] = ()) -> str:
        """Read a paragraph or run as printed: without deletions, field codes, and text boxes, which
        are read separately. chain: the paragraph's styles, nearest first."""
        looks = [style.look for style in chain]
        if node.tag == w.RUN:
            return self._run(node, looks)
        words: list[str] = []
        fields: list[tuple[int, list[str]]] = []
        """Start of the words of each open field, and its code."""
        for child in node:
            if child.tag in _SKIPPED:
                continue
            if child.tag == w.RUN:
                words.append(self._run(child, looks))
                if fields or child.find(w.FIELD_EDGE) is not None:
                    link_fields(child, words, fields)
            elif child.tag == w.HYPERLINK:
                address = self.links.get(child.get(w.RELATION, ""), "")
                words.append(link(self.read(child, chain), address))
            elif child.tag == w.SIMPLE_FIELD:
                address = field_link(child.get(w.INSTRUCTION, ""))
                words.append(link(self.read(child, chain), address))
            elif child.tag == w.TEXT:
                words.append(child.text or "")
            else:
                words.append(self.read(child, chain))
        return "".join(words)

    def _run(self, node: Element, looks: Sequence[RunLook]) -> str:
        properties = node.find(w.RUN_PROPERTIES)
        named = inherited(self.styles, value(properties, w.RUN_STYLE) or "")
        looks = [read_look(properties), *(style.look for style in named), *looks]
        is_struck, is_hidden, is_raised = map(first_specified, zip(*looks, strict=True))
        words: list[str] = []
        for piece, is_note in self._pieces(node):
            words.append(
                run(
                    piece,
                    struck=is_struck,
                    hidden=is_hidden,
                    superscript=is_raised,
                    footnote_ref=is_note,
                )
            )
        return "".join(words)

    def _pieces(self, node: Element) -> Iterator[tuple[str, bool]]:
        """Yield pieces of a run, and whether each is the mark of a note."""
        words: list[str] = []
        for child in node:
            if child.tag in _SKIPPED:
                continue
            note = self.notes.get((child.tag, child.get(w.ID, ""))) if self.notes else None
            if note:
                yield "".join(words), False
                yield note, True
                words = []
            elif child.tag == w.TEXT:
                words.append(unmarked(child.text or ""))
            elif child.tag in _BLANKS:
                words.append(" ")
            elif child.tag == w.HYPHEN:
                words.append("-")
            elif child.tag == w.SYMBOL:
                words.append(read_symbol(child))
            else:
                words.append(self.read(child))
        yield "".join(words), False


def first_specified(values: Iterable[bool | None]) -> bool:
    """Return the value of the nearest look that specifies it."""
    return next((value for value in values if value is not None), False)


def link_fields(node: Element, words: list[str], fields: list[tuple[int, list[str]]]) -> None:
    """Open and close the fields that begin and end in a run; the words of one may be a link."""
    for part in node:
        edge = part.get(w.FIELD_EDGE_KIND)
        if edge == "begin":
            fields.append((len(words), []))
        elif part.tag == w.FIELD_CODE and fields:
            fields[-1][1].append(part.text or "")
        elif edge == "end" and fields:
            start, code = fields.pop()
            words[start:] = [link("".join(words[start:]), field_link("".join(code)))]


def read_symbol(node: Element) -> str:
    """Read a sign of a symbol font."""
    font = node.get(w.FONT, "").lower()
    try:
        number = int(node.get(w.CHARACTER, ""), 16)
    except ValueError:
        return ""
    if 0xF000 <= number <= 0xF0FF:
        return _SYMBOLS.get(font, {}).get(number - 0xF000, "")
    return chr(number) if number < 0xD800 else ""


def number_notes(body: Element) -> dict[tuple[str, str], str]:
    """Number footnotes and endnotes in the order of the text: 1, 2, 3 and i, ii, iii."""
    marks: dict[tuple[str, str], str] = {}
    for name, form in ((w.FOOTNOTE_REFERENCE, "decimal"), (w.ENDNOTE_REFERENCE, "lowerRoman")):
        for number, node in enumerate(body.iter(name), 1):
            marks.setdefault((name, node.get(w.ID, "")), written(number, form))
    return marks


def note_texts(root: Element | None, name: str, words: WordRuns) -> dict[str, str]:
    """Map ids of notes to their words; separators have none."""
    texts: dict[str, str] = {}
    for note in root.iter(name) if root is not None else ():
        text = tidy(" ".join(words.read(node) for node in note.iter(w.PARAGRAPH)))
        if text:
            texts[note.get(w.ID, "")] = text
    return texts
