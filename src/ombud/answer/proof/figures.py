"""Whether the figures of a claim stand in what it cites, or follow from a sum it writes out."""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from ombud.text import join_groups, numbers_in, plain_decimal, split_words

TOKEN = re.compile(
    r"(?P<number>\d+(?:[.,]\d+)*)|(?P<word>[^\W\d_][\w'’-]*)|(?P<operator>[×*+÷/−–()-])"
    r"|(?P<percent>%)|(?P<equals>=)|(?P<end>[;:?!,.])"
)
OPERATORS = {"×": "*", "x": "*", "times": "*", "÷": "/", "−": "-", "–": "-"}
OPERATIONS = frozenset("+-*/")
LONGEST_SUM = 60
"""Tokens of a sum; a longer one is no calculation for people."""
MOST_DIGITS = 15
CALCULATE: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
ROUNDING = 0.006
"""How far a written result may be from the exact one: 33.33 for 100 / 3."""
IN_WORDS: Mapping[str, Sequence[str]] = {
    "half": ("0.5", "50"),
    "quarter": ("0.25", "25"),
    "third": ("33", "33.3"),
    "twice": ("2", "200"),
    "double": ("2", "200"),
    "fortnight": ("2", "14"),
    "dozen": ("12",),
}
"""Words of a passage -> figures in which a claim may say the same."""


class FigureCheck(NamedTuple):
    missing: tuple[str, ...]
    """Figures of the claim that are nowhere, as plain decimals."""
    wrong_sums: tuple[str, ...]
    """Sums of the claim that are not right, as written."""
    is_derived: bool
    """A sum that is right leads from figures of the passages or the asker to another one."""


class _Sum(NamedTuple):
    written: str
    operands: frozenset[str]
    result: str
    is_right: bool


def figures_of(text: str, language: str) -> frozenset[str]:
    """Return the figures that a passage or a question gives, as plain decimals."""
    figures = set(numbers_in(text, language))
    for word in set(split_words(text.lower())) & IN_WORDS.keys():
        figures.update(IN_WORDS[word])
    return frozenset(figures)


def check_figures(claim: str, supported: Set[str], language: str) -> FigureCheck:
    """Compare the figures of a claim with those that are held by its passages or the question."""
    usable = set(supported)
    wrong: list[str] = []
    is_derived = False
    for written_sum in find_sums(claim, language):
        if not written_sum.is_right:
            wrong.append(written_sum.written)
        elif written_sum.operands <= usable:
            is_derived = is_derived or written_sum.result not in usable
            usable.add(written_sum.result)
    missing = sorted(numbers_in(claim, language) - usable)
    return FigureCheck(tuple(missing), tuple(wrong), is_derived)


class _SumReader:
    """Reads the sums of a claim token by token; units between the numbers are skipped."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._expression: list[str] = []
        self._written: list[str] = []
        self._is_result = False

    def read(self, kind: str, token: str) -> _Sum | None:
        """Take the next token and return the sum that it completes, if it does."""
        if kind == "number":
            return self.read_number(token)
        if kind == "operator" or token in OPERATORS:
            self._add(OPERATORS.get(token, token), token)
        elif kind == "percent":
            self._add("/ 100", token)
        elif kind == "equals":
            self._is_result = True
        elif kind == "end":
            self._begin()
        return None

    def read_number(self, token: str) -> _Sum | None:
        number = plain_decimal(token, self._language)
        written_sum: _Sum | None = None
        if self._is_result:
            exact = sum_value(self._expression)
            if exact is not None:
                written = " ".join([*self._written, "=", token])
                written_sum = _sum(written, self._expression, number, exact)
            self._begin()
        elif self._expression and _is_number(self._expression[-1]):
            self._begin()
        self._add(number, token)
        return written_sum

    def _add(self, part: str, written: str) -> None:
        self._expression.append(part)
        self._written.append(written)

    def _begin(self) -> None:
        self._expression = []
        self._written = []
        self._is_result = False


def find_sums(claim: str, language: str) -> Iterator[_Sum]:
    """Yield each `expression = number` in reading order."""
    reader = _SumReader(language)
    for match in TOKEN.finditer(join_groups(claim)):
        written_sum = reader.read(match.lastgroup or "", match[0])
        if written_sum:
            yield written_sum


def _sum(written: str, expression: Sequence[str], result: str, exact: float) -> _Sum:
    claimed = float(result)
    is_right = abs(claimed - exact) <= max(ROUNDING, ROUNDING * abs(exact))
    return _Sum(written, frozenset(filter(_is_number, expression)), result, is_right)


def _is_number(token: str) -> bool:
    return token[0].isdigit()


def sum_value(expression: Sequence[str]) -> float | None:
    """Return the value of a sum; None where it is none."""
    has_operator = not OPERATIONS.isdisjoint(" ".join(expression))
    is_long = len(expression) > LONGEST_SUM or any(len(t) > MOST_DIGITS for t in expression)
    if not has_operator or is_long:
        return None
    try:
        tree = ast.parse(" ".join(expression).strip("+*/ "), mode="eval")
        return evaluate(tree.body)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def evaluate(node: ast.expr) -> float:
    """Evaluate a sum. Raises ValueError for anything but numbers and the four operations."""
    if isinstance(node, ast.BinOp) and type(node.op) in CALCULATE:
        calculate = CALCULATE[type(node.op)]
        return calculate(evaluate(node.left), evaluate(node.right))
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    raise ValueError("not a sum")
