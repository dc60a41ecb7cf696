"""How sure must ombud be to answer, and which sentences would a person underline?

Searches for the sample's cases, fits on their dev split, prints what the weights do on dev and on
test, and writes those that ship: src/ombud/answer/confidence.json, and
src/ombud/answer/quoting/spans.json. The sealed split is not touched.
Run: make confidence, make spans"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ombud.answer import (
    AnswerSpan,
    ConfidenceWeights,
    candidate_spans,
    estimate_confidence,
    measure_signals,
    span_features,
    term_weights,
)
from ombud.app import Workspace, asking
from ombud.lab import normalise, read_cases, split_of
from ombud.retrieve import query_terms, search
from ombud.training import (
    QuestionSignals,
    QuestionSpans,
    train_confidence,
    train_spans,
    underlined_among_best,
)
from ombud.types import Case, Question

ROOT = Path(__file__).parents[2]
CONFIDENCE = ROOT / "src/ombud/answer/confidence.json"
SPANS = ROOT / "src/ombud/answer/quoting/spans.json"
MODES = ("hybrid", "sparse")
OFF_TOPIC = ("off_topic", "incoherent")
SHORTEST = 8
"""Letters of a span that counts as underlined where a citation holds it."""


class SearchedCase(NamedTuple):
    case: Case
    question: QuestionSignals
    spans: QuestionSpans

    @property
    def split(self) -> str:
        return split_of(self.case.id)


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the weights of confidence and of spans.")
    parser.add_argument("what", nargs="*", help="confidence, spans; none = both")
    wanted = parser.parse_args().what or ["confidence", "spans"]
    confidence: dict[str, Any] = {}
    spans: dict[str, Any] = {}
    for mode in MODES:
        searched = searched_cases(mode)
        if "confidence" in wanted:
            confidence[mode] = fit_confidence(searched, mode)._asdict()
        if "spans" in wanted:
            fitted = fit_spans(searched, mode)._asdict()
            for threshold in ("answer", "full", "on_topic"):
                del fitted[threshold]
            spans[mode] = fitted
    if confidence:
        CONFIDENCE.write_text(json.dumps(confidence, indent=2) + "\n", encoding="utf-8")
    if spans:
        SPANS.write_text(json.dumps(spans, indent=2) + "\n", encoding="utf-8")


def searched_cases(mode: str) -> list[SearchedCase]:
    workspace = Workspace(ROOT / "sample")
    searched = []
    for path in sorted((ROOT / "sample/cases").glob("*.jsonl")):
        for case in read_cases(path):
            if case.expect in ("answer", "deny") and split_of(case.id) != "sealed":
                searched.append(search_for(workspace, case, mode))
    return searched


def search_for(workspace: Workspace, case: Case, mode: str) -> SearchedCase:
    question = Question(
        text=case.question, asker=case.person, history=case.history, as_of=case.as_of
    )
    plan = asking.plan_of(workspace, case.person, {"mode": mode}).plan
    visible = asking.filter_of(workspace, question, plan)
    found = asyncio.run(search(question, plan, visible, workspace.index))
    embedder = workspace.embedder if mode == "hybrid" else None
    query = found.queries[0]
    engine = workspace.engine
    spans = candidate_spans(found.evidence)
    weights = term_weights(query_terms(query.text, engine), engine)
    features = span_features(question, query, weights, spans, embedder)
    signals = measure_signals(query_terms(query.passage, engine), found, engine, features)
    return SearchedCase(
        case=case,
        question=QuestionSignals(
            signals=signals,
            answerable=case.expect == "answer",
            on_topic=case.type not in OFF_TOPIC,
        ),
        spans=QuestionSpans(features, [is_cited(span, case) for span in spans]),
    )


def is_cited(span: AnswerSpan, case: Case) -> bool:
    """Whether an item of the case's evidence holds the span, or the span the item."""
    text = normalise(span.text)
    if len(text) <= SHORTEST:
        return False
    for item in case.evidence:
        quote = normalise(item.quote)
        if item.document == span.hit.chunk.uri and (text in quote or quote in text):
            return True
    return False


def fit_confidence(searched: Sequence[SearchedCase], mode: str) -> ConfidenceWeights:
    dev = [one.question for one in searched if one.split == "dev"]
    weights = train_confidence(dev, dense=mode == "hybrid")
    for split in ("dev", "test"):
        print_decisions(mode, split, [one for one in searched if one.split == split], weights)
    print(f"        answer {weights.answer}, full {weights.full}, on topic {weights.on_topic}")
    return weights


def print_decisions(
    mode: str, split: str, searched: Sequence[SearchedCase], weights: ConfidenceWeights
) -> None:
    confidences = [estimate_confidence(one.question.signals, weights) for one in searched]
    answered = np.array(confidences) >= weights.answer
    answerable = np.array([one.question.answerable for one in searched])
    print(
        f"{mode:7} {split:5} answer or deny right {np.mean(answered == answerable):.3f}"
        f" (n {len(searched)}); answerable answered {np.mean(answered[answerable]):.3f}"
        f" (n {answerable.sum()}), unanswerable denied {1 - np.mean(answered[~answerable]):.3f}"
        f" (n {(~answerable).sum()})"
    )


def fit_spans(searched: Sequence[SearchedCase], mode: str) -> ConfidenceWeights:
    dev = [one.spans for one in searched if one.split == "dev"]
    weights = train_spans(dev, dense=mode == "hybrid")
    for split in ("dev", "test"):
        of_split = [one.spans for one in searched if one.split == split]
        cited = [spans for spans in of_split if any(spans.underlined)]
        shares = np.mean([underlined_among_best(spans, weights, 4) for spans in cited], axis=0)
        print(
            f"{mode:7} {split:5} cited among the best 1, 2, 3, 4 sentences:"
            f" {shares.round(3)} (n {len(cited)})"
        )
    return weights


if __name__ == "__main__":
    main()
