"""One question -> how many passages settle it."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from ombud.errors import BadSetting
from ombud.models import Chat, Embedder, open_embedder
from ombud.prompts import load as load_prompt
from ombud.retrieve.router.weights import WITH_VECTORS, Weights, load_router_weights, router_scores
from ombud.settings import ModelSettings

WEIGHTS = "weights.json"
"""In the folder of a fine-tuned router, beside its encoder."""


class Routed(NamedTuple):
    label: int
    """0 one passage; the last class is that many and more."""
    probabilities: tuple[float, ...]
    """One a class; they sum to 1."""


Router = Callable[[str, int], Routed]
"""(question, number of classes) -> its class."""


def classify(question: str, classes: int = 3) -> Routed:
    """By the shipped weights: numpy alone, about 2 ms."""
    return route(question, classes, load_router_weights(), None)


def open_router(path: Path | None, embedder: Embedder | None = None) -> Router:
    """A weights file or the folder of a fine-tuned router.

    None: the shipped weights, of which those with vectors judge better where the embedder is the
    one they were taught with (docs/results/router.md). embedder: the workspace's own. Raises
    BadSetting where the file holds no weights, or vectors of another embedder are wanted."""
    if path is None:
        shipped = load_router_weights(WITH_VECTORS)
        if embedder is None or embedder.fingerprint != shipped.embedder:
            return classify
        return _by_weights(shipped, embedder)
    if path.is_dir():
        own = open_embedder(ModelSettings(embedder=f"folder:{path}"), path)
        return _by_weights(load_router_weights(path / WEIGHTS), own)
    weights = load_router_weights(path)
    fingerprint = embedder.fingerprint if embedder else None
    if weights.embedder and weights.embedder != fingerprint:
        raise BadSetting(
            f"The router's weights {path} were trained on vectors of {weights.embedder}, "
            "not of the embedder here.",
            hint="Set models.embedder to it, or train without vectors: "
            "python -m research.training.router --variant logistic.",
        )
    return _by_weights(weights, embedder)


def _by_weights(weights: Weights, embedder: Embedder | None) -> Router:
    return lambda question, classes: route(question, classes, weights, embedder)


def route(question: str, classes: int, weights: Weights, embedder: Embedder | None) -> Routed:
    """Classes that the weights tell apart and the caller does not are added up; raises BadSetting
    for the reverse."""
    if classes > weights.classes:
        raise BadSetting(
            f"The router's weights know {weights.classes} classes, not {classes}.",
            hint=f"Set plan.classes = {weights.classes}, "
            f"or train them anew with --classes {classes}.",
        )
    embed = embedder.embed if embedder else None
    (scores,) = router_scores([question], weights, embed)
    last = classes - 1
    return routed([*scores[:last], scores[last:].sum()])


def routed(probabilities: list[float]) -> Routed:
    """The likeliest class; of two alike the wider one, for a passage too many costs less than one
    too few."""
    plain = tuple(map(float, probabilities))
    _, label = max((probability, label) for label, probability in enumerate(plain))
    return Routed(label, plain)


class _Counted(BaseModel):
    contexts: int


async def classify_by_model(
    question: str, classes: int, chat: Chat, *, seconds: float, prompts: Path | None = None
) -> Routed:
    """Zero-shot: a chat model counts the passages; raises ModelError.

    Its class has probability 1. `understand` counts them too: where it runs, no call of its own is
    needed."""
    prompt = load_prompt("complexity", chat.name, prompts)
    reply = await chat.reply(
        prompt.text,
        question,
        _Counted,
        temperature=0.0,
        seconds=seconds,
    )
    label = class_of(reply.value.contexts, classes)
    probabilities = [0.0] * classes
    probabilities[label] = 1.0
    return Routed(label, tuple(probabilities))


def class_of(contexts: int, classes: int) -> int:
    """Passages needed -> class: min(max(n, 1), classes) - 1."""
    return min(max(contexts, 1), classes) - 1
