"""The complexity router: what ships, what training makes of it, how it is judged, and its other
variants."""

import asyncio
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from sklearn.metrics import precision_recall_fscore_support

from ombud.errors import BadRequest, BadSetting, MissingExtra, ModelError, UnknownName
from ombud.models import Chat, Embedder, open_embedder
from ombud.retrieve import classify_by_model, open_router
from ombud.retrieve import router_weights_text as weights_text
from ombud.retrieve.router.classifying import classify
from ombud.retrieve.router.weights import SHIPPED, WITH_VECTORS, load_router_weights, router_scores
from ombud.settings import ModelSettings
from ombud.training.router.augmentation import augment, facts
from ombud.training.router.comparing import judge_by_folds, judge_weights
from ombud.training.router.evaluation import by_chance, figures
from ombud.training.router.fine_tuning import fine_tune_router
from ombud.training.router.labelled import (
    LabelledQuestion,
    questions_digest,
    read_labelled_questions,
)
from ombud.training.router.training import Recipe, cross_validate, train_router
from ombud.training.router.training import RouterTrainingParts as TrainingTools

DATA = Path(__file__).parents[1] / "data"
HELD = {
    name: read_labelled_questions(DATA / f"{name}.jsonl")
    for name in ("router-apart", "router-counter")
}
REPORT = Path(__file__).parents[2] / "docs/results/router.md"
QUESTIONS = read_labelled_questions()


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    found = open_embedder(ModelSettings(), tmp_path_factory.mktemp("models"))
    assert found
    return found


def plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


# What ships ---------------------------------------------------------------------------------------


def test_the_shipped_set_is_large_even_and_varied() -> None:
    assert len(QUESTIONS) >= 900
    assert Counter(q.label for q in QUESTIONS) == {0: 320, 1: 320, 2: 320}
    assert len({q.field for q in QUESTIONS}) >= 6
    assert max(Counter(q.template for q in QUESTIONS).values()) <= 5
    assert len({plain(q.question) for q in QUESTIONS}) == len(QUESTIONS)


def test_no_held_out_question_is_a_training_question() -> None:
    taught = {plain(q.question) for q in QUESTIONS}
    for held in HELD.values():
        assert not taught & {plain(q.question) for q in held}


def test_the_shipped_weights_say_what_they_were_taught() -> None:
    weights = load_router_weights()
    assert (weights.variant, weights.classes, weights.embedder) == ("logistic", 3, "")
    assert weights.provenance["digest"] == questions_digest(QUESTIONS)
    assert weights.provenance["questions"] == len(QUESTIONS)
    assert SHIPPED.stat().st_size < 600_000


def test_the_weights_with_vectors_are_used_with_their_embedder_only(minilm: Embedder) -> None:
    assert load_router_weights(WITH_VECTORS).embedder == minilm.fingerprint
    question = "What can I claim back from a trip, and what do I have to hand in for it?"
    with_vectors = open_router(None, minilm)(question, 3)
    assert with_vectors.probabilities == pytest.approx(
        tuple(router_scores([question], load_router_weights(WITH_VECTORS), minilm.embed)[0])
    )
    assert open_router(None, None)(question, 3) == classify(question) != with_vectors


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "path"), [("logistic", SHIPPED), ("combined", WITH_VECTORS)])
def test_training_again_gives_the_shipped_router(
    variant: str, path: Path, minilm: Embedder
) -> None:
    again = train_router(QUESTIONS, variant, 3, TrainingTools(minilm.embed, minilm.fingerprint))
    asked = [q.question for held in HELD.values() for q in held]
    new, shipped = (
        router_scores(asked, again, minilm.embed),
        router_scores(asked, load_router_weights(path), minilm.embed),
    )
    assert np.abs(new - shipped).max() < 0.02
    assert (new.argmax(axis=1) == shipped.argmax(axis=1)).mean() > 0.99


