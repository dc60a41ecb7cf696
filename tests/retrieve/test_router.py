"""The complexity router: what ships, what training makes of it, how it is judged, and its other
variants."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from ombud.errors import BadSetting, ModelError
from ombud.models import Chat, Embedder, open_embedder
from ombud.retrieve import classify_by_model, open_router
from ombud.retrieve.router.classifying import (
    WITH_VECTORS,
    classify,
    load_router_weights,
    router_scores,
    router_weights_text,
)
from ombud.settings import ModelSettings
from research.training.linear import TrainingEmbedder
from research.training.router.labelled import read_labelled_questions
from research.training.router.training import train_router

DATA = Path(__file__).parents[1] / "data"
HELD = {
    name: read_labelled_questions(DATA / f"{name}.jsonl")
    for name in ("router-apart", "router-counter")
}
QUESTIONS = read_labelled_questions()


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    found = open_embedder(ModelSettings(), tmp_path_factory.mktemp("models"))
    assert found
    return found


def plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


# What ships ---------------------------------------------------------------------------------------


def test_the_weights_with_vectors_are_used_with_their_embedder_only(minilm: Embedder) -> None:
    assert load_router_weights(WITH_VECTORS).embedder == minilm.fingerprint
    question = "What can I claim back from a trip, and what do I have to hand in for it?"
    with_vectors = open_router(None, minilm)(question, 3)
    assert with_vectors.probabilities == pytest.approx(
        tuple(router_scores([question], load_router_weights(WITH_VECTORS), minilm.embed)[0])
    )
    assert open_router(None, None)(question, 3) == classify(question) != with_vectors


# One question -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("How many days of annual leave do I get?", 0),
        ("Who approves my travel request?", 0),
        ("How long is the notice period, and who signs the letter?", 1),
        ("Sick pay in Spain versus sick pay in France?", 1),
        (
            "Everything about parental leave: who can take it, how long, how much is paid and "
            "how do I apply?",
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
        "Sorry for the long message. I moved desks in May, then again in June, and my plant "
        "died, and my sister "
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


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"parts": {"words": 1}}'])
def test_a_file_that_holds_no_weights_is_said(text: str, tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="no router's weights"):
        open_router(lines(tmp_path / "w.json", text))


# Training -----------------------------------------------------------------------------------------

SMALL = QUESTIONS[::6]


def test_a_trained_router_is_the_same_after_a_file(tmp_path: Path) -> None:
    weights = train_router(SMALL, "svm", 2)
    path = tmp_path / "own.json"
    path.write_text(router_weights_text(weights), encoding="utf-8")
    assert router_weights_text(train_router(SMALL, "svm", 2)) == path.read_text(encoding="utf-8")
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
    weights = train_router(SMALL, "combined", 3, TrainingEmbedder(Letters(), "letters-1"))
    assert weights.embedder == "letters-1"
    path = tmp_path / "vectors.json"
    path.write_text(router_weights_text(weights), encoding="utf-8")
    with pytest.raises(BadSetting, match="letters-1"):
        open_router(path)
    with pytest.raises(BadSetting, match="letters-1"):
        router_scores(["Notice period?"], weights)


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
