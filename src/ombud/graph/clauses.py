"""A passage as clauses: sentences freed of marks and numbers, each item of a list with the words
that lead it in."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ombud.text import split_sentences

_ITEM = re.compile(
    r"(\s*)(?:([-*•–·])\s+(?:\[[ xX]\]\s+)?|\((?:\d{1,2}|[a-z]|[ivx]{1,4})\)\s*"
    r"|(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s+)"
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


class _Item(NamedTuple):
    indent: int
    """-1 for a line that is no item itself."""
    kind: str
    text: str


def split_clauses(text: str, language: str) -> Iterator[GraphClause]:
    """Every sentence of a passage but examples, questions and rows of tables.

    The lead of an item is the nearest line above it that ends with a colon and is of a higher
    level: it stands further left, or is numbered in another way."""
    leads: list[_Item] = []
    for line in _lines(text):
        item = _item(line)
        _leave_lower_levels(leads, item)
        if line.lstrip().startswith("|") or _EXAMPLE.match(item.text):
            leads.clear()
            continue
        sentences: list[str] = []
        for start, end in split_sentences(item.text, language):
            sentences.append(_plain(item.text[start:end]))
        lead = leads[-1].text if leads else ""
        yield from _clauses(sentences, lead)
        if sentences and sentences[-1].endswith(":"):
            leads.append(item._replace(text=sentences[-1].rstrip(":")))


def _clauses(sentences: list[str], lead: str) -> Iterator[GraphClause]:
    """Without questions; the lead belongs to the first sentence."""
    for number, sentence in enumerate(sentences):
        if not sentence.endswith("?"):
            yield GraphClause(sentence.rstrip(":"), lead if number == 0 else "")


def _item(line: str) -> _Item:
    """A line in plain words, with its level."""
    mark = _ITEM.match(line)
    if not mark:
        return _Item(-1, "", _plain(line))
    indent = len(mark.group(1))
    return _Item(indent, _kind(mark), _plain(line[mark.end() :]))


def _leave_lower_levels(leads: list[_Item], item: _Item) -> None:
    """Without those that stand further right than an item, or are numbered like it."""
    while leads:
        lead = leads[-1]
        is_beside = (item.indent, item.kind) == (lead.indent, lead.kind)
        if item.indent >= lead.indent and not is_beside:
            return
        leads.pop()


def _lines(text: str) -> Iterator[str]:
    """Lines with something in them; those that were wrapped by hand are joined."""
    held = ""
    for line in text.split("\n"):
        if not line.strip():
            continue
        if held and _goes_on(held, line):
            held += " " + line
            continue
        if held:
            yield held
        held = line
    if held:
        yield held


def _goes_on(before: str, line: str) -> bool:
    """Whether a line is the rest of the one before."""
    if not line[:1].islower() or _ITEM.match(line):
        return False
    return before.rstrip()[-1] not in ".!?:;|"


def _kind(item: re.Match[str]) -> str:
    """How an item is numbered: "(1)" like "(2)", "a." like "b."."""
    bullet: str | None = item.group(2)
    if bullet:
        return bullet
    letters_alike = re.sub(r"[a-z]+", "a", item.group().strip())
    return re.sub(r"\d+", "1", letters_alike)


def _plain(text: str) -> str:
    plain = _LINK.sub(r"\1", text.strip())
    if _CLAUSE_NUMBER.match(plain):
        plain = _CLAUSE_NUMBER.sub("", plain)
    return _LABEL.sub("", _MARKS.sub("", plain)).strip()
