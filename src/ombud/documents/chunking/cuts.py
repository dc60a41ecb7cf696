"""Cutting one block that is too long for a chunk, at the largest joints that help: items, rows,
sentences, words."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ombud.text import split_sentences
from ombud.types import Block


class TokenSpan(NamedTuple):
    start: int
    end: int
    tokens: int


_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"\S+")


def spans(
    block: Block, room: int, count: Callable[[str], int], language: str = "en"
) -> Iterator[TokenSpan]:
    """Consecutive spans of block.text, each at most `room` tokens, that together hold every
    word."""
    joints = _items(block.text) if block.kind == "list" else sentences_of(block, language)
    for start, end in joints:
        yield from fit(block.text, start, end, room, count, language)


def sentences_of(block: Block, language: str = "en") -> list[tuple[int, int]]:
    """Sentences, or what is like them: rows of a table, lines of code."""
    if block.kind == "table":
        return _rows(block.text)
    if block.kind == "code":
        return [line.span() for line in _LINE.finditer(block.text)]
    return split_sentences(block.text, language)


def _rows(text: str) -> list[tuple[int, int]]:
    """Rows of a table; the header goes with the first of them."""
    lines = [line.span() for line in _LINE.finditer(text)]
    return [(lines[0][0], lines[2][1]), *lines[3:]] if len(lines) > 2 else lines


def _items(text: str) -> list[tuple[int, int]]:
    """Outermost items of a list, each with what is nested in it."""
    found: list[tuple[int, int]] = []
    for line in _LINE.finditer(text):
        if found and text[line.start()] == " ":
            found[-1] = (found[-1][0], line.end())
        else:
            found.append(line.span())
    return found


def fit(
    text: str, start: int, end: int, room: int, count: Callable[[str], int], language: str
) -> Iterator[TokenSpan]:
    """text[start:end] whole, or where it has more than `room` tokens, cut at lines, sentences,
    words, characters."""
    tokens = count(text[start:end])
    if tokens <= room:
        yield TokenSpan(start, end, tokens)
        return
    inner: list[tuple[int, int]] = []
    if "\n" in text[start:end]:
        inner = [line.span() for line in _LINE.finditer(text, start, end)]
    elif text[start] != "|":
        inner = [(start + a, start + b) for a, b in split_sentences(text[start:end], language)]
    if len(inner) > 1:
        for a, b in inner:
            yield from fit(text, a, b, room, count, language)
    else:
        yield from _words(text, start, end, room, count)


def _words(
    text: str, start: int, end: int, room: int, count: Callable[[str], int]
) -> Iterator[TokenSpan]:
    """As many whole words as fit; a single word that does not is cut between characters."""
    words = [word.span() for word in _WORD.finditer(text, start, end)]
    at = 0
    while at < len(words):
        taken, tokens = _most(
            lambda n, at=at: count(text[words[at][0] : words[at + n - 1][1]]),  # type: ignore[misc]
            len(words) - at,
            room,
        )
        if taken:
            yield TokenSpan(words[at][0], words[at + taken - 1][1], tokens)
            at += taken
            continue
        first, last = words[at]
        while first < last:
            taken, tokens = _most(
                lambda n, first=first: count(text[first : first + n]),  # type: ignore[misc]
                last - first,
                room,
            )
            # One character may cost more than the room; it has to go somewhere.
            yield TokenSpan(first, first + max(1, taken), tokens)
            first += max(1, taken)
        at += 1


def _most(size: Callable[[int], int], available: int, room: int) -> tuple[int, int]:
    """(how many fit, their tokens): doubles, then halves, so that long texts are counted only near
    the answer."""
    high = 1
    while high < available and size(high) <= room:
        high *= 2
    low, high = 0, min(high, available)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size(middle) <= room else (low, middle - 1)
    return low, size(low) if low else size(1)
