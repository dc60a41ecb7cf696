"""The question written again so that it stands alone."""

from ombud.retrieve.strategies.strategy import Rewritten, StrategyParts, tidy_text, with_expansions
from ombud.types import Plan, Query, Question


async def by_rewrite(question: Question, plan: Plan, parts: StrategyParts) -> list[Query]:
    """Standalone, abbreviations spelt out, the field's context added (Eva)."""
    del plan
    if parts.shared:
        rewritten = (await parts.model.understand(question)).standalone
    else:
        rewritten = (await parts.model.write("rewrite", Rewritten, question)).question
    alone = tidy_text(rewritten)
    if not alone:
        return []
    text = with_expansions(alone, question, parts)
    return [
        Query(
            strategy="rewrite",
            text=text,
            passage=alone,
        )
    ]
