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

from ombud.retrieve import WORD, pattern, router_features, values
from ombud.training.router.labelled import LabelledQuestion

SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
LONG_WORD = 5
"""Letters from which a word can be misspelt and still be read."""
ALWAYS_SAME = ("asks 1+", "asks 2+", "asks 3+", "asks 4+", "listed", "compares", "opens")


class Augmented(NamedTuple):
    questions: tuple[LabelledQuestion, ...]
    """The rewrites alone; each keeps the label, the field and the template of its original."""
    made: Mapping[str, int]
    dropped: Mapping[str, int]
    """Rewrites that asked for more or less than their originals."""


def augment(questions: Sequence[LabelledQuestion], seed: int = 0) -> Augmented:
    """The same questions and seed give the same rewrites."""
    random = Random(seed)  # noqa: S311 - a seed that gives the same rewrites is the point
    found: list[LabelledQuestion] = []
    made, dropped = dict.fromkeys(REWRITES, 0), dict.fromkeys(REWRITES, 0)
    widest = max((q.label for q in questions), default=0)
    for name, (share, label, rewrite) in REWRITES.items():
        of = [q for q in questions if label is None or q.label == (widest if label < 0 else label)]
        for question in random.sample(of, len(of)):
            if made[name] >= round(share * len(of)):
                break
            text = rewrite(question.question, random)
            if text == question.question:
                continue
            if facts(text) != facts(question.question):
                dropped[name] += 1
                continue
            made[name] += 1
            found.append(question._replace(question=text))
    return Augmented(tuple(found), made, dropped)


def facts(text: str) -> tuple[float, ...]:
    """What a rewrite must not change: how many things are asked, listed, compared, and whether all
    of them are."""
    seen = values(text)
    return tuple(seen[place] for place in _places())


def vaguer(text: str, random: Random) -> str:
    """Names of things replaced by wider ones; two that would become one stay, for they are two
    things asked."""
    del random
    for said, instead in _words()["vaguer"].items():
        if len(re.findall(said, text, re.IGNORECASE)) == 1:
            text = re.sub(said, instead, text, flags=re.IGNORECASE)
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


def both(text: str, random: Random) -> str:
    return noisy(vague, random) if (vague := vaguer(text, random)) != text else text


def reordered(text: str, random: Random) -> str:
    """The question first and the story after it; of one sentence, the two sides of its first comma
    or dash."""
    del random
    sentences = SENTENCE_END.split(text.strip())
    if len(sentences) > 1:
        return " ".join([sentences[-1], *sentences[:-1]])
    sides = re.split(r"(?:,| -| –|:) ", text.rstrip("?.! "), maxsplit=1)
    return f"{sides[1]}, {sides[0]}?" if len(sides) == 2 else text


def misspelt(text: str, random: Random) -> str:
    """Letters of one to three long words swapped, doubled or lost; never of a word that asks or
    compares."""
    places = [
        m
        for m in WORD.finditer(text)
        if len(m[0]) >= LONG_WORD and m[0].isascii() and not _carries(m[0])
    ]
    for place in sorted(
        random.sample(places, min(len(places), random.randint(1, 3))), key=lambda m: -m.start()
    ):
        at = place.start() + random.randrange(1, len(place[0]) - 2)
        swapped, doubled, lost = text[at + 1] + text[at], text[at] * 2 + text[at + 1], text[at + 1]
        text = text[:at] + random.choice((swapped, doubled, lost)) + text[at + 2 :]
    return text


def verbose(text: str, random: Random) -> str:
    opening = random.choice(_words()["openings"])
    return (
        f"{opening} {text}"
        if random.random() < 0.6
        else f"{opening} {text} {random.choice(_words()['endings'])}"
    )


def concise(text: str, random: Random) -> str:
    """Without polite words and articles."""
    del random
    short = re.sub(rf"\b(?:{'|'.join(_words()['wordy'])})\b[, ]*", "", text, flags=re.IGNORECASE)
    return " ".join(short.split()).strip(" ,") or text


@cache
def _places() -> tuple[int, ...]:
    names = list(router_features(""))
    return tuple(names.index(name) for name in ALWAYS_SAME)


def _carries(word: str) -> bool:
    return any(
        pattern("cue", name).search(word)
        for name in ("versus", "same", "differ", "both", "overview", "process")
    )


@cache
def _words() -> Mapping[str, Any]:
    with Path(__file__).with_name("augmentation.toml").open("rb") as file:
        return tomllib.load(file)


REWRITES: Mapping[str, tuple[float, int | None, Callable[[str, Random], str]]] = {
    "vaguer": (0.10, None, vaguer),
    "noise": (0.10, None, noisy),
    "vaguer with noise": (0.10, None, both),
    "reordered": (0.05, None, reordered),
    "misspelt": (0.05, None, misspelt),
    "more verbose": (0.25, 0, verbose),
    "more concise": (0.25, -1, concise),
}
"""Name -> (share, label or -1 for the widest or None for all, rewrite)."""
