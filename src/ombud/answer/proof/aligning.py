"""Which assertion of the passages an assertion of a claim restates."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

from ombud.text import Sentence, canonical_terms, content_terms, read_figures

_SUBJECTS = (
    "you|it|they|the|your|there|he|she|we|this|that|these|no|nobody|anyone|managers?|employees?|hr"
    "|payroll|also|must|may|can|is|are|has|have|pay"
)
CUT = re.compile(
    r";|(?<=\w):(?=\s)|\s[–—]\s"
    r"|,? but (?=\w)"
    rf"|, (?:and|so|then|otherwise) (?=(?:{_SUBJECTS})\b)"
)
"""Where one assertion ends and the next begins."""
LABEL = re.compile(r"[\w-]+(?: [\w-]+){0,3}")
"""Before a colon it says of whom or what the assertion behind it is: "Managers: pass it on"."""
CLOSE = 0.8
"""An assertion whose score is this share of the best one's may be meant as well."""
SURE = 0.5
"""Share of the weight of a claim's assertion that is found in another, from which that is what it
restates."""
BESIDE = 4
"""Assertions before and behind one that may name who is meant."""
REPEATED = 0.65
"""Share from which an assertion is hardly said in other words."""
NUMBER = 1.5
"""What a shared number counts; a rare word counts 1."""
ROW = 1.0
"""What it counts that a claim names all of a row's first cell."""
ABOVE = 0.35
"""What a word shared with the lead-in, the table's head or the headings counts."""


ELSEWHERE = "something else in the cited text"
"""What an objection ends with that only knows where a word or figure stands."""


class Assertion(NamedTuple):
    """One of those that a sentence, list item or table row makes."""

    text: str
    """Small letters."""
    terms: frozenset[str]
    """Canonical, without numbers."""
    numbers: frozenset[str]
    sentence: Sentence

    @property
    def label(self) -> frozenset[str]:
        """Canonical terms of the first cell of a row; empty elsewhere."""
        return _label_terms(self.text) if self.sentence.row else frozenset()

    @property
    def whole_text(self) -> str:
        """Of its sentence, in small letters."""
        return self.sentence.text.lower()

    @property
    def lead(self) -> str:
        """The line that introduces its list or table, in small letters; may be empty."""
        above = self.sentence.above.lower()
        return above if above.endswith(":") else ""


class AlignedAssertion(NamedTuple):
    assertion: Assertion
    score: float
    share: float
    """Of the weight of the claim's assertion that is found there, 0 to 1."""

    @property
    def sure(self) -> bool:
        return self.share >= SURE

    @property
    def text_with_above(self) -> str:
        """In small letters, with its lead-in, table head or heading."""
        return f"{self.assertion.whole_text} {self.assertion.sentence.above.lower()}"


@lru_cache(maxsize=8192)
def split_assertions(sentence: Sentence, language: str) -> tuple[Assertion, ...]:
    assertions: list[Assertion] = []
    for part in _parts(sentence):
        terms = canonical_terms(content_terms(part, language))
        numbers = read_figures(part, language).numbers
        if terms or numbers:
            assertions.append(Assertion(part, terms, numbers, sentence))
    return tuple(assertions)


@lru_cache(maxsize=4096)
def _label_terms(row: str) -> frozenset[str]:
    return canonical_terms(content_terms(row.strip("| ").split("|")[0], "en"))


def _parts(sentence: Sentence) -> Iterator[str]:
    text = sentence.text.lower()
    if sentence.row:
        yield text
        return
    label = ""
    for part in map(str.strip, CUT.split(text)):
        if LABEL.fullmatch(part) and not label:
            label = part
            continue
        yield f"{label}: {part}" if label else part
        label = ""
    if label:
        yield label


class Alignment:
    """The assertions of the passages of a claim."""

    def __init__(self, sentences: Iterable[Sentence], language: str) -> None:
        self.assertions: list[Assertion] = []
        listed = list(sentences)
        above = "\n".join({sentence.above for sentence in listed if sentence.row})
        for sentence in listed:
            # A table of two columns may have its first fact in the head.
            is_head = sentence.row and sentence.text in above and not _says_figures(sentence)
            if not is_head:
                self.assertions += split_assertions(sentence, language)
        self._language = language
        frequency: Counter[str] = Counter()
        for assertion in self.assertions:
            frequency.update(assertion.terms)
        self._weights = {term: 1 / sqrt(count) for term, count in frequency.items()}
        self._closest: dict[Assertion, list[AlignedAssertion]] = {}

    def repeats(self, claim: Sentence) -> bool:
        """Whether a sentence of the claim says hardly anything in words of its own."""
        for assertion in split_assertions(claim, self._language):
            closest = self.closest(assertion)
            if not closest or closest[0].share < REPEATED:
                return False
        return True

    def weight(self, term: str) -> float:
        """1 for a word of one assertion, less for those of many."""
        return self._weights.get(term, 1.0)

    def has(self, term: str) -> bool:
        """Whether any assertion of the passages has it."""
        return term in self._weights

    def closest(self, claim: Assertion, share: float = CLOSE) -> list[AlignedAssertion]:
        """Those that share most with it, the best first, down to this share of the best one's
        score; empty where nothing is shared."""
        if claim not in self._closest:
            self._closest[claim] = sorted(self._scored(claim), key=_descending_score)
        ranked = self._closest[claim]
        return [other for other in ranked if other.score >= share * ranked[0].score]

    def _scored(self, claim: Assertion) -> Iterator[AlignedAssertion]:
        wanted = sum(map(self.weight, claim.terms)) + NUMBER * len(claim.numbers)
        for assertion in self.assertions:
            shared = claim.terms & assertion.terms
            above = (claim.terms & canonical_terms(assertion.sentence.terms_above)) - shared
            score = sum(map(self.weight, shared)) + ABOVE * sum(map(self.weight, above))
            score += NUMBER * len(claim.numbers & assertion.numbers)
            share = score / wanted if wanted else 0.0
            if assertion.label and assertion.label <= claim.terms:
                score += ROW
            if score:
                yield AlignedAssertion(assertion, score, share)

    def with_answer(self, aligned: AlignedAssertion) -> str:
        """Of a question that the passage answers with no, both."""
        text = aligned.assertion.text
        return f"not {text}" if aligned.assertion.whole_text.endswith("? no.") else text

    def texts_around(self, aligned: Sequence[AlignedAssertion]) -> Iterator[str]:
        """Of their sentences and those beside them, with what stands above, in small letters."""
        for one in aligned:
            place = self.assertions.index(one.assertion)
            for other in self.assertions[max(0, place - BESIDE) : place + BESIDE + 1]:
                yield f"{other.sentence.above} {other.sentence.text}".lower()


def _says_figures(sentence: Sentence) -> bool:
    return bool(read_figures(sentence.text).numbers)


def _descending_score(aligned: AlignedAssertion) -> float:
    return -aligned.score
