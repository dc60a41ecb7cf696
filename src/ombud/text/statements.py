"""The figures that a passage states, each with what it is said of: what `contradictions`
compares."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, NamedTuple

from ombud.text.analysis import analyse
from ombud.text.countries import country_names, named_countries
from ombud.text.phrases import Phrases
from ombud.text.quantities import Quantity, find_quantities, plain_quantities
from ombud.text.sentences import split_sentences
from ombud.text.wording import term_pattern
from ombud.types import Chunk

GENERIC = 0.33
"""Weight of a word that most sentences may have."""
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
    r"\b(?:until|before|in|since|up to|end of) (?:the end of )?(?:19|20)\d\d\b|\bprevious|\bformer|\bused to\b"
    r"|\bhad to\b|\bno longer\b|\bsuperseded\b|\bwas (?:raised|changed|increased|reduced)\b"
    r"|\bold (?:rule|version|page)",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"\bexamples?\b|\be\.g\.|\bfor instance\b|\bsuppose\b|\bimagine\b|\?|^\W*(?:my|i|i['’]m|i['’]ve)\b",
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
_CODE = re.compile(r"\b[A-Z]{1,2}\d{1,2}\b")
_PLACE = re.compile(r"\b(?:[Ii]n|[Aa]t|[Ff]or|[Ff]rom|[Tt]o) ([A-Z][a-zà-ÿ]+(?: [A-Z][a-zà-ÿ]+)?)")
_WORD = re.compile(r"\w[\w'-]*")
_NEGATED = re.compile(
    r"\b(?:not|never|no|cannot|without|nor)\b(?! (?:more|less|later|longer|fewer|exceed|earlier|higher))"
)
_ACTORS = {
    "manager": r"(?:(?:your|the|a|their|each|all|line) )*(?:line )?managers?\b",
    "hr": r"(?:the )?hr\b",
    "payroll": r"payroll\b",
    "employee": r"(?:(?:an|the|all|every|each|most|new) )*(?:employees?|you|staff|everyone|parents?|workers?)\b",
}
_LEADING = {who: re.compile(rf"^\W*(?:\w+, )?{words}") for who, words in _ACTORS.items()}
_BY = {who: re.compile(rf"\bby {words}") for who, words in _ACTORS.items() if who != "employee"}
_PHASE = re.compile(
    r"\b(during|throughout|after|following|upon|before|prior to)\b (?:(?:the|your|their|an?|end|of) )*([a-z]+)"
)
_PHASES = {"throughout": "during", "following": "after", "upon": "after", "prior to": "before"}


class Circumstances(NamedTuple):
    """Of whom and of what circumstances a sentence speaks."""

    marks: frozenset[int]
    """Special people and things that the sentence or its heading names."""
    marks_around: frozenset[int]
    """The same with all headings and the title."""
    sides: tuple[frozenset[int], ...]
    """Of each group of things that stand side by side, those that are named."""
    codes: frozenset[str]
    """Such as grades."""
    actor: str
    phases: Mapping[str, str]
    """Noun -> during, after or before it."""
    negated: bool
    countries: frozenset[str]
    places: frozenset[str]


class FigureStatement(NamedTuple):
    chunk: Chunk
    said: str
    """The sentence, or the row of a table, as it stands."""
    quantity: Quantity
    others: frozenset[tuple[str, float, str]]
    """(kind, value, role) of the sentence's other figures: its conditions."""
    case: Circumstances
    terms: Mapping[str, float]
    """Stems of the subject, with weights; where it says too little the heading's as well."""
    own: frozenset[str]
    """Those of the sentence alone that are not generic."""
    words: tuple[tuple[str, str], ...]
    """(word, stem) of the subject's weightier terms, in reading order."""
    heads: frozenset[str]
    """Stems of title, headings and lead-in that are not generic."""
    context: frozenset[str]
    """All of them."""


class _Line(NamedTuple):
    said: str
    """What is shown."""
    text: str
    """What is read: for a cell its row, its column and itself."""
    lead: str
    """The line that leads in a list."""


class _Headings(NamedTuple):
    """What stands above a passage, looked at once."""

    last: str
    around: str
    heads: frozenset[str]
    context: frozenset[str]
    near_marks: frozenset[int]
    marks: frozenset[int]


