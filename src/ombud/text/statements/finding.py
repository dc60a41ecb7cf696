"""The figures that a passage states, each with what it is said of: what `contradictions`
compares."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from ombud.text.names.countries import named_countries
from ombud.text.quantities import Quantity, find_quantities, plain_quantities
from ombud.text.sentences import split_sentences
from ombud.text.statements.circumstances import (
    Circumstances,
    Headings,
    read_circumstances,
    read_headings,
)
from ombud.text.statements.remembering import remembered
from ombud.text.statements.subjects import (
    GENERIC,
    WORD,
    country_stems,
    has_digit,
    subject_stems,
    word_stems,
    word_weight,
)
from ombud.types import Chunk

ASIDE = 0.4
"""Factor for words outside of the figure's own clause."""
FEW = 1.2
"""Weight of a subject below which the heading is taken for a part of it: "25 days a year." says too
little."""

_FIGURE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half an?|within an?"
    r"|first|second|third|fourth|fifth)\b",
    re.IGNORECASE,
)
_HISTORY = re.compile(
    r"\b(?:until|before|in|since|up to|end of) (?:the end of )?(?:19|20)\d\d\b"
    r"|\bprevious|\bformer|\bused to\b|\bhad to\b|\bno longer\b|\bsuperseded\b"
    r"|\bwas (?:raised|changed|increased|reduced)\b|\bold (?:rule|version|page)",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"\bexamples?\b|\be\.g\.|\bfor instance\b|\bsuppose\b|\bimagine\b|\?"
    r"|^\W*(?:my|i|i['’]m|i['’]ve)\b",
    re.IGNORECASE,
)
_VERSIONS = re.compile(
    r"\b(?:versions?|change(?:s| log|log)?|history|revisions?|document control)\b", re.IGNORECASE
)
_EXCEPTION = re.compile(r"\b(?:unless|except)\b[^,;.]*")
_MARKUP = re.compile(
    r"\*\*|__|`|\[(?=[^\]]+\]\()|\]\([^)]*\)|^\s*(?:[-*•·–]|\d{1,2}[.)])\s+|^#+\s+"
)
_BRACKETS = re.compile(r"\([^()]*\)")
"""What stands in brackets is an equivalent or an exception."""
_SEPARATOR = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\s*$")
_ITEM = re.compile(r"(?:[-*•·–]|\d{1,2}[.)])\s")
_WORD = re.compile(r"\S+")
_CLAUSE = re.compile(r"[^,;:()]+")
_CELL = " · "
"""Between the label of a row, the head of its column and the cell."""


class FigureStatement(NamedTuple):
    chunk: Chunk
    text: str
    """The sentence, or the row of a table, as it stands."""
    quantity: Quantity
    figure: str
    """The words of the quantity, such as `16 weeks`."""
    subject: "FigureSubject"
    """What is said of it."""


class FigureSubject:
    """What a figure is said of. It is read when it is first asked for: of most figures of a search
    no other is of their kind, and nobody asks."""

    def __init__(self, line: "_LineReading", quantity: Quantity) -> None:
        self._line = line
        self._quantity = quantity

    @property
    def case(self) -> Circumstances:
        return self._line.case

    @property
    def heads(self) -> frozenset[str]:
        """Stems of title, headings and lead-in that are not generic."""
        return self._line.headings.specific_stems

    @property
    def context(self) -> frozenset[str]:
        """All of them."""
        return self._line.headings.stems

    @cached_property
    def others(self) -> frozenset[tuple[str, float, str]]:
        """(kind, value, role) of the sentence's other figures: its conditions."""
        return _other_figures(self._quantity, self._line.quantities)

    @cached_property
    def terms(self) -> Mapping[str, float]:
        """Stems of the subject, with weights; where it says too little the heading's as well."""
        return _with_heading(self._own_terms, self._line.headings)

    @cached_property
    def own(self) -> frozenset[str]:
        """Those of the sentence alone that are not generic."""
        return frozenset(stem for stem, weight in self._own_terms.items() if weight > GENERIC)

    @cached_property
    def words(self) -> tuple[tuple[str, str], ...]:
        """(word, stem) of the subject's weightier terms, in reading order."""
        return tuple(_weighty_words(self._line.bare, self.terms))

    @cached_property
    def _own_terms(self) -> dict[str, float]:
        terms = _terms(self._line.bare, self._quantity)
        for stem in country_stems(self._line.countries):
            terms.pop(stem, None)
        return terms


class _Line(NamedTuple):
    shown: str
    text: str
    """What is read: for a cell its row, its column and itself."""
    lead: str = ""
    """The line that leads in a list."""


def find_statements(chunk: Chunk) -> list[FigureStatement]:
    """Those of an English passage, but for examples, questions and what was once the rule."""
    if not chunk.language.startswith("en"):
        return []
    passage = _Passage(
        title=chunk.title,
        trail=chunk.trail,
        header=chunk.header,
        text=chunk.text,
        countries=chunk.countries,
    )
    return [statement._replace(chunk=chunk) for statement in _statements(passage)]


class _Passage(NamedTuple):
    """What statements are read from: the same passages are found again and again, what else is
    known of them changes."""

    title: str
    trail: tuple[str, ...]
    header: str
    text: str
    countries: tuple[str, ...]


@remembered(4096)
def _statements(passage: _Passage) -> tuple[FigureStatement, ...]:
    heading = passage.trail[-1] if passage.trail else passage.title
    if _VERSIONS.search(heading) or _EXAMPLE.search(heading):
        return ()
    statements: list[FigureStatement] = []
    for line in _lines(passage):
        statements += _statements_of_line(passage, line)
    return tuple(statements)