@pytest.mark.parametrize(("variant", "path"), [("logistic", SHIPPED), ("combined", WITH_VECTORS)])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_report_has_the_figures_of_the_shipped_router(
    classes: int, variant: str, path: Path, minilm: Embedder
) -> None:
    section = (
        REPORT.read_text(encoding="utf-8").split(f"## {classes} classes\n")[1].split("\n## ")[0]
    )
    row = next(line for line in section.splitlines() if line.startswith(f"| `{variant}` |"))
    for result in judge_weights(load_router_weights(path), HELD, TrainingTools(minilm.embed)):
        if result.classes == classes:
            said = f"{result.figures.f1:.3f}".lstrip("0")
            assert said in row, f"{result.held}: {said}; run `make router`"
    for name, held in {"cross-validated": QUESTIONS, **HELD}.items():
        assert re.search(
            rf"\| {name} \| {len(held)} \|.*`{questions_digest(held)}`",
            REPORT.read_text(encoding="utf-8"),
        )


# One question -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("How many days of annual leave do I get?", 0),
        ("Who approves my travel request?", 0),
        ("How long is the notice period, and who signs the letter?", 1),
        ("Sick pay in Spain versus sick pay in France?", 1),
        (
            "Everything about parental leave: who can take it, how long, how much is paid and how do I apply?",
            2,
        ),
        ("Give me an overview of all rules on business travel, from booking to reimbursement.", 2),
    ],
)
def test_plain_questions_have_the_class_of_what_they_ask(question: str, label: int) -> None:
    found = classify(question)
    assert found.label == label
    assert sum(found.probabilities) == pytest.approx(1)
    assert len(found.probabilities) == 3


def test_two_classes_are_one_passage_and_more() -> None:
    for question in HELD["router-apart"][:20]:
        three, two = classify(question.question, 3), classify(question.question, 2)
        assert two.probabilities == pytest.approx(
            (three.probabilities[0], sum(three.probabilities[1:]))
        )
        assert two.label == (two.probabilities[1] >= two.probabilities[0])


def test_a_story_around_one_fact_stays_one_fact() -> None:
    story = (
        "Sorry for the long message. I moved desks in May, then again in June, and my plant died, and my sister "
        "got married in between, so I'm all over the place. How many days of annual leave do I get?"
    )
    assert classify(story).label == classify("How many days of annual leave do I get?").label == 0


ODD = ["", " ", "?", "…", "🙂", "有給休暇は何日ですか。", "a" * 50_000, "?" * 5000, "a, " * 9000]


@pytest.mark.parametrize("odd", ODD)
def test_odd_texts_have_a_class_too(odd: str) -> None:
    found = classify(odd)
    assert found.label in (0, 1, 2)
    assert np.isfinite(found.probabilities).all()


# Files --------------------------------------------------------------------------------------------


def lines(path: Path, *rows: object) -> Path:
    path.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows),
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(
    "row",
    ["no json", "[]", '{"question": "a?"}', '{"question": "", "label": 0}', '{"question": "a?", "label": 3}',
     '{"question": "a?", "label": true}', '{"question": 1, "label": 1}'],
)  # fmt: skip
def test_a_line_that_is_no_labelled_question_is_named(row: str, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"q\.jsonl, line 2"):
        read_labelled_questions(lines(tmp_path / "q.jsonl", {"question": "Fine?", "label": 0}, row))


def test_a_file_that_is_not_there_or_empty_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="cannot be read"):
        read_labelled_questions(tmp_path / "none.jsonl")
    with pytest.raises(BadRequest, match="has no questions"):
        read_labelled_questions(lines(tmp_path / "empty.jsonl", ""))


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"parts": {"words": 1}}'])
def test_a_file_that_holds_no_weights_is_said(text: str, tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="no router's weights"):
        open_router(lines(tmp_path / "w.json", text))


# Training -----------------------------------------------------------------------------------------