def find_statements(chunk: Chunk) -> list[FigureStatement]:
    """Those of an English passage, but for examples, questions and what was once the rule."""
    if not chunk.language.startswith("en"):
        return []
    read = _read(chunk.title, chunk.trail, chunk.header, chunk.text, chunk.countries)
    return [statement._replace(chunk=chunk) for statement in read]


@lru_cache(maxsize=4096)
def _read(
    title: str, trail: tuple[str, ...], header: str, text: str, countries: tuple[str, ...]
) -> tuple[FigureStatement, ...]:
    """The same passages are found again and again; what else is known of them is looked at anew."""
    passage = Chunk(
        id="",
        document_id="",
        uri="",
        start=0,
        end=0,
        title=title,
        trail=trail,
        header=header,
        text=text,
        countries=countries,
    )
    last = trail[-1] if trail else title
    if _VERSIONS.search(last) or _EXAMPLE.search(last):
        return ()
    return tuple(statement for line in _lines(passage) for statement in _of_line(passage, line))


@lru_cache(maxsize=4096)
def _headings(
    title: str, trail: tuple[str, ...], countries: tuple[str, ...], lead: str
) -> _Headings:
    last = f"{lead} {trail[-1] if trail else title}"
    around = f"{title} {' '.join(trail)} {lead}".lower()
    heads = frozenset(_stems(around, generic=False)) - _stems_of(countries)
    return _Headings(
        last,
        around,
        heads,
        frozenset(_stems(around)),
        _words().marks.found(last.lower()),
        _words().marks.found(around),
    )


def _of_line(passage: Chunk, line: _Line) -> Iterator[FigureStatement]:
    if not _FIGURE.search(line.text) or _EXAMPLE.search(line.text) or _HISTORY.search(line.text):
        return
    read = plain_quantities(line.text)
    found = find_quantities(read)
    # In a cell the label of its row says when, not how much.
    stated = [q for q in found if q.start > read.rfind(" · ") and q.role != "range"]
    if not stated:
        return
    above = _headings(passage.title, passage.trail, passage.countries, line.lead)
    bare = _EXCEPTION.sub(lambda cut: " " * len(cut.group()), _without(read, found))
    countries = named_countries(line.text)
    case = _case(line.text, bare, countries, above)
    for quantity in stated:
        others = frozenset((q.kind, q.value, q.role) for q in found if q != quantity)
        terms = {t: w for t, w in _terms(bare, quantity).items() if t not in _stems_of(countries)}
        own = frozenset(term for term, weight in terms.items() if weight > GENERIC)
        if sum(terms.values()) < FEW:
            terms = {**dict.fromkeys(_stems(above.last), 1.0), **terms}
        yield FigureStatement(
            chunk=passage,
            said=line.said,
            quantity=quantity,
            others=others - {(quantity.kind, quantity.value, quantity.role)},
            case=case,
            terms=terms,
            own=own,
            words=tuple(
                (w, t)
                for w in _WORD.findall(bare)
                for t in _stem(w)[:1]
                if terms.get(t, 0) > GENERIC
            ),
            heads=above.heads,
            context=above.context,
        )


def _case(text: str, bare: str, countries: tuple[str, ...], above: _Headings) -> Circumstances:
    marks = _words().marks.found(bare) | above.near_marks
    sides = _words().apart.found(bare)
    return Circumstances(
        marks=marks,
        marks_around=marks | above.marks,
        sides=tuple(frozenset(sides & group) for group in _words().groups),
        codes=frozenset(_CODE.findall(text)),
        actor=_actor(bare),
        phases={noun: _PHASES.get(when, when) for when, noun in _PHASE.findall(bare)},
        negated=bool(_NEGATED.search(bare)),
        countries=frozenset(countries),
        places=frozenset(_PLACE.findall(text)),
    )


def _lines(chunk: Chunk) -> Iterator[_Line]:
    """Sentences, list items and cells of the passage, each with what leads in to it."""
    head, lead, before = _cells(chunk.header.splitlines()[0]) if chunk.header else [], "", ""
    for raw in chunk.text.splitlines():
        if raw.lstrip().startswith("|"):
            if _SEPARATOR.match(raw.strip()):
                head = _cells(before)
            elif not _VERSIONS.search(" ".join(head)):
                yield from _row(raw, head)
            before = raw
            continue
        text = raw.strip()
        if not text or text.lstrip("# ") in chunk.trail:
            continue
        item = bool(re.match(r"(?:[-*•·–]|\d{1,2}[.)])\s", text))
        lead = lead if item else ""
        if _FIGURE.search(text) and not _EXAMPLE.search(text):
            for start, end in split_sentences(text):
                said = _MARKUP.sub("", text[start:end]).strip()
                if not said.endswith(":"):
                    yield _Line(said, _BRACKETS.sub(" ", said.strip("()")), lead)
        lead = text.rstrip("*_ ") if text.rstrip("*_ ").endswith(":") else lead


