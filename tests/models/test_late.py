"""Tokens: what is kept of a text's single words, and how near texts are by them."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from ombud.models import Embedder, open_embedder
from ombud.models.embed.late import (
    DIMENSION,
    SCALE,
    TokenVectors,
    answered,
    interact,
    projection,
    unpack,
)
from ombud.models.embed.minilm import PACKAGE
from ombud.settings import ModelSettings

pytest.importorskip(PACKAGE)


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    embedder = open_embedder(ModelSettings(), tmp_path_factory.mktemp("cache"))
    assert embedder
    return embedder


def words(minilm: Embedder, text: str) -> list[str]:
    spec = find_spec(PACKAGE)
    assert spec
    assert spec.submodule_search_locations
    tokenizer = Tokenizer.from_file(
        str(Path(spec.submodule_search_locations[0], "model", "tokenizer.json"))
    )
    return [str(tokenizer.id_to_token(int(identity))) for identity in tokens_of(minilm, text).ids]


def tokens_of(minilm: Embedder, text: str) -> TokenVectors:
    found = minilm.read([text])[0].tokens
    assert found
    return found


def tokens(*units: tuple[int, int]) -> TokenVectors:
    """(id, axis along which its vector points), and -axis for the other way."""
    vectors = np.zeros((len(units), DIMENSION), np.int8)
    for row, (_, axis) in enumerate(units):
        vectors[row, abs(axis)] = SCALE if axis >= 0 else -SCALE
    return TokenVectors(np.array([identity for identity, _ in units], np.uint16), vectors)


# What is kept -------------------------------------------------------------------------------------


def test_words_that_carry_meaning_are_kept(minilm: Embedder) -> None:
    assert words(minilm, "How many days of annual leave do I get?") == [
        "many",
        "days",
        "annual",
        "leave",
    ]
    assert words(minilm, "Who is it? — (the)…") == []
    assert words(minilm, "unaffable") == ["una", "##ffa", "##ble"]


def test_vectors_of_tokens_have_the_length_they_should(minilm: Embedder) -> None:
    found = tokens_of(minilm, "Employees take annual leave in spring.")
    lengths = np.linalg.norm(found.vectors.astype(float), axis=1)
    assert found.vectors.shape == (5, DIMENSION)
    assert lengths == pytest.approx(
        np.full(5, SCALE), abs=3
    )  # 48 numbers, each rounded by up to a half


def test_a_word_of_the_same_meaning_is_nearer(minilm: Embedder) -> None:
    asked = tokens_of(minilm, "my kid is ill")
    near = interact(
        asked, [tokens_of(minilm, t) for t in ("Sick children", "Travel expenses", "Car park")]
    )
    assert near.argmax() == 0


def test_long_texts_keep_the_tokens_of_all_their_windows(minilm: Embedder) -> None:
    text = "leave " * 600 + "lighthouse"
    assert words(minilm, text)[-1] == "lighthouse"


def test_components_are_at_right_angles() -> None:
    assert projection().T @ projection() == pytest.approx(np.eye(DIMENSION), abs=0.01)


def test_packed_tokens_come_back(minilm: Embedder) -> None:
    given = tokens_of(minilm, "Annual leave is 25 days.")
    packed = given.pack()
    assert len(packed) == len(given.ids) * (2 + DIMENSION)
    again = unpack(packed)
    assert again.ids.tolist() == given.ids.tolist()
    assert again.vectors.tolist() == given.vectors.tolist()
    assert len(unpack(b"").ids) == 0
    with pytest.raises(ValueError, match="49 bytes"):
        unpack(b"x" * 49)


# How near texts are -------------------------------------------------------------------------------


def test_each_token_of_the_question_counts_its_nearest_by_how_rare_it_is() -> None:
    # Token 1 stands in both texts: ln(3 / 2.5); token 2 in the first only: ln(3 / 1.5).
    question = tokens((1, 0), (2, 1))
    texts = [tokens((1, 0), (2, 1)), tokens((1, 0), (3, 4))]
    common, rare = np.log(3 / 2.5), np.log(3 / 1.5)
    assert interact(question, texts) == pytest.approx([1.0, common / (common + rare)])


def test_a_text_that_says_the_opposite_is_below_one_that_says_nothing() -> None:
    assert interact(tokens((1, 0)), [tokens((2, -0)), tokens(), tokens((3, -5))])[
        1:
    ] == pytest.approx([0, 0])
    opposite = TokenVectors(np.array([7], np.uint16), -tokens((7, 0)).vectors)
    assert interact(tokens((1, 0)), [opposite, tokens()]) == pytest.approx([-1, 0])


def test_without_tokens_nothing_is_near() -> None:
    assert interact(tokens(), [tokens((1, 0)), tokens((2, 1))]).tolist() == [0, 0]
    assert interact(tokens((1, 0)), []).tolist() == []
    assert answered(tokens(), [tokens((1, 0))]).tolist() == [0]


def test_the_way_back_is_the_mean_over_the_text() -> None:
    texts = [tokens((1, 0)), tokens((1, 0), (2, 1)), tokens()]
    assert answered(tokens((1, 0)), texts) == pytest.approx([1.0, 0.5, 0.0])


def test_many_tokens_are_compared_as_exactly_as_few() -> None:
    random = np.random.default_rng(5)
    question, *texts = [
        TokenVectors(
            random.integers(1, 500, count).astype(np.uint16),
            random.integers(-127, 128, (count, DIMENSION)).astype(np.int8),
        )
        for count in (40, 200, 1, 350, 90)
    ]
    asked = question.vectors.astype(np.int64)
    nearest = [(asked @ text.vectors.astype(np.int64).T) / SCALE**2 for text in texts]
    holders = [sum(int(token) in text.ids for text in texts) for token in question.ids]
    weights = np.maximum(np.log(5 / (np.array(holders) + 0.5)), 0.05)
    expected = [np.average(cosines.max(axis=1), weights=weights) for cosines in nearest]
    assert interact(question, texts) == pytest.approx(expected, rel=1e-6)
    back = [cosines.max(axis=0).mean() for cosines in nearest]
    assert answered(question, texts) == pytest.approx(back, rel=1e-6)