def _states_figure(text: str) -> bool:
    if not _FIGURE.search(text):
        return False
    return not _EXAMPLE.search(text) and not _HISTORY.search(text)


def _statements_of_line(passage: _Passage, line: _Line) -> Iterator[FigureStatement]:
    if not _states_figure(line.text):
        return
    plain = plain_quantities(line.text)
    quantities = find_quantities(plain)
    # In a cell the label of its row says when, not how much.
    cell = plain.rfind(_CELL)
    reading = _LineReading(passage, line, plain, quantities)
    for quantity in quantities:
        if quantity.start > cell and quantity.role != "range":
            yield FigureStatement(
                chunk=_NO_CHUNK,
                text=line.shown,
                quantity=quantity,
                figure=plain[quantity.start : quantity.end].strip(),
                subject=FigureSubject(reading, quantity),
            )


class _LineReading:
    """A line with figures; what it says of them is read when it is first asked for."""

    def __init__(
        self, passage: _Passage, line: _Line, plain: str, quantities: Sequence[Quantity]
    ) -> None:
        self._passage = passage
        self._line = line
        self._plain = plain
        self.quantities = quantities

    @cached_property
    def headings(self) -> Headings:
        passage = self._passage
        return read_headings(passage.title, passage.trail, passage.countries, self._line.lead)

    @cached_property
    def bare(self) -> str:
        return _EXCEPTION.sub(_blank, _without_figures(self._plain, self.quantities))

    @cached_property
    def countries(self) -> tuple[str, ...]:
        return named_countries(self._line.text)

    @cached_property
    def case(self) -> Circumstances:
        return read_circumstances(self._line.text, self.bare, self.countries, self.headings)


def _other_figures(
    quantity: Quantity, quantities: Sequence[Quantity]
) -> frozenset[tuple[str, float, str]]:
    figures = set(map(_figure, quantities))
    figures.discard(_figure(quantity))
    return frozenset(figures)


def _figure(quantity: Quantity) -> tuple[str, float, str]:
    return quantity.kind, quantity.value, quantity.role


def _with_heading(terms: Mapping[str, float], headings: Headings) -> Mapping[str, float]:
    """`terms`, and those of the heading where they say too little."""
    if sum(terms.values()) >= FEW:
        return terms
    return {**dict.fromkeys(subject_stems(headings.last), 1.0), **terms}


def _weighty_words(bare: str, terms: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    for word in WORD.findall(bare):
        for stem in word_stems(word)[:1]:
            if terms.get(stem, 0) > GENERIC:
                yield word, stem


def _lines(passage: _Passage) -> Iterator[_Line]:
    """Sentences, list items and cells of the passage, each with what leads in to it."""
    head = _cells(passage.header.splitlines()[0]) if passage.header else []
    lead = ""
    line_before = ""
    for raw in passage.text.splitlines():
        if raw.lstrip().startswith("|"):
            if _SEPARATOR.match(raw.strip()):
                head = _cells(line_before)
            elif not _VERSIONS.search(" ".join(head)):
                yield from _row(raw, head)
            line_before = raw
            continue
        text = raw.strip()
        if not text or text.lstrip("# ") in passage.trail:
            continue
        if not _ITEM.match(text):
            lead = ""
        yield from _sentences(text, lead)
        without_emphasis = text.rstrip("*_ ")
        if without_emphasis.endswith(":"):
            lead = without_emphasis


def _sentences(text: str, lead: str) -> Iterator[_Line]:
    if not _FIGURE.search(text) or _EXAMPLE.search(text):
        return
    for start, end in split_sentences(text):
        shown = _MARKUP.sub("", text[start:end]).strip()
        if shown.endswith(":"):
            continue
        bare = _BRACKETS.sub(" ", shown.strip("()"))
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


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _without_figures(plain: str, quantities: Sequence[Quantity]) -> str:
    """The sentence with its figures blanked, its length kept; of "three paid volunteering days" two
    words stay."""
    for quantity in quantities:
        words = list(_WORD.finditer(plain, quantity.start, quantity.end))
        for word in (words[0], words[-1]):
            start, end = word.span()
            plain = plain[:start] + _blank(word) + plain[end:]
    return plain


def _terms(bare: str, quantity: Quantity) -> dict[str, float]:
    """Stems with weights: words of the figure's clause count more than asides, generic ones little,
    units nothing."""
    terms: dict[str, float] = {}
    for clause in _CLAUSE.finditer(bare):
        factor = _clause_weight(clause, quantity)
        for word in WORD.findall(clause[0]):
            weight = factor * word_weight(word)
            if not weight:
                continue
            for stem in word_stems(word):
                before = terms.get(stem, 0.0)
                terms[stem] = max(weight, before)
    # Grades are compared apart.
    grades = [stem for stem in terms if has_digit(stem)]
    for grade in grades:
        del terms[grade]
    return terms


def _clause_weight(clause: re.Match[str], quantity: Quantity) -> float:
    start, end = clause.span()
    if start <= quantity.start <= end:
        return 1.0
    # "Amtrak: business class on journeys over 3 hours"
    is_label = clause.string.startswith(":", end)
    return 1.0 if is_label else ASIDE


_NO_CHUNK = Chunk(id="", document_id="", title="", uri="", start=0, end=0, text="")
"""Stands in a remembered statement for the passage that `find_statements` puts there."""