SMALL = QUESTIONS[::6]


def test_a_trained_router_is_the_same_after_a_file(tmp_path: Path) -> None:
    weights = train_router(SMALL, "svm", 2)
    path = tmp_path / "own.json"
    path.write_text(weights_text(weights), encoding="utf-8")
    assert weights_text(train_router(SMALL, "svm", 2)) == path.read_text(encoding="utf-8")
    router = open_router(path)
    for question in SMALL[:10]:
        expected = router_scores([question.question], weights)[0]
        assert router(question.question, 2).probabilities == pytest.approx(
            tuple(expected), abs=0.02
        )
    with pytest.raises(BadSetting, match="know 2 classes, not 3"):
        router("Notice period?", 3)


class Letters:
    """An embedder of letter counts: enough to see that vectors are used."""

    def __call__(self, texts: Any) -> Any:
        rows = np.array([[text.count(chr(97 + n)) + 0.1 for n in range(26)] for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_weights_on_vectors_need_the_embedder_they_were_trained_with(tmp_path: Path) -> None:
    weights = train_router(SMALL, "combined", 3, TrainingTools(Letters(), "letters-1"))
    assert weights.embedder == "letters-1"
    path = tmp_path / "vectors.json"
    path.write_text(weights_text(weights), encoding="utf-8")
    with pytest.raises(BadSetting, match="letters-1"):
        open_router(path)
    with pytest.raises(BadSetting, match="letters-1"):
        router_scores(["Notice period?"], weights)


def test_training_refuses_what_it_cannot_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="oracle"):
        train_router(SMALL, "oracle")
    with pytest.raises(BadRequest, match="Not each of 3 classes"):
        train_router([q for q in SMALL if q.label < 2])
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra) as missing:
        train_router(SMALL)
    assert "ombud[train]" in missing.value.hint


def test_folds_keep_templates_together() -> None:
    """Forty templates with labels drawn by lot, each with four questions that share a word of their
    own: whoever has seen three of them knows the fourth, and whoever has seen none cannot."""
    lot = np.random.default_rng(5).integers(0, 2, 40)
    questions = [
        LabelledQuestion(f"May the {word} be {seen}?", int(lot[n]), f"t{n}")
        for n, word in enumerate(f"{a}{b}zzle" for a in "bcdfghjk" for b in "aeiou")
        for seen in ("used", "sold", "kept", "lent")
    ]
    found = cross_validate(questions, Recipe({"words": 1.0}, strictness=100, augmented=False), 2)
    right = (found.argmax(axis=1) == np.array([q.label for q in questions])).mean()
    assert right < 0.7


# Augmentation -------------------------------------------------------------------------------------


def test_rewrites_have_the_shares_of_the_paper_and_ask_for_as_much() -> None:
    found = augment(QUESTIONS)
    assert found.made == {
        "vaguer": 96, "noise": 96, "vaguer with noise": 96, "reordered": 48, "misspelt": 48, "more verbose": 80,
        "more concise": 80,
    }  # fmt: skip
    assert len(found.questions) == sum(found.made.values())
    assert sum(found.dropped.values()) > 0
    labels = {
        q.template: {o.label for o in QUESTIONS if o.template == q.template}
        for q in found.questions
    }
    assert all(q.label in labels[q.template] for q in found.questions)
    assert found == augment(QUESTIONS)
    assert found != augment(QUESTIONS, seed=1)


def test_what_a_rewrite_may_not_change_is_how_much_is_asked() -> None:
    assert facts("How long is the notice period?") == facts("um How long is the notice period??")
    assert facts("How long is the notice period?") != facts(
        "How long is the notice period, and who signs?"
    )
    assert facts("Who signs?") != facts("Who signs in Spain versus France?")


# Judging ------------------------------------------------------------------------------------------


