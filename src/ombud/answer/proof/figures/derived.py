"""A rule applied to the asker's own figures: the arithmetic is checked, not believed."""

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import combinations, permutations
from typing import NamedTuple

from ombud.answer.proof.aligning import Alignment, split_assertions
from ombud.text import Quantity, Sentence, read_figures, read_sentence

NEARLY = 0.006
"""Amounts are rounded to cents."""
MOST_OPERANDS = 24
FIGURE = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
TIMES = frozenset("x×*")
DIVIDED = frozenset("/÷")
MINUS = frozenset("-−–")
OPERATOR = re.compile(r"(?<=\s)[x×*/÷+−–-](?=\s)")
SUM = re.compile(
    r"(?P<left>\d[^=.;:!?]*?(?:\.\d[^=.;:!?]*?)*\s[x×*/÷+−–-]\s[^=;!?]*?)\s=\s\D{0,6}"
    r"(?P<right>\d+(?:,\d{3})*(?:\.\d+)?)"
)
"""A calculation that is written out."""
_OPERAND = rf"(?:(?:[A-Z]{{3}} |[€£$])?{FIGURE.pattern}(?: ?%|(?: [A-Za-z'’]+){{0,3}}?)?)"
SHORT_SUM = re.compile(
    rf"(?P<left>{_OPERAND}(?:\s[x×*/÷+−–-]\s{_OPERAND})+)\s=\s\D{{0,6}}"
    rf"(?P<right>{FIGURE.pattern})"
)
"""The same whose figures have at most three words behind them: others may stand before it."""
UNIT_SIZES: dict[str, set[float]] = {
    "week": {7.0, 52.0},
    "year": {12.0, 52.0, 365.0},
    "month": {12.0},
    "day": {7.0, 24.0},
    "hour": {60.0},
}
"""What units of time that a sum names are counted in, or hold."""
MARKS = re.compile(r"[*_]")
HALF = re.compile(r"\bhalf (?:of )?(?:the )?(?=\D{0,4}\d)", re.IGNORECASE)
HALVES = re.compile(r"\b(?:half|halves|halved|twice|double|50 ?%)", re.IGNORECASE)
WHOLE = 100
"""Percent."""
DAYS_OF_MONTH = 365.25 / 12
MONTHS_OF = {"month": 1, "year": 12}
ANY_YEAR = 2001
"""Of a date without one: no leap year."""


class Derivation:
    """What may be said beside the figures of the passages: those of the question, and what follows
    from both by one sum, difference, product or quotient.

    found: whether anything was needed of it.
    """

    def __init__(
        self, claim: Sequence[Sentence], question: str, alignment: Alignment, language: str
    ) -> None:
        self.found = False
        asked = read_figures(question, language)
        self.asked = asked.quantities
        """Quantities of the question."""
        self._asked = asked.numbers
        self._durations: list[Quantity] = []
        stated: set[str] = set()
        shown: set[str] = set()
        for sentence in claim:
            figures = read_figures(sentence.text, language)
            shown |= figures.numbers
            self._durations += filter(_lasts, figures.quantities)
            for assertion in split_assertions(sentence, language):
                for one in alignment.closest(assertion):
                    stated |= one.assertion.numbers
        self._stated = stated
        self._shown = shown
        self._claim = claim
        self._written = _right_sums(claim, question, alignment)
        self._sums = [sum_.total for sum_ in self._written]
        self._held = {number for assertion in alignment.assertions for number in assertion.numbers}

    def without_sums(self, language: str) -> list[Sentence]:
        """The claim without the sums that are right: their figures are known, and what stands
        beside them there tells nothing of what they stand for."""
        if not self._written:
            return list(self._claim)
        self.found = True
        sentences: list[Sentence] = []
        for sentence in self._claim:
            text = _spelt(sentence.text)
            for sum_ in self._written:
                text = text.replace(sum_.text, " ")
            sentences.append(read_sentence(text, "", language))
        return sentences

    def allows(self, number: str) -> bool:
        """Whether a number that no passage has is the asker's own, beside one of the rule, or
        follows."""
        own = number in self._asked and self._applies_rule()
        if own or self._follows(number):
            self.found = True
            return True
        return False

    def allows_own(self) -> bool:
        """Whether a quantity of the question may be said again: beside a figure of the rule."""
        self.found = self.found or self._applies_rule()
        return self._applies_rule()

    def allows_date(self, day: Quantity) -> bool:
        """Whether a day follows from one of the question by a duration that the claim shows."""
        for start in self.asked:
            if start.kind != "date":
                continue
            for duration in self._durations:
                if _is_moved_to(day, start, duration):
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
        if any(abs(total - wanted) < NEARLY for total in self._sums):
            return True
        return any(abs(result - wanted) < NEARLY for result in self._results(number))

    def _results(self, number: str) -> Iterator[float]:
        """Of the rule with the asker's figures, and of figures that the claim itself shows."""
        rule = list(_values(self._stated))
        for own in _values(self._asked):
            for other in rule:
                yield from _combined(own, other)
        working = _values((self._shown & (self._held | self._asked)) - {number})
        for first, second in permutations([*working, *self._sums], 2):
            yield from _combined(first, second)
        for first, second, third in combinations(self._sums, 3):
            yield first + second + third


