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
    "|payroll|larkmere|also|must|may|can|is|are|has|have|pay"
)
CUT = re.compile(
    r";|(?<=\w):(?=\s)|\s[–—]\s"
    r"|,? but (?=\w)"
    rf"|, (?:and|so|then|otherwise) (?=(?:{_SUBJECTS})\b)"
)
"""Where one assertion ends and the next begins."""
LABEL = re.compile(r"[\w-]+(?: [\w-]+)?")
"""Before a colon it says of whom or what the assertion behind it is: "Managers: pass it on"."""
CLOSE = 0.8
"""An assertion whose score is this share of the best one's may be meant as well."""
SURE = 0.5
"""Share of the weight of a claim's assertion that is found in another, from which that is what it
restates."""
NUMBER = 1.5
"""What a shared number counts; a rare word counts 1."""
ABOVE = 0.35
"""What a word shared with the lead-in, the table's head or the headings counts."""


class Assertion(NamedTuple):
    """One of those that a sentence, list item or table row makes."""

    text: str
    """Small letters."""
    terms: frozenset[str]
    """Canonical, without numbers."""
    numbers: frozenset[str]
    sentence: Sentence

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


@lru_cache(maxsize=8192)
def split_assertions(sentence: Sentence, language: str) -> tuple[Assertion, ...]:
    assertions: list[Assertion] = []
    for part in _parts(sentence):
        terms = canonical_terms(content_terms(part, language))
        numbers = read_figures(part, language).numbers
        if terms or numbers:
            assertions.append(Assertion(part, terms, numbers, sentence))
    return tuple(assertions)


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
            is_head = sentence.row and sentence.text in above
            if not is_head:
                self.assertions += split_assertions(sentence, language)
        self._frequency: Counter[str] = Counter()
        for assertion in self.assertions:
            self._frequency.update(assertion.terms)
        self._closest: dict[Assertion, list[AlignedAssertion]] = {}

    def weight(self, term: str) -> float:
        """1 for a word of one assertion, less for those of many."""
        return 1 / sqrt(max(1, self._frequency[term]))

    def has(self, term: str) -> bool:
        """Whether any assertion of the passages has it."""
        return self._frequency[term] > 0

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
            if score:
                yield AlignedAssertion(assertion, score, score / wanted)

    def text_behind(self, aligned: AlignedAssertion) -> str:
        """Of its sentence and what follows at once, in small letters: "May I? No." """
        place = self.assertions.index(aligned.assertion)
        following = self.assertions[place + 1 : place + 2]
        texts = [aligned.assertion.whole_text, *(other.text for other in following)]
        return " ".join(texts)

    def texts_around(self, aligned: Sequence[AlignedAssertion]) -> Iterator[str]:
        """Of their sentences and those beside them, with what stands above, in small letters."""
        for one in aligned:
            place = self.assertions.index(one.assertion)
            for other in self.assertions[max(0, place - 1) : place + 2]:
                yield f"{other.sentence.above} {other.sentence.text}".lower()


def _descending_score(aligned: AlignedAssertion) -> float:
    return -aligned.score
