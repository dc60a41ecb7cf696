"""More questions out of the labelled ones: the rewrites of the HyPA-RAG paper, by rules, without a
model.

10 % said more vaguely, 10 % with noise, 10 % with both, 5 % reordered, 5 % misspelt, 25 % of the
one-passage questions more verbose, 25 % of those of three and more passages more concise (Kalra et
al., HyPA-RAG, 2024). The paper's own total of 67 % cannot be reached from its shares; what was made
is counted."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from ombud.retrieve.router.reading import WORD, function_words
from research.training.router.labelled import LabelledQuestion, labels_of

SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
FIRST_BREAK = re.compile(r"(?:,| -| –|:) ")
LONG_WORD = 5
"""Letters from which a word can be misspelt and still be read."""


class AugmentedQuestions(NamedTuple):
    questions: tuple[LabelledQuestion, ...]
    """The rewrites alone; each keeps the label, the field and the template of its original."""
    made: Mapping[str, int]


class Rewriting(NamedTuple):
    share: float
    """Of the questions that it is for, how many get a rewrite."""
    label: int | None
    """The label that it is for; None for all, -1 for the widest."""
    rewrite: Callable[[str, Random], str]


def augment(questions: Sequence[LabelledQuestion], seed: int = 0) -> AugmentedQuestions:
    """The same questions and seed give the same rewrites."""
    random = Random(seed)
    rewritten: list[LabelledQuestion] = []
    made = dict.fromkeys(REWRITES, 0)
    for name, rewriting in REWRITES.items():
        originals = _originals(questions, rewriting.label)
        wanted = round(rewriting.share * len(originals))
        for question in random.sample(originals, len(originals)):
            if made[name] >= wanted:
                break
            text = rewriting.rewrite(question.question, random)
            if text == question.question:
                continue
            made[name] += 1
            rewritten.append(question._replace(question=text))
    return AugmentedQuestions(tuple(rewritten), made)


def _originals(questions: Sequence[LabelledQuestion], label: int | None) -> list[LabelledQuestion]:
    """Those that a rewriting is for; its label as `Rewriting` has it."""
    if label is None:
        return list(questions)
    if label < 0:
        label = max(labels_of(questions), default=0)
    return [question for question in questions if question.label == label]


def vaguer(text: str, random: Random) -> str:
    """Names of things replaced by wider ones; two that would become one stay, for they are two
    things asked."""
    del random
    for precise, vague in _words()["vaguer"].items():
        if len(re.findall(precise, text, re.IGNORECASE)) == 1:
            text = re.sub(precise, vague, text, flags=re.IGNORECASE)
    return text


def noisy(text: str, random: Random) -> str:
    """Fillers and stray marks, about one in eight words."""
    words = text.split(" ")
    for _ in range(max(1, len(words) // 8)):
        place = random.randrange(len(words))
        if random.random() < 0.5:
            words.insert(place, random.choice(_words()["fillers"]))
        elif words[place][-1:].isalnum():
            words[place] += random.choice(_words()["marks"])
    return " ".join(words)


def vaguer_and_noisy(text: str, random: Random) -> str:
    vague = vaguer(text, random)
    return noisy(vague, random) if vague != text else text


def reordered(text: str, random: Random) -> str:
    """The question first and the story after it; of one sentence, the two sides of its first comma
    or dash."""
    del random
    sentences = SENTENCE_END.split(text.strip())
    if len(sentences) > 1:
        return " ".join([sentences[-1], *sentences[:-1]])
    sides = FIRST_BREAK.split(text.rstrip("?.! "), maxsplit=1)
    return f"{sides[1]}, {sides[0]}?" if len(sides) == 2 else text


def misspelt(text: str, random: Random) -> str:
    """Letters of one to three long words swapped, doubled or lost; never of a word that asks or
    compares."""
    words = []
    for word in WORD.finditer(text):
        if _may_be_misspelt(word[0]):
            words.append(word)
    chosen = random.sample(words, min(len(words), random.randint(1, 3)))
    # From the back, so that the places of the words before stay where they are.
    for word in sorted(chosen, key=lambda word: -word.start()):
        at = word.start() + random.randrange(1, len(word[0]) - 2)
        first = text[at]
        second = text[at + 1]
        swapped = second + first
        doubled = first * 2 + second
        lost = second
        slip = random.choice((swapped, doubled, lost))
        text = text[:at] + slip + text[at + 2 :]
    return text


def verbose(text: str, random: Random) -> str:
    opening = random.choice(_words()["openings"])
    if random.random() < 0.6:
        return f"{opening} {text}"
    return f"{opening} {text} {random.choice(_words()['endings'])}"


def concise(text: str, random: Random) -> str:
    """Without polite words and articles."""
    del random
    wordy = "|".join(_words()["wordy"])
    short = re.sub(rf"\b(?:{wordy})\b[, ]*", "", text, flags=re.IGNORECASE)
    return " ".join(short.split()).strip(" ,") or text


def _may_be_misspelt(word: str) -> bool:
    """Long enough to be read all the same, and no word that asks or compares."""
    return len(word) >= LONG_WORD and word.isascii() and word.lower() not in function_words()


@cache
def _words() -> Mapping[str, Any]:
    with Path(__file__).with_name("augmentation.toml").open("rb") as file:
        return tomllib.load(file)


REWRITES: Mapping[str, Rewriting] = {
    "vaguer": Rewriting(0.10, None, vaguer),
    "noise": Rewriting(0.10, None, noisy),
    "vaguer with noise": Rewriting(0.10, None, vaguer_and_noisy),
    "reordered": Rewriting(0.05, None, reordered),
    "misspelt": Rewriting(0.05, None, misspelt),
    "more verbose": Rewriting(0.25, 0, verbose),
    "more concise": Rewriting(0.25, -1, concise),
}
