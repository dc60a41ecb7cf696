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
        indent = len(item.group(1)) if item else -1
        kind = _kind(item) if item else ""
        _leave_lower_levels(leads, indent, kind)
        plain = _plain(line[item.end() :] if item else line)
        if line.lstrip().startswith("|") or _EXAMPLE.match(plain):
            leads.clear()
            continue
        sentences = [_plain(plain[start:end]) for start, end in split_sentences(plain, language)]
        lead = leads[-1].text if leads else ""
        for number, sentence in enumerate(sentences):
            if not sentence.endswith("?"):
                yield GraphClause(sentence.rstrip(":"), lead if number == 0 else "")
        if sentences and sentences[-1].endswith(":"):
            leads.append(_Lead(indent, kind, sentences[-1].rstrip(":")))


def _leave_lower_levels(leads: list[_Lead], indent: int, kind: str) -> None:
    """Without those that stand further right than a line, or lead nothing of its kind."""
    while leads:
        lead = leads[-1]
        is_beside = (indent, kind) == (lead.indent, lead.kind)
        if indent >= lead.indent and not is_beside:
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
