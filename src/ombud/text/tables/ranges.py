"""Ranges of numbers that a label names, such as "5-10 years", "over 50" or "G5 to G7"."""

import re
from math import inf
from typing import NamedTuple

from ombud.text.numbers import NUMBER_WORDS, plain_decimal, spell_out

_NUMBER = r"(?<![\d.,])\d++(?:[.,]\d++)*+"
"""Possessive, for a label may be a digit a thousand times over."""
_BETWEEN = re.compile(
    rf"(?P<series>\b[a-z]{{1,3}})??(?P<low>{_NUMBER})\s*(?:to|-|–|—|and|up to)\s*"
    rf"(?:under\s+|less than\s+)?(?:(?P=series))?(?P<high>{_NUMBER})"
)
_BELOW = re.compile(
    rf"(?:less than|under|below|(?P<to>up to|until|at most|maximum|<=)|<|first)\s*(?P<n>{_NUMBER})"
)
_ABOVE = re.compile(
    rf"(?:(?P<over>more than|over|above|>(?!=))|from|at least|after|>=)\s*(?:year\s*)?"
    rf"(?P<n>{_NUMBER})"
    rf"|(?P<m>{_NUMBER})\s*(?:[a-z]++\s++)?(?:or more|and more|and over|and above|or over|plus|\+)"
)
_EXACT = re.compile(rf"(?<![\w.,])(?P<series>[a-z]{{1,3}})?(?P<n>{_NUMBER})(?![\w.,])")
_WORD = re.compile(r"[a-z]+")
_CURRENCY = re.compile(r"[€£$]|\b(?:eur|gbp|usd)\b\s*")
"""Stands between "above" and its figure."""


class NumberRange(NamedTuple):
    low: float = -inf
    high: float = inf
    without_low: bool = False
    without_high: bool = False
    series: str = ""
    """Letters in front of the numbers: "g" of "G5 to G7"."""

    def holds(self, value: float) -> bool:
        above = value > self.low if self.without_low else value >= self.low
        below = value < self.high if self.without_high else value <= self.high
        return above and below

    def narrowness(self, value: float) -> tuple[bool, float, float]:
        """Less for narrower ranges; of two that meet at the value, for the one that begins
        there."""
        return self.high == value, self.high - self.low, -self.low

    @property
    def is_open(self) -> bool:
        """Whether it has one end only."""
        return inf in (-self.low, self.high)

    @property
    def is_exact(self) -> bool:
        return self.low == self.high


def read_range(label: str, language: str = "en") -> NumberRange | None:
    """Return the range that a label names, or its only number; None where it names neither."""
    plain = _CURRENCY.sub("", _WORD.sub(_in_digits, spell_out(label)))

    def number(written: str) -> float:
        decimal = plain_decimal(written, language)
        return float(decimal) if decimal.count(".") < 2 else inf

    between = _BETWEEN.search(plain)
    if between:
        return NumberRange(
            low=number(between["low"]),
            high=number(between["high"]),
            series=between["series"] or "",
        )
    above = _ABOVE.search(plain)
    if above:
        return NumberRange(low=number(above["n"] or above["m"]), without_low=bool(above["over"]))
    below = _BELOW.search(plain)
    if below:
        return NumberRange(high=number(below["n"]), without_high=not below["to"])
    exact = _EXACT.search(plain)
    if exact is None:
        return None
    value = number(exact["n"])
    return NumberRange(low=value, high=value, series=exact["series"] or "")


def _in_digits(word: re.Match[str]) -> str:
    return NUMBER_WORDS.get(word[0], word[0])
