"""Teaching the small reader. Only `make reader` has torch: elsewhere these are skipped."""

import math
from typing import Any

import numpy as np
import pytest

from research.tests.training.test_reading import WORDS, words_tokenizer
from research.training.reader.lists import ListedPassage, ReadingList
from research.training.reader.pretrained import Pretrained
from research.training.reader.rows import EncodedLists, ListReadings, encode_lists

torch = pytest.importorskip("torch", reason="torch is there for `make reader` alone")
fitting = pytest.importorskip("research.training.reader.fitting")
networks = pytest.importorskip("research.training.reader.network")
scoring = pytest.importorskip("research.training.reader.scoring")
WIDTH, INNER = 384, 1536
LISTS = [
    ReadingList(
        "when am I paid",
        [
            ListedPassage("Pay", ["Pay day is the 25th.", "Not on Sundays."], [0]),
            ListedPassage("", ["Slips are in the portal."], []),
        ],
        "own",
        is_answered=True,
    ),
    ReadingList("slips", [ListedPassage("", ["Pay is in.", "The day."], [])], "own", False),
]


def weights_of(layers: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (20 + len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": (512, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
    }
    for layer in range(layers):
        begin = f"encoder.layer.{layer}"
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            shapes[f"{begin}.attention.{name}.weight"] = (WIDTH, WIDTH)
        shapes[f"{begin}.attention.output.LayerNorm.weight"] = (WIDTH,)
        shapes[f"{begin}.intermediate.dense.weight"] = (INNER, WIDTH)
        shapes[f"{begin}.output.dense.weight"] = (WIDTH, INNER)
        shapes[f"{begin}.output.LayerNorm.weight"] = (WIDTH,)
    weights: dict[str, Any] = {}
    for name, shape in shapes.items():
        if len(shape) > 1:
            weights[name] = rng.normal(0, 0.05, shape).astype(np.float32)
        else:
            weights[name] = np.ones(shape, np.float32)
        if name.endswith(("dense.weight", "query.weight", "key.weight", "value.weight")):
            weights[name.replace("weight", "bias")] = np.zeros(shape[0], np.float32)
        if "LayerNorm" in name:
            weights[name.replace("weight", "bias")] = np.zeros(shape[0], np.float32)
    return weights


def encoded() -> EncodedLists:
    return encode_lists(LISTS, Pretrained({}, words_tokenizer(), layers=1, begin=7, end=9))


def network() -> Any:
    torch.manual_seed(0)
    return networks.ReaderNetwork(weights_of(layers=2), layers=2).eval()


def test_a_piece_has_the_mean_logit_of_its_tokens_whatever_is_read_beside_it() -> None:
    rows = encoded()
    reader = network()
    read = fitting.read_rows(reader, rows, np.array([2, 0, 1]))
    wholes: list[float] = []
    pieces: list[float] = []
    for row in (2, 0, 1):
        of_row = slice(rows.first_tokens[row], rows.first_tokens[row + 1])
        ids = torch.tensor(rows.ids[of_row].tolist())[None]
        kinds = (torch.arange(ids.shape[1]) >= int(rows.asked[row])).long()[None]
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            whole, tokens = reader(ids, torch.ones_like(ids, dtype=torch.bool), kinds)
        wholes.append(float(whole[0]))
        for place in range(rows.piece_counts[row]):
            pieces.append(float(tokens[0][torch.tensor(rows.pieces[of_row] == place)].mean()))
    assert read.answerable.tolist() == pytest.approx(wholes, abs=0.01)
    assert read.pieces.tolist() == pytest.approx(pieces, abs=0.01)
    assert read.is_read.all()


def test_a_reader_has_as_many_layers_as_it_is_told() -> None:
    assert len(networks.ReaderNetwork(weights_of(layers=3), layers=2).encoder.layer) == 2
    with pytest.raises(ValueError, match="lack"):
        networks.ReaderNetwork(weights_of(layers=1), layers=2)


def test_the_loss_of_a_list_is_that_worked_out_by_hand() -> None:
    """Two passages of two pieces and one of one, the last piece cut off; the first list's second
    piece answers, the second list has nothing that does."""
    third = math.log(3)
    read = fitting.RowLogits(
        answerable=torch.tensor([third, 0.0]),
        pieces=torch.tensor([0.0, third, 0.0, 5.0]),
        is_read=torch.tensor([True, True, True, False]),
    )
    labels = fitting.RowLabels(
        answers=torch.tensor([1.0, 0.0]),
        weights=torch.tensor([1.0, 0.5]),
        piece_answers=torch.tensor([0.0, 1.0, 0.0, 0.0]),
        piece_weights=torch.tensor([1.0, 1.0, 0.5, 0.0]),
        shares=torch.tensor([0.0, 1.0, 0.0, 0.0]),
    )
    quarter, half = math.log(4 / 3), math.log(2)
    wholes = (quarter + 0.5 * half) / 1.5
    pieces = (half + quarter + 0.5 * half) / 2.5
    which = quarter
    loss = fitting.loss_of(read, labels, [2, 2])
    assert float(loss) == pytest.approx(wholes + 2 * pieces + which)


def test_labels_are_those_of_the_lists() -> None:
    rows = encoded()
    every = np.arange(3)
    labels = fitting.labels_of(rows, every, fitting.read_rows(network(), rows, every))
    assert labels.answers.tolist() == [1, 0, 0]
    assert labels.piece_answers.tolist() == [1, 0, 0, 0, 0]
    assert labels.shares.tolist() == [1, 0, 0, 0, 0]


def test_a_student_moves_towards_what_its_teacher_says() -> None:
    rows = encoded()
    teacher = ListReadings(
        answerable=np.array([3.0, -3.0, 2.0], np.float32),
        pieces=np.array([3.0, -3.0, -4.0, -2.0, 2.0], np.float32),
    )
    student = network()
    before = scoring.read_lists(student, rows, [0, 1])
    course = fitting.Course(passes=150, rate=2e-4, warm=0.1, seed=1)
    lines: list[str] = []
    fitting.fit(
        student, rows, [0, 1], course=course, teacher=teacher, tokens=100, on_step=lines.append
    )
    after = scoring.read_lists(student, rows, [0, 1])

    def distance(read: ListReadings) -> float:
        return float(np.abs(read.pieces - teacher.pieces).mean())

    assert distance(after) < 0.7 * distance(before)
    assert after.answerable[0] > after.answerable[1]
    assert lines


def test_scores_count_first_best_four_and_the_order_of_questions() -> None:
    rows = encoded()
    readings = ListReadings(
        answerable=np.array([1.0, 0.0, 2.0], np.float32),
        pieces=np.array([1.0, 2.0, np.nan, 9.0, 9.0], np.float32),
    )
    scores = scoring.scores_of(rows, readings, [0, 1])
    assert (scores.first, scores.best_four, scores.labelled) == (0.0, 1.0, 1)
    assert (scores.auc, scores.lists) == (0.0, 2)
