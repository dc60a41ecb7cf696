"""One question -> how many passages settle it."""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from ombud.errors import BadSetting, ModelError
from ombud.models import Chat, Embedder, linear, open_embedder
from ombud.prompts import load as load_prompt
from ombud.retrieve.router.reading import ROUTER_READING
from ombud.settings import ModelSettings

Embed = linear.Embed
Numbers = linear.Numbers
Weights = linear.LinearWeights
SHIPPED = Path(__file__).with_name("weights.json")
WITH_VECTORS = Path(__file__).with_name("weights-minilm.json")
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
    """Classify with the shipped weights, by numpy alone."""
    return route(question, classes, load_router_weights(), None)


def open_router(path: Path | None, embedder: Embedder | None = None) -> Router:
    """Open a weights file, the folder of a fine-tuned router or, for None, the shipped weights.
    Raises BadSetting for a file without weights or with vectors of another embedder.

    embedder: the workspace's own; the shipped weights with vectors are used if it is the one they
    were trained with."""
    if path is None:
        shipped = load_router_weights(WITH_VECTORS)
        if embedder is None or embedder.fingerprint != shipped.embedder:
            return classify
        return by_weights(shipped, embedder)
    if path.is_dir():
        own = open_embedder(ModelSettings(embedder=f"folder:{path}"), path)
        return by_weights(load_router_weights(path / WEIGHTS), own)
    weights = load_router_weights(path)
    fingerprint = embedder.fingerprint if embedder else None
    if weights.embedder and weights.embedder != fingerprint:
        raise BadSetting(
            f"The router's weights {path} were trained on vectors of {weights.embedder}, "
            "not of the embedder here.",
            hint="Set models.embedder to it, or train without vectors: "
            "python -m research.training.router --variant logistic.",
        )
    return by_weights(weights, embedder)


def by_weights(weights: Weights, embedder: Embedder | None) -> Router:
    return lambda question, classes: route(question, classes, weights, embedder)


def route(question: str, classes: int, weights: Weights, embedder: Embedder | None) -> Routed:
    """Add up classes that the weights distinguish and the caller does not; raises BadSetting for
    the reverse."""
    if classes > weights.classes:
        raise BadSetting(
            f"The router's weights know {weights.classes} classes, not {classes}.",
            hint=f"Set plan.classes = {weights.classes}, "
            f"or train them anew with --classes {classes}.",
        )
    embed = embedder.embed if embedder else None
    try:
        (scores,) = router_scores([question], weights, embed)
    except ModelError:
        return classify(question, classes)
    last = classes - 1
    return routed([*scores[:last], scores[last:].sum()])


def routed(probabilities: list[float]) -> Routed:
    """Return the likeliest class, on a tie the wider one: a passage too many costs less than one
    too few."""
    plain = tuple(map(float, probabilities))
    _, label = max((probability, label) for label, probability in enumerate(plain))
    return Routed(label, plain)


def router_scores(texts: Sequence[str], weights: Weights, embed: Embed | None = None) -> Numbers:
    """Return probabilities, shape (len(texts), weights.classes). Raises BadSetting if `embed` is
    needed and missing."""
    return linear.score(texts, weights, ROUTER_READING, embed)


def router_weights_text(weights: Weights) -> str:
    return linear.to_json(linear.as_record(weights))


@lru_cache(maxsize=4)
def load_router_weights(path: Path = SHIPPED) -> Weights:
    """Read the weights that `python -m research.training.router` wrote; raises BadSetting for any
    other."""
    try:
        return linear.from_record(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as wrong:
        raise BadSetting(
            f"{path} holds no router's weights.",
            hint="Make some with `python -m research.training.router FILE --out WEIGHTS`.",
        ) from wrong


class _Counted(BaseModel):
    contexts: int


async def classify_by_model(
    question: str, classes: int, chat: Chat, *, seconds: float, prompts: Path | None = None
) -> Routed:
    """Classify zero-shot: a chat model counts the passages; raises ModelError. The class gets
    probability 1. Where `understand` runs it counts them too, and this call is not needed."""
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
    """Map the passages needed to a class: min(max(n, 1), classes) - 1."""
    return min(max(contexts, 1), classes) - 1