def test_figures_are_those_of_scikit_learn() -> None:
    random = np.random.default_rng(3)
    labels = random.integers(0, 3, 300)
    guesses = np.where(random.random(300) < 0.7, labels, random.integers(0, 3, 300))
    found = figures(labels.tolist(), guesses.tolist(), 3, range(300))
    expected = precision_recall_fscore_support(labels, guesses)
    for one in found.classes:
        assert (one.precision, one.recall, one.f1, one.questions) == pytest.approx(
            [row[one.label] for row in expected]
        )
    macro = precision_recall_fscore_support(labels, guesses, average="macro")
    assert (found.precision, found.recall, found.f1) == pytest.approx(macro[:3])
    assert found.low < found.f1 < found.high


def test_questions_that_are_alike_say_less() -> None:
    labels = [0, 1, 2] * 40
    guesses = [0, 1, 1] * 20 + [0, 1, 2] * 20
    alone = figures(labels, guesses, 3, range(120))
    alike = figures(labels, guesses, 3, [n // 30 for n in range(120)])
    assert alike.high - alike.low > alone.high - alone.low
    assert alike.f1 == alone.f1


def test_a_class_without_questions_is_not_judged() -> None:
    found = figures([0, 0, 2, 2], [0, 1, 2, 2], 3, range(4))
    assert [one.label for one in found.classes] == [0, 2]
    assert found.f1 == pytest.approx((2 / 3 + 1) / 2)


def test_chance_is_what_dice_reach() -> None:
    assert by_chance([0, 1, 2] * 100, 3) == pytest.approx(1 / 3, abs=0.01)
    assert by_chance([0, 1] * 100, 2) == pytest.approx(1 / 2, abs=0.01)


@pytest.mark.slow
def test_a_variant_is_judged_in_three_classes_and_two() -> None:
    three, two = judge_by_folds(SMALL, "logistic", 3, TrainingTools())
    assert (three.classes, two.classes) == (3, 2)
    assert by_chance([q.label for q in SMALL], 3) + 0.1 < three.figures.f1 < 1


# By a chat model ----------------------------------------------------------------------------------


def counting(contexts: object) -> Chat:
    async def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert "three or more" in (info.instructions or "")
        return ModelResponse(parts=[TextPart(json.dumps({"contexts": contexts}))])

    return Chat("scripted", FunctionModel(say))


@pytest.mark.parametrize(
    ("contexts", "three", "two"),
    [(-1, 0, 0), (0, 0, 0), (1, 0, 0), (2, 1, 1), (3, 2, 1), (12, 2, 1)],
)
def test_a_chat_model_counts_passages(contexts: int, three: int, two: int) -> None:
    for classes, label in ((3, three), (2, two)):
        found = asyncio.run(classify_by_model("Sick pay?", classes, counting(contexts), seconds=5))
        assert found.label == label
        assert found.probabilities[label] == 1.0


def test_a_model_that_does_not_count_is_a_model_error() -> None:
    with pytest.raises(ModelError):
        asyncio.run(classify_by_model("Sick pay?", 3, counting("many"), seconds=5))


# Fine-tuned ---------------------------------------------------------------------------------------


def test_fine_tuning_says_what_it_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra) as missing:
        fine_tune_router(SMALL, tmp_path / "tuned")
    assert "ombud[fine-tune]" in missing.value.hint
    assert not (tmp_path / "tuned").exists()


def test_a_fine_tuned_router_runs_without_torch(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra `fine-tune` is not installed")
    pytest.importorskip("transformers", reason="the extra `fine-tune` is not installed")
    weights = fine_tune_router(SMALL[:48], tmp_path / "tuned", epochs=1)
    router = open_router(tmp_path / "tuned")
    assert {path.name for path in (tmp_path / "tuned").iterdir()} == {
        "model.onnx",
        "tokenizer.json",
        "weights.json",
    }
    assert weights.provenance["questions"] == 48
    assert sum(router("Notice period?", 3).probabilities) == pytest.approx(1)
