"""Examples from texts in the format of SQuAD: a question, a passage in pieces, and the pieces that
answer."""

import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ombud.text import split_sentences

ExampleKind = Literal["answered", "other", "cut"]
"""answered: some piece answers. other: another passage, found by the words of the question. cut:
the passage without what answers."""
LONGEST = 170
"""Words of a passage that is made of a longer text."""
WORD = re.compile(r"[a-z0-9]+")
CUT = 0.6
"""Share of the answered that are given without their answer, too."""
LEAST_LEFT = 30
"""Words that a passage must have left when its answer is cut out."""
CANDIDATES = 8
"""Passages looked at for one that has the words of a question and not its answer."""


class ReadingExample(NamedTuple):
    question: str
    heading: str
    pieces: Sequence[str]
    """Sentences, list items and rows, in reading order."""
    answering: Sequence[int]
    """Places among the pieces; none where the passage does not answer."""
    kind: ExampleKind
    group: str
    """Examples of one question share it."""


class _Paragraph(NamedTuple):
    text: str
    sentences: Sequence[tuple[int, int]]
    group: str
    """Paragraphs among which another one is looked for."""

    def words(self, place: int) -> int:
        start, end = self.sentences[place]
        return len(self.text[start:end].split())

    def piece(self, place: int) -> str:
        start, end = self.sentences[place]
        return self.text[start:end]


class _Asked(NamedTuple):
    question: str
    paragraph: int
    place: int
    """Of the sentence in which most annotators found the answer."""
    answers: frozenset[str]
    """As they stand there, in small letters."""


def without_answers(example: ReadingExample) -> ReadingExample | None:
    """The passage without what answers, so that the subject is there and the answer is not; None
    where too little would be left."""
    rest: list[str] = []
    for place, piece in enumerate(example.pieces):
        if place not in example.answering:
            rest.append(piece)
    if sum(len(piece.split()) for piece in rest) < LEAST_LEFT:
        return None
    return example._replace(pieces=rest, answering=(), kind="cut")


def squad_examples(path: Path, source: str, *, by_article: bool, seed: int) -> list[ReadingExample]:
    """Examples from a file in the format of SQuAD: each question with its paragraph, without what
    answers, and with another one that has its words.

    by_article: others come from the same article, else from the whole file."""
    rng = random.Random(seed)
    paragraphs, asked = _read_squad(path, by_article=by_article)
    of_group: dict[str, list[_Paragraph]] = defaultdict(list)
    for paragraph in paragraphs:
        of_group[paragraph.group].append(paragraph)
    searches: dict[str, WordSearch] = {}
    for group, members in of_group.items():
        searches[group] = WordSearch([words_of(member.text) for member in members])
    examples: list[ReadingExample] = []
    for number, one in enumerate(asked):
        name = f"{source}-{number}"
        paragraph = paragraphs[one.paragraph]
        answered = _answered(one, paragraph, name, rng)
        examples.append(answered)
        cut = without_answers(answered)
        if cut and not _holds(cut.pieces, one.answers) and rng.random() < CUT:
            examples.append(cut)
        found = searches[paragraph.group].best(words_of(one.question), CANDIDATES)
        others = map(of_group[paragraph.group].__getitem__, found)
        other = _other(one, paragraph, others)
        if other:
            pieces = [other.piece(place) for place in _run(other, None, rng)]
            examples.append(answered._replace(pieces=pieces, answering=(), kind="other"))
    return examples


def _other(
    one: _Asked, paragraph: _Paragraph, candidates: Iterable[_Paragraph]
) -> _Paragraph | None:
    """The first that holds no answer."""
    for candidate in candidates:
        if candidate is not paragraph and not _holds([candidate.text], one.answers):
            return candidate
    return None


def _answered(one: _Asked, paragraph: _Paragraph, name: str, rng: random.Random) -> ReadingExample:
    run = _run(paragraph, one.place, rng)
    return ReadingExample(
        question=one.question,
        heading="",
        pieces=[paragraph.piece(place) for place in run],
        answering=(run.index(one.place),),
        kind="answered",
        group=name,
    )


def _read_squad(path: Path, *, by_article: bool) -> tuple[list[_Paragraph], list[_Asked]]:
    paragraphs: list[_Paragraph] = []
    asked: list[_Asked] = []
    articles = json.loads(path.read_text(encoding="utf-8"))["data"]
    for number, article in enumerate(articles):
        for row in article["paragraphs"]:
            text = row["context"]
            group = str(number) if by_article else ""
            paragraphs.append(_Paragraph(text, split_sentences(text, "en"), group))
            for question in row["qas"]:
                one = _located(question, paragraphs, len(paragraphs) - 1)
                if one:
                    asked.append(one)
    return paragraphs, asked


def _located(
    question: Mapping[str, Any], paragraphs: Sequence[_Paragraph], place: int
) -> _Asked | None:
    counts = Counter[int]()
    answers: set[str] = set()
    paragraph = paragraphs[place]
    for answer in question["answers"]:
        answers.add(_plain(answer["text"]))
        for sentence, (start, end) in enumerate(paragraph.sentences):
            if start <= answer["answer_start"] < end:
                counts[sentence] += 1
    if not counts or question.get("is_impossible"):
        return None
    ((sentence, _),) = counts.most_common(1)
    return _Asked(question["question"].strip(), place, sentence, frozenset(answers))


def _run(paragraph: _Paragraph, keep: int | None, rng: random.Random) -> list[int]:
    """Places of sentences that follow each other, LONGEST words at most, `keep` among them."""
    first = last = rng.randrange(len(paragraph.sentences)) if keep is None else keep
    words = paragraph.words(first)
    while True:
        room: list[int] = []
        for place in (first - 1, last + 1):
            is_there = 0 <= place < len(paragraph.sentences)
            if is_there and words + paragraph.words(place) <= LONGEST:
                room.append(place)
        if not room:
            return list(range(first, last + 1))
        taken = rng.choice(room)
        words += paragraph.words(taken)
        first = min(first, taken)
        last = max(last, taken)


def _holds(pieces: Iterable[str], answers: Iterable[str]) -> bool:
    text = f" {_plain(' '.join(pieces))} "
    return any(len(answer) > 2 and f" {answer} " in text for answer in answers)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"\W+", " ", text.lower()).split())


def words_of(text: str) -> list[str]:
    return WORD.findall(text.lower())


class WordSearch:
    """BM25 (k1 1.2, b .75) over lists of words, for finding passages that look like an answer."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._count = len(texts)
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        mean = sum(map(len, texts)) / max(1, len(texts))
        for place, words in enumerate(texts):
            length = 0.25 + 0.75 * len(words) / max(1.0, mean)
            for word, times in Counter(words).items():
                self._postings[word].append((place, times * 2.2 / (times + 1.2 * length)))

    def best(self, words: Iterable[str], most: int) -> list[int]:
        scores: dict[int, float] = defaultdict(float)
        for word in set(words):
            postings = self._postings.get(word, [])
            rarity = math.log(1 + (self._count - len(postings) + 0.5) / (len(postings) + 0.5))
            for place, weight in postings:
                scores[place] += rarity * weight
        return sorted(scores, key=lambda place: (-scores[place], place))[:most]
