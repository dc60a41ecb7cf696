"""What a rule proposes: a question in a style, and the words of a passage that answer it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from ombud.lab.synthesis.phrasing import STYLES, dress
from ombud.types import Chunk

KINDS = ("heading", "definition", "table", "number")
MOST = 2
"""Pairs of one kind that a passage may propose; one is used, the other stands in when that one
falls."""


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """A question, and the words of the passage that answer it."""

    chunk: Chunk
    kind: str
    style: str
    question: str
    wording: str
    """The question before it was dressed in its style: what duplicates and relevance are measured
    by."""
    quote: str
    """As it stands in the passage."""
    answer: str


@dataclass(frozen=True, slots=True)
class PassageSection:
    """What stands under one heading in a passage."""

    heading: str
    parents: tuple[str, ...]
    start: int
    end: int
    opens: bool
    """The section begins here: what comes first is what the heading announces."""


def make_pair(
    chunk: Chunk, kind: str, chance: Random, ask: Sequence[str], terse: Sequence[str], **rest: Any
) -> QuestionAnswer:
    """A pair with its question put in a style drawn at random; `rest` fills the templates, `quote`
    and `answer`."""
    style = chance.choices(list(STYLES), list(STYLES.values()))[0] if ask else "terse"
    if style == "terse":
        question = re.sub(r"^(?:the|an?)\s", "", chance.choice(terse).format(**rest))
    else:
        question = chance.choice(ask).format(**rest)
    if style != "terse":
        question = question[0].upper() + question[1:]
    return QuestionAnswer(
        chunk, kind, style, dress(question, style, chance), question, rest["quote"], rest["answer"]
    )


def safe(text: str) -> str:
    return text.replace("{", "").replace("}", "")
