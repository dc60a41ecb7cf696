"""How sure must ombud be to answer, and which sentences would a person underline?

Fits both on the dev split of the sample's cases, prints what they do on dev and on test, and writes
the weights that
ship: src/ombud/answer/confidence.json and extract.json. The sealed split is not touched. Run: make
calibrate"""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ombud.answer import (
    FEATURES,
    SPAN_FEATURES,
    SPARSE_FEATURES,
    SPARSE_SPAN_FEATURES,
    ConfidenceWeights,
    candidate_spans,
    estimate_confidence,
    fit_confidence,
    measure_signals,
    span_features,
    term_weights,
)
from ombud.app import Workspace, asking
from ombud.lab import normalise, read_cases, split_of
from ombud.retrieve import query_terms, search
from ombud.types import Case, Question

ROOT = Path(__file__).parents[2]


class Row(NamedTuple):
    case: Case
    signals: dict[str, float]
    spans: list[dict[str, float]]
    gold: list[bool]


def main() -> None:
    cases = [
        c for path in sorted((ROOT / "sample/cases").glob("*.jsonl")) for c in read_cases(path)
    ]
    cases = [c for c in cases if c.expect in ("answer", "deny") and split_of(c.id) != "sealed"]
    weights: dict[str, dict[str, Any]] = {"confidence": {}, "extract": {}}
    for mode in ("hybrid", "sparse"):
        workspace = Workspace(ROOT / "sample")
        rows = [_look(workspace, case, mode) for case in cases]
        dev = [row for row in rows if split_of(row.case.id) == "dev"]
        spans = fit_confidence(
            [s for row in dev if any(row.gold) for s in row.spans],
            [g for row in dev if any(row.gold) for g in row.gold],
            SPAN_FEATURES if mode == "hybrid" else SPARSE_SPAN_FEATURES,
        )
        sure = _thresholds(dev, fit_confidence(
            [row.signals for row in dev],
            [row.case.expect == "answer" for row in dev],
            FEATURES if mode == "hybrid" else SPARSE_FEATURES,
        ), mode)  # fmt: skip
        _report(mode, rows, sure, spans)
        weights["confidence"][mode] = sure._asdict()
        weights["extract"][mode] = {
            k: v for k, v in spans._asdict().items() if k not in ("answer", "full", "on_topic")
        }
    for name, content in weights.items():
        target = ROOT / f"src/ombud/answer/{name}.json"
        target.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _look(workspace: Workspace, case: Case, mode: str) -> Row:
    question = Question(
        text=case.question, asker=case.person, history=case.history, as_of=case.as_of
    )
    plan = asking.plan_of(workspace, case.person, {"mode": mode}).plan
    found = asyncio.run(
        search(question, plan, asking.filter_of(workspace, question, plan), workspace.index)
    )
    embedder = workspace.embedder if mode == "hybrid" else None
    query, engine = found.queries[0], workspace.engine
    spans = candidate_spans(found.evidence)
    said = term_weights(query_terms(query.text, engine), engine)
    rows = span_features(question, query, said, spans, embedder)
    signals = measure_signals(query_terms(query.passage, engine), found, engine, rows)
    quotes = [(e.document, normalise(e.quote)) for e in case.evidence]
    texts = [(span.hit.chunk.uri, normalise(span.text)) for span in spans]
    gold = [any(u == d and len(t) > 8 and (t in q or q in t) for d, q in quotes) for u, t in texts]
    return Row(case, signals, rows, gold)


def _thresholds(rows: Sequence[Row], weights: ConfidenceWeights, mode: str) -> ConfidenceWeights:
    """The confidence that tells most answerable from unanswerable questions, and the one of a whole
    answer."""
    sure = np.array([estimate_confidence(row.signals, weights) for row in rows])
    answerable = np.array([row.case.expect == "answer" for row in rows])
    grid = np.linspace(0.02, 0.98, 97)
    right = [np.mean((sure >= t) == answerable) for t in grid]
    answer = float(np.mean(grid[np.flatnonzero(np.array(right) >= max(right) - 1e-9)]))
    topical = [row for row in rows if row.case.type not in ("off_topic", "incoherent")]
    signal = "cosine" if mode == "hybrid" else "coverage_all"
    on_topic = float(np.quantile([row.signals[signal] for row in topical], 0.03))
    full = float(np.quantile(sure[answerable], 0.25))
    return weights._replace(
        answer=round(answer, 3), full=round(max(full, answer), 3), on_topic=round(on_topic, 3)
    )


def _report(
    mode: str, rows: Sequence[Row], sure: ConfidenceWeights, spans: ConfidenceWeights
) -> None:
    for split in ("dev", "test"):
        mine = [row for row in rows if split_of(row.case.id) == split]
        said = [
            (estimate_confidence(row.signals, sure) >= sure.answer, row.case.expect == "answer")
            for row in mine
        ]
        right = np.mean([a == b for a, b in said])
        denied = [a for a, b in said if not b]
        kept = [a for a, b in said if b]
        print(
            f"{mode:7} {split:5} answer or deny right {right:.3f} (n {len(said)}); answerable answered "
            f"{np.mean(kept):.3f} (n {len(kept)}), unanswerable denied {1 - np.mean(denied):.3f} (n {len(denied)})"
        )
        tops = [_gold_in_top(row, spans) for row in mine if any(row.gold)]
        print(
            f"        gold among the best 1, 2, 3, 4 sentences: {np.mean(tops, axis=0).round(3)} (n {len(tops)})"
        )
    print(
        f"        thresholds: answer {sure.answer}, full {sure.full}, on topic {sure.on_topic}",
        file=sys.stdout,
    )


def _gold_in_top(row: Row, spans: ConfidenceWeights) -> list[bool]:
    order = sorted(range(len(row.spans)), key=lambda i: -estimate_confidence(row.spans[i], spans))
    return [any(row.gold[i] for i in order[:k]) for k in (1, 2, 3, 4)]


if __name__ == "__main__":
    main()
