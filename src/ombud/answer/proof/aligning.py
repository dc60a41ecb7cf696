"""Which part of which sentence of the passages a part of a claim restates."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import sqrt
from typing import NamedTuple

from ombud.text import Sentence, content_terms, read_figures
from ombud.text.scope.synonyms import canonical_terms

CUT = re.compile(
    r";|(?<=\w):(?=\s)|\s[–—]\s"
    r"|,? but (?=\w)"
    r"|, (?:and|so|then|otherwise) (?=(?:you|it|they|the|your|there|he|she|we|this|that|these|no|nobody"
    r"|anyone|managers?|employees?|hr|payroll|larkmere|also|must|may|can|is|are|has|have|pay)\b)"
)
"""Where one statement ends and the next begins."""
CLOSE = 0.8
"""A part whose score is this share of the best one's may be meant as well."""
SURE = 0.5
"""Share of the weight of a claim's part that the passage's has, from which it restates it."""
NUMBER = 1.5
"""What a shared number counts; a rare word counts 1."""
ABOVE = 0.35
"""What a word shared with the lead-in, the table's head or the headings counts."""


class Segment(NamedTuple):
    """One statement of a sentence, list item or table row."""

    text: str
    """Small letters."""
    terms: frozenset[str]
    numbers: frozenset[str]
    sentence: Sentence


class AlignedSegment(NamedTuple):
    segment: Segment
    score: float
    share: float
    """Of the weight of the claim's part that is found there, 0 to 1."""

    @property
    def sure(self) -> bool:
        return self.share >= SURE


def split_segments(sentence: Sentence, language: str) -> tuple[Segment, ...]:
    text = sentence.text.lower()
    parts = [text] if sentence.row else CUT.split(text)
    segments: list[Segment] = []
    for part in parts:
        terms = canonical_terms(content_terms(part, language))
        numbers = read_figures(part, language).numbers
        if terms or numbers:
            segments.append(Segment(part.strip(), terms, numbers, sentence))
    return tuple(segments)


class Alignment:
    """The statements of the passages of a claim."""

    def __init__(self, sentences: Iterable[Sentence], language: str) -> None:
        segments: list[Segment] = []
        for sentence in sentences:
            segments += split_segments(sentence, language)
        self.segments = segments
        self._frequency: Counter[str] = Counter()
        for segment in segments:
            self._frequency.update(segment.terms)

    def weight(self, term: str) -> float:
        """1 for a word of one statement, less for those of many."""
        return 1 / sqrt(max(1, self._frequency[term]))

    def closest(self, claim: Segment) -> list[AlignedSegment]:
        """Those that share most with it, the best first; empty where nothing is shared."""
        wanted = sum(map(self.weight, claim.terms)) + NUMBER * len(claim.numbers)
        found: list[AlignedSegment] = []
        for segment in self.segments:
            shared = claim.terms & segment.terms
            above = (claim.terms & canonical_terms(segment.sentence.terms_above)) - shared
            score = sum(map(self.weight, shared)) + ABOVE * sum(map(self.weight, above))
            score += NUMBER * len(claim.numbers & segment.numbers)
            if score:
                found.append(AlignedSegment(segment, score, score / wanted))
        found.sort(key=_descending_score)
        return [other for other in found if other.score >= CLOSE * found[0].score]

    def has(self, term: str) -> bool:
        """Whether any statement of the passages has it."""
        return self._frequency[term] > 0

    def texts_behind(self, aligned: AlignedSegment) -> Iterator[str]:
        """Of its sentence and what follows at once: "May I? No." """
        place = self.segments.index(aligned.segment)
        yield aligned.segment.sentence.text.lower()
        for segment in self.segments[place + 1 : place + 2]:
            yield segment.text

    def texts_around(self, aligned: Sequence[AlignedSegment]) -> Iterator[str]:
        """Of their sentences and those beside them, with what stands above, in small letters."""
        for one in aligned:
            place = self.segments.index(one.segment)
            for segment in self.segments[max(0, place - 1) : place + 2]:
                yield f"{segment.sentence.above} {segment.sentence.text}".lower()


def _descending_score(aligned: AlignedSegment) -> float:
    return -aligned.score


def whole_texts(aligned: Sequence[AlignedSegment]) -> list[str]:
    """Of their sentences, with what stands above them, in small letters."""
    return [f"{one.segment.sentence.above} {one.segment.sentence.text}".lower() for one in aligned]
