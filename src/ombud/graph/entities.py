"""From the words of a question to entities of the graph."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


class EntityMatch(NamedTuple):
    """An entity that a text may mean."""

    key: str
    strength: float
    """From 0 to 1."""
    stems: frozenset[str]
    """Stems of the text that speak for it."""


def name_phrases(text: str) -> list[str]:
    """Names that a text may hold, the longest first: runs of words that say something, links
    between them included."""
    lengths: dict[str, int] = {}
    for run in _runs(text):
        for phrase, length in _phrases_of(run):
            lengths.setdefault(phrase, length)
    return sorted(lengths, key=lambda phrase: -lengths[phrase])


def _phrases_of(run: Sequence[str]) -> Iterator[tuple[str, int]]:
    """(phrase, its words without links) of all that begin and end with a word that says
    something."""
    places = []
    for place, word in enumerate(run):
        if word.lower() not in LINKS:
            places.append(place)
    for first, start in enumerate(places):
        ends = places[first : first + LONGEST]
        for length, end in enumerate(ends, start=1):
            yield " ".join(run[start : end + 1]), length


def beginning(word: str) -> str:
    """What other forms of a word begin with, too: "appl" of "apply" and "applied"."""
    return word[: max(4, len(word) - 3)]


def find_matches(
    phrases: Iterable[str], graph: Graph, language: str
) -> list[tuple[EntityMatch, str]]:
    """Entities that these phrases name, and those most of whose words are in them; with the
    document that says so."""
    stems_of: dict[str, frozenset[str]] = {}
    for phrase in phrases:
        key = entity_key(phrase)
        stems = frozenset(entity_stems(phrase, language))
        if key and stems:
            stems_of[key] = stems
    if not stems_of:
        return []
    matches: list[tuple[EntityMatch, str]] = []
    for name in graph.named(list(stems_of)):
        match = EntityMatch(name.key, name.weight, stems_of[name.name])
        matches.append((match, name.document_id))
    all_stems = frozenset[str]().union(*stems_of.values())
    for name in graph.sharing(sorted(all_stems), SHARE):
        matches.append((_by_words(name, all_stems, language), name.document_id))
    return matches


def choose_matches(degrees: Mapping[EntityMatch, int], most: int) -> list[EntityMatch]:
    """The entities of at most so many keywords: named before alike, long before short, rare before
    common.

    degrees: matches with how many triplets their entity has. A word that a longer name has taken
    ("audit" of "bias audit") stands for nothing else; shorter names of several words come in where
    room is left."""
    by_stems: dict[frozenset[str], list[EntityMatch]] = {}
    for match in sorted(degrees, key=lambda match: (-match.strength, match.key)):
        by_stems.setdefault(match.stems, []).append(match)
    worth = {}
    for stems, matches in by_stems.items():
        worth[stems] = _worth(matches[0], degrees)
    ranked = sorted(by_stems, key=lambda stems: -worth[stems])
    chosen: list[EntityMatch] = []
    for stems in _keywords(ranked, most):
        chosen += by_stems[stems][:MEANINGS]
    return chosen


def _keywords(ranked: Sequence[frozenset[str]], most: int) -> list[frozenset[str]]:
    """Those that share no word first, then others of several words."""
    apart: list[frozenset[str]] = []
    for stems in ranked:
        if all(map(stems.isdisjoint, apart)):
            apart.append(stems)
    keywords = apart[:most]
    for stems in ranked:
        if len(stems) > 1 and stems not in apart:
            keywords.append(stems)
    return keywords[:most]


def _worth(match: EntityMatch, degrees: Mapping[EntityMatch, int]) -> float:
    length = math.pow(len(match.stems), 1.5)
    commonness = math.log2(2 + degrees[match])
    return match.strength * length / commonness


def _by_words(name: Name, all_stems: frozenset[str], language: str) -> EntityMatch:
    own_stems = frozenset(entity_stems(name.key, language)) & all_stems
    return EntityMatch(name.key, BY_WORDS * min(1.0, name.weight), own_stems)


def _runs(text: str) -> Iterator[list[str]]:
    run: list[str] = []
    end = 0
    for match in WORD.finditer(text):
        word = match.group()
        between = text[end : match.start()].strip(" \t\n\"'“”‘’§")
        end = match.end()
        if between and run:
            yield run
            run = []
        if word.lower() in LINKS or analyse(word):
            run.append(word)
        elif run:
            yield run
            run = []
    if run:
        yield run
