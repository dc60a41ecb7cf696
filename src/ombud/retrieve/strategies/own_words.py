"""The question itself as a search text, with what can be known without a model."""

import re

from ombud.index import Engine
from ombud.retrieve.conversation import carry_over
from ombud.retrieve.strategies.glossary import Glossary
from ombud.retrieve.strategies.thesaurus import policy_words
from ombud.text import analyse, detect_language
from ombud.types import Query, Question

TURNS = 3
"""Earlier user turns folded into a follow-up."""
SHORT = 3
"""Content words up to which a turn is taken for a follow-up."""
POINTS_BACK = re.compile(
    r"^\W*(?:and|but|so|or|also|ok(?:ay)?|then|what about|how about|what if|same)\b"
    r"|\b(?:it|its|that|this|those|these|they|them|their|there|then|same|too|either|instead|both"
    r"|another)\b",
    re.IGNORECASE,
)
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
    """The question itself; a follow-up has the asker's earlier turns before it.

    Abbreviations spelt out and the words that policies use for what people say go to the sparse
    side only: there they bridge vocabularies, while a vector of many words points nowhere (measured
    on dev). No glossary: neither."""
    folded = with_history(question)
    if glossary is None:
        return Query(
            strategy="standard",
            text=folded,
            passage=folded,
        )
    expansions = glossary.expansions(folded, question.asker.country)
    text = "\n".join([folded, *expansions, *policy_words(folded)])
    # Of the word that is asked for, not of another in the turns before; these may spell it out.
    meant = glossary.expansions(asked_meaning(question, glossary), question.asker.country)[:1]
    missing = [meaning for meaning in meant if meaning in expansions]
    return Query(
        strategy="standard",
        text=text,
        passage=" ".join([folded, *missing]),
    )


def asked_meaning(question: Question, glossary: Glossary | None) -> str:
    """The abbreviation whose meaning is asked for; empty where none is."""
    match = MEANING.match(question.text)
    if match is None or glossary is None:
        return ""
    word = match["word"]
    return word if glossary.expansions(word, question.asker.country) else ""


def both_ways(question: Question, glossary: Glossary | None) -> list[Query]:
    """A follow-up is searched for with what was said before and alone: which of the two it needs
    cannot be told well from its words (MTRAG-UN: recall@5 .801 with the history, .861 both ways;
    MTRAG: .444, alone .587, both ways .590)."""
    query = standard_query(question, glossary)
    says_something = analyse(ASKING.sub(" ", question.text))
    if query.passage == question.text or not says_something:
        return [query]
    alone = question.model_copy(update={"history": ()})
    return [query, standard_query(alone, glossary)]


def with_history(question: Question) -> str:
    """A question after the asker's earlier turns and what the answers to them were about (dev, 16
    follow-ups: quote recall@5 .594 with the turns alone, .812 with both); one without history as it
    is."""
    if not question.history:
        return question.text
    earlier: list[str] = []
    for turn in question.history:
        if turn.role == "user":
            earlier.append(turn.content)
    lines = (*earlier[-TURNS:], carry_over(question), question.text)
    return "\n".join(filter(None, lines))


def leaning(question: Question) -> Question:
    """The question without its history where its words show no need of it."""
    if leans_on_history(question.text):
        return question
    return question.model_copy(update={"history": ()})


def leans_on_history(text: str) -> bool:
    """Whether a turn cannot be understood alone: it is short, or points back. A new subject stands
    for itself."""
    if POINTS_BACK.search(text):
        return True
    return len(analyse(text)) <= SHORT


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
