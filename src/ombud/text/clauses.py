"""Passages taken apart: sentences with what introduces them, and the clauses that deny, oblige or
allow."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
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
    r"[;!?()–—]+|[:.](?=\s)|,? but\b"
    r"|,(?= (?:and|or|so|then|which|who|otherwise|because|instead|rather)\b)"
    r"|,?(?<!\beven)(?<!\bonly)(?<!\bexcept)"
    r"(?= (?:unless|except|if|when|while|because|provided|as long as|whereas"
    r"|although|though|even if|until)\b)"
    rf"|,(?= (?:{_SUBJECTS}|the|further|only|other|another|no|not)\b)"
    r"| (?=(?:who|which) )"
    rf"| and (?=(?:{_SUBJECTS}|may|must|can|cannot|is|are|has|have|need|do|does|not|also|never)\b)"
)
"""Where one clause ends and the next begins."""
ORDERS = re.compile("|".join(WORDS["orders"]["patterns"]), re.IGNORECASE)
"""What a document says to the machine that reads it rather than to people."""
ORDER_BLOCKS = re.compile("|".join(WORDS["orders"]["blocks"]), re.IGNORECASE)
FURTHER_ORDERS = re.compile("|".join(WORDS["orders"]["following"]), re.IGNORECASE)
DENYING_ANSWER = re.compile(r"No\b[.,:;]")
"""What follows a question of a page: with it that says the reverse."""
NOBODY_LESS = re.compile(
    r"\b(?:no (\w+)|nobody|no one)((?: (?!than\b)\w+){0,5}?) "
    r"(?:(fewer|less|shorter|lower)|more|longer|higher) than\b",
    re.IGNORECASE,
)
BRACKETED = re.compile(r"\(([^()]*)\)")


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
    above = [chunk.title, *chunk.trail]
    for day in (chunk.effective_from, chunk.effective_to):
        if day:
            above.append(day.isoformat())
    above.append(chunk.header)
    return CitedPassage(
        text=chunk.text,
        above="\n".join(above),
        language=chunk.language,
        countries=chunk.countries,
    )


@lru_cache(maxsize=512)
def read_passage(passage: CitedPassage) -> tuple[Sentence, ...]:
    """Its sentences in reading order; the headings themselves are no sentences."""
    return tuple(_sentences(passage))


def _sentences(passage: CitedPassage) -> Iterator[Sentence]:
    head = ""
    lead = ""
    for before, line, following in _lines_with_neighbours(passage):
        if RULE.match(line):
            head = before
            continue
        is_row = bool(ROW.match(line))
        is_item = bool(ITEM.match(line))
        if not is_row:
            head = ""
        above = [passage.above, head]
        if is_item or is_row:
            above.append(lead)
        introduction = "\n".join(filter(None, above))
        yield read_sentence(line, introduction, passage.language, row=is_row)
        if is_item or is_row:
            continue
        lead = line if _leads_in(line, following) else ""


def _lines_with_neighbours(passage: CitedPassage) -> Iterator[tuple[str, str, str]]:
    """(line before, line, line behind), of those that are evidence."""
    spans = evidence_spans(passage.text, passage.language)
    lines = [passage.text[start:end] for start, end in spans]
    before = ""
    for line, following in pairwise([*lines, ""]):
        if line.endswith("?") and DENYING_ANSWER.match(following):
            line = f"{line} No."
        yield before, line, following
        before = line


def _leads_in(line: str, following: str) -> bool:
    """Whether a list goes on with what the line says."""
    if line.rstrip().endswith(":"):
        return True
    return bool(OPEN_END.search(line) and ITEM.match(following))


def evidence_spans(text: str, language: str = "en") -> Iterator[tuple[int, int]]:
    """Spans of the sentences of a passage; not those that speak to the machine that reads it.

    Those may be quoted, as what the document says, but they bear out no claim. A sentence behind
    one does, unless it goes on ordering or stands in a block for machines.
    """
    in_block = False
    ordering = False
    before = 0
    for start, end in split_sentences(text, language):
        sentence = _visible(text[start:end])
        if "\n\n" in text[before:start]:
            in_block = False
            ordering = False
        before = end
        in_block = in_block or bool(ORDER_BLOCKS.search(sentence))
        goes_on = ordering and bool(FURTHER_ORDERS.search(sentence))
        ordering = goes_on or bool(ORDERS.search(sentence))
        if not in_block and not ordering:
            yield start, end


def _visible(text: str) -> str:
    """Without characters that show nothing and may stand inside words."""
    normal = unicodedata.normalize("NFKC", text)
    return re.sub(r"[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]", "", normal)


def read_sentence(
    text: str, above: str = "", language: str = "en", *, row: bool = False
) -> Sentence:
    plain = _positive(plain_sentence(text))
    if language[:2] == "en":
        plain = _without_contractions(plain)
    parts = [plain] if row else _split_clauses(plain)
    return Sentence(
        text=plain,
        above=plain_sentence(above),
        clauses=tuple(_clauses(parts, language)),
        terms=content_terms(plain, language),
        terms_above=content_terms(above, language),
        row=row,
    )


def _without_contractions(text: str) -> str:
    """ "Cannot" and "do not" for "can't" and "don't"."""
    if "n't" not in text:
        return text
    text = re.sub(r"\b([Cc])an't\b", r"\1annot", text)
    text = re.sub(r"\b([Ww])on't\b", r"\1ill not", text)
    return re.sub(r"n't\b", " not", text)


def _positive(text: str) -> str:
    """ "No employee has fewer than 20 days" as "every employee has at least 20 days"."""
    return NOBODY_LESS.sub(_everyone, text)


def _everyone(match: re.Match[str]) -> str:
    limit = "at least" if match[3] else "at most"
    return f"every {match[1] or 'one'}{match[2]} {limit}"


def _split_clauses(plain: str) -> list[str]:
    """Clauses of the text without its brackets, then of what stands in each."""
    outside = re.sub(r" ?\([^()]*\)", "", plain) if "(" in plain else plain
    parts: list[str] = []
    for text in (outside, *BRACKETED.findall(plain)):
        parts += CUT.split(text)
    return parts


def _clauses(parts: list[str], language: str) -> Iterator[Clause]:
    """Those without any term, such as "until it is there", go with the one before them."""
    clause = ""
    for part in map(str.lower, parts):
        if clause and content_terms(part, language):
            yield Clause(clause, content_terms(clause, language))
            clause = part
        else:
            clause = f"{clause}, {part}" if clause else part
    if clause.strip():
        yield Clause(clause, content_terms(clause, language))


@lru_cache(maxsize=4096)
def content_terms(text: str, language: str) -> frozenset[str]:
    """Index terms that are no numbers, those of compounds in parts."""
    terms = analyse(text, language)
    words = [term for term in terms if not term[0].isdigit()]
    return frozenset(words) - _number_terms()


@cache
def _number_terms() -> frozenset[str]:
    """Number words are no terms either: what a claim counts is looked at by itself."""
    return frozenset(analyse(" ".join(NUMBER_WORDS)))


def plain_sentence(text: str) -> str:
    """One line, straight quotes, no Markdown marks."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = re.sub(r"[“”„‟″«»]", '"', text)
        text = re.sub(r"[‘’‚‛′]", "'", text)
    lines: list[str] = []
    for line in text.splitlines():
        bare = MARKS.sub("", line)
        lines.append(bare.strip())
    return " ".join(lines).strip()
