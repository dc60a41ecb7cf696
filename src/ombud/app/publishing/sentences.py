"""Sentences and table rows whose figures a draft changes, whether or not anybody asks for them."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ombud.lab import normalise
from ombud.text import split_sentences
from ombud.types import Chunk

LONGEST = 30
"""Largest number of words of a sentence that is asked for."""
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*\s?%?")
_MARKS = re.compile(r"[|*_`#>\[\]]+")
_ENUMERATION = re.compile(r"^\s*\d+(?:\.\d+)*[.)]?\s+")


class ChangedSentence(NamedTuple):
    """A sentence with changed figures."""

    heading: str
    before: str
    """Empty if the draft adds it."""
    after: str
    """Empty if the draft removes it."""

    @property
    def question(self) -> str:
        """Return the sentence without figures, under its heading, which retrieves either version; a
        bare sentence would not count as a question."""
        plain = _MARKS.sub(" ", _FIGURE.sub(" ", self.after or self.before))
        words = plain.lstrip(" -.)").rstrip(" .;:").split()
        heading = _ENUMERATION.sub("", self.heading)
        return f"What does the policy say about {heading}: {' '.join(words[:LONGEST])}?"


def changed_sentences(new: Sequence[Chunk], old: Sequence[Chunk]) -> list[ChangedSentence]:
    """Return changed sentences in the order of the draft, then those that it removes. Two sentences
    that differ only in figures are one changed sentence."""
    after = by_words(new)
    before = by_words(old)
    gone: dict[str, list[str]] = {}
    for key, (_, sentence) in before.items():
        if key not in after:
            gone.setdefault(without_figures(sentence), []).append(key)
    changed: list[ChangedSentence] = []
    for key, (heading, sentence) in after.items():
        if key in before:
            continue
        alike = gone.get(without_figures(sentence), [])
        was = before[alike.pop(0)][1] if alike else ""
        changed.append(ChangedSentence(heading, was, sentence))
    for keys in gone.values():
        for key in keys:
            heading, sentence = before[key]
            changed.append(ChangedSentence(heading, sentence, ""))
    return changed


def by_words(chunks: Sequence[Chunk]) -> dict[str, tuple[str, str]]:
    """Return normalised sentence -> (heading, sentence), for sentences with figures."""
    sentences: dict[str, tuple[str, str]] = {}
    for chunk in chunks:
        heading = chunk.trail[-1] if chunk.trail else chunk.title
        for sentence in sentences_of(chunk):
            if _FIGURE.search(_ENUMERATION.sub("", sentence)):
                sentences.setdefault(normalise(sentence), (heading, sentence))
    return sentences


def sentences_of(chunk: Chunk) -> Iterator[str]:
    for line in chunk.text.splitlines():
        if line.lstrip().startswith("|"):
            yield line.strip()
            continue
        for start, end in split_sentences(line, chunk.language):
            yield line[start:end].strip()


def without_figures(sentence: str) -> str:
    return normalise(_FIGURE.sub("#", sentence))
