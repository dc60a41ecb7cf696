"""What is asked back: by a message that is too vague, or in which country the asker works."""

from ombud.answer.clarify.clarifying import clarifying_questions, is_vague
from ombud.answer.clarify.countries import (
    NOWHERE,
    SOME_SHARE,
    ElsewhereRules,
    country_choices,
    rules_elsewhere,
    with_said_country,
)

__all__ = [
    "NOWHERE",
    "SOME_SHARE",
    "ElsewhereRules",
    "clarifying_questions",
    "country_choices",
    "is_vague",
    "rules_elsewhere",
    "with_said_country",
]
