"""What a proposed pair must not be: without an answer, a double, a copy of its passage, beside its
subject.

The checks stand in the order in which a pair meets them; it falls to the first that it fails.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ombud.lab.metrics.metric import Embed
from ombud.lab.synthesis.pairs import QuestionAnswer
from ombud.lab.synthesis.phrasing import content, phrases, plain, words_of
from ombud.types import Chunk

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float64]

NO_ANSWER = "no answer in the passage"
LEXICAL = "lexical duplicate"
COPIED = "too similar to its passage"
EMBEDDED = "embedding duplicate"
UNRELATED = "poor semantic relevance"
CHECKS = (NO_ANSWER, LEXICAL, COPIED, EMBEDDED, UNRELATED)
WITH_VECTORS = (EMBEDDED, UNRELATED)

LEAST_WORDS = 4
JACCARD = 0.8
RUN = 6
"""Tokens in a row that the passage has too: fewer is a term or an idiom, so many are a copy."""
COPY = 0.6
"""Share of a question's content words that may lie in such runs."""
COSINE = 0.95
RELEVANCE = 0.4
NEAREST = 3
"""Others of the sample that may be more like the question than its own passage."""

_TOKEN = re.compile(r"[^\W_]+")
_ADDRESS = re.compile(r"https?://\S+|www\.\S+|\S+@\S+\.\w+|#[\w-]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Another language that slipped in."""
_ANNOUNCES = re.compile(r"(?:[:?]|these steps\.|instructions\.)$")
_NO_CELL = re.compile(r"(?:n/?a|none|tbd|tbc|unknown|\W*)", re.IGNORECASE)


def tokens(text: str) -> list[str]:
    """Lower-case words and numbers."""
    return [token.lower() for token in _TOKEN.findall(text)]


def passage(chunk: Chunk) -> str:
    """What an index sees of a chunk: its headings too, for a question that copies a heading tests
    as little."""
    return "\n".join((" > ".join(chunk.trail), chunk.header, chunk.text))


def answers(pair: QuestionAnswer) -> bool:
    """Whether the quote says something: not a stub, a heading, boilerplate, a list of links or a
    pointer elsewhere."""
    said = plain(pair.quote)
    if pair.kind == "table":
        return len(words_of(said)) >= 2 and not _NO_CELL.fullmatch(pair.answer.strip())
    if len(words_of(said)) < LEAST_WORDS or not pair.answer.strip() or _ANNOUNCES.search(said):
        return False
    # In small letters the sentence began elsewhere.
    if not re.match(r"[\"“‘']?[^\W_a-z]", said):
        return False
    if phrases("boilerplate").search(said) or _UNSPACED.search(said):
        return False
    if phrases("elsewhere").match(said) and len(said.split()) < 25:
        return False
    if len(_ADDRESS.findall(said)) * 4 > len(said.split()):
        return False
    # Headings and menus have no sentence; a list counts when its items are more than names.
    lines = [plain(line) for line in pair.quote.split("\n") if line.strip()]
    closed = any(re.search(r"[.!?:;][\"”')*]*$", line) for line in lines)
    return closed or max(len(line.split()) for line in lines) >= 8


def copied(question: str, text: str) -> float:
    """Share of the question's content words that lie in runs of at least `RUN` tokens which the
    text has too."""
    asked, told = tokens(question), tokens(text)
    runs = {tuple(told[at : at + RUN]) for at in range(len(told) - RUN + 1)}
    inside = [False] * len(asked)
    for at in range(len(asked) - RUN + 1):
        if tuple(asked[at : at + RUN]) in runs:
            inside[at : at + RUN] = [True] * RUN
    meant = set(content(question))
    weighed = [within for token, within in zip(asked, inside, strict=True) if token in meant]
    return sum(weighed) / len(weighed) if weighed else float(all(inside))


class Sieve:
    """The checks and what they remember: every question that was accepted.

    sample: passages that a question is measured against, to tell a poor question from a far-away
    embedder."""

    def __init__(self, embed: Embed | None = None, sample: Sequence[Chunk] = ()) -> None:
        self._embed = embed
        self._sets: set[frozenset[str]] = set()
        self._with: dict[str, list[frozenset[str]]] = {}
        self._asked: list[Any] = []
        self._ids = [chunk.id for chunk in sample]
        self._others = (
            self._vectors([passage(chunk) for chunk in sample]) if embed and sample else None
        )

    def _vectors(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        found = np.asarray(self._embed(list(texts)) if self._embed else (), dtype=np.float64)
        return np.asarray(
            found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12),
            dtype=np.float64,
        )

    def by_words(self, pair: QuestionAnswer) -> str:
        """The first of the checks without an embedder that the pair fails; empty when it passes."""
        if pair.quote not in pair.chunk.text or not answers(pair):
            return NO_ANSWER
        if self._is_double(pair.wording):
            return LEXICAL
        return COPIED if copied(pair.wording, passage(pair.chunk)) > COPY else ""

    def _is_double(self, question: str) -> bool:
        mine = frozenset(tokens(question))
        if mine in self._sets:
            return True
        near = {other for token in mine for other in self._with.get(token, ())}
        return any(len(mine & other) >= JACCARD * len(mine | other) for other in near)

    def measure(self, pairs: Sequence[QuestionAnswer]) -> "list[tuple[Vectors, Vectors] | None]":
        """Vectors of each question and its passage, to be handed to `by_meaning`; None without an
        embedder."""
        if self._embed is None or not pairs:
            return [None] * len(pairs)
        made = self._vectors(
            [pair.wording for pair in pairs] + [passage(pair.chunk) for pair in pairs]
        )
        return list(zip(made[: len(pairs)], made[len(pairs) :], strict=True))

    def by_meaning(self, pair: QuestionAnswer, measured: "tuple[Vectors, Vectors] | None") -> str:
        """The first of the checks with an embedder that the pair fails; empty when it passes."""
        if measured is None:
            return ""
        asked, told = measured
        if any(float(asked @ other) >= COSINE for other in self._asked):
            return EMBEDDED
        return "" if self._is_relevant(pair, asked, told) else UNRELATED

    def _is_relevant(self, pair: QuestionAnswer, asked: "Vectors", told: "Vectors") -> bool:
        likeness = float(asked @ told)
        if likeness >= RELEVANCE or self._others is None:
            return likeness >= RELEVANCE
        nearer = (self._others @ asked) > likeness
        return (
            sum(
                bool(near)
                for near, other in zip(nearer, self._ids, strict=True)
                if other != pair.chunk.id
            )
            < NEAREST
        )

    def accept(self, pair: QuestionAnswer, measured: "tuple[Vectors, Vectors] | None") -> None:
        """Remember a question, so that later ones are not like it."""
        mine = frozenset(tokens(pair.wording))
        self._sets.add(mine)
        for token in mine:
            self._with.setdefault(token, []).append(mine)
        if measured is not None:
            self._asked.append(measured[0])
