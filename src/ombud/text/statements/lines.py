"""The lines of a passage that state figures, and these figures."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ombud.text.phrases import holds_any
from ombud.text.quantities import Quantity, find_quantities, plain_quantities
from ombud.text.sentences import split_sentences

_DIGIT = re.compile(r"\d")
_COUNTS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve",
    "half a", "within a", "first", "second", "third", "fourth", "fifth",
)  # fmt: skip
_COUNTED = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half an?|within an?"
    r"|first|second|third|fourth|fifth)\b"
)
_PAST = (
    "until", "before", "in ", "since", "up to", "end of", "previous", "former", "used to", "had to",
    "no longer", "superseded", "was ", "old ",
)  # fmt: skip
_HISTORY = re.compile(
    r"\b(?:until|before|in|since|up to|end of) (?:the end of )?(?:19|20)\d\d\b"
    r"|\bprevious|\bformer|\bused to\b|\bhad to\b|\bno longer\b|\bsuperseded\b"
    r"|\bwas (?:raised|changed|increased|reduced)\b|\bold (?:rule|version|page)",
)
_EXAMPLES = ("example", "e.g.", "for instance", "suppose", "imagine")
_EXAMPLE = re.compile(
    r"\bexamples?\b|\be\.g\.|\bfor instance\b|\bsuppose\b|\bimagine\b",
)
_OWN_STORY = re.compile(r"^\W*(?:my|i|i['’]m|i['’]ve)\b")
_VERSIONS = re.compile(
    r"\b(?:versions?|change(?:s| log|log)?|history|revisions?|document control)\b", re.IGNORECASE
)
_MARKUP = re.compile(
    r"\*\*|__|`|\[(?=[^\]]+\]\()|\]\([^)]*\)|^\s*(?:[-*•·–]|\d{1,2}[.)])\s+|^#+\s+"
)
_BRACKETS = re.compile(r"\([^()]*\)")
"""What stands in brackets is an equivalent or an exception."""
_SEPARATOR = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\s*$")
_ITEM = re.compile(r"(?:[-*•·–]|\d{1,2}[.)])\s")
_CELL = " · "
"""Between the label of a row, the head of its column and the cell."""


class FigureLine(NamedTuple):
    """A sentence, list item or cell."""

    shown: str
    """As it stands; for a cell its row."""
    text: str
    """What is read: for a cell its row, its column and itself."""
    lead: str
    """The line that leads in a list; may be empty."""
    quantities: tuple[Quantity, ...]
    stated: tuple[tuple[int, str], ...]
    """Place among the quantities, and words, of each that is said of something."""


class _Line(NamedTuple):
    shown: str
    text: str
    lead: str = ""


def read_lines(heading: str, trail: Sequence[str], header: str, text: str) -> list[FigureLine]:
    """heading: the nearest one. trail: all of them, which are no lines of their own. header: of a
    table that goes on in `text`."""
    if _VERSIONS.search(heading) or _is_example(heading.lower()):
        return []
    found: list[FigureLine] = []
    for line in _lines(trail, header, text):
        if not _states_figure(line.text):
            continue
        plain = plain_quantities(line.text)
        quantities = tuple(find_quantities(plain))
        # In a cell the label of its row says when, not how much.
        cell = plain.rfind(_CELL)
        stated: list[tuple[int, str]] = []
        for place, quantity in enumerate(quantities):
            if quantity.start > cell and quantity.role != "range":
                stated.append((place, plain[quantity.start : quantity.end].strip()))
        if stated:
            found.append(FigureLine(*line, quantities, tuple(stated)))
    return found


def pack_lines(lines: Sequence[FigureLine]) -> bytes:
    return json.dumps(lines, ensure_ascii=False, separators=(",", ":")).encode()


def unpack_lines(packed: bytes) -> list[FigureLine]:
    lines: list[FigureLine] = []
    for shown, text, lead, quantities, stated in json.loads(packed):
        read = tuple(Quantity(*fields) for fields in quantities)
        lines.append(FigureLine(shown, text, lead, read, tuple(map(tuple, stated))))
    return lines


def _states_figure(text: str) -> bool:
    low = text.lower()
    return _counts(low) and not _is_example(low) and not _is_history(low)


def _counts(low: str) -> bool:
    """Whether a text of small letters holds a number."""
    if _DIGIT.search(low):
        return True
    return holds_any(low, _COUNTS) and bool(_COUNTED.search(low))


def _is_example(low: str) -> bool:
    """Whether a text of small letters asks, tells a story or gives an example."""
    if "?" in low or _OWN_STORY.match(low):
        return True
    return holds_any(low, _EXAMPLES) and bool(_EXAMPLE.search(low))


def _is_history(low: str) -> bool:
    return holds_any(low, _PAST) and bool(_HISTORY.search(low))


def _lines(trail: Sequence[str], header: str, text: str) -> Iterator[_Line]:
    """Sentences, list items and cells, each with what leads in to it."""
    head = _cells(header.splitlines()[0]) if header else []
    lead = ""
    line_before = ""
    for raw in text.splitlines():
        if raw.lstrip().startswith("|"):
            if _SEPARATOR.match(raw.strip()):
                head = _cells(line_before)
            elif not _VERSIONS.search(" ".join(head)):
                yield from _row(raw, head)
            line_before = raw
            continue
        line = raw.strip()
        if not line or line.lstrip("# ") in trail:
            continue
        if not _ITEM.match(line):
            lead = ""
        yield from _sentences(line, lead)
        without_emphasis = line.rstrip("*_ ")
        if without_emphasis.endswith(":"):
            lead = without_emphasis


def _sentences(text: str, lead: str) -> Iterator[_Line]:
    low = text.lower()
    if not _counts(low) or _is_example(low):
        return
    for start, end in split_sentences(text):
        shown = _MARKUP.sub("", text[start:end]).strip()
        if shown.endswith(":"):
            continue
        bare = shown.strip("()")
        if "(" in bare:
            bare = _BRACKETS.sub(" ", bare)
        yield _Line(shown, bare, lead)


def _cells(row: str) -> list[str]:
    inside = row.strip().strip("|")
    cells: list[str] = []
    for cell in inside.split("|"):
        bare = _MARKUP.sub("", cell)
        cells.append(bare.strip())
    return cells


def _row(raw: str, head: list[str]) -> Iterator[_Line]:
    cells = _cells(raw)
    columns = head if len(head) == len(cells) else [""] * len(cells)
    label, *others = cells
    for column, cell in zip(columns[1:], others, strict=True):
        if cell:
            bare = _BRACKETS.sub(" ", cell)
            text = _CELL.join((label, column, bare))
            yield _Line(raw.strip(), text)
