"""A trained router: what it was taught, and how it weighs a question. Plain numbers in JSON, run by numpy."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import log, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.errors import BadSetting
from ombud.retrieve.router.features import values
from ombud.retrieve.router.reading import asking, shape, words

SHIPPED = Path(__file__).with_name("weights.json")
WITH_VECTORS = Path(__file__).with_name("weights-minilm.json")
Numbers = npt.NDArray[np.float64]
Embed = Callable[[Sequence[str]], npt.NDArray[Any]]
"""Texts to unit vectors, one row each."""
TERMS: Mapping[str, tuple[Callable[[list[str]], list[str]], int]] = {"words": (list, 2), "shape": (shape, 3)}
"""Part -> (what is counted of the words that ask, longest n-gram)."""
DECIMALS = 3


class Vocabulary(NamedTuple):
    place: Mapping[str, int]
    rarity: Numbers
    """ln((1 + n) / (1 + questions with the term)) + 1."""


class Weights(NamedTuple):
    variant: str
    classes: int
    parts: Mapping[str, float]
    """Part (surface, words, shape, vector) -> how much it counts, in the order of the coefficients."""
    vocabularies: Mapping[str, Vocabulary]
    mean: Numbers
    scale: Numbers
    """Of the surface features."""
    embedder: str
    """Fingerprint of the embedder that the vectors come from; empty where none are used."""
    coefficients: Numbers
    """Shape (features, classes)."""
    intercept: Numbers
    sharpness: float
    """What scores are multiplied with before they become probabilities; 1 for logistic regression."""
    provenance: Mapping[str, Any]


def score(texts: Sequence[str], weights: Weights, embed: Embed | None = None) -> Numbers:
    """Probabilities, shape (len(texts), weights.classes). Raises BadSetting where `embed` is needed and missing."""
    scores = design(texts, weights, embed) @ weights.coefficients + weights.intercept
    powers = np.exp(weights.sharpness * (scores - scores.max(axis=1, keepdims=True)))
    found: Numbers = powers / powers.sum(axis=1, keepdims=True)
    return found


def design(texts: Sequence[str], weights: Weights, embed: Embed | None = None) -> Numbers:
    """Feature values, shape (len(texts), features): parts side by side, each times its weight."""
    asked = [" ".join(asking(text)) for text in texts]
    columns: list[Numbers] = []
    for part, weight in weights.parts.items():
        if part == "surface":
            surface = np.array([values(text) for text in texts])
            columns.append((surface - weights.mean) / weights.scale * weight)
        elif part == "vector":
            if embed is None:
                raise BadSetting(
                    f"The router's weights `{weights.variant}` need the embedder {weights.embedder}.",
                    hint="Set models.embedder, or train without vectors: ombud lab train-router --variant logistic.",
                )
            columns.append(np.asarray(embed(asked), float) * weight)
        else:
            columns.append(np.array([_frequencies(part, text, weights.vocabularies[part]) for text in asked]) * weight)
    return np.hstack(columns)


def terms(part: str, asked: str) -> list[str]:
    """n-grams of the words that ask, or of their shape; the beginning and the end count as words."""
    made, longest = TERMS[part]
    row = ["<", *made(words(asked)), ">"]
    return [" ".join(row[at : at + n]) for n in range(1, longest + 1) for at in range(len(row) - n + 1)]


def vocabulary(part: str, asked: Sequence[str], least: int) -> Vocabulary:
    """Of the terms that at least `least` texts have, in alphabetical order."""
    counts = Counter(term for text in asked for term in set(terms(part, text)))
    kept = sorted(term for term, count in counts.items() if count >= least)
    rarity = np.array([log((1 + len(asked)) / (1 + counts[term])) + 1 for term in kept])
    return Vocabulary({term: n for n, term in enumerate(kept)}, rarity)


def _frequencies(part: str, asked: str, known: Vocabulary) -> Numbers:
    """TF-IDF of length 1, term frequency 1 + ln(count): Manning, Raghavan, Schütze 2008, 6.4."""
    row = np.zeros(len(known.place))
    for term, count in Counter(terms(part, asked)).items():
        if (place := known.place.get(term)) is not None:
            row[place] = (1 + log(count)) * known.rarity[place]
    length = sqrt(float(row @ row))
    return row / length if length else row


def to_json(weights: Weights) -> str:
    """One line a value list; the same weights give the same text."""
    found: dict[str, Any] = {
        "variant": weights.variant,
        "classes": weights.classes,
        "provenance": weights.provenance,
        "parts": weights.parts,
        "embedder": weights.embedder,
        "sharpness": round(weights.sharpness, DECIMALS),
        "intercept": _listed(weights.intercept),
        "surface": [_listed(weights.mean, 4), _listed(weights.scale, 4)],
    }
    at = 0
    for part in weights.parts:
        known = weights.vocabularies.get(part)
        size = len(known.place) if known else len(weights.mean) if part == "surface" else None
        rows = weights.coefficients[at : at + size] if size is not None else weights.coefficients[at:]
        at += len(rows)
        if known:
            found[part] = {term: [*_listed(known.rarity[[n]]), *_listed(rows[n])] for term, n in known.place.items()}
        else:
            found[part + " weights"] = [_listed(row) for row in rows]
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"), indent=None) + "\n"


@lru_cache(maxsize=4)
def load_weights(path: Path = SHIPPED) -> Weights:
    """The weights of a file that `ombud lab train-router` wrote; raises BadSetting for any other."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return _weights(found)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as wrong:
        raise BadSetting(
            f"{path} holds no router's weights.", hint="Make some with `ombud lab train-router FILE --out WEIGHTS`."
        ) from wrong


def _weights(found: Mapping[str, Any]) -> Weights:
    vocabularies, rows = {}, []
    for part in found["parts"]:
        if part in TERMS:
            entries = found[part]
            table = np.array(list(entries.values()), float)
            vocabularies[part] = Vocabulary({term: n for n, term in enumerate(entries)}, table[:, 0])
            rows.append(table[:, 1:])
        else:
            rows.append(np.array(found[part + " weights"], float))
    mean, scale = (np.array(row, float) for row in found["surface"])
    return Weights(
        found["variant"], found["classes"], found["parts"], vocabularies, mean, scale, found["embedder"],
        np.vstack(rows), np.array(found["intercept"], float), found["sharpness"], found["provenance"],
    )  # fmt: skip


def _listed(row: Numbers, decimals: int = DECIMALS) -> list[float]:
    return [round(float(number), decimals) for number in row]
