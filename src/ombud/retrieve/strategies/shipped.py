"""The strategies that ship: what each makes of a question, most with a chat model."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel

from ombud.models import at_most
from ombud.retrieve.model import MOST_KEYWORDS, StrategyModel
from ombud.retrieve.strategies.glossary import Glossary
from ombud.retrieve.strategies.own_words import standard_query
from ombud.types import Plan, Query, Question

MOST_REWRITES = 20
"""What plan.rewrites may be."""
LONGEST = 3000
"""Characters of any text that a model wrote."""


class Rewritten(BaseModel):
    question: str  # a docstring would be part of the schema that models are given


class StrategyParts(NamedTuple):
    model: StrategyModel
    glossary: Glossary
    shared: bool = False
    """`understand` is asked for this question too, so that the others are views of it."""


Strategy = Callable[[Question, Plan, StrategyParts], Awaitable[list[Query]]]
"""Queries of one strategy; none, or ModelError, where it has nothing usable. An empty text or
passage leaves that leg out. """


async def by_standard(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """Search for the question itself."""
    del plan
    return [standard_query(question, parts.glossary)]


async def by_understand(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """Search by one structured reply: sparse for the standalone question, keywords and hypothetical
    paragraph as one text; dense for the paragraph and the question, fused. Questions that need one
    passage each are searched for as well."""
    del plan
    understood = await parts.model.understand(question)
    alone = tidy_text(understood.standalone)
    passage = tidy_text(understood.passage)
    if not alone:
        return []
    lines = [with_expansions(alone, question, parts), *tidy_keywords(understood.keywords)]
    both = _understood("\n".join([*lines, passage]).strip(), passage or alone)
    queries = [both.model_copy(update={"hypothetical": bool(passage)})]
    if passage:
        queries.append(_understood("", alone))
    if understood.contexts > 1:
        for subquestion in filter(None, map(tidy_text, understood.subquestions)):
            queries.append(_understood(subquestion, subquestion))
    return queries


def _understood(text: str, passage: str) -> Query:
    return Query(strategy="understand", text=text, passage=passage)


class Keywords(BaseModel):
    keywords: Annotated[list[str], at_most(MOST_KEYWORDS)]


async def by_keywords(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """Search for 5 to 10 keywords that the passages are likely to have (Wombat)."""
    del plan
    if parts.shared:
        words = (await parts.model.understand(question)).keywords
    else:
        words = (await parts.model.write("keywords", Keywords, question)).keywords
    return same_for_both("keywords", ", ".join(tidy_keywords(words)))


class Paragraph(BaseModel):
    passage: str


async def by_hyde(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """Search for a hypothetical policy paragraph: Gao et al., HyDE, ACL 2023."""
    if parts.shared:
        passage = (await parts.model.understand(question)).passage
    else:
        passage = (await parts.model.write("hyde", Paragraph, question)).passage
    passage = tidy_text(passage)
    if not passage:
        return []
    own = standard_query(question, parts.glossary)
    return [
        Query(
            strategy="hyde",
            text=own.text if plan.hyde_for == "dense" else passage,
            passage=own.passage if plan.hyde_for == "sparse" else passage,
            hypothetical=plan.hyde_for != "sparse",
        )
    ]


async def by_stepback(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """Search for the broader question: Zheng et al., Take a Step Back, ICLR 2024."""
    broader = (await parts.model.write("stepback", Rewritten, question)).question
    text = tidy_text(broader)
    if text:
        text = f"{question.text}\n{text}"
    return same_for_both("stepback", text)


async def by_rewrite(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """Search for a standalone rewrite with abbreviations spelt out and the field's context
    (Eva)."""
    del plan
    if parts.shared:
        rewritten = (await parts.model.understand(question)).standalone
    else:
        rewritten = (await parts.model.write("rewrite", Rewritten, question)).question
    alone = tidy_text(rewritten)
    if not alone:
        return []
    text = with_expansions(alone, question, parts)
    return [Query(strategy="rewrite", text=text, passage=alone)]


async def by_reformulate(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """Search for a more formal and specific question (Wombat)."""
    del plan
    formal = await parts.model.write("reformulate", Rewritten, question)
    return same_for_both("reformulate", tidy_text(formal.question))


class Several(BaseModel):
    questions: Annotated[list[str], at_most(MOST_REWRITES)]


async def by_multi(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """Expand the query (multi-query): search for plan.rewrites rewrites or sub-questions
    (HyPA-RAG), as one text for the sparse side, as one vector each for the dense side."""
    rewrites = str(plan.rewrites)
    several = await parts.model.write("multi", Several, question, rewrites=rewrites)
    distinct = dict.fromkeys(map(tidy_text, several.questions))
    distinct.pop("", None)
    passages = list(distinct)[: plan.rewrites]
    queries: list[Query] = []
    for passage in passages:
        text = "" if queries else "\n".join(passages)
        queries.append(Query(strategy="multi", text=text, passage=passage))
    return queries


# What several share -------------------------------------------------------------------------------


def same_for_both(strategy: str, text: str) -> list[Query]:
    """Make a query with one text for both sides; none if it is empty."""
    return [Query(strategy=strategy, text=text, passage=text)] if text else []


def with_expansions(text: str, question: Question, parts: StrategyParts) -> str:
    """Append the expansions of the text's abbreviations on lines of their own."""
    expansions = parts.glossary.expansions(text, question.asker.country)
    return "\n".join([text, *expansions])


def tidy_keywords(words: Sequence[str]) -> list[str]:
    """Remove empty and repeated keywords, and keep at most MOST_KEYWORDS."""
    tidied = dict.fromkeys(map(tidy_text, words))
    tidied.pop("", None)
    return list(tidied)[:MOST_KEYWORDS]


def tidy_text(text: str) -> str:
    """Put a text on one line of at most LONGEST characters."""
    return " ".join(text.split())[:LONGEST]
