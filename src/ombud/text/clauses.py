"""Passages taken apart: sentences with what introduces them, and the clauses that deny, oblige or
allow."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ombud.text.analysis import analyse
from ombud.text.numbers import NUMBER_WORDS
from ombud.text.sentences import split_sentences
from ombud.types import Chunk

WORDS = tomllib.loads((Path(__file__).parent / "proof.toml").read_text(encoding="utf-8"))
ROW = re.compile(r"^\s*\|.*\|\s*$")
RULE = re.compile(r"^\s*\|[\s:|-]+\|\s*$")
OPEN_END = re.compile(r"[\w,;–—-][*_]*\s*$")
"""No full stop: what stands above a list goes on in its items."""
ITEM = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|\(?[a-z]\))\s+")
MARKS = re.compile(r"(?<!\\)\*+|`|^#+ |^\s*[-*+•] |^\s*\d+(?:\.\d+)*[.)]? (?=[A-Z])")
_SUBJECTS = "it|you|we|they|he|she|this|that|there|nobody|everyone|your"
CUT = re.compile(
    r"[;!?()–—]+|[:.](?=\s)|,? but\b|,(?= (?:and|or|so|then|which|who|otherwise|because|instead|rather)\b)"
    r"|,?(?<!\beven)(?<!\bonly)(?<!\bexcept)(?= (?:unless|except|if|when|while|because|provided|as long as|whereas"
    r"|although|though|even if|until)\b)"
    rf"|,(?= (?:{_SUBJECTS}|the|further|only|other|another|no|not)\b)"
    r"| (?=(?:who|which) )"
    rf"| and (?=(?:{_SUBJECTS}|may|must|can|cannot|is|are|has|have|need|do|does|not|also|never)\b)"
)
"""Where one clause ends and the next begins."""


ORDERS = re.compile("|".join(WORDS["orders"]["patterns"]), re.IGNORECASE)
"""What a document says to the assistant that reads it rather than to people."""


NUMBERS = frozenset(analyse(" ".join(NUMBER_WORDS)))
"""Number words are no terms either: what a claim counts is looked at by itself."""


class CitedPassage(NamedTuple):
    text: str
    above: str = ""
    """Headings and a repeated table header: they say what the text is about."""
    language: str = "en"
    countries: tuple[str, ...] = ()


class Clause(NamedTuple):
    text: str
    """Lower case, straight quotes, no Markdown."""
    terms: frozenset[str]
    """Index terms without numbers."""


class Sentence(NamedTuple):
    """A sentence, list item or table row."""

    text: str
    """Straight quotes, no Markdown."""
    above: str
    """The line that introduces a list, the head of a table, the headings."""
    clauses: tuple[Clause, ...]
    terms: frozenset[str]
    terms_above: frozenset[str]
    row: bool


def passage_of(chunk: Chunk) -> CitedPassage:
    """With what is known of the document and shown beside a citation: title, headings, when it is
    in force."""
    days = (day.isoformat() for day in (chunk.effective_from, chunk.effective_to) if day)
    above = "\n".join((chunk.title, *chunk.trail, *days, chunk.header))
    return CitedPassage(chunk.text, above, chunk.language, chunk.countries)


@lru_cache(maxsize=512)
def read_passage(passage: CitedPassage) -> tuple[Sentence, ...]:
    """Its sentences in reading order; the headings themselves are no sentences."""
    return tuple(_read(passage))


def _read(passage: CitedPassage) -> Iterator[Sentence]:
    text, head, lead = passage.text, "", ""
    lines = [text[start:end] for start, end in evidence_spans(text, passage.language)]
    for at, line in enumerate(lines):
        row = bool(ROW.match(line))
        if RULE.match(line):
            head = lines[at - 1] if at else ""
            continue
        if not row:
            head = ""
        item = bool(ITEM.match(line))
        above = "\n".join(filter(None, (passage.above, head, lead if item or row else "")))
        yield read_sentence(line, above, passage.language, row=row)
        if not item and not row:
            goes_on = at + 1 < len(lines) and OPEN_END.search(line) and ITEM.match(lines[at + 1])
            lead = line if goes_on or line.rstrip().endswith(":") else ""


def evidence_spans(text: str, language: str = "en") -> Iterator[tuple[int, int]]:
    """Spans of the sentences of a passage; not those that speak to the assistant, nor what follows
    in their paragraph.

    Those may be quoted, as what the document says, but they bear out no claim.
    """
    ordering, before = False, 0
    for start, end in split_sentences(text, language):
        if "\n\n" in text[before:start]:
            ordering = False
        before = end
        ordering = ordering or bool(ORDERS.search(_visible(text[start:end])))
        if not ordering:
            yield start, end


def _visible(text: str) -> str:
    """Without characters that show nothing and may stand inside words."""
    return re.sub(
        r"[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]", "", unicodedata.normalize("NFKC", text)
    )


def read_sentence(
    text: str, above: str = "", language: str = "en", *, row: bool = False
) -> Sentence:
    said = _positive(plain_sentence(text))
    cut = (
        [said.lower()]
        if row
        else [part.lower() for text in _apart(said) for part in CUT.split(text)]
    )
    clauses = tuple(Clause(part, content_terms(part, language)) for part in _whole(cut, language))
    return Sentence(
        said,
        plain_sentence(above),
        clauses,
        content_terms(said, language),
        content_terms(above, language),
        row,
    )


NOBODY_LESS = re.compile(
    r"\b(?:no (\w+)|nobody|no one)((?: (?!than\b)\w+){0,5}?) (?:(fewer|less|shorter|lower)|more|longer|higher) than\b",
    re.IGNORECASE,
)


def _positive(text: str) -> str:
    """ "No employee has fewer than 20 days" as "every employee has at least 20 days"."""
    return NOBODY_LESS.sub(
        lambda m: f"every {m[1] or 'one'}{m[2]} {'at least' if m[3] else 'at most'}", text
    )


def _whole(cut: list[str], language: str) -> Iterator[str]:
    """Clauses without any term, such as "until it is there", go with the one before them."""
    said = ""
    for part in cut:
        if said and content_terms(part, language):
            yield said
            said = part
        else:
            said = f"{said}, {part}" if said else part
    if said.strip():
        yield said


def _apart(text: str) -> list[str]:
    """The text without its brackets, then what stands in each."""
    return [re.sub(r" ?\([^()]*\)", "", text), *re.findall(r"\(([^()]*)\)", text)]


@lru_cache(maxsize=4096)
def content_terms(text: str, language: str) -> frozenset[str]:
    """Index terms that are no numbers, those of compounds in parts."""
    return frozenset(term for term in analyse(text, language) if not term[0].isdigit()) - NUMBERS


def plain_sentence(text: str) -> str:
    """One line, straight quotes, no Markdown marks."""
    text = re.sub(r"[‘’‚‛′]", "'", re.sub(r"[“”„‟″«»]", '"', unicodedata.normalize("NFKC", text)))
    return " ".join(MARKS.sub("", line).strip() for line in text.splitlines()).strip()
