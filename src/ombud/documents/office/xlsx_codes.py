"""Tokenise Excel's number formats: "0.00;(0.00)" has two sections, the first of which has the
tokens "0", ".", "0" and "0"."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

SHOWS_NOTHING = ";;;"
"""The format that hides every value."""
LONGEST = 500
"""Characters of a code that are read."""
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_.|\*.'
    r"|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[(?P<bracket>[^\]]*)\]"
    r"|(?P<code>General|AM/PM|A/P|[yY]+|[mM]+|[dD]+|[hH]+|[sS]+|[Ee][+-]|[0#?]|[.,%/@])"
    r"|(?P<literal>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)(-?[0-9.]+)")
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}


class FormatToken(NamedTuple):
    kind: Literal["code", "elapsed", "literal"]
    """elapsed: hours, minutes or seconds in brackets, which count beyond a day."""
    text: str

    @property
    def is_place(self) -> bool:
        """Tell whether it stands for a digit: 0 always, # if needed, ? or a blank."""
        return self.kind == "code" and self.text in "0#?"


class Condition(NamedTuple):
    """The condition for the values of a section."""

    sign: str
    limit: float

    def holds(self, value: float) -> bool:
        return _COMPARISONS[self.sign](value, self.limit)


@dataclass
class FormatSection:
    tokens: list[FormatToken] = field(default_factory=list)
    condition: Condition | None = None

    def add(self, match: re.Match[str]) -> None:
        """Add a match of `_TOKEN`."""
        bracket = match["bracket"]
        if match["code"]:
            self.tokens.append(FormatToken("code", match["code"]))
        elif bracket is None:
            self.tokens.append(FormatToken("literal", literal_text(match)))
        elif condition := _CONDITION.fullmatch(bracket):
            self.condition = Condition(condition[1], float(condition[2]))
        elif _ELAPSED.fullmatch(bracket):
            self.tokens.append(FormatToken("elapsed", bracket.lower()))


def literal_text(match: re.Match[str]) -> str:
    for name in ("quoted", "escaped", "currency", "literal"):
        if match[name]:
            return match[name]
    # "_)" leaves as much room as a bracket takes; "*-" would fill the cell.
    return " " if match[0].startswith("_") else ""


@lru_cache(maxsize=1024)
def split_sections(code: str) -> list[FormatSection]:
    """Split a format into sections for positive numbers, negative ones and zero; a fourth would be
    for text."""
    sections = [FormatSection()]
    for match in _TOKEN.finditer(code[:LONGEST]):
        if match["literal"] == ";":
            sections.append(FormatSection())
        else:
            sections[-1].add(match)
    return sections[:3]


def section_for(code: str, value: float) -> tuple[list[FormatToken], float]:
    """Return the tokens of the section for a value, and the value, without its sign if the section
    has one."""
    sections = split_sections(code)
    for section in sections:
        if section.condition and section.condition.holds(value):
            return section.tokens, value
    if any(section.condition for section in sections):
        return sections[-1].tokens, value
    if value < 0 and len(sections) > 1:
        return sections[1].tokens, -value
    if value == 0 and len(sections) > 2:
        return sections[2].tokens, value
    return sections[0].tokens, value
