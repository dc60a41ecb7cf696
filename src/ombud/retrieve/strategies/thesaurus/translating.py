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
    """What is understood of a question in a language that the embedder does not know."""

    language: str
    question: Question
    """In English words; as it was asked where none is known."""
    ideas: int
    """Things the question speaks of that there are English words for."""
    understood: float
    """Share of the words that say what the question is about that there are English words for."""


def unread_language(text: str, engine: Engine, embedder: Embedder | None) -> str:
    """ISO 639-1 code of a message's language where the documents are in English and the embedder
    reads no other; empty otherwise."""
    if "en" not in engine.languages():
        return ""
    if embedder is not None and embedder.languages is None:
        return ""
    language = message_language(text)
    known = embedder.languages if embedder and embedder.languages else {"en"}
    return "" if language in known else language


def translate(question: Question, language: str, glossary: Glossary, engine: Engine) -> Translation:
    """The question in English words; names and other words that the documents have stay."""
    entries = english_words(question.text, language)
    words = _content_words(question.text, language)
    others = _other_words(words, question.text, language, entries)
    english = [word for word in others if word in policy_vocabulary()]
    ideas = dict.fromkeys(entry.words for entry in entries if not entry.asks)
    ideas.update(dict.fromkeys(_spelt_out(question, glossary)))
    if len(english) >= TERM:
        ideas[" ".join(english)] = None
    if not ideas:
        return Translation(language, question, ideas=0, understood=0.0)
    asking = dict.fromkeys(entry.words for entry in entries if entry.asks)
    names = _of_documents(_names(question.text, language, others), engine)
    text = " ".join([*asking, *ideas, *names])
    unknown = len(others) - len(english)
    known = max(len(ideas), len(set(words)) - unknown)
    return Translation(
        language=language,
        question=question.model_copy(update={"text": text}),
        ideas=len(ideas),
        understood=known / (known + unknown),
    )


def _spelt_out(question: Question, glossary: Glossary) -> list[str]:
    """What the abbreviations stand for, in the asker's country or everywhere."""
    abbreviations = " ".join(ABBREVIATION.findall(question.text))
    return glossary.expansions(abbreviations, question.asker.country)


def _content_words(text: str, language: str) -> list[str]:
    common = common_words(language)
    words = WORD.findall(folded(text, language))
    return [word for word in words if word not in common]


def _other_words(
    words: list[str], text: str, language: str, entries: list[EnglishWords]
) -> list[str]:
    """Those that no entry has put into English."""
    asked = folded(text, language)
    translated: set[str] = set()
    for entry in entries:
        translated.update(WORD.findall(asked[entry.start : entry.end]))
    others: list[str] = []
    for word in dict.fromkeys(words):
        if word not in translated:
            others.append(word)
    return others


def _names(text: str, language: str, others: list[str]) -> list[str]:
    """Of the words without an entry those that are written like names or hold a digit: "mère" and
    "mere" are the same to an index."""
    named: set[str] = set()
    for word in NAME.findall(text):
        named.update(WORD.findall(folded(word, language)))
    return [word for word in others if word in named]


def _of_documents(words: list[str], engine: Engine) -> list[str]:
    """Those that stand in a document."""
    terms = {word: analyse(word) for word in words if len(word) >= SHORTEST}
    wanted = list(chain.from_iterable(terms.values()))
    held = blocking(engine.stats(wanted)).documents_with if wanted else {}
    known: list[str] = []
    for word, analysed in terms.items():
        if any(map(held.get, analysed)):
            known.append(word)
    return known
