"""A section for part-timers does not open the answer to somebody who says nothing of part time."""

import re
import tomllib
from collections.abc import Sequence, Set
from functools import cache
from pathlib import Path

from ombud.answer.quoting.spans import AnswerSpan, section_of, weighed
from ombud.text import plain_wording, remembered, term_pattern
from ombud.types import Question

SHARE = 0.1
"""Factor of the odds of a span whose section is for a group that nobody speaks of. On dev the gold
quote is shown as often with it and without: it decides what opens the answer."""


def favour_everyone(spans: Sequence[AnswerSpan], named: Set[int]) -> list[AnswerSpan]:
    """Spans with those of sections for other groups than the named ones less likely; likeliest
    first. named: `named_groups`."""
    return weighed(spans, SHARE, lambda span: is_for_others(span, named))


def named_groups(question: Question) -> set[int]:
    """Return groups that the question or the asker's contract names."""
    contract = question.asker.contract or ""
    return _groups_in(f"{question.text} . {contract}")


def is_for_others(span: AnswerSpan, named: Set[int]) -> bool:
    """Whether a span stands in a section for a group of people that is not named."""
    return bool(_groups_in(section_of(span)) - named)


@remembered(4096)
def _groups_in(text: str) -> set[int]:
    plain = plain_wording(text)
    return {number for number, group in enumerate(_groups()) if group.search(plain)}


def group_words(text: str) -> list[str]:
    """Return the words of a text that name a group of people, such as "part-timers"."""
    plain = plain_wording(text)
    patterns = (*_groups(), _other_groups())
    return [match[0] for pattern in patterns for match in pattern.finditer(plain)]


@cache
def _other_groups() -> re.Pattern[str]:
    """Groups that a question may be narrowed to and that sections rarely name."""
    content = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return term_pattern(content["other_groups"])


@cache
def _groups() -> tuple[re.Pattern[str], ...]:
    content = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return tuple(map(term_pattern, content["groups"]))
