"""Linear classifiers of short texts: plain numbers in JSON, run by numpy. `research/` trains them.

What is looked at of a text is a `FeatureReading`: the part that counts, and its terms."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
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
FeatureRow = tuple[npt.NDArray[np.int64], Numbers]
"""Columns, ascending, and their values."""
DECIMALS = 3


class FeatureReading(NamedTuple):
    """The feature extraction of one kind of classifier."""

    part: Callable[[str], str]
    """Text -> what of it is embedded and has terms."""
    terms: Mapping[str, Terms]
    """Part of the weights, such as `words` -> its terms."""
    trainer: str = "research.training.router"
    """Module that makes such weights, run by `python -m`."""

    def read_once(self) -> "FeatureReading":
        """Return it with a cache, for several classifiers of the same texts."""
        terms = {name: cache(of_text) for name, of_text in self.terms.items()}
        return self._replace(part=cache(self.part), terms=terms)


class TermVocabulary(NamedTuple):
    place: Mapping[str, int]
    rarity: Numbers
    """ln((1 + n) / (1 + texts with the term)) + 1."""


class LinearWeights(NamedTuple):
    variant: str
    classes: int
    parts: Mapping[str, float]
    """Part (vector, or one of the reading's terms) -> how much it counts, in the order of the
    coefficients."""
    vocabularies: Mapping[str, TermVocabulary]
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
    """Return probabilities, shape (len(texts), weights.classes). Raises BadSetting if `embed` is
    needed and missing."""
    scores = np.tile(weights.intercept, (len(texts), 1))
    start = 0
    for name, weight in weights.parts.items():
        end = start + _size(name, weights, start)
        rows = weights.coefficients[start:end]
        start = end
        if name in weights.vocabularies:
            scores += weight * term_scores(texts, name, weights, reading, rows)
        else:
            scores += weight * _vectors(texts, weights, reading, embed) @ rows
    powers = np.exp(weights.sharpness * (scores - scores.max(axis=1, keepdims=True)))
    probabilities: Numbers = powers / powers.sum(axis=1, keepdims=True)
    return probabilities


class FeatureTable(NamedTuple):
    """Feature values other than 0, row by row, as scipy's `csr_array` takes them: of thousands of
    terms a text has a hundred."""

    values: Numbers
    columns: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    """Row i has the values from starts[i] to starts[i + 1]."""
    shape: tuple[int, int]


def design(
    texts: Sequence[str],
    weights: LinearWeights,
    reading: FeatureReading,
    embed: Embed | None = None,
) -> FeatureTable:
    """Return the feature matrix with a row for each text: all parts side by side, each times its
    weight."""
    columns: list[list[npt.NDArray[np.int64]]] = [[] for _ in texts]
    values: list[list[Numbers]] = [[] for _ in texts]
    width = 0
    for name, weight in weights.parts.items():
        if name in weights.vocabularies:
            rows, part_width = term_rows(texts, name, weights, reading)
        else:
            rows, part_width = dense_rows(_vectors(texts, weights, reading, embed))
        for text, (places, row) in enumerate(rows):
            columns[text].append(places + width)
            values[text].append(row * weight)
        width += part_width
    lengths = [sum(map(len, row)) for row in values]
    return FeatureTable(
        values=np.concatenate(list(chain(*values))),
        columns=np.concatenate(list(chain(*columns))),
        starts=np.cumsum([0, *lengths]),
        shape=(len(texts), width),
    )


def term_rows(
    texts: Sequence[str], name: str, weights: LinearWeights, reading: FeatureReading
) -> tuple[list[FeatureRow], int]:
    terms, vocabulary = reading.terms[name], weights.vocabularies[name]
    rows: list[FeatureRow] = []
    for text in texts:
        indices, values = _weighted(terms(reading.part(text)), vocabulary)
        places = np.array(indices, np.int64)
        order = np.argsort(places)
        rows.append((places[order], values[order]))
    return rows, len(vocabulary.place)


def dense_rows(table: Numbers) -> tuple[list[FeatureRow], int]:
    rows: list[FeatureRow] = []
    for row in table:
        places = np.flatnonzero(row)
        rows.append((places, row[places]))
    return rows, table.shape[1]


def _vectors(
    texts: Sequence[str], weights: LinearWeights, reading: FeatureReading, embed: Embed | None
) -> Numbers:
    """Embed the texts, shape (len(texts), length of a vector)."""
    if embed is None:
        raise BadSetting(
            f"The weights `{weights.variant}` need the embedder {weights.embedder}.",
            hint=f"Set models.embedder, or train without vectors: python -m {reading.trainer}.",
        )
    return np.asarray(embed(list(map(reading.part, texts))), float)


def term_scores(
    texts: Sequence[str], name: str, weights: LinearWeights, reading: FeatureReading, rows: Numbers
) -> Numbers:
    """Return the scores of each text's terms. Only the terms present are looked up, a hundred of
    thousands. rows: coefficients of the vocabulary."""
    terms = reading.terms[name]
    scores: list[Numbers] = []
    for text in texts:
        places, values = _weighted(terms(reading.part(text)), weights.vocabularies[name])
        scores.append(values @ rows[places])
    return np.array(scores)


def ngrams(row: Sequence[str], longest: int) -> list[str]:
    """Return n-grams of words up to `longest`; the beginning and the end count as words."""
    words = ["<", *row, ">"]
    grams: list[str] = []
    for length in range(1, longest + 1):
        for start in range(len(words) - length + 1):
            grams.append(" ".join(words[start : start + length]))
    return grams


def vocabulary(terms: Terms, texts: Sequence[str], least: int) -> TermVocabulary:
    """Return the terms of at least `least` texts in alphabetical order."""
    counts = Counter[str]()
    for text in texts:
        counts.update(set(terms(text)))
    common = sorted(term for term, count in counts.items() if count >= least)
    rarity = [log((1 + len(texts)) / (1 + counts[term])) + 1 for term in common]
    return TermVocabulary(_places(common), np.array(rarity))


def _weighted(terms: Sequence[str], vocabulary: TermVocabulary) -> tuple[list[int], Numbers]:
    """Return the places of known terms and their TF-IDF weights of unit length, with term frequency
    1 + ln(count) (Manning, Raghavan, Schütze 2008, 6.4)."""
    places: list[int] = []
    counts: list[float] = []
    for term, count in Counter(terms).items():
        place = vocabulary.place.get(term)
        if place is not None:
            places.append(place)
            counts.append(1 + log(count) if count > 1 else 1.0)
    values = np.array(counts) * vocabulary.rarity[places]
    length = sqrt(float(values @ values))
    return places, values / length if length else values


def as_record(weights: LinearWeights) -> dict[str, Any]:
    """Return weights for a JSON file; coefficients are rounded."""
    record: dict[str, Any] = {
        "variant": weights.variant,
        "classes": weights.classes,
        "provenance": weights.provenance,
        "parts": weights.parts,
        "embedder": weights.embedder,
        "sharpness": round(weights.sharpness, DECIMALS),
        "intercept": _rounded(weights.intercept),
    }
    start = 0
    for name in weights.parts:
        vocabulary = weights.vocabularies.get(name)
        end = start + _size(name, weights, start)
        rows = weights.coefficients[start:end]
        start = end
        if vocabulary is None:
            record[f"{name} weights"] = list(map(_rounded, rows))
        else:
            record[name] = term_record(vocabulary, rows)
    return record


def _size(part: str, weights: LinearWeights, start: int) -> int:
    """Count the coefficients of a part. Vectors have the rest, because nothing else tells their
    length."""
    if part in weights.vocabularies:
        return len(weights.vocabularies[part].place)
    return len(weights.coefficients) - start


def term_record(vocabulary: TermVocabulary, rows: Numbers) -> dict[str, list[float]]:
    """Map each term to its rarity and coefficients, without those of a first class that are all
    0."""
    rows = rows if rows[:, 0].any() else rows[:, 1:]
    record: dict[str, list[float]] = {}
    for term, place in vocabulary.place.items():
        rarity = _rounded(vocabulary.rarity[[place]], 2)
        record[term] = [*rarity, *_rounded(rows[place])]
    return record


def to_json(record: Mapping[str, Any]) -> str:
    """Serialise on one line; equal weights give equal text."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), indent=None) + "\n"


def from_record(record: Mapping[str, Any]) -> LinearWeights:
    """Restore what `as_record` made. Raises LookupError, TypeError, ValueError or AttributeError
    for anything else."""
    vocabularies: dict[str, TermVocabulary] = {}
    rows: list[Numbers] = []
    for name in record["parts"]:
        if name == "vector":
            rows.append(np.array(record["vector weights"], float))
            continue
        entries = record[name]
        table = np.array(list(entries.values()), float)
        vocabularies[name] = TermVocabulary(_places(entries), table[:, 0])
        zeros = int(record["classes"]) + 1 - table.shape[1]
        rows.append(np.pad(table[:, 1:], ((0, 0), (zeros, 0))))
    return LinearWeights(
        variant=record["variant"],
        classes=record["classes"],
        parts=record["parts"],
        vocabularies=vocabularies,
        embedder=record["embedder"],
        coefficients=np.vstack(rows),
        intercept=np.array(record["intercept"], float),
        sharpness=record["sharpness"],
        provenance=record["provenance"],
    )


def _places(terms: Iterable[str]) -> dict[str, int]:
    return {term: place for place, term in enumerate(terms)}


def _rounded(row: Numbers, decimals: int = DECIMALS) -> list[float]:
    return [round(float(number), decimals) for number in row]
