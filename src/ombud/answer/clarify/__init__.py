"""What is asked back: by a message that is too vague, or in which country the asker works."""

from ombud.answer.clarify.clarifying import clarifying_questions, is_vague
from ombud.answer.clarify.countries import NOWHERE, ElsewhereRules, country_choices, rules_elsewhere

__all__ = [
    "NOWHERE",
    "ElsewhereRules",
    "clarifying_questions",
    "country_choices",
    "is_vague",
    "rules_elsewhere",
]
