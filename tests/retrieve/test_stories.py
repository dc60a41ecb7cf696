"""Stories in words that no policy has: told apart from plain questions, and searched for as a
policy would say it."""

import asyncio
import tomllib
from pathlib import Path

import pytest

from ombud.models import Embedder, open_embedder
from ombud.retrieve.model import StrategyModel
from ombud.retrieve.strategies.glossary import Glossary
from ombud.retrieve.strategies.making import make_queries
from ombud.retrieve.strategies.stories import MATTERS, load_weights, matter_of, policy_words
from ombud.settings import ModelSettings
from ombud.types import Plan, Question

STORIES = [
    "He keeps standing so close behind me that I can feel his breath, and yesterday he put his "
    "hand on my back again.",
    "Ever since I told them about the invoices nobody talks to me and I was taken off the project.",
    "Every evening I sit on the stairs and cry for half an hour before I go in, I can't do "
    "this any more.",
]
PLAIN = [
    "How many days of annual leave do I get?",
    "Who approves a flight to Lisbon?",
    "pension contribution?",
    "how often does my boss have to review me in a year",
    "The candidate we turned down wants to know why. What may I write to him?",
    "",
]


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    found = open_embedder(ModelSettings(), tmp_path_factory.mktemp("models"))
    assert found
    return found


def queries(text: str, embedder: Embedder | None, **plan: object) -> list[str]:
    model = StrategyModel(None, Plan(), "Larkmere", 1.0, Path("none"))
    asked = asyncio.run(
        make_queries(
            Question(text=text), Plan().model_copy(update=plan), model, Glossary(), embedder
        )
    )
    return [query.text for query in asked.queries]


@pytest.mark.parametrize("story", STORIES)
def test_a_story_is_searched_for_in_the_words_of_policies_too(story: str, minilm: Embedder) -> None:
    said = policy_words(story, minilm)
    assert said is not None
    assert queries(story, minilm) == [story, said.text]
    assert not set(said.text.split()) <= set(story.split())


@pytest.mark.parametrize("plain", PLAIN)
def test_a_plain_question_is_no_story(plain: str, minilm: Embedder) -> None:
    assert matter_of(plain, minilm) == ""


def test_a_story_stays_alone_where_nothing_may_or_can_be_added(minilm: Embedder) -> None:
    assert queries(STORIES[0], None) == [STORIES[0]]
    assert queries(STORIES[0], minilm, glossary=False) == [STORIES[0]]
    assert queries(STORIES[0], minilm, mode="sparse") == [STORIES[0]]


def test_every_matter_has_its_words(minilm: Embedder) -> None:
    weights = load_weights()
    assert weights.embedder == minilm.fingerprint
    assert weights.coefficients.shape == (minilm.dimension, len(weights.matters))
    assert set(tomllib.loads(MATTERS.read_text(encoding="utf-8"))) == set(weights.matters) - {
        "none"
    }
