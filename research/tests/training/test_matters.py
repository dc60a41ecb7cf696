"""The vectors of everyday matters that ship are made of the texts that lie here."""

import pytest

from ombud.answer.quoting.matters import load_bank
from ombud.errors import MissingExtra
from ombud.models import Embedder, open_embedder
from ombud.settings import ModelSettings
from research.training.matters.vectors import matter_bank, read_matters


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    try:
        embedder = open_embedder(ModelSettings(), tmp_path_factory.mktemp("models"))
    except MissingExtra as missing:
        pytest.skip(str(missing))
    assert embedder
    return embedder


def test_vectors_that_ship_are_those_of_the_texts_that_ship(minilm: Embedder) -> None:
    matters = read_matters()
    shipped = load_bank()
    few = matter_bank(matters[:5], minilm)
    assert shipped.embedder == minilm.fingerprint
    assert len(shipped.first_asks) == len(shipped.first_says) == len(matters)
    assert len(shipped.asks) == sum(len(matter.asks) for matter in matters)
    for own, told in ((few.asks, shipped.asks), (few.says, shipped.says)):
        cosines = (own * told[: len(own)]).sum(axis=1)
        assert cosines.min() > 0.98  # processors round int8 products differently


def test_every_matter_is_asked_and_answered_in_several_ways() -> None:
    matters = read_matters()
    assert len({matter.matter for matter in matters}) == len(matters) == 690
    for matter in matters:
        assert len(set(matter.asks)) >= 5, matter.matter
        assert len(set(matter.says)) >= 3, matter.matter
