"""Words that may stand for each other, by `scope.toml`: a paraphrase keeps a condition in other
words."""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from ombud.text.analysis import analyse
from ombud.text.scope.vocabulary import scope_words


def canonical_terms(terms: Iterable[str]) -> frozenset[str]:
    """Each index term as the first of its group."""
    return _canonical(terms if isinstance(terms, frozenset) else frozenset(terms))


@lru_cache(maxsize=16_384)
def _canonical(terms: frozenset[str]) -> frozenset[str]:
    first = _first_of_group()
    return frozenset(first.get(term, term) for term in terms)


def has_synonyms(term: str) -> bool:
    """Whether a canonical term may be said in other words."""
    return term in _first_of_group()


@cache
def free_words() -> frozenset[str]:
    """Those in which two sentences that say the same may differ: "your" for "the"."""
    return frozenset(scope_words()["free"]["words"])


@cache
def _first_of_group() -> Mapping[str, str]:
    first: dict[str, str] = {}
    for group in scope_words()["same"]["groups"]:
        stems: list[str] = []
        for word in group:
            stems += analyse(word)[:1]
        for stem in stems:
            first.setdefault(stem, stems[0])
    return first
