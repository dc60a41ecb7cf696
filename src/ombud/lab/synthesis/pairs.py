"""What a rule proposes: a question in a style, and the words of a passage that answer it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import NamedTuple

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


class Wordings(NamedTuple):
    """How something may be asked; braces in a template are filled from `fields`."""

    full: Sequence[str]
    terse: Sequence[str]
    """For a search box."""
    fields: Mapping[str, str] = MappingProxyType({})


def make_pair(
    chunk: Chunk, kind: str, chance: Random, wordings: Wordings, *, quote: str, answer: str
) -> QuestionAnswer:
    """A pair with its question put in a style drawn at random; where it cannot be asked in full, in
    a terse one."""
    style = "terse"
    if wordings.full:
        (style,) = chance.choices(list(STYLES), list(STYLES.values()))
    if style == "terse":
        template = chance.choice(wordings.terse)
        question = re.sub(r"^(?:the|an?)\s", "", template.format(**wordings.fields))
    else:
        question = chance.choice(wordings.full).format(**wordings.fields)
        question = question[0].upper() + question[1:]
    return QuestionAnswer(
        chunk=chunk,
        kind=kind,
        style=style,
        question=dress(question, style, chance),
        wording=question,
        quote=quote,
        answer=answer,
    )


def safe(text: str) -> str:
    """Text that may stand in a template."""
    return text.replace("{", "").replace("}", "")