class WrittenSum(NamedTuple):
    """A calculation that a claim writes out, and that is right."""

    text: str
    operands: list[float]
    total: float


def _right_sums(claim: Sequence[Sentence], question: str, alignment: Alignment) -> list[WrittenSum]:
    """The sums that a claim writes out, such as "4 x 16 x 1.5 = 96", in their order, where each
    figure is of the question or the passages, or follows from them."""
    sums = list(_written_sums(claim))
    if not sums:
        return []
    told = question + "\n" + "\n".join(one.whole_text for one in alignment.assertions)
    known = _figures_in(told)
    asked = _figures_in(question)
    percentages = [figure for figure in known if figure <= WHOLE]
    if HALVES.search(told):
        known |= {2.0, 0.5}
    right: list[WrittenSum] = []
    for sum_ in sums:
        if _is_known(sum_, known, asked):
            right.append(sum_)
            known.add(round(sum_.total, 2))
            known.update(round(sum_.total * (1 + part / WHOLE), 2) for part in percentages)
    return right


def _figures_in(text: str) -> set[float]:
    return set(map(_plain_value, FIGURE.findall(text)))


def _is_known(sum_: WrittenSum, known: set[float], asked: set[float]) -> bool:
    """Whether each figure is known, or is what the asker's one has beyond a known one of the same
    sum: of 46 hours 6, where 40 are the limit."""
    operands = set(sum_.operands)
    beyond = {abs(own - other) for own in asked for other in operands & known}
    return operands <= known | beyond | _unit_sizes(sum_.text)


def _unit_sizes(text: str) -> set[float]:
    return {size for unit, sizes in UNIT_SIZES.items() if unit in text.lower() for size in sizes}


def _written_sums(claim: Sequence[Sentence]) -> Iterator[WrittenSum]:
    """Those that are right, in their order."""
    for sentence in claim:
        text = _spelt(sentence.text)
        end = 0
        while found := _next_sum(text, end):
            yield found[0]
            end = found[1]


def _next_sum(text: str, start: int) -> tuple[WrittenSum, int] | None:
    """The first one that is right and where it ends."""
    for pattern in (SHORT_SUM, SUM):
        for match in pattern.finditer(text, start):
            operands = list(map(_plain_value, FIGURE.findall(match["left"])))
            total = _calculated(operands, OPERATOR.findall(match["left"]))
            if abs(total - _plain_value(match["right"])) < NEARLY:
                return WrittenSum(match[0], operands, total), match.end()
    return None


def _spelt(text: str) -> str:
    return HALF.sub("0.5 x ", MARKS.sub("", text))


def _lasts(quantity: Quantity) -> bool:
    return quantity.kind == "days" and bool(quantity.unit)


def _is_moved_to(day: Quantity, start: Quantity, duration: Quantity) -> bool:
    """In the right year, too, where both days name one. A day beyond the calendar is none."""
    try:
        moved = list(_moved(start, duration))
    except (ValueError, OverflowError):
        return False
    if day.year and start.year:
        moved = [one for one in moved if one.year == day.year]
    return any(_is_on(day, one) for one in moved)


def _moved(start: Quantity, duration: Quantity) -> Iterator[date]:
    """The days so long behind a day and before it, and the last days of such times."""
    month, day = divmod(int(start.value), 100)
    first = date(start.year or ANY_YEAR, month, min(day, monthrange(ANY_YEAR, month)[1]))
    for sign in (1, -1):
        if duration.unit in MONTHS_OF:
            moved = _months_on(first, sign * _months_of(duration))
        else:
            moved = first + timedelta(days=sign * duration.value)
        yield moved
        yield moved - timedelta(days=1)


def _months_of(duration: Quantity) -> int:
    return round(duration.value / DAYS_OF_MONTH)


def _months_on(day: date, months: int) -> date:
    years, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(years, month + 1, min(day.day, monthrange(years, month + 1)[1]))


def _is_on(stated: Quantity, day: date) -> bool:
    return stated.value == 100 * day.month + day.day


def _calculated(operands: Sequence[float], operators: Sequence[str]) -> float:
    """From left to right, products before sums."""
    terms = [operands[0]]
    for operator, operand in zip(operators, operands[1:], strict=False):
        if operator in TIMES:
            terms[-1] *= operand
        elif operator in DIVIDED and operand:
            terms[-1] /= operand
        else:
            terms.append(-operand if operator in MINUS else operand)
    return sum(terms)


def _plain_value(figure: str) -> float:
    return float(figure.replace(",", "").rstrip("."))


def _combined(first: float, second: float) -> Iterator[float]:
    yield first + second
    yield first - second
    yield second - first
    yield first * second
    yield first * second / WHOLE
    yield first * (1 + second / WHOLE)
    yield first * (1 - second / WHOLE)
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
