"""A question in a language that the embedder does not know, in the English words of policies."""

import re
from itertools import chain
from typing import NamedTuple

from ombud.index import Engine, blocking
from ombud.models import Embedder
from ombud.retrieve.strategies.glossary import Glossary
from ombud.retrieve.strategies.thesaurus import (
    EnglishWords,
    english_words,
    folded,
    policy_vocabulary,
)
from ombud.text import analyse, common_words, message_language
from ombud.types import Question

ABBREVIATION = re.compile(r"\b(?=\w*[A-Z]\w*[A-Z])\w+\b")
"""Abbreviations as the organisation writes them: in French "au" is a word, AU is none."""
WORD = re.compile(r"[^\W_]{2,}")
NAME = re.compile(r"\b(?:[A-Z]\w+|\w*\d\w*)")
TERM = 2
"""English words of policies in a foreign message from which they are a term, as "annual leave"."""
SHORTEST = 3
"""Letters of a word that is searched for as it stands."""


class Translation(NamedTuple):
    """A question in a language that the embedder does not read, as far as it was translated."""

    language: str
    question: Question
    """In English words; as it was asked where none is known."""
    ideas: int
    """Things the question speaks of that there are English words for."""
    understood: float
    """Share of the words that say what the question is about that there are English words for."""


def unread_language(text: str, engine: Engine, embedder: Embedder | None) -> str:
    """Return the ISO 639-1 code of a message's language if the documents are English and the
    embedder reads no other; else empty."""
    if "en" not in engine.languages():
        return ""
    if embedder is not None and embedder.languages is None:
        return ""
    language = message_language(text)
    readable = embedder.languages if embedder and embedder.languages else {"en"}
    return "" if language in readable else language


def translate(question: Question, language: str, glossary: Glossary, engine: Engine) -> Translation:
    """Translate the question into English words; names and other words of the documents stay."""
    entries = english_words(question.text, language)
    words = content_words(question.text, language)
    others = other_words(words, question.text, language, entries)
    english = [word for word in others if word in policy_vocabulary()]
    ideas = dict.fromkeys(entry.words for entry in entries if not entry.asks)
    ideas.update(dict.fromkeys(spelt_out(question, glossary)))
    if len(english) >= TERM:
        ideas[" ".join(english)] = None
    if not ideas:
        return Translation(language, question, ideas=0, understood=0.0)
    asking = dict.fromkeys(entry.words for entry in entries if entry.asks)
    names = of_documents(_names(question.text, language, others), engine)
    text = " ".join([*asking, *ideas, *names])
    unknown = len(others) - len(english)
    understood = max(len(ideas), len(set(words)) - unknown)
    return Translation(
        language=language,
        question=question.model_copy(update={"text": text}),
        ideas=len(ideas),
        understood=understood / (understood + unknown),
    )


def spelt_out(question: Question, glossary: Glossary) -> list[str]:
    """Return the expansions of the abbreviations in the asker's country or everywhere."""
    abbreviations = " ".join(ABBREVIATION.findall(question.text))
    return glossary.expansions(abbreviations, question.asker.country)


def content_words(text: str, language: str) -> list[str]:
    common = common_words(language)
    words = WORD.findall(folded(text, language))
    return [word for word in words if word not in common]


def other_words(
    words: list[str], text: str, language: str, entries: list[EnglishWords]
) -> list[str]:
    """Return the words that no entry translates."""
    message = folded(text, language)
    translated: set[str] = set()
    for entry in entries:
        translated.update(WORD.findall(message[entry.start : entry.end]))
    others: list[str] = []
    for word in dict.fromkeys(words):
        if word not in translated:
            others.append(word)
    return others


def _names(text: str, language: str, others: list[str]) -> list[str]:
    """Return the untranslated words that look like names or have a digit: to an index "mère" and
    "mere" are the same."""
    named: set[str] = set()
    for word in NAME.findall(text):
        named.update(WORD.findall(folded(word, language)))
    return [word for word in others if word in named]


def of_documents(words: list[str], engine: Engine) -> list[str]:
    """Return the words that a document has."""
    terms = {word: analyse(word) for word in words if len(word) >= SHORTEST}
    wanted = list(chain.from_iterable(terms.values()))
    frequencies = blocking(engine.stats(wanted)).documents_with if wanted else {}
    present: list[str] = []
    for word, analysed in terms.items():
        if any(map(frequencies.get, analysed)):
            present.append(word)
    return present
