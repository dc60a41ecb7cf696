"""Cutting one block that is too long for a chunk, at the largest joints that help: items, rows,
sentences, words."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ombud.text import split_sentences
from ombud.types import Block


class TokenSpan(NamedTuple):
    """A slice of a text, and how many tokens it has."""

    start: int
    end: int
    tokens: int


@dataclass(frozen=True)
class TokenLimit:
    """What a span must keep to."""

    room: int
    """Tokens that it may have."""
    count: Callable[[str], int]
    """Tokens of a text."""
    language: str = "en"
    """Whose rules say where a sentence ends."""


_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"\S+")


def spans(block: Block, limit: TokenLimit) -> Iterator[TokenSpan]:
    """Consecutive spans of block.text, each within the limit, that together hold every word."""
    is_list = block.kind == "list"
    joints = _items(block.text) if is_list else sentences_of(block, limit.language)
    for start, end in joints:
        yield from fit(block.text, start, end, limit)


def sentences_of(block: Block, language: str = "en") -> list[tuple[int, int]]:
    """Sentences, or what is like them: rows of a table, lines of code."""
    if block.kind == "table":
        return _rows(block.text)
    if block.kind == "code":
        return _lines(block.text)
    return split_sentences(block.text, language)


def _lines(text: str) -> list[tuple[int, int]]:
    return [line.span() for line in _LINE.finditer(text)]


def _rows(text: str) -> list[tuple[int, int]]:
    """Rows of a table; the header goes with the first of them."""
    lines = _lines(text)
    if len(lines) <= 2:
        return lines
    header, _, first_row, *others = lines
    return [(header[0], first_row[1]), *others]


def _items(text: str) -> list[tuple[int, int]]:
    """Outermost items of a list, each with what is nested in it."""
    items: list[tuple[int, int]] = []
    for start, end in _lines(text):
        is_nested = text[start] == " "
        if items and is_nested:
            outer_start, _ = items[-1]
            items[-1] = (outer_start, end)
        else:
            items.append((start, end))
    return items


def fit(text: str, start: int, end: int, limit: TokenLimit) -> Iterator[TokenSpan]:
    """text[start:end] whole, or where that is over the limit, cut at lines, sentences, words,
    characters."""
    tokens = limit.count(text[start:end])
    if tokens <= limit.room:
        yield TokenSpan(start, end, tokens)
        return
    parts = _parts(text, start, end, limit.language)
    if len(parts) > 1:
        for part_start, part_end in parts:
            yield from fit(text, part_start, part_end, limit)
    else:
        yield from _words(text, start, end, limit)


def _parts(text: str, start: int, end: int, language: str) -> list[tuple[int, int]]:
    """Lines, or sentences of a single line; a row of a table has none."""
    if "\n" in text[start:end]:
        return [line.span() for line in _LINE.finditer(text, start, end)]
    if text[start] == "|":
        return []
    sentences = split_sentences(text[start:end], language)
    return [(start + first, start + last) for first, last in sentences]


def _words(text: str, start: int, end: int, limit: TokenLimit) -> Iterator[TokenSpan]:
    """As many whole words as fit; a single word that does not is cut between characters."""
    words = [word.span() for word in _WORD.finditer(text, start, end)]
    ends = [word_end for _, word_end in words]
    at = 0
    while at < len(words):
        word_start, word_end = words[at]
        taken, tokens = _longest(text, word_start, ends, limit, first=at)
        if taken:
            at += taken
            yield TokenSpan(word_start, ends[at - 1], tokens)
        else:
            at += 1
            yield from _characters(text, word_start, word_end, limit)


def _characters(text: str, start: int, end: int, limit: TokenLimit) -> Iterator[TokenSpan]:
    """As many characters as fit."""
    while start < end:
        ends = range(start + 1, end + 1)
        taken, tokens = _longest(text, start, ends, limit)
        # One character may cost more than the room; it has to go somewhere.
        taken = max(1, taken)
        yield TokenSpan(start, start + taken, tokens)
        start += taken


def _longest(
    text: str, start: int, ends: Sequence[int], limit: TokenLimit, first: int = 0
) -> tuple[int, int]:
    """(how many of the ends from `first` on are within the limit, tokens up to the last of those):
    doubles, then halves, so that long texts are counted only near the answer. Tokens of the first
    end where none is."""

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
