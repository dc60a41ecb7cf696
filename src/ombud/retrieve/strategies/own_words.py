"""The question itself as a search text, with what can be known without a model."""

import re

from ombud.index import Engine
from ombud.retrieve.strategies.glossary import Glossary
from ombud.retrieve.strategies.thesaurus import policy_words
from ombud.text import analyse, detect_language
from ombud.types import Query, Question

MEANING = re.compile(
    r"\W*(?:(?:what(?:['’]?s| is| are| does)?|define|explain|meaning of)\s+)?(?:an? |the )?"
    r"(?P<word>[\w()&/-]+)(?:\s+(?:mean|stand for|again|exactly))*\W*$",
    re.IGNORECASE,
)
"""A question for what a word stands for, such as "what is SOD?", or the word alone."""
ASKING = re.compile(
    r"\bhow\s+(?:many|much|long|often|far|soon|early|late|high|big|do|does|can|would)\b"
    r"|\b(?:want(?:ed)? to|need to|would like to|tell me|know|please|hi|hello|thanks?|thank you"
    r"|wondering)\b",
    re.IGNORECASE,
)
"""How people ask, which says nothing of what they ask about: a rare "many" would outweigh a common
"leave"."""


def standard_query(question: Question, glossary: Glossary | None) -> Query:
    """Return the query of a question that stands alone.

    Abbreviations spelt out and the words that policies use for what people say go to the sparse
    side only: there they bridge vocabularies, while a vector of many words points nowhere (measured
    on dev). No glossary: neither."""
    text = question.text
    if glossary is None:
        return Query(strategy="standard", text=text, passage=text)
    expansions = glossary.expansions(text, question.asker.country)
    meant = glossary.expansions(asked_meaning(question, glossary), question.asker.country)[:1]
    return Query(
        strategy="standard",
        text="\n".join([text, *expansions, *policy_words(text)]),
        passage=" ".join([text, *meant]),
    )


def asked_meaning(question: Question, glossary: Glossary | None) -> str:
    """The abbreviation whose meaning is asked for; empty where none is."""
    match = MEANING.match(question.text)
    if match is None or glossary is None:
        return ""
    word = match["word"]
    return word if glossary.expansions(word, question.asker.country) else ""


def query_terms(text: str, engine: Engine) -> list[str]:
    """Index terms of a question, stemmed by the rules of its language."""
    text = ASKING.sub(" ", text)
    return analyse(text, language_of(text, engine))


def language_of(text: str, engine: Engine) -> str:
    """Of a question: that of the index if it has only one, else one of the index's.

    Short questions are hard to place; in an index of one language there is nothing to place.
    """
    languages = engine.languages()
    if len(languages) == 1:
        return next(iter(languages))
    language = detect_language(text)
    return language if language in languages or not languages else "en"
