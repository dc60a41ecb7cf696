"""The question itself, and a story also in the words of policies."""

from ombud.models import beside
from ombud.retrieve.conversation import carry_over
from ombud.retrieve.follow_ups import as_one
from ombud.retrieve.strategies.own_words import both_ways, leaning, standard_query
from ombud.retrieve.strategies.stories import policy_words
from ombud.retrieve.strategies.strategy import StrategyParts
from ombud.types import Plan, Query, Question


async def by_standard(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    del plan
    if parts.model.chat:
        # Without a model this has been decided by what the turns find.
        question = leaning(question)
    query, *alone = both_ways(question, parts.glossary)
    if question.history and not parts.model.chat:
        query = _made_whole(question, parts)
    queries = [query, *alone]
    text = question.text
    story = await beside(parts.embedder, [text], lambda: policy_words(text, parts.embedder))
    if story:
        queries.append(story)
    return queries


def _made_whole(question: Question, parts: StrategyParts) -> Query:
    """A follow-up as one question; beside it, for the words alone, what the last answer was about
    and the headings that it stood under."""
    query = standard_query(as_one(question), parts.glossary)
    lines = filter(None, (query.text, carry_over(question)))
    return query.model_copy(update={"text": "\n".join(lines)})
