"""Correction of mistyped words with the words of documents and the common English ones.

A correction is made only where one word is clearly the likeliest; doubtful words stay."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
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
        """Whether documents or general lists have a word in lower case. Other languages than
        English have no list of all words here, so there an inflected form counts by its stem."""
        if word in self.counts or word in english_counts() or word in _bare_contractions():
            return True
        if language == "en":
            return False
        return word in common_words(language) or self._has_stem(word, language)

    def _has_stem(self, word: str, language: str) -> bool:
        if language not in self._stems:
            self._stems[language] = frozenset(analyse(" ".join(self.counts), language))
        return self._stems[language].issuperset(analyse(word, language))

    def correct(self, word: str) -> str:
        """The word that was clearly meant by an unknown one in lower case; empty if none was."""
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
        """Every candidate close to the word, with what it takes to get there."""
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
        """Two words of the documents that were written as one."""
        for place in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1):
            parts = word[:place], word[place:]
            if all(self.counts.get(part, 0) >= LEAST_OF_PART for part in parts):
                yield " ".join(parts)

    def _frequency(self, words: str) -> float:
        """Share of a word in documents and in English; of two, that of the rarer."""
        return min(map(self._frequency_of, words.split()))

    def _frequency_of(self, word: str) -> float:
        own = self.counts.get(word, 0) / self._total
        english = self._english.get(word, 0) / self._english_total
        return OWN_SHARE * own + (1 - OWN_SHARE) * english


def correct_spelling(text: str, words: Sequence[str], vocabulary: Vocabulary) -> Corrected:
    """The text with those of its unknown words corrected that are clearly mistyped."""
    corrections: list[Correction] = []
    for word in words:
        meant = vocabulary.correct(word.lower())
        if meant:
            corrections.append(Correction(typed=word, meant=_as_cased(meant, word)))
    return Corrected(_apply(text, corrections), tuple(corrections))


def unknown_words(text: str, language: str, vocabulary: Vocabulary) -> list[str]:
    """Words of a message, as they stand there, that neither documents nor general lists have and
    that may therefore be mistyped. Names and abbreviations are left out."""
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
    """Words of a text, without what is glued to figures or marks."""
    for run in RUN.findall(text):
        if not GLUE.search(run.rstrip(".:")):
            yield from WORD.findall(run)


def _is_plain(word: str) -> bool:
    fits = SHORTEST <= len(word) <= LONGEST
    return fits and word.isalpha() and (word.islower() or word.istitle())


def _slips(typed: str, meant: str, distance: float) -> float:
    if sorted(typed) == sorted(meant) or _undoubled(typed) == _undoubled(meant):
        return SLIP * distance
    return distance


def _undoubled(word: str) -> str:
    return re.sub(r"(.)\1+", r"\1", word)


def _as_cased(meant: str, typed: str) -> str:
    return meant[0].upper() + meant[1:] if typed[0].isupper() else meant


def _apply(text: str, corrections: Sequence[Correction]) -> str:
    for correction in corrections:
        typed = rf"(?<![\w@/#]){re.escape(correction.typed)}(?![\w@/#])"
        text = re.sub(typed, correction.meant, text)
    return text


@cache
def english_counts() -> Mapping[str, int]:
    """English word -> how often it stands in books, the most frequent first (SymSpell's list)."""
    path = files("symspellpy") / "frequency_dictionary_en_82_765.txt"
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    rows = (line.split() for line in lines)
    counts = {word: int(count) for word, count in rows}
    return dict(sorted(counts.items(), key=lambda row: -row[1]))


@cache
def english_ranks() -> Mapping[str, int]:
    """English word -> its place by frequency, from 1."""
    return {word: rank for rank, word in enumerate(english_counts(), start=1)}


@cache
def _bare_contractions() -> frozenset[str]:
    """Contractions as they are typed without their mark: dont, whos."""
    return frozenset(word.replace("'", "") for word in english_counts() if "'" in word)
