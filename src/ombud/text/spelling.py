"""Correct mistyped words by edit distance, with the words of documents and common English.

A correction is made only where one word is clearly the likeliest; doubtful words stay."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import OSA

from ombud.text.analysis import analyse
from ombud.text.language import common_words
from ombud.types import Correction

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
RUN = re.compile(r"[\w@/\\#.:+'’-]+")
GLUE = re.compile(r"[\d@/\\#_+.:]")
"""Marks of numbers, addresses, paths and account names, whose parts are not words."""
SHORTEST = 4
"""Letters below which every word is close to another."""
LONGEST = 30
MOST_UNKNOWN = 8
"""Unknown words above which a message is pasted, struck at random or in another language."""
COMMON = 1_000_000
"""Count in the English list from which a word that no document has may be meant."""
SHORTEST_PART = 3
"""Letters of the shorter of two words written as one."""
LEAST_OF_PART = 5
"""How often documents must have each of them."""
SLIP = 0.5
"""Cost of letters swapped or doubled, or of f for ph, where another edit costs 1."""
MOST_EDITED = 0.29
"""Share of a word's letters that may be edited; one letter always may."""
EDIT_COST = 40.0
"""What editing a whole word costs, in logarithms of frequency."""
LEAST_TOTAL = 50_000
"""Words as which a smaller collection counts: being in it does not make a word frequent."""
OWN_SHARE = 0.8
"""Weight of the documents' frequencies beside those of English."""
LEAST_LIKELY = -19.0
CLEAR = 1.0
"""Logarithm of how much likelier than the next word a correction must be."""


class Corrected(NamedTuple):
    text: str
    corrections: tuple[Correction, ...] = ()


class Vocabulary:
    """The words of documents with their counts, beside those of English. Any thread may use
    it."""

    def __init__(self, counts: Mapping[str, int], *, with_english: bool = True) -> None:
        self.counts = counts
        self._total = max(sum(counts.values()), LEAST_TOTAL)
        self._english = english_counts() if with_english else {}
        self._english_total = max(sum(self._english.values()), 1)
        common = (word for word, count in self._english.items() if count >= COMMON)
        candidates = dict.fromkeys((*counts, *common))
        self._candidates = [word for word in candidates if len(word) >= SHORTEST]
        self._stems: dict[str, frozenset[str]] = {}

    def holds(self, word: str, language: str) -> bool:
        """Tell whether documents or general lists have a lower-case word. Languages other than
        English have no full word list, so their inflected forms count by their stem."""
        if word in self.counts or word in english_counts() or word in bare_contractions():
            return True
        if language == "en":
            return False
        return word in common_words(language) or self._has_stem(word, language)

    def _has_stem(self, word: str, language: str) -> bool:
        if language not in self._stems:
            self._stems[language] = frozenset(analyse(" ".join(self.counts), language))
        return self._stems[language].issuperset(analyse(word, language))

    def correct(self, word: str) -> str:
        """Return the correction of an unknown lower-case word; empty if none is clear."""
        scores: dict[str, float] = {}
        for candidate, edits in self._edits(word).items():
            cost = EDIT_COST * edits / len(word)
            scores[candidate] = math.log(self._frequency(candidate)) - cost
        best, *others = sorted(scores, key=lambda other: -scores[other])[:2] or [""]
        if not best or scores[best] < LEAST_LIKELY:
            return ""
        is_clear = all(scores[best] - scores[other] >= CLEAR for other in others)
        return best if is_clear else ""

    def _edits(self, word: str) -> dict[str, float]:
        """Return every close candidate with its edit cost."""
        most = max(1, int(MOST_EDITED * len(word)))
        rows = process.extract(
            word,
            self._candidates,
            scorer=OSA.distance,
            score_cutoff=most,
            limit=None,
        )
        edits = {str(row[0]): _slips(word, str(row[0]), row[1]) for row in rows}
        for other in (word.replace("f", "ph"), word.replace("ph", "f")):
            if other != word and self._frequency(other):
                edits[other] = SLIP
        edits.update(dict.fromkeys(self._splits(word), 1.0))
        return edits

    def _splits(self, word: str) -> Iterator[str]:
        """Return two words of the documents that were written as one."""
        for place in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1):
            parts = word[:place], word[place:]
            if all(self.counts.get(part, 0) >= LEAST_OF_PART for part in parts):
                yield " ".join(parts)

    def _frequency(self, words: str) -> float:
        """Return the share of a word in documents and in English; of two words, that of the
        rarer."""
        return min(map(self._frequency_of, words.split()))

    def _frequency_of(self, word: str) -> float:
        own = self.counts.get(word, 0) / self._total
        english = self._english.get(word, 0) / self._english_total
        return OWN_SHARE * own + (1 - OWN_SHARE) * english


def correct_spelling(text: str, words: Sequence[str], vocabulary: Vocabulary) -> Corrected:
    """Correct the unknown words that are clearly mistyped."""
    corrections: list[Correction] = []
    for word in words:
        correction = vocabulary.correct(word.lower())
        if correction:
            corrections.append(Correction(typed=word, meant=as_cased(correction, word)))
    return Corrected(_apply(text, corrections), tuple(corrections))


def unknown_words(text: str, language: str, vocabulary: Vocabulary) -> list[str]:
    """Return the words of a message that neither documents nor general lists have, as typed. Names
    and abbreviations are left out."""
    words = list(surface_words(text))
    has_capital_names = language != "de" and any(map(str.islower, words[1:]))
    unknown: dict[str, None] = {}
    for place, word in enumerate(words):
        may_be_name = has_capital_names and place > 0 and word[0].isupper()
        if may_be_name or not _is_plain(word):
            continue
        if not vocabulary.holds(word.lower(), language):
            unknown[word] = None
    return list(unknown) if len(unknown) <= MOST_UNKNOWN else []


def surface_words(text: str) -> Iterator[str]:
    """Return the words of a text that are not joined to digits or symbols."""
    for run in RUN.findall(text):
        if not GLUE.search(run.rstrip(".:")):
            yield from WORD.findall(run)


def _is_plain(word: str) -> bool:
    fits = SHORTEST <= len(word) <= LONGEST
    return fits and word.isalpha() and (word.islower() or word.istitle())


def _slips(typed: str, correction: str, distance: float) -> float:
    if sorted(typed) == sorted(correction) or undoubled(typed) == undoubled(correction):
        return SLIP * distance
    return distance


def undoubled(word: str) -> str:
    return "".join(letter for letter, _ in groupby(word))


def as_cased(correction: str, typed: str) -> str:
    return correction[0].upper() + correction[1:] if typed[0].isupper() else correction


def _apply(text: str, corrections: Sequence[Correction]) -> str:
    for correction in corrections:
        typed = rf"(?<![\w@/#]){re.escape(correction.typed)}(?![\w@/#])"
        text = re.sub(typed, correction.meant, text)
    return text


@cache
def english_counts() -> Mapping[str, int]:
    """Return how often English words occur in books, most frequent first (SymSpell's list)."""
    path = files("symspellpy") / "frequency_dictionary_en_82_765.txt"
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    rows = (line.split() for line in lines)
    counts = {word: int(count) for word, count in rows}
    return dict(sorted(counts.items(), key=lambda row: -row[1]))


@cache
def english_ranks() -> Mapping[str, int]:
    """Return English words with their rank by frequency, from 1."""
    return {word: rank for rank, word in enumerate(english_counts(), start=1)}


@cache
def bare_contractions() -> frozenset[str]:
    """Return contractions typed without apostrophe: dont, whos."""
    return frozenset(word.replace("'", "") for word in english_counts() if "'" in word)
