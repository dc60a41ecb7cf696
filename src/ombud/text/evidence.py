"""What of a passage is evidence: its sentences, but for those that speak to a machine."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ombud.text.remembering import remembered
from ombud.text.sentences import split_sentences
from ombud.text.wording import straight_quotes

_MARKS = re.compile(r"(?<!\\)\*+|`|^#+ |^\s*[-*+•] |^\s*\d+(?:\.\d+)*[.)]? (?=[A-Z])")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")


class _Orders(NamedTuple):
    """Patterns of what a document says to the machine that reads it rather than to people."""

    patterns: re.Pattern[str]
    blocks: re.Pattern[str]
    """All that stands behind one in its paragraph is for a machine."""
    following: re.Pattern[str]
    """How a sentence begins that goes on with the orders before it."""


@remembered(512)
def evidence_spans(text: str, language: str = "en") -> tuple[tuple[int, int], ...]:
    """Return (start, end) of the sentences of a passage that may support a claim.

    Those that speak to the machine that reads the passage may be quoted, as what the document says,
    but support nothing; nor does what goes on with them in the same paragraph."""
    return tuple(_evidence_spans(text, language))


def _evidence_spans(text: str, language: str) -> Iterator[tuple[int, int]]:
    orders = _orders()
    in_block = False
    ordering = False
    before = 0
    for start, end in split_sentences(text, language):
        sentence = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text[start:end]))
        if "\n\n" in text[before:start]:
            in_block = False
            ordering = False
        before = end
        in_block = in_block or bool(orders.blocks.search(sentence))
        goes_on = ordering and bool(orders.following.search(sentence))
        ordering = goes_on or bool(orders.patterns.search(sentence))
        if not in_block and not ordering:
            yield start, end


def plain_sentence(text: str) -> str:
    """Return a text as one line with straight quotation marks and without Markdown marks."""
    lines = [_MARKS.sub("", line).strip() for line in straight_quotes(text).splitlines()]
    return " ".join(lines).strip()


@cache
def _orders() -> _Orders:
    path = Path(__file__).with_name("machine_orders.toml")
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    compiled: list[re.Pattern[str]] = []
    for name in _Orders._fields:
        compiled.append(re.compile("|".join(content[name]), re.IGNORECASE))
    return _Orders(*compiled)