def _cells(row: str) -> list[str]:
    return [_MARKUP.sub("", cell).strip() for cell in row.strip().strip("|").split("|")]


def _row(raw: str, head: list[str]) -> Iterator[_Line]:
    cells = _cells(raw)
    for column, cell in enumerate(cells[1:], start=1):
        above = head[column] if len(head) == len(cells) else ""
        if cell:
            yield _Line(raw.strip(), f"{cells[0]} · {above} · {_BRACKETS.sub(' ', cell)}", "")


def _without(read: str, found: list[Quantity]) -> str:
    """The sentence with its figures blanked, its length kept; of "three paid volunteering days" two
    words stay."""
    for quantity in found:
        words = list(re.finditer(r"\S+", read[quantity.start : quantity.end]))
        for word in {words[0], words[-1]}:
            start, end = quantity.start + word.start(), quantity.start + word.end()
            read = read[:start] + " " * (end - start) + read[end:]
    return read


def _terms(bare: str, quantity: Quantity) -> dict[str, float]:
    """Stems with weights: words of the figure's clause count more than asides, generic ones little,
    units nothing."""
    terms: dict[str, float] = {}
    for clause in re.finditer(r"[^,;:()]+", bare):
        named = (
            bare[clause.end() : clause.end() + 1] == ":"
        )  # "Amtrak: business class on journeys over 3 hours"
        own = named or clause.start() <= quantity.start <= clause.end()
        for word in _WORD.findall(clause.group()):
            weight = _weight(word) * (1.0 if own else ASIDE)
            for stem in _stem(word) if weight else ():
                terms[stem] = max(weight, terms.get(stem, 0.0))
    # Grades are compared apart.
    return {stem: weight for stem, weight in terms.items() if not any(c.isdigit() for c in stem)}


def _stems(text: str, *, generic: bool = True) -> list[str]:
    words = [
        word
        for word in _WORD.findall(text.lower())
        if _weight(word) > (0.0 if generic else GENERIC)
    ]
    return [stem for word in words for stem in _stem(word) if not any(c.isdigit() for c in stem)]


@lru_cache(maxsize=20_000)
def _stem(word: str) -> tuple[str, ...]:
    return tuple(analyse(word))


@lru_cache(maxsize=20_000)
def _weight(word: str) -> float:
    if _words().silent.fullmatch(word):
        return 0.0
    return GENERIC if _words().generic.fullmatch(word) else 1.0


@lru_cache
def _stems_of(countries: tuple[str, ...]) -> frozenset[str]:
    """Stems of the countries' names: where a rule holds is compared apart."""
    return frozenset(stem for name in country_names(countries) for stem in analyse(name))


def _actor(bare: str) -> str:
    by = next((who for who, pattern in _BY.items() if pattern.search(bare)), "")
    return by or next((who for who, pattern in _LEADING.items() if pattern.match(bare)), "")


def wider_than(stem: str) -> str:
    """The stem of a word that covers it, such as parent for paternity; else itself."""
    return _words().wider.get(stem, stem)


class _Known(NamedTuple):
    silent: re.Pattern[str]
    generic: re.Pattern[str]
    marks: Phrases[int]
    apart: Phrases[int]
    groups: tuple[frozenset[int], ...]
    """Positions in `apart` that stand side by side."""
    wider: Mapping[str, str]


@lru_cache
def _words() -> _Known:
    path = Path(__file__).with_name("contradictions.toml")
    listed: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    ends = list(accumulate(map(len, listed["apart"])))
    return _Known(
        term_pattern(listed["silent"]),
        term_pattern(listed["generic"]),
        Phrases((term, at) for at, mark in enumerate(listed["marks"]) for term in mark),
        Phrases((term, at) for at, term in enumerate(chain.from_iterable(listed["apart"]))),
        tuple(
            frozenset(range(end - len(group), end))
            for end, group in zip(ends, listed["apart"], strict=True)
        ),
        {analyse(narrow)[0]: analyse(wide)[0] for narrow, wide in listed["wider"].items()},
    )
