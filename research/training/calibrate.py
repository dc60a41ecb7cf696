"""How sure must ombud be to answer, and which sentences would a person underline?

Searches for the cases of the sample, of the handbooks and of the sets that were written by people
who had seen titles only (tests/data), fits on their dev split, prints what the weights do on dev
and on test, and writes those that ship: src/ombud/answer/quoting/confidence.json, and
src/ombud/answer/quoting/spans.json. The sealed split is not touched. How sure one is depends on how
likely the best sentence is: for confidence each question's sentences are judged by weights that
were fitted without it. Run: make confidence, make spans"""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from asked import open_workspaces
from record import say
from sklearn.linear_model import LogisticRegression

from ombud.answer import (
    NOT_READ,
    AnswerSpan,
    Basis,
    ConfidenceWeights,
    answering_spans,
    candidate_spans,
    choose_sections,
    estimate_confidence,
    joined,
    measure_signals,
    rank_sections,
    read_evidence,
    section_signals,
    span_features,
    term_weights,
)
from ombud.answer.quoting.confidence import load_weights
from ombud.app import Workspace, asking
from ombud.lab import normalise, read_cases, split_of
from ombud.lab.runs.freezing import question_of
from ombud.models import Reader, ReaderPassage, Reading
from ombud.retrieve import SearchResult, query_terms, search
from ombud.types import Case, Question
from research import ROOT
from research.training.confidence import QuestionSignals, train_confidence
from research.training.reader.held_out import HeldOutReader
from research.training.spans import QuestionSpans, train_spans, underlined_among_best

CONFIDENCE = ROOT / "src/ombud/answer/quoting/confidence.json"
ASKABLE = ROOT / "src/ombud/answer/policy_likeness.json"
SPANS = ROOT / "src/ombud/answer/quoting/spans.json"
ASKED = ("plain", "terse", "own", "near", "noise")
OLDER = ("handbooks-us", "handbooks-gb", "handbooks-global", "apart-handbooks")
HELD_OUT = HeldOutReader()
COUNTED: Counter[str] = Counter()
MOST_TAUGHT = 0.2
"""Share of the readings of dev that may be by a reader that was taught them."""
BASES: tuple[Basis, ...] = ("hybrid", "read", "sparse")
FOLDS = 5
Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
OFF_TOPIC = ("off_topic", "incoherent")
SHORTEST = 8
"""Letters of a span that counts as underlined where a citation holds it."""


class SearchedCase(NamedTuple):
    case: Case
    question: Question
    signals: dict[str, float]
    candidates: list[AnswerSpan]
    spans: QuestionSpans

    @property
    def split(self) -> str:
        return split_of(self.case.id)


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the weights of confidence and of spans.")
    parser.add_argument("what", nargs="*", help="confidence, spans; none = both")
    wanted = parser.parse_args().what or ["confidence", "spans"]
    for basis in BASES:
        searched = searched_cases(basis)
        if basis == "read":
            check_readings()
        if "spans" in wanted:
            fitted = fit_spans(searched, basis)._asdict()
            for threshold in ("answer", "closest", "on_topic"):
                del fitted[threshold]
            replace_weights(SPANS, basis, fitted, indent=2)
        if "confidence" in wanted:
            if basis == "hybrid":
                write_askable(searched)
            weights = with_plain_trees(fit_confidence(searched, basis))
            replace_weights(CONFIDENCE, basis, weights)


def replace_weights(
    path: Path, basis: Basis, weights: dict[str, Any], indent: int | None = None
) -> None:
    """Write the weights of one basis, whose likelihoods the next may rest on."""
    content = json.loads(path.read_text(encoding="utf-8"))
    content[basis] = weights
    separators = (",", ":") if indent is None else None
    text = json.dumps(content, indent=indent, separators=separators)
    path.write_text(text.replace("]],[[", "]],\n[[") + "\n", encoding="utf-8")
    load_weights.cache_clear()


def with_plain_trees(weights: ConfidenceWeights) -> dict[str, Any]:
    return {**weights._asdict(), "trees": [list(tree) for tree in weights.trees]}


def searched_cases(basis: Basis) -> list[SearchedCase]:
    searched: list[SearchedCase] = []
    say(f"searching, {basis}")
    for workspace, case in labelled_cases():
        if case.expect in ("answer", "deny") and split_of(case.id) != "sealed":
            searched.append(search_for(workspace, case, basis))
    return searched


