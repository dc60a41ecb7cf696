"""How people say it -> how policies write it, in eight languages."""

from ombud.retrieve.strategies.thesaurus.expanding import (
    EnglishWords,
    english_words,
    everyday_words,
    folded,
    policy_vocabulary,
    policy_words,
)
