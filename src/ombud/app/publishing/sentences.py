"""Sentences and rows of tables with figures that a draft changes, whatever anybody asks."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ombud.lab import normalise
from ombud.text import split_sentences
from ombud.types import Chunk

LONGEST = 30
"""Words of a sentence that are asked for."""
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*\s?%?")
_MARKS = re.compile(r"[|*_`#>\[\]]+")
_ENUMERATION = re.compile(r"^\s*\d+(?:\.\d+)*[.)]?\s+")


class ChangedSentence(NamedTuple):
    heading: str
    before: str
    """Empty where the draft adds it."""
    after: str
    """Empty where the draft takes it out."""

    @property
    def question(self) -> str:
        """It without its figures, under its heading: what finds it in either version. A bare
        sentence would be taken for no question."""
        plain = _MARKS.sub(" ", _FIGURE.sub(" ", self.after or self.before))
        words = plain.lstrip(" -.)").rstrip(" .;:").split()
        heading = _ENUMERATION.sub("", self.heading)
        return f"What does the policy say about {heading}: {' '.join(words[:LONGEST])}?"


def changed_sentences(new: Sequence[Chunk], old: Sequence[Chunk]) -> list[ChangedSentence]:
    """In the order of the draft; then what it takes out. Two sentences that differ in figures
    alone are one changed sentence."""
    after = _by_words(new)
    before = _by_words(old)
    gone: dict[str, list[str]] = {}
    for key, (_, sentence) in before.items():
        if key not in after:
            gone.setdefault(_without_figures(sentence), []).append(key)
    changed: list[ChangedSentence] = []
    for key, (heading, sentence) in after.items():
        if key in before:
            continue
        alike = gone.get(_without_figures(sentence), [])
        was = before[alike.pop(0)][1] if alike else ""
        changed.append(ChangedSentence(heading, was, sentence))
    for keys in gone.values():
        for key in keys:
            heading, sentence = before[key]
            changed.append(ChangedSentence(heading, sentence, ""))
    return changed


def _by_words(chunks: Sequence[Chunk]) -> dict[str, tuple[str, str]]:
    """Normal form -> (heading, sentence), of those with figures."""
    found: dict[str, tuple[str, str]] = {}
    for chunk in chunks:
        heading = chunk.trail[-1] if chunk.trail else chunk.title
        for sentence in _sentences(chunk):
            if _FIGURE.search(_ENUMERATION.sub("", sentence)):
                found.setdefault(normalise(sentence), (heading, sentence))
    return found


def _sentences(chunk: Chunk) -> Iterator[str]:
    for line in chunk.text.splitlines():
        if line.lstrip().startswith("|"):
            yield line.strip()
            continue
        for start, end in split_sentences(line, chunk.language):
            yield line[start:end].strip()


def _without_figures(sentence: str) -> str:
    return normalise(_FIGURE.sub("#", sentence))
