"""A rule applied to the asker's own figures: the arithmetic is checked, not believed."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

from ombud.answer.proof.aligning import Alignment, split_assertions
from ombud.text import Sentence, read_figures

NEARLY = 0.006
"""Amounts are rounded to cents."""
MOST_OPERANDS = 24


class Derivation:
    """What may be said beside the figures of the passages: those of the question, and what follows
    from both by one sum, difference, product or quotient.

    found: whether anything was needed of it.
    """

    def __init__(
        self, claim: Sequence[Sentence], question: str, alignment: Alignment, language: str
    ) -> None:
        self.found = False
        self._asked = read_figures(question, language).numbers
        stated: set[str] = set()
        shown: set[str] = set()
        for sentence in claim:
            shown |= read_figures(sentence.text, language).numbers
            for assertion in split_assertions(sentence, language):
                for one in alignment.closest(assertion):
                    stated |= one.assertion.numbers
        self._stated = stated
        self._shown = shown
        self._held = {number for assertion in alignment.assertions for number in assertion.numbers}

    def allows(self, number: str) -> bool:
        """Whether a number that no passage has is the asker's own, beside one of the rule, or
        follows."""
        own = number in self._asked and self._applies_rule()
        if own or self._follows(number):
            self.found = True
            return True
        return False

    def _applies_rule(self) -> bool:
        """Whether the claim shows a figure of the rule, or one that follows from it."""
        if self._shown & self._held:
            return True
        return any(map(self._follows, self._shown - self._asked))

    def _follows(self, number: str) -> bool:
        wanted = _value(number)
        if wanted is None:
            return False
        return any(abs(result - wanted) < NEARLY for result in self._results(number))

    def _results(self, number: str) -> Iterator[float]:
        """Of the rule with the asker's figures, and of figures that the claim itself shows."""
        rule = list(_values(self._stated))
        for own in _values(self._asked):
            for other in rule:
                yield from _combined(own, other)
        working = _values((self._shown & (self._held | self._asked)) - {number})
        for first, second in permutations(working, 2):
            yield from _combined(first, second)


def _combined(first: float, second: float) -> Iterator[float]:
    yield first + second
    yield first - second
    yield second - first
    yield first * second
    yield first * second / 100
    if second:
        yield first / second
    if first:
        yield second / first


def _values(numbers: Iterable[str]) -> list[float]:
    values = (_value(number) for number in sorted(numbers)[:MOST_OPERANDS])
    return [value for value in values if value is not None]


def _value(number: str) -> float | None:
    try:
        return float(number)
    except ValueError:
        return None
