"""What a linear classifier was taught, and how it weighs a text. Plain numbers in JSON, run by
numpy."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.errors import BadSetting

Numbers = npt.NDArray[np.float64]
Embed = Callable[[Sequence[str]], npt.NDArray[Any]]
"""Texts to unit vectors, one row each."""
Terms = Callable[[str], list[str]]
"""The terms of a text, repeated as often as they occur."""
DECIMALS = 3


class FeatureReading(NamedTuple):
    """How one kind of classifier reads a text."""

    part: Callable[[str], str]
    """Text -> what of it is embedded and has terms."""
    surface: Callable[[str], Sequence[float]]
    """Whole text -> numbers, always as many."""
    terms: Mapping[str, Terms]
    """Part of the weights, such as `words` -> its terms."""
    trainer: str = "train-router"
    """Verb of `ombud lab` that makes such weights."""


class TermVocabulary(NamedTuple):
    place: Mapping[str, int]
    rarity: Numbers
    """ln((1 + n) / (1 + texts with the term)) + 1."""


class LinearWeights(NamedTuple):
    variant: str
    classes: int
    parts: Mapping[str, float]
    """Part (surface, vector, or one of the reading's terms) -> how much it counts, in the order of
    the coefficients."""
    vocabularies: Mapping[str, TermVocabulary]
    mean: Numbers
    scale: Numbers
    """Of the surface features."""
    embedder: str
    """Fingerprint of the embedder that the vectors come from; empty where none are used."""
    coefficients: Numbers
    """Shape (features, classes)."""
    intercept: Numbers
    sharpness: float
    """What scores are multiplied with before they become probabilities; 1 for logistic
    regression."""
    provenance: Mapping[str, Any]


def score(
    texts: Sequence[str],
    weights: LinearWeights,
    reading: FeatureReading,
    embed: Embed | None = None,
) -> Numbers:
    """Probabilities, shape (len(texts), weights.classes). Raises BadSetting where `embed` is needed
    and missing."""
    scores = design(texts, weights, reading, embed) @ weights.coefficients + weights.intercept
    powers = np.exp(weights.sharpness * (scores - scores.max(axis=1, keepdims=True)))
    found: Numbers = powers / powers.sum(axis=1, keepdims=True)
    return found


def design(
    texts: Sequence[str],
    weights: LinearWeights,
    reading: FeatureReading,
    embed: Embed | None = None,
) -> Numbers:
    """Feature values, shape (len(texts), features): parts side by side, each times its weight."""
    read = [reading.part(text) for text in texts]
    columns: list[Numbers] = []
    for part, weight in weights.parts.items():
        if part == "surface":
            surface = np.array([reading.surface(text) for text in texts], float)
            columns.append((surface - weights.mean) / weights.scale * weight)
        elif part == "vector":
            if embed is None:
                raise BadSetting(
                    f"The weights `{weights.variant}` need the embedder {weights.embedder}.",
                    hint=f"Set models.embedder, or train without vectors: ombud lab {reading.trainer}.",
                )
            columns.append(np.asarray(embed(read), float) * weight)
        else:
            terms, known = reading.terms[part], weights.vocabularies[part]
            columns.append(np.array([frequencies(terms(text), known) for text in read]) * weight)
    return np.hstack(columns)


def ngrams(row: Sequence[str], longest: int) -> list[str]:
    """n-grams of words up to `longest`; the beginning and the end count as words."""
    row = ["<", *row, ">"]
    return [
        " ".join(row[at : at + n]) for n in range(1, longest + 1) for at in range(len(row) - n + 1)
    ]


def vocabulary(terms: Terms, texts: Sequence[str], least: int) -> TermVocabulary:
    """Of the terms that at least `least` texts have, in alphabetical order."""
    counts = Counter(term for text in texts for term in set(terms(text)))
    kept = sorted(term for term, count in counts.items() if count >= least)
    rarity = np.array([log((1 + len(texts)) / (1 + counts[term])) + 1 for term in kept])
    return TermVocabulary({term: n for n, term in enumerate(kept)}, rarity)


def frequencies(terms: Sequence[str], known: TermVocabulary) -> Numbers:
    """TF-IDF of length 1, term frequency 1 + ln(count): Manning, Raghavan, Schütze 2008, 6.4."""
    row = np.zeros(len(known.place))
    for term, count in Counter(terms).items():
        if (place := known.place.get(term)) is not None:
            row[place] = (1 + log(count)) * known.rarity[place]
    length = sqrt(float(row @ row))
    return row / length if length else row


def as_record(weights: LinearWeights) -> dict[str, Any]:
    """For a JSON file; coefficients are rounded."""
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
        rows = (
            weights.coefficients[at : at + size] if size is not None else weights.coefficients[at:]
        )
        at += len(rows)
        if known:
            found[part] = {
                term: [*_listed(known.rarity[[n]]), *_listed(rows[n])]
                for term, n in known.place.items()
            }
        else:
            found[part + " weights"] = [_listed(row) for row in rows]
    return found


def to_json(record: Mapping[str, Any]) -> str:
    """One line; the same weights give the same text."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), indent=None) + "\n"


def from_record(found: Mapping[str, Any]) -> LinearWeights:
    """Raises LookupError, TypeError, ValueError or AttributeError for what `as_record` did not
    make."""
    vocabularies, rows = {}, []
    for part in found["parts"]:
        if part in ("surface", "vector"):
            rows.append(np.array(found[part + " weights"], float))
        else:
            entries = found[part]
            table = np.array(list(entries.values()), float)
            vocabularies[part] = TermVocabulary(
                {term: n for n, term in enumerate(entries)}, table[:, 0]
            )
            rows.append(table[:, 1:])
    mean, scale = (np.array(row, float) for row in found["surface"])
    return LinearWeights(
        found["variant"], found["classes"], found["parts"], vocabularies, mean, scale, found["embedder"],
        np.vstack(rows), np.array(found["intercept"], float), found["sharpness"], found["provenance"],
    )  # fmt: skip


def _listed(row: Numbers, decimals: int = DECIMALS) -> list[float]:
    return [round(float(number), decimals) for number in row]