def labelled_cases() -> Iterator[tuple[Workspace, Case]]:
    """All cases with the workspace that they are asked in; those whose documents are not there are
    left out."""
    workspaces = open_workspaces()
    for path in sorted((ROOT / "sample/cases").glob("*.jsonl")):
        for case in read_cases(path):
            yield workspaces["sample"], case
    for name in OLDER:
        for case in read_cases(ROOT / f"tests/data/{name}.jsonl"):
            organisation = case.evidence[0].document.split("/")[0] if case.evidence else ""
            if organisation in workspaces:
                yield workspaces[organisation], case
    for name in ASKED:
        for case in read_cases(ROOT / f"tests/data/asked/{name}.jsonl"):
            if case.tags[1] in workspaces:
                yield workspaces[case.tags[1]], case


def search_for(workspace: Workspace, case: Case, basis: Basis) -> SearchedCase:
    question = question_of(case)
    mode = "sparse" if basis == "sparse" else "hybrid"
    found = search_as_asked(workspace, question, mode)
    question = found.question or question
    embedder = workspace.embedder if mode == "hybrid" else None
    query = found.queries[0]
    engine = workspace.engine
    spans = candidate_spans(found.evidence)
    weights = term_weights(query_terms(query.text, engine), engine)
    features = span_features(question, query, weights, spans, embedder)
    reader = reader_for(workspace, case) if basis == "read" else None
    read = read_evidence(query.passage, spans, features, reader) if reader else NOT_READ
    features = joined(features, read)
    signals = measure_signals(query_terms(query.passage, engine), found, engine, features)
    signals |= read.signals
    return SearchedCase(
        case=case,
        question=question,
        signals=signals,
        candidates=spans,
        spans=QuestionSpans(features, [is_cited(span, case) for span in spans]),
    )


def search_as_asked(workspace: Workspace, question: Question, mode: str) -> SearchResult:
    """Return what the product's own search finds for a question."""
    resolved = asking.resolve(workspace, question)
    plan = asking.plan_of(workspace, resolved.asker, {"mode": mode}).plan
    visible = asking.filter_of(resolved, plan)
    return asyncio.run(search(resolved.for_search(), plan, visible, workspace.index))


class ReaderOfDev:
    """The reader that ships was taught the cases of dev: one that was not reads these, but for
    passages that are cut or found otherwise since."""

    def __init__(self, ships: Reader) -> None:
        self._ships = ships

    def read(self, question: str, passages: Sequence[ReaderPassage]) -> list[Reading]:
        readings: list[Reading] = []
        for passage in passages:
            COUNTED["readings of dev"] += 1
            if HELD_OUT.has_read(question, passage):
                readings += HELD_OUT.read(question, [passage])
            else:
                COUNTED["by the reader that ships"] += 1
                readings += self._ships.read(question, [passage])
        return readings


def reader_for(workspace: Workspace, case: Case) -> ReaderOfDev | Reader | None:
    if split_of(case.id) == "dev" and workspace.reader:
        return ReaderOfDev(workspace.reader)
    return workspace.reader


def check_readings() -> None:
    """Stops where too many cases were read by a reader that had been taught them."""
    of_dev, by_taught = COUNTED["readings of dev"], COUNTED["by the reader that ships"]
    say(f"{by_taught} of {of_dev} readings of dev are by the reader that ships, which knows them")
    if by_taught > MOST_TAUGHT * of_dev:
        raise SystemExit("Texts or what is searched have changed too much: `make reader` first.")


def is_cited(span: AnswerSpan, case: Case) -> bool:
    """Whether an item of the case's evidence holds the span, or the span the item."""
    text = normalise(span.text)
    if len(text) <= SHORTEST:
        return False
    for item in case.evidence:
        for place in item.places:
            quote = normalise(place.quote)
            if place.document == span.hit.chunk.uri and (text in quote or quote in text):
                return True
    return False


def fit_confidence(searched: Sequence[SearchedCase], basis: Basis) -> ConfidenceWeights:
    questions = question_signals(searched, basis)
    dev: list[QuestionSignals] = []
    for one, question in zip(searched, questions, strict=True):
        if one.split == "dev":
            dev.append(question)
    weights = train_confidence(dev, basis)
    for split in ("dev", "test"):
        of_split: list[QuestionSignals] = []
        for one, question in zip(searched, questions, strict=True):
            if one.split == split:
                of_split.append(question)
        print_decisions(basis, split, of_split, weights)
    thresholds = (weights.answer, weights.closest, weights.on_topic)
    print("        answer {}, closest {}, on topic {}".format(*thresholds))
    return weights


