"""Cut a block that is too long for a chunk, at its largest joints: items, rows, sentences,
words."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ombud.text import split_sentences
from ombud.types import Block


class TokenSpan(NamedTuple):
    """A slice of a text, with its number of tokens."""

    start: int
    end: int
    tokens: int


@dataclass(frozen=True)
class TokenLimit:
    """The limit for a span."""

    room: int
    """Most tokens."""
    count: Callable[[str], int]
    """Counts the tokens of a text."""
    language: str = "en"
    """Language whose rules split sentences."""


_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"\S+")


def spans(block: Block, limit: TokenLimit) -> Iterator[TokenSpan]:
    """Cut block.text into consecutive spans within the limit; together they contain every word."""
    is_list = block.kind == "list"
    joints = list_items(block.text) if is_list else sentences_of(block, limit.language)
    for start, end in joints:
        yield from fit(block.text, start, end, limit)


def sentences_of(block: Block, language: str = "en") -> list[tuple[int, int]]:
    """Split a block into sentences, or into rows of a table or lines of code."""
    if block.kind == "table":
        return table_rows(block.text)
    if block.kind == "code":
        return line_spans(block.text)
    return split_sentences(block.text, language)


def line_spans(text: str) -> list[tuple[int, int]]:
    return [line.span() for line in _LINE.finditer(text)]


def table_rows(text: str) -> list[tuple[int, int]]:
    """Split a table into rows, the header together with the first."""
    lines = line_spans(text)
    if len(lines) <= 2:
        return lines
    header, _, first_row, *others = lines
    return [(header[0], first_row[1]), *others]


def list_items(text: str) -> list[tuple[int, int]]:
    """Split a list into its outermost items, each with what is nested in it."""
    items: list[tuple[int, int]] = []
    for start, end in line_spans(text):
        is_nested = text[start] == " "
        if items and is_nested:
            outer_start, _ = items[-1]
            items[-1] = (outer_start, end)
        else:
            items.append((start, end))
    return items


def fit(text: str, start: int, end: int, limit: TokenLimit) -> Iterator[TokenSpan]:
    """Yield text[start:end] whole or, if it is over the limit, cut at lines, sentences, words or
    characters."""
    tokens = limit.count(text[start:end])
    if tokens <= limit.room:
        yield TokenSpan(start, end, tokens)
        return
    parts = split_parts(text, start, end, limit.language)
    if len(parts) > 1:
        for part_start, part_end in parts:
            yield from fit(text, part_start, part_end, limit)
    else:
        yield from fit_words(text, start, end, limit)


def split_parts(text: str, start: int, end: int, language: str) -> list[tuple[int, int]]:
    """Split into lines, or a single line into sentences; a row of a table is not split."""
    if "\n" in text[start:end]:
        return [line.span() for line in _LINE.finditer(text, start, end)]
    if text[start] == "|":
        return []
    sentences = split_sentences(text[start:end], language)
    return [(start + first, start + last) for first, last in sentences]


def fit_words(text: str, start: int, end: int, limit: TokenLimit) -> Iterator[TokenSpan]:
    """Yield spans of as many whole words as fit; a word that is too long is cut between
    characters."""
    words = [word.span() for word in _WORD.finditer(text, start, end)]
    ends = [word_end for _, word_end in words]
    at = 0
    while at < len(words):
        word_start, word_end = words[at]
        taken, tokens = longest_fit(text, word_start, ends, limit, first=at)
        if taken:
            at += taken
            yield TokenSpan(word_start, ends[at - 1], tokens)
        else:
            at += 1
            yield from fit_characters(text, word_start, word_end, limit)


def fit_characters(text: str, start: int, end: int, limit: TokenLimit) -> Iterator[TokenSpan]:
    """Yield spans of as many characters as fit."""
    while start < end:
        ends = range(start + 1, end + 1)
        taken, tokens = longest_fit(text, start, ends, limit)
        # One character may cost more than the room; it has to go somewhere.
        taken = max(1, taken)
        yield TokenSpan(start, start + taken, tokens)
        start += taken


def longest_fit(
    text: str, start: int, ends: Sequence[int], limit: TokenLimit, first: int = 0
) -> tuple[int, int]:
    """Find how many of the ends from `first` on are within the limit, and the tokens up to the last
    of them, or up to the first end if none is.

    Doubles, then halves, so that long texts are counted only near the answer."""

    def size(number: int) -> int:
        return limit.count(text[start : ends[first + number - 1]])

    most = len(ends) - first
    high = 1
    while high < most and size(high) <= limit.room:
        high *= 2
    low = 0
    high = min(high, most)
    while low < high:
        middle = (low + high + 1) // 2
        if size(middle) <= limit.room:
            low = middle
        else:
            high = middle - 1
    return low, size(max(1, low))
