"""What a proposed pair must not be: without an answer, a double, a copy of its passage, beside its
subject.

The checks stand in the order in which a pair meets them; it falls to the first that it fails.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ombud.lab.metrics.metric import Embed
from ombud.lab.synthesis.pairs import QuestionAnswer
from ombud.lab.synthesis.phrasing import content, phrases, plain, words_of
from ombud.types import Chunk

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float64]
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
_BEGINS = re.compile(r"[\"“‘']?[^\W_a-z]")
_CLOSED = re.compile(r"[.!?:;][\"”')*]*$")
_ANNOUNCES = re.compile(r"(?:[:?]|these steps\.|instructions\.)$")
_NO_CELL = re.compile(r"(?:n/?a|none|tbd|tbc|unknown|\W*)", re.IGNORECASE)


def tokens(text: str) -> list[str]:
    """Lower-case words and numbers."""
    return [token.lower() for token in _TOKEN.findall(text)]


def passage(chunk: Chunk) -> str:
    """What an index sees of a chunk: its headings too, for a question that copies a heading tests
    as little."""
    return "\n".join((" > ".join(chunk.trail), chunk.header, chunk.text))


def is_answered(pair: QuestionAnswer) -> bool:
    """Whether the quote says something: not a stub, a heading, boilerplate, a list of links or a
    pointer elsewhere."""
    text = plain(pair.quote)
    words = words_of(text)
    answer = pair.answer.strip()
    if pair.kind == "table":
        return len(words) >= 2 and not _NO_CELL.fullmatch(answer)
    if len(words) < LEAST_WORDS or not answer:
        return False
    # In small letters the sentence began elsewhere.
    if not _BEGINS.match(text) or _ANNOUNCES.search(text):
        return False
    return not _is_filler(text) and _says_something(pair.quote)


def _is_filler(text: str) -> bool:
    """Boilerplate, another language, links, or nothing but where else to look."""
    if phrases("boilerplate").search(text) or _UNSPACED.search(text):
        return True
    length = len(text.split())
    if phrases("elsewhere").match(text) and length < 25:
        return True
    return len(_ADDRESS.findall(text)) * 4 > length


def _says_something(quote: str) -> bool:
    """Headings and menus have no sentence; a list counts when its items are more than names."""
    lines = []
    for line in quote.split("\n"):
        if line.strip():
            lines.append(plain(line))
    if any(map(_CLOSED.search, lines)):
        return True
    return max(len(line.split()) for line in lines) >= 8


def copied_share(question: str, text: str) -> float:
    """Share of the question's content words that lie in runs of at least `RUN` tokens which the
    text has too."""
    asked = tokens(question)
    runs_of_text = set(_token_runs(tokens(text)))
    inside = [False] * len(asked)
    for start, run in enumerate(_token_runs(asked)):
        if run in runs_of_text:
            inside[start : start + RUN] = [True] * RUN
    content_words = set(content(question))
    weighed = []
    for token, is_inside in zip(asked, inside, strict=True):
        if token in content_words:
            weighed.append(is_inside)
    return sum(weighed) / len(weighed) if weighed else float(all(inside))


def _token_runs(row: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Every `RUN` tokens in a row."""
    for start in range(len(row) - RUN + 1):
        yield tuple(row[start : start + RUN])


class PairVectors(NamedTuple):
    question: "Vector"
    passage: "Vector"


class Cleaner:
    """The checks and what they remember: every question that was accepted.

    sample: passages that a question is measured against, to tell a poor question from a far-away
    embedder."""

    def __init__(self, embed: Embed | None = None, sample: Sequence[Chunk] = ()) -> None:
        self._embed = embed
        self._accepted: set[frozenset[str]] = set()
        self._accepted_with: dict[str, list[frozenset[str]]] = {}
        self._accepted_vectors: list[Vector] = []
        self._sample_ids = [chunk.id for chunk in sample]
        self._sample_vectors: Vectors | None = None
        if embed and sample:
            self._sample_vectors = _unit_vectors(embed, list(map(passage, sample)))

    @property
    def embeds(self) -> bool:
        return self._embed is not None

    def check_words(self, pair: QuestionAnswer) -> str:
        """The first of the checks without an embedder that the pair fails; empty when it passes."""
        if pair.quote not in pair.chunk.text or not is_answered(pair):
            return NO_ANSWER
        return self.check_wording(pair)

    def check_wording(self, pair: QuestionAnswer) -> str:
        """The same of the question alone."""
        if self._is_duplicate(pair.wording):
            return LEXICAL
        return COPIED if copied_share(pair.wording, passage(pair.chunk)) > COPY else ""

    def _is_duplicate(self, question: str) -> bool:
        asked = frozenset(tokens(question))
        if asked in self._accepted:
            return True
        near: set[frozenset[str]] = set()
        for token in asked:
            near.update(self._accepted_with.get(token, ()))
        return any(len(asked & other) >= JACCARD * len(asked | other) for other in near)

    def measure(self, pairs: Sequence[QuestionAnswer]) -> list[PairVectors | None]:
        """Vectors of each question and its passage, to be handed to `check_meaning`; None without
        an embedder."""
        if self._embed is None or not pairs:
            return [None] * len(pairs)
        questions = [pair.wording for pair in pairs]
        passages = [passage(pair.chunk) for pair in pairs]
        vectors = _unit_vectors(self._embed, questions + passages)
        of_questions = vectors[: len(pairs)]
        of_passages = vectors[len(pairs) :]
        return list(map(PairVectors, of_questions, of_passages))

    def check_meaning(self, pair: QuestionAnswer, vectors: PairVectors | None) -> str:
        """The first of the checks with an embedder that the pair fails; empty when it passes."""
        if vectors is None:
            return ""
        for other in self._accepted_vectors:
            if float(vectors.question @ other) >= COSINE:
                return EMBEDDED
        return "" if self._is_relevant(pair, vectors) else UNRELATED

    def _is_relevant(self, pair: QuestionAnswer, vectors: PairVectors) -> bool:
        likeness = float(vectors.question @ vectors.passage)
        if likeness >= RELEVANCE or self._sample_vectors is None:
            return likeness >= RELEVANCE
        is_nearer = (self._sample_vectors @ vectors.question) > likeness
        nearer = 0
        for chunk_id, is_near in zip(self._sample_ids, is_nearer, strict=True):
            nearer += bool(is_near) and chunk_id != pair.chunk.id
        return nearer < NEAREST

    def accept(self, pair: QuestionAnswer, vectors: PairVectors | None) -> None:
        """Remember a question, so that later ones are not like it."""
        asked = frozenset(tokens(pair.wording))
        self._accepted.add(asked)
        for token in asked:
            self._accepted_with.setdefault(token, []).append(asked)
        if vectors is not None:
            self._accepted_vectors.append(vectors.question)


def _unit_vectors(embed: Embed, texts: Sequence[str]) -> "Vectors":
    import numpy as np

    vectors = np.asarray(embed(list(texts)), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float64)
