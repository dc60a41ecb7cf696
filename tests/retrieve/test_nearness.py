"""Late interaction in a search: the order it gives, and where it keeps out of the way."""

import numpy as np
import pytest

from ombud.models.embed.late import DIMENSION, SCALE, TokenVectors
from ombud.retrieve.rerank import nearness
from ombud.retrieve.rerank.nearness import by_tokens
from ombud.types import Chunk, Hit, Plan


def tokens(identity: int) -> TokenVectors:
    vectors = np.zeros((1, DIMENSION), np.int8)
    vectors[0, identity] = SCALE
    return TokenVectors(np.array([identity], np.uint16), vectors)


def hits(*scores: float) -> list[Hit]:
    chunks = [
        Chunk(id=str(n), document_id="d", title="t", uri="u", text="x", start=0, end=1)
        for n in range(len(scores))
    ]
    return [Hit(chunk=chunk, score=score) for chunk, score in zip(chunks, scores, strict=True)]


NONE = TokenVectors(np.zeros(0, np.uint16), np.zeros((0, DIMENSION), np.int8))
FOUND = hits(0.9, 0.6, 0.3)
PACKED = {str(n): tokens(n).pack() for n in range(3)}


def order(found: object) -> list[str]:
    return [hit.chunk.id for hit in found]  # type: ignore[attr-defined]


def test_the_passage_with_the_word_that_was_asked_for_comes_first() -> None:
    # Fused scores stand at 1.22, 0, -1.22; nearness at -.71, -.71, 1.41, twice that is added.
    found, near = by_tokens([tokens(2)], FOUND, PACKED, Plan(late=2))
    assert order(found) == ["2", "0", "1"]
    assert near == pytest.approx([2**0.5, -(0.5**0.5), -(0.5**0.5)], abs=1e-6)
    assert [hit.score for hit in found] == [0.9, 0.6, 0.3]


def test_a_small_weight_leaves_the_order_to_the_fusion() -> None:
    assert order(by_tokens([tokens(2)], FOUND, PACKED, Plan(late=0.5))[0]) == ["0", "1", "2"]


def test_what_several_search_texts_mean_counts_alike() -> None:
    assert (
        order(by_tokens([tokens(1), tokens(1), tokens(2)], FOUND, PACKED, Plan(late=4))[0])[0]
        == "1"
    )


def test_only_the_pool_is_put_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearness, "RERANK_POOL", 2)
    found, near = by_tokens([tokens(2)], FOUND, PACKED, Plan(late=9))
    assert order(found) == ["0", "1", "2"]
    assert len(near) == 2


def test_a_hit_without_tokens_is_neither_near_nor_far() -> None:
    found, near = by_tokens([tokens(2)], FOUND, {"0": PACKED["0"], "2": PACKED["2"]}, Plan(late=2))
    # 1.22 - 2, 0, -1.22 + 2
    assert order(found) == ["2", "1", "0"]
    assert near == pytest.approx([1, 0, -1])


@pytest.mark.parametrize(
    ("asked", "packed", "plan"),
    [
        ([tokens(2)], PACKED, Plan(late=0)),
        ([], PACKED, Plan()),
        ([NONE], PACKED, Plan()),
        ([tokens(2)], {"2": PACKED["2"]}, Plan()),
    ],
    ids=[
        "switched off",
        "no search text",
        "a question of function words",
        "only one that has tokens",
    ],
)
def test_where_it_knows_nothing_the_order_stays(
    asked: list[TokenVectors], packed: dict[str, bytes], plan: Plan
) -> None:
    assert by_tokens(asked, FOUND, packed, plan) == (FOUND, ())
