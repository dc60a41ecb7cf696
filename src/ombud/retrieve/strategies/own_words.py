"""The standard query: the question itself, expanded without a model."""

import re

from ombud.index import Engine
from ombud.retrieve.strategies.glossary import Glossary
from ombud.retrieve.strategies.thesaurus import policy_words
from ombud.text import analyse, detect_language, remembered
from ombud.types import Chunk, Query, Question

OWN_WORDS = "own words"
"""Strategy of the query that is fused with those of a model."""
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
"""Stop phrases of questions: as a rare term, "many" would outweigh a common "leave"."""


def standard_query(question: Question, glossary: Glossary | None) -> Query:
    """Return the query of a standalone question.

    Expanded abbreviations and synonyms of the policies go to sparse retrieval only: they blur a
    dense vector. No glossary: no expansion."""
    text = question.text
    if glossary is None:
        return Query(strategy="standard", text=text, passage=text)
    expansions = glossary.expansions(text, question.asker.country)
    first_expansion = glossary.expansions(
        queried_abbreviation(question, glossary), question.asker.country
    )[:1]
    return Query(
        strategy="standard",
        text="\n".join([text, *expansions, *policy_words(text)]),
        passage=" ".join([text, *first_expansion]),
    )


def queried_abbreviation(question: Question, glossary: Glossary | None) -> str:
    """Return the abbreviation whose meaning is asked for; empty where none is."""
    match = MEANING.match(question.text)
    if match is None or glossary is None:
        return ""
    word = match["word"]
    return word if glossary.expansions(word, question.asker.country) else ""


def query_terms(text: str, engine: Engine) -> list[str]:
    """Return the index terms of a question, stemmed in its language."""
    text = ASKING.sub(" ", text)
    return analyse(text, language_of(text, engine))


def language_of(text: str, engine: Engine) -> str:
    """Return the language of a question: that of the index if it has only one, else one of the
    index's. Short questions are hard to classify."""
    languages = engine.languages()
    if len(languages) == 1:
        return next(iter(languages))
    language = detect_language(text)
    return language if language in languages or not languages else "en"


def chunk_terms(chunk: Chunk) -> tuple[str, ...]:
    """Index terms of a passage with its headings and, of a table, its header; repeated as they
    are."""
    lines = (*chunk.trail, chunk.header, chunk.text)
    return _terms(lines, chunk.language)


@remembered(2048)
def _terms(lines: tuple[str, ...], language: str) -> tuple[str, ...]:
    return tuple(analyse("\n".join(lines), language))