def question_signals(searched: Sequence[SearchedCase], basis: Basis) -> list[QuestionSignals]:
    """The signals of each question; its sentences are judged by weights fitted on dev without its
    own fold."""
    vectors = None if basis == "sparse" else question_vectors(searched)
    folds = [int(sha256(one.case.id.encode()).hexdigest(), 16) % FOLDS for one in searched]
    questions: list[QuestionSignals] = []
    of_fold: dict[int, ConfidenceWeights] = {}
    for fold in range(FOLDS):
        others: list[QuestionSpans] = []
        for one, its_fold in zip(searched, folds, strict=True):
            if one.split == "dev" and its_fold != fold:
                others.append(one.spans)
        of_fold[fold] = train_spans(others, basis)
    askable_of: dict[int, tuple[Numbers, float]] = {}
    if vectors is not None:
        for fold in range(FOLDS):
            taught = [n for n, other in enumerate(folds) if other != fold]
            askable_of[fold] = fit_askable(searched, vectors, taught)
    for place, (one, fold) in enumerate(zip(searched, folds, strict=True)):
        features = [dict(row) for row in one.spans.features]
        spans = answering_spans(one.question, one.candidates, features, of_fold[fold])
        sections = rank_sections(spans)
        leading = choose_sections(sections)[:1]
        signals = {**one.signals, **section_signals(sections)}
        if vectors is not None:
            weight, bias = askable_of[fold]
            signals["askable"] = float(vectors[place] @ weight + bias)
        questions.append(
            QuestionSignals(
                signals=signals,
                answerable=one.case.expect == "answer",
                right=any(is_cited(span, one.case) for each in leading for span in each.spans),
                on_topic=one.case.type not in OFF_TOPIC,
            )
        )
    return questions


def question_vectors(searched: Sequence[SearchedCase]) -> Numbers:
    embedder = Workspace(ROOT / "sample").embedder
    if embedder is None:
        raise SystemExit("Without an embedder there is nothing to fit.")
    texts = [one.case.question for one in searched]
    return np.asarray(embedder.embed(texts), np.float64)


def fit_askable(
    searched: Sequence[SearchedCase], vectors: Numbers, places: Sequence[int]
) -> tuple[Numbers, float]:
    """Weights of `askable` by those of the cases that are of dev."""
    dev = [n for n in places if searched[n].split == "dev"]
    answerable = [searched[n].case.expect == "answer" for n in dev]
    curve = LogisticRegression(C=3.0, max_iter=2000, class_weight="balanced")
    curve.fit(vectors[dev], answerable)
    return np.round(curve.coef_[0], 4), round(float(curve.intercept_[0]), 4)


def write_askable(searched: Sequence[SearchedCase]) -> None:
    vectors = question_vectors(searched)
    weight, bias = fit_askable(searched, vectors, range(len(searched)))
    embedder = Workspace(ROOT / "sample").embedder
    content = {
        "embedder": embedder.fingerprint if embedder else "",
        "weight": weight.tolist(),
        "bias": bias,
    }
    ASKABLE.write_text(json.dumps(content) + "\n", encoding="utf-8")


def print_decisions(
    basis: Basis, split: str, questions: Sequence[QuestionSignals], weights: ConfidenceWeights
) -> None:
    confidences = [estimate_confidence(one.signals, weights) for one in questions]
    answered = np.array(confidences) >= weights.answer
    answerable = np.array([one.answerable for one in questions])
    right = np.array([one.right for one in questions])
    print(
        f"{basis:7} {split:5} leading section right {np.mean(right[answerable]):.3f}"
        f" (n {answerable.sum()}); right where answered {np.mean(right[answered]):.3f}"
        f" (n {answered.sum()}); answerable answered {np.mean(answered[answerable]):.3f},"
        f" silent denied {1 - np.mean(answered[~answerable]):.3f} (n {(~answerable).sum()})"
    )
    print(f"        right among the surest: {surest(np.array(confidences), answerable, right)}")


def surest(confidences: Numbers, answerable: Flags, right: Flags) -> str:
    """Share of right answers where these shares of the answerable questions are answered."""
    told: list[str] = []
    for share in (0.2, 0.3, 0.4, 0.5, 0.6):
        answered = confidences >= np.quantile(confidences[answerable], 1 - share)
        told.append(f"{right[answered].mean():.3f} at {share}")
    return ", ".join(told)


def fit_spans(searched: Sequence[SearchedCase], basis: Basis) -> ConfidenceWeights:
    dev = [one.spans for one in searched if one.split == "dev"]
    weights = train_spans(dev, basis)
    for split in ("dev", "test"):
        of_split = [one.spans for one in searched if one.split == split]
        cited = [spans for spans in of_split if any(spans.underlined)]
        shares = np.mean([underlined_among_best(spans, weights, 4) for spans in cited], axis=0)
        print(
            f"{basis:7} {split:5} cited among the best 1, 2, 3, 4 sentences:"
            f" {shares.round(3)} (n {len(cited)})"
        )
    return weights


if __name__ == "__main__":
    main()
