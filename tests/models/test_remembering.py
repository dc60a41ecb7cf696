"""Vectors remembered."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from ombud.errors import ModelUnavailable
from ombud.models import CachingEmbedder, EmbeddedText


class Letters:
    """Turns a text into its first two letters' codes, and writes down what it was asked."""

    fingerprint, dimension = "letters", 2
    languages: frozenset[str] | None = frozenset({"en"})

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.away = False

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.array([[ord(t[0]), ord(t[1])] for t in texts], np.float32).reshape(len(texts), 2)

    def read(self, texts: Sequence[str]) -> list[EmbeddedText]:
        if self.away:
            raise ModelUnavailable("The embedder did not answer: connection refused")
        self.asked.append(list(texts))
        return [
            EmbeddedText(np.concatenate([vector[None], -vector[None]]))
            for vector in self.embed(texts)
        ]

    def count(self, text: str) -> int:
        return len(text)


def test_a_text_is_embedded_once_and_comes_back_in_its_place() -> None:
    letters = Letters()
    embedder = CachingEmbedder(letters)
    assert embedder.embed(["ab", "cd", "ab"]).tolist() == [[97, 98], [99, 100], [97, 98]]
    assert embedder.embed(["ef", "cd"]).tolist() == [[101, 102], [99, 100]]
    assert letters.asked == [["ab", "cd"], ["ef"]]


def test_the_latest_used_are_kept() -> None:
    letters = Letters()
    embedder = CachingEmbedder(letters, most=2)
    for text in ("ab", "cd", "ab", "ef", "ab", "cd"):
        embedder.embed([text])
    assert letters.asked == [["ab"], ["cd"], ["ef"], ["cd"]]


def test_more_than_is_kept_can_be_asked_at_once() -> None:
    assert CachingEmbedder(Letters(), most=1).embed(["ab", "cd"]).tolist() == [[97, 98], [99, 100]]


def test_nothing_asked_is_nothing_answered() -> None:
    assert CachingEmbedder(Letters()).embed([]).shape == (0, 2)


def test_what_failed_is_asked_again() -> None:
    letters = Letters()
    embedder = CachingEmbedder(letters)
    letters.away = True
    with pytest.raises(ModelUnavailable):
        embedder.embed(["ab"])
    letters.away = False
    assert embedder.embed(["ab"]).tolist() == [[97, 98]]


def test_it_is_the_embedder_that_it_stands_for() -> None:
    embedder = CachingEmbedder(Letters())
    assert (embedder.fingerprint, embedder.dimension, embedder.languages) == (
        "letters",
        2,
        frozenset({"en"}),
    )
    assert embedder.count("abc") == 3
    assert embedder.read(["ab"])[0].windows.tolist() == [[97, 98], [-97, -98]]


def test_what_was_read_whole_is_not_embedded_again() -> None:
    letters = Letters()
    embedder = CachingEmbedder(letters)
    embedder.read(["ab"])
    assert embedder.embed(["ab"]).tolist() == [[97, 98]]
    assert letters.asked == [["ab"]]
