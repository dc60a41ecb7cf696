"""From the words of a question to entities of the graph."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ombud.store import Graph, Name
from ombud.text import analyse, entity_key, entity_stems

WORD = re.compile(r"[^\W_]+(?:[.'’&/-][^\W_]+)*(?:\(\w{1,3}\))*")
LINKS = frozenset({"of", "for", "and", "to", "in", "a", "an", "the", "section", "§"})
"""Words that may stand inside a name, and never begin or end one by themselves."""
LONGEST = 5
"""Words of a name, links not counted."""
SHARE = 0.6
"""Of an entity's words that a question must have where it does not name it."""
MEANINGS = 3
"""Entities that one keyword may mean."""
BY_WORDS = 0.85
"""What such a match counts beside a name."""


class Match(NamedTuple):
    """An entity that a text may mean."""

    key: str
    strength: float
    """From 0 to 1."""
    words: frozenset[str]
    """Stems of the text that speak for it."""


def phrases(text: str) -> list[str]:
    """Names that a text may hold, the longest first: runs of words that say something, links
    between them included."""
    found: dict[str, int] = {}
    for run in _runs(text):
        meant = [place for place, word in enumerate(run) if word.lower() not in LINKS]
        for first, start in enumerate(meant):
            for last in range(first, min(first + LONGEST, len(meant))):
                found.setdefault(" ".join(run[start : meant[last] + 1]), last - first + 1)
    return sorted(found, key=lambda phrase: -found[phrase])


def beginning(word: str) -> str:
    """What other forms of a word begin with, too: "appl" of "apply" and "applied"."""
    return word[: max(4, len(word) - 3)]


def matches(texts: Iterable[str], graph: Graph, language: str) -> list[tuple[Match, str]]:
    """Entities that these phrases name, and those most of whose words are in them; with the
    document that says so."""
    held = {entity_key(phrase): frozenset(entity_stems(phrase, language)) for phrase in texts}
    held = {key: words for key, words in held.items() if key and words}
    if not held:
        return []
    named = [(Match(n.key, n.weight, held[n.name]), n.document_id) for n in graph.named(list(held))]
    all_stems = frozenset[str]().union(*held.values())
    alike = graph.sharing(sorted(all_stems), SHARE)
    return [*named, *((_by_words(name, all_stems, language), name.document_id) for name in alike)]


def choose(found: Mapping[Match, int], most: int) -> list[Match]:
    """The entities of at most so many keywords: named before alike, long before short, rare before
    common.

    found: matches with how many triplets their entity has. A word that a longer name has taken
    ("audit" of "bias audit") stands for nothing else; shorter names of several words come in where
    room is left."""
    by_words: dict[frozenset[str], list[Match]] = {}
    for match in sorted(found, key=lambda match: (-match.strength, match.key)):
        by_words.setdefault(match.words, []).append(match)
    ranked = sorted(by_words, key=lambda words: -_worth(by_words[words][0], found))
    taken: list[frozenset[str]] = []
    for words in ranked:
        if words.isdisjoint(frozenset[str]().union(*taken)):
            taken.append(words)
    taken = taken[:most] + [words for words in ranked if len(words) > 1 and words not in taken]
    return [match for words in taken[:most] for match in by_words[words][:MEANINGS]]


def _worth(match: Match, degrees: Mapping[Match, int]) -> float:
    return match.strength * math.pow(len(match.words), 1.5) / math.log2(2 + degrees[match])


def _by_words(name: Name, all_stems: frozenset[str], language: str) -> Match:
    own = frozenset(entity_stems(name.key, language)) & all_stems
    return Match(name.key, BY_WORDS * min(1.0, name.weight), own)


def _runs(text: str) -> Iterator[list[str]]:
    run: list[str] = []
    at = 0
    for match in WORD.finditer(text):
        word = match.group()
        apart = text[at : match.start()].strip(" \t\n\"'“”‘’§")
        at = match.end()
        if apart and run:
            yield run
            run = []
        if word.lower() in LINKS or analyse(word):
            run.append(word)
        elif run:
            yield run
            run = []
    if run:
        yield run
