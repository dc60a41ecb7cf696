"""What a strategy is: a question in, queries out; and the few steps that several share."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from pydantic import BaseModel

from ombud.models import Embedder
from ombud.retrieve.model import MOST_KEYWORDS, StrategyModel
from ombud.retrieve.strategies.glossary import Glossary
from ombud.types import Plan, Query, Question

LONGEST = 3000
"""Characters of any text that a model wrote."""


class Rewritten(BaseModel):
    question: str  # a docstring would be part of the schema that models are given


class StrategyParts(NamedTuple):
    model: StrategyModel
    glossary: Glossary | None
    embedder: Embedder | None = None
    """Tells stories; None where there is none, or nothing is to be added."""
    shared: bool = False
    """`understand` is asked for this question too, so that the others are views of it."""


Strategy = Callable[[Question, Plan, StrategyParts], Awaitable[list[Query]]]
"""Queries of one strategy; none, or ModelError, where it has nothing usable. An empty text or
passage leaves that leg out. """


def same_for_both(strategy: str, text: str) -> list[Query]:
    """One text for the sparse and the dense side; no query where it is empty."""
    return (
        [
            Query(
                strategy=strategy,
                text=text,
                passage=text,
            )
        ]
        if text
        else []
    )


def with_expansions(text: str, question: Question, parts: StrategyParts) -> str:
    """`text`, and on lines of their own what its abbreviations stand for."""
    if parts.glossary is None:
        return text
    expansions = parts.glossary.expansions(text, question.asker.country)
    return "\n".join([text, *expansions])


def tidy_keywords(words: Sequence[str]) -> list[str]:
    """Each once, without empty ones, at most MOST_KEYWORDS."""
    tidied = dict.fromkeys(map(tidy_text, words))
    tidied.pop("", None)
    return list(tidied)[:MOST_KEYWORDS]


def tidy_text(text: str) -> str:
    """In one line, no longer than LONGEST."""
    return " ".join(text.split())[:LONGEST]
