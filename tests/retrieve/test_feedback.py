"""Pseudo-relevance feedback, by hand."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from ombud.index import Engine, Filter, Leg, blocking
from ombud.retrieve.feedback import FeedbackSearch, more_legs
from ombud.types import Chunk

Numbers = npt.NDArray[np.float32]


def chunk(identity: str, text: str) -> Chunk:
    return Chunk(id=identity, document_id="d", title="", uri="u", text=text, start=0, end=1)


PAY, NOTICE = chunk("p", "leave leave pay"), chunk("n", "pay notice")


class Told:
    """An engine that knows two vectors and writes down what it is asked: a neighbour's double."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any, str]] = []

    async def search(
        self, text: str, vector: Any, where: Filter, k: int, mode: str
    ) -> tuple[Leg, ...]:
        self.asked.append((text, vector, mode))
        return (Leg(mode, ((NOTICE, 1.0),)),)

    async def vectors(self, chunks: Sequence[str]) -> dict[str, Numbers]:
        known = {"p": [[0.0, 1.0], [-1.0, 0.0]], "n": [[1.0, 0.0]]}
        return {one: np.array(known[one], np.float32) for one in chunks}


def first(engine: Told, vector: Any = None) -> FeedbackSearch:
    return FeedbackSearch(
        terms="leav", vector=vector, where=Filter(), k=8, engine=cast(Engine, engine)
    )


def test_the_terms_of_the_best_hits_are_searched_for_too() -> None:
    # P(hit) is 3/4 and 1/4. pay: 3/4 x 1/3 + 1/4 x 1/2 = .375; notice: 1/4 x 1/2 = .125; leave was
    # asked for.
    engine = Told()
    legs = (Leg("sparse", ((PAY, 3.0), (NOTICE, 1.0))),)
    found = blocking(more_legs(legs, first(engine)))
    assert [(text, mode) for text, _, mode in engine.asked] == [("pay notic", "sparse")]
    assert [leg.hits for leg in found] == [legs[0].hits, ((NOTICE, 1.0),)]


def test_the_vector_moves_half_way_to_what_was_found() -> None:
    # Half of (1, 0) and half of the mean of (0, 1) and (1, 0), the nearest windows: (.75, .25),
    # made a unit vector.
    engine = Told()
    asked = np.array([1.0, 0.0], np.float32)
    legs = (Leg("dense", ((PAY, 0.9), (NOTICE, 0.8))),)
    found = blocking(more_legs(legs, first(engine, asked)))
    ((text, vector, mode),) = engine.asked
    assert (text, mode) == ("", "dense")
    assert vector == pytest.approx(np.array([0.75, 0.25]) / np.sqrt(0.625), abs=1e-6)
    assert [leg.hits for leg in found] == [((NOTICE, 1.0),)]


def test_nothing_found_is_not_looked_for_again() -> None:
    engine = Told()
    found = blocking(more_legs((Leg("sparse", ()), Leg("dense", ())), first(engine)))
    assert engine.asked == []
    assert [leg.name for leg in found] == ["sparse", "dense"]
