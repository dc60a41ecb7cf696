"""A passage as clauses: sentences freed of marks and numbers, each item of a list with the words
that lead it in."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ombud.text import split_sentences

_ITEM = re.compile(
    r"(\s*)(?:([-*•–·])\s+(?:\[[ xX]\]\s+)?|\((?:\d{1,2}|[a-z]|[ivx]{1,4})\)\s*|(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s+)"
)
_CLAUSE_NUMBER = re.compile(r"\s*\d{1,2}(?:\.\d{1,2})+\.?\s+")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_MARKS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|^#+\s+|^>\s+")
_LABEL = re.compile(
    r"^(?:note|important|reminder|tip|nb|please note)\b\s*(?:that\s+|:\s*|that:\s*)", re.IGNORECASE
)
_EXAMPLE = re.compile(
    r"^\W*(?:examples?\b(?:\s+\d+)?\s*[:.]|for example\b|e\.g\.|suppose\b|imagine\b)", re.IGNORECASE
)


class GraphClause(NamedTuple):
    text: str
    """One sentence, or one item of a list, in plain words."""
    lead: str = ""
    """The words before the list, without their colon; empty for what is no item."""


class _Lead(NamedTuple):
    indent: int
    """-1 for a line that is no item itself."""
    kind: str
    text: str


def split_clauses(text: str, language: str) -> Iterator[GraphClause]:
    """Every sentence of a passage but examples, questions and rows of tables.

    The lead of an item is the nearest line above it that ends with a colon and is of a higher
    level: it stands further left, or is numbered in another way."""
    leads: list[_Lead] = []
    for line in _lines(text):
        item = _ITEM.match(line)
        indent, kind = (len(item.group(1)), _kind(item)) if item else (-1, "")
        while leads and (indent < leads[-1].indent or (indent, kind) == leads[-1][:2]):
            leads.pop()
        said = _plain(line[item.end() :] if item else line)
        if line.lstrip().startswith("|") or _EXAMPLE.match(said):
            leads = []
            continue
        parts = [_plain(said[start:end]) for start, end in split_sentences(said, language)]
        lead = leads[-1].text if leads else ""
        for number, part in enumerate(parts):
            if not part.endswith("?"):
                yield GraphClause(part.rstrip(":"), lead if number == 0 else "")
        if parts and parts[-1].endswith(":"):
            leads.append(_Lead(indent, kind, parts[-1].rstrip(":")))


def _lines(text: str) -> Iterator[str]:
    """Lines with something in them; those that were wrapped by hand are joined."""
    held = ""
    for line in filter(str.strip, text.split("\n")):
        if (
            held
            and line[:1].islower()
            and held.rstrip()[-1] not in ".!?:;|"
            and not _ITEM.match(line)
        ):
            held += " " + line
            continue
        if held:
            yield held
        held = line
    if held:
        yield held


def _kind(item: re.Match[str]) -> str:
    """How an item is numbered: "(1)" like "(2)", "a." like "b."."""
    return item.group(2) or re.sub(r"\d+", "1", re.sub(r"[a-z]+", "a", item.group().strip()))


def _plain(text: str) -> str:
    said = _LINK.sub(r"\1", text.strip())
    said = _CLAUSE_NUMBER.sub("", said) if _CLAUSE_NUMBER.match(said) else said
    return _LABEL.sub("", _MARKS.sub("", said)).strip()
