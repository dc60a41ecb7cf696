"""A section for part-timers does not open the answer to somebody who says nothing of part time."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ombud.answer.quoting.spans import AnswerSpan, section_of, weighed
from ombud.text import plain_wording, remembered, term_pattern
from ombud.types import Question

FOR_OTHERS = 0.1
"""Factor of the odds of a span whose section is for a group that nobody speaks of. On dev the gold
quote is shown as often with it and without: it decides what opens the answer."""
FOR_NAMED = 10.0
"""The same for a group that the question names."""


def favour_groups(spans: Sequence[AnswerSpan], question: Question) -> list[AnswerSpan]:
    """Return spans, likeliest first, with those of sections for other groups of people less likely
    and those for a group that the question names likelier."""
    named = _groups_in(question.text)
    own = named | _groups_in(question.asker.contract or "")
    weighted = weighed(spans, FOR_OTHERS, lambda span: bool(_groups_in(section_of(span)) - own))
    return weighed(weighted, FOR_NAMED, lambda span: bool(_groups_in(section_of(span)) & named))


@remembered(4096)
def _groups_in(text: str) -> set[int]:
    plain = plain_wording(text)
    return {number for number, group in enumerate(_groups()) if group.search(plain)}


def group_words(text: str) -> list[str]:
    """Return the words of a text that name a group of people, such as "part-timers"."""
    return [*status_words(text), *_words_in(text, [_other_groups()])]


def status_words(text: str) -> list[str]:
    """Return those of which an asker is or is not one, such as "under notice"."""
    return _words_in(text, [*_groups(), term_pattern(_content()["statuses"])])


def _words_in(text: str, patterns: Sequence[re.Pattern[str]]) -> list[str]:
    plain = plain_wording(text)
    return [match[0] for pattern in patterns for match in pattern.finditer(plain)]


@cache
def _other_groups() -> re.Pattern[str]:
    """Return a pattern of groups that a question may name and sections rarely do."""
    return term_pattern(_content()["other_groups"])


@cache
def _groups() -> tuple[re.Pattern[str], ...]:
    return tuple(map(term_pattern, _content()["groups"]))


@cache
def _content() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
