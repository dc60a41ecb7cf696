"""The words of Word paragraphs with what their runs look like: struck, hidden, raised, linked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from ombud.documents.blocks import tidy
from ombud.documents.office import docx_names as w
from ombud.documents.office.docx_styles import RunLook, Style, inherited, read_look, value
from ombud.documents.office.numbering import written
from ombud.documents.runs import link, run, unmarked

_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_SKIPPED = (
    w.DELETED,
    w.MOVED_AWAY,
    w.PARAGRAPH_PROPERTIES,
    w.RUN_PROPERTIES,
    w.FIELD_CODE,
    _FALLBACK,
    w.TEXT_BOX,
)
_BLANKS = (w.TAB, w.BREAK, w.CARRIAGE_RETURN)
_SYMBOLS = {
    "wingdings": {0xFE: "☑", 0xFD: "☒", 0xA8: "☐", 0x6F: "☐", 0xFC: "✓", 0xFB: "✗", 0xE0: "→"},
    "wingdings 2": {0x52: "☑", 0x54: "☒", 0x53: "☒", 0xA3: "☐", 0x2A: "☐", 0x50: "✓", 0x4F: "✗"},
}
"""Font -> number of a sign -> what it shows."""


@dataclass
class WordRuns:
    """Reads the words of one document."""

    styles: dict[str, Style] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    """Relation -> address outside of the document."""
    notes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """(element of the reference, id) -> mark."""

    def read(self, node: Element, chain: Sequence[Style] = ()) -> str:
        """Text of a paragraph or run as printed: no deletions, field codes, or text boxes, which
        are read apart. chain: the paragraph's styles, the nearest first."""
        looks = tuple(style.look for style in chain)
        if node.tag == w.RUN:
            return self._run(node, looks)
        words: list[str] = []
        for child in node:
            if child.tag in _SKIPPED:
                continue
            if child.tag == w.RUN:
                words.append(self._run(child, looks))
            elif child.tag == w.HYPERLINK:
                address = self.links.get(child.get(w.RELATION, ""), "")
                words.append(link(self.read(child, chain), address))
            elif child.tag == w.TEXT:
                words.append(child.text or "")
            else:
                words.append(self.read(child, chain))
        return "".join(words)

    def _run(self, node: Element, looks: Sequence[RunLook]) -> str:
        properties = node.find(w.RUN_PROPERTIES)
        named = inherited(self.styles, value(properties, w.RUN_STYLE) or "")
        looks = (read_look(node), *(style.look for style in named), *looks)
        is_struck = _first(looks, lambda look: look.struck)
        is_hidden = _first(looks, lambda look: look.hidden)
        is_raised = _first(looks, lambda look: look.raised)
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
        """Words of a run, and whether they are the mark of a note."""
        words: list[str] = []
        for child in node:
            note = self.notes.get((child.tag, child.get(w.ID, "")))
            if child.tag in _SKIPPED:
                continue
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
                words.append(_symbol(child))
            else:
                words.append(self.read(child))
        yield "".join(words), False


def _first(looks: Sequence[RunLook], of: Callable[[RunLook], bool | None]) -> bool:
    """Return what the nearest look says that says anything."""
    for look in looks:
        answer = of(look)
        if answer is not None:
            return answer
    return False


def _symbol(node: Element) -> str:
    """A sign of a font that has no letters."""
    font = node.get(w.FONT, "").lower()
    try:
        number = int(node.get(w.CHARACTER, ""), 16)
    except ValueError:
        return ""
    if 0xF000 <= number <= 0xF0FF:
        return _SYMBOLS.get(font, {}).get(number - 0xF000, "")
    return chr(number) if number < 0xD800 else ""


def number_notes(body: Element) -> dict[tuple[str, str], str]:
    """The marks of footnotes and endnotes in the order of the text: 1, 2, 3 and i, ii, iii."""
    marks: dict[tuple[str, str], str] = {}
    counts = {w.FOOTNOTE_REFERENCE: 0, w.ENDNOTE_REFERENCE: 0}
    for node in body.iter():
        if node.tag in counts:
            counts[node.tag] += 1
            form = "decimal" if node.tag == w.FOOTNOTE_REFERENCE else "lowerRoman"
            marks.setdefault((node.tag, node.get(w.ID, "")), written(counts[node.tag], form))
    return marks


def note_texts(root: Element | None, name: str, words: WordRuns) -> dict[str, str]:
    """Id of a note -> its words; those of separators have none."""
    texts: dict[str, str] = {}
    for note in root.iter(name) if root is not None else ():
        text = tidy(" ".join(words.read(node) for node in note.iter(w.PARAGRAPH)))
        if text:
            texts[note.get(w.ID, "")] = text
    return texts
