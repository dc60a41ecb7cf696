"""The small reader: how a question and a passage are put together, what is shipped of it, and what
it does with passages that anybody can judge."""

from pathlib import Path

import numpy as np
import pytest

from ombud.errors import SetupError
from ombud.models import Reader, ReaderPassage, open_reader
from ombud.models.embed.delta import merged
from ombud.models.reader import encode
from ombud.models.reader.reader import CLS, MOST, NO_PIECE, SEP
from research.training.deltas import write_delta


class Words:
    """A tokenizer that gives each word its length."""

    class Encoding:
        def __init__(self, ids: list[int]) -> None:
            self.ids = ids

    def encode_batch_fast(
        self, texts: list[str], *, add_special_tokens: bool
    ) -> list["Words.Encoding"]:
        assert not add_special_tokens
        return [Words.Encoding(list(map(len, text.split()))) for text in texts]


def test_the_question_stands_before_heading_and_pieces() -> None:
    encoded = encode(Words(), "a bb", "ccc", ["dddd eeeee", "ffffff"])
    assert encoded.ids == [CLS, 1, 2, SEP, 4, 4, 5, 6, SEP]
    assert encoded.kinds == [0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert encoded.pieces == [NO_PIECE] * 5 + [0, 0, 1, NO_PIECE]


def test_what_is_too_long_is_cut_and_of_a_question_the_end_stays() -> None:
    encoded = encode(Words(), "a " * 99 + "last", "", ["x " * 500, "never"])
    assert len(encoded.ids) == MOST
    assert encoded.ids[64] == len("last")
    assert set(encoded.pieces) == {NO_PIECE, 0}


def test_a_small_difference_is_shipped_whole(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    base = {
        "encoder.matrix": rng.normal(size=(384, 300)).astype(np.float32),
        "encoder.bias": np.zeros(5, np.float32),
        "encoder.same": np.ones(3, np.float32),
    }
    # A sum of three products of vectors has rank 3.
    difference = rng.normal(size=(384, 3)) @ rng.normal(size=(3, 300)) / 10
    learnt = {
        "encoder.matrix": (base["encoder.matrix"] + difference).astype(np.float32),
        "encoder.bias": np.arange(5, dtype=np.float32),
        "encoder.same": base["encoder.same"],
        "answer.weight": np.full((1, 4), 0.5, np.float32),
    }
    digest = write_delta(base, learnt, tmp_path / "delta.npz")
    weights = merged(base, tmp_path / "delta.npz", digest)
    for name, value in learnt.items():
        np.testing.assert_allclose(weights[name], value, atol=2e-3)


def test_another_file_than_was_taught_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "delta.npz"
    digest = write_delta({}, {"answer.bias": np.zeros(1)}, path)
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(SetupError, match="is not what was published"):
        merged({}, path, digest)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    opened = open_reader(tmp_path_factory.mktemp("models"))
    if opened is None:
        pytest.skip("the embedding model is not installed")
    return opened


SICKNESS = ReaderPassage(
    "Sickness",
    [
        "If you are ill, tell your manager before ten o'clock on the first day.",
        "A doctor's note is needed from the fourth day of illness.",
        "Sick pay is your full salary for the first six weeks.",
        "Appointments with a doctor are made outside working hours where that is possible.",
    ],
)
PARKING = ReaderPassage(
    "Parking", ["The car park opens at six.", "Bicycles stand behind building two."]
)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("how do i call in sick", 0),
        ("when do i need a doctors note", 1),
        ("how long am i paid when sick", 2),
    ],
)
def test_the_sentence_that_answers_is_told(reader: Reader, question: str, answers: int) -> None:
    sickness, parking = reader.read(question, [SICKNESS, PARKING])
    assert sickness.pieces.argmax() == answers
    assert sickness.answerable > parking.answerable


def test_a_passage_without_the_detail_answers_less(reader: Reader) -> None:
    pieces = [piece for piece in SICKNESS.pieces if "note" not in piece]
    without = SICKNESS._replace(pieces=pieces)
    whole, cut = reader.read("when do i need a doctors note", [SICKNESS, without])
    assert whole.answerable > cut.answerable


def test_no_passage_depends_on_its_neighbours(reader: Reader) -> None:
    (alone,) = reader.read("can i park my bike", [PARKING])
    _, beside = reader.read("can i park my bike", [SICKNESS, PARKING])
    assert alone.answerable == beside.answerable
    assert (alone.pieces == beside.pieces).all()
