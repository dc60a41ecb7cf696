"""Match the words of a question to entities of the graph."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ombud.store import Graph
from ombud.text import analyse, entity_key, entity_stems

WORD = re.compile(r"[^\W_]+(?:[.'’&/-][^\W_]+)*(?:\(\w{1,3}\))*")
LINK_WORDS = frozenset({"of", "for", "and", "to", "in", "a", "an", "the", "section", "§"})
"""Words that may stand inside a name but neither begin nor end one."""
MAX_NAME_WORDS = 5
"""Words of a name, link words not counted."""
MIN_SHARED_STEMS = 0.6
"""Share of an entity's stems that a question must contain when it does not name the entity."""
ENTITIES_PER_KEYWORD = 3
SHARED_STEMS_WEIGHT = 0.85
"""Weight of a match by shared stems; a match by name has 1."""


class EntityMatch(NamedTuple):
    """An entity that a text may mean."""

    key: str
    strength: float
    """From 0 to 1."""
    stems: frozenset[str]
    """Stems of the text that match it."""


def name_phrases(text: str) -> list[str]:
    """List phrases of a text that may be names, longest first: runs of content words with the link
    words between them."""
    lengths: dict[str, int] = {}
    for run in content_runs(text):
        for phrase, length in phrases_of(run):
            lengths.setdefault(phrase, length)
    return sorted(lengths, key=lambda phrase: -lengths[phrase])


def phrases_of(run: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield each phrase that begins and ends with a content word, with its number of content
    words."""
    places = []
    for place, word in enumerate(run):
        if word.lower() not in LINK_WORDS:
            places.append(place)
    for first, start in enumerate(places):
        ends = places[first : first + MAX_NAME_WORDS]
        for length, end in enumerate(ends, start=1):
            yield " ".join(run[start : end + 1]), length


def find_matches(
    phrases: Iterable[str], graph: Graph, language: str
) -> list[tuple[EntityMatch, str]]:
    """Find the entities that these phrases name or share most stems with, each with the document
    that mentions it."""
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
    for name in graph.sharing(sorted(all_stems), MIN_SHARED_STEMS):
        own_stems = frozenset(entity_stems(name.key, language)) & all_stems
        strength = SHARED_STEMS_WEIGHT * min(1.0, name.weight)
        matches.append((EntityMatch(name.key, strength, own_stems), name.document_id))
    return matches


def choose_matches(degrees: Mapping[EntityMatch, int], most: int) -> list[EntityMatch]:
    """Choose the entities of at most `most` keywords: named before similar, long before short, rare
    before common.

    degrees: each match with the number of triplets of its entity. A word that is part of a longer
    name ("audit" of "bias audit") is no keyword of its own; shorter names of several words fill the
    room that is left."""
    by_stems: dict[frozenset[str], list[EntityMatch]] = {}
    for match in sorted(degrees, key=lambda match: (-match.strength, match.key)):
        by_stems.setdefault(match.stems, []).append(match)
    weights = {}
    for stems, matches in by_stems.items():
        best = matches[0]
        weights[stems] = best.strength * len(stems) ** 1.5 / math.log2(2 + degrees[best])
    ranked = sorted(by_stems, key=lambda stems: -weights[stems])
    chosen: list[EntityMatch] = []
    for stems in select_keywords(ranked, most):
        chosen += by_stems[stems][:ENTITIES_PER_KEYWORD]
    return chosen


def select_keywords(ranked: Sequence[frozenset[str]], most: int) -> list[frozenset[str]]:
    """Select keywords that share no word with a better one first, then others of several words."""
    apart: list[frozenset[str]] = []
    for stems in ranked:
        if all(map(stems.isdisjoint, apart)):
            apart.append(stems)
    keywords = apart[:most]
    for stems in ranked:
        if len(stems) > 1 and stems not in apart:
            keywords.append(stems)
    return keywords[:most]


def content_runs(text: str) -> Iterator[list[str]]:
    """Split a text into runs of content and link words; other words and punctuation end a run."""
    run: list[str] = []
    end = 0
    for match in WORD.finditer(text):
        word = match.group()
        between = text[end : match.start()].strip(" \t\n\"'“”‘’§")
        end = match.end()
        if between and run:
            yield run
            run = []
        if word.lower() in LINK_WORDS or analyse(word):
            run.append(word)
        elif run:
            yield run
            run = []
    if run:
        yield run
