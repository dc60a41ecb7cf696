"""A question as the router reads it: the sentences that ask, their words, and how they are put."""

import re
from functools import cache
from pathlib import Path

from ombud.models import linear

WORD = re.compile(r"\w+(?:'\w+)?|[^\w\s]")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
LONGEST = 4000
"""Characters that are read; a pasted contract is not a question."""


def asking_sentences(text: str) -> str:
    """Return the sentences with a question mark, the last one where there is none: how long a story
    is says nothing of how many passages its question needs."""
    sentences = SENTENCE_END.split(text[:LONGEST].strip())
    asking = [sentence for sentence in sentences if sentence.endswith("?")]
    return " ".join(asking or sentences[-1:])


def question_words(text: str) -> list[str]:
    """Return words and marks, in small letters."""
    return WORD.findall(text.replace("’", "'").lower())


def shape(words: list[str]) -> list[str]:
    """Return how a question is put: function words stay, numbers are 9, runs of other words X with
    what they end in."""
    shaped: list[str] = []
    for word in words:
        stays = word in function_words() or not word[0].isalnum()
        form = word if stays else _form(word)
        if shaped and shaped[-1] == "X" and form in ("X", "Xs"):
            shaped[-1] = form
        else:
            shaped.append(form)
    return shaped


def _form(word: str) -> str:
    if word[0].isdigit():
        return "9"
    for ending in ("ing", "ed", "s"):
        if len(word) > len(ending) + 1 and word.endswith(ending) and not word.endswith("ss"):
            return f"X{ending}"
    return "X"


@cache
def function_words() -> frozenset[str]:
    path = Path(__file__).with_name("function_words.txt")
    return frozenset(path.read_text(encoding="utf-8").split())


ROUTER_READING = linear.FeatureReading(
    part=asking_sentences,
    terms={
        "words": lambda question: linear.ngrams(question_words(question), 2),
        "shape": lambda question: linear.ngrams(shape(question_words(question)), 3),
    },
    trainer="research.training.router --variant logistic",
)
