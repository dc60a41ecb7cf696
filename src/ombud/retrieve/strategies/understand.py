"""One call of the chat model that says all that can be said of a question."""

from ombud.retrieve.strategies.strategy import (
    StrategyParts,
    tidy_keywords,
    tidy_text,
    with_expansions,
)
from ombud.types import Plan, Query, Question

NAME = "understand"


async def by_understand(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """Sparse: standalone question, keywords and hypothetical paragraph as one text; dense: a vector
    of the paragraph and one of the standalone question, fused (dev, recorded: quote recall@5 .957;
    with the paragraph alone .900, HyDE .893). Where more than one passage is needed, each question
    that is settled by one is searched for beside them."""
    del plan
    understood = await parts.model.understand(question)
    alone = tidy_text(understood.standalone)
    passage = tidy_text(understood.passage)
    if not alone:
        return []
    lines = [with_expansions(alone, question, parts), *tidy_keywords(understood.keywords)]
    queries = [_query("\n".join([*lines, passage]).strip(), passage or alone)]
    if passage:
        queries.append(_query("", alone))
    if understood.contexts > 1:
        for subquestion in filter(None, map(tidy_text, understood.subquestions)):
            queries.append(_query(subquestion, subquestion))
    return queries


def _query(text: str, passage: str) -> Query:
    return Query(
        strategy=NAME,
        text=text,
        passage=passage,
    )
