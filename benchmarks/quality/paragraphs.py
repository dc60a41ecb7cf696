"""Is the right paragraph among the best five? XQuAD: 240 paragraphs of Wikipedia, 1,190 questions,
three languages.

A corpus is the paragraphs in one language, asked in the same. Nothing was fitted on it, so all
questions count."""

import json
from collections.abc import Mapping
from typing import NamedTuple

from corpora import DATA, needs, open_pages
from figures import Row, differences, figure, header, table
from measuring import average, measure, paired
from record import say

from ombud.app import LocalTarget
from ombud.lab import RecordedRun, cluster_of
from ombud.types import Case, Passage, Person

FOLDER = DATA / "retrieval/xquad"
LANGUAGES = {"en": "English", "de": "German", "es": "Spanish"}
MODES = ("hybrid", "sparse", "dense")
METRICS = ("recall@5", "mrr@5")
TARGET = 0.98
"""Of recall@5 in English, hybrid."""


class Corpus(NamedTuple):
    pages: Mapping[str, str]
    cases: tuple[Case, ...]


def report() -> str:
    """The Markdown of research/results/retrieval-xquad.md; empty where the questions are not at
    hand."""
    if not needs(FOLDER):
        return ""
    lines: list[str] = []
    verdict = ""
    for language, name in LANGUAGES.items():
        corpus = read_corpus(language)
        runs = _runs(language, corpus)
        clusters = [cluster_of(case) for case in corpus.cases]
        rows = []
        for mode, one in runs.items():
            figures = [figure(average(one, metric, clusters)) for metric in METRICS]
            rows.append([mode, *figures])
        lines += [
            "",
            f"## {name}: {len(corpus.pages)} paragraphs, {len(corpus.cases)} questions",
            "",
        ]
        lines += [*table(["mode", *METRICS], rows), ""]
        against = []
        for mode in MODES[1:]:
            for metric in METRICS:
                difference = paired(runs[mode], runs["hybrid"], metric, clusters)
                against.append(Row(mode, metric, difference))
        lines += differences("hybrid against", against)
        if language == "en":
            found = average(runs["hybrid"], "recall@5", clusters).value or 0.0
            reached = "met" if found >= TARGET else "MISSED"
            verdict = f"{TARGET:.2f} in English, hybrid: {found:.3f}, {reached}"
    return "\n".join([header("xquad", verdict=verdict), *lines]) + "\n"


def read_corpus(language: str) -> Corpus:
    whole = json.loads((FOLDER / f"xquad.{language}.json").read_text(encoding="utf-8"))["data"]
    pages: dict[str, str] = {}
    cases: list[Case] = []
    for paragraph in (paragraph for article in whole for paragraph in article["paragraphs"]):
        page = f"{len(pages):03d}"
        pages[page] = paragraph["context"]
        # Without a quote every passage of the paragraph counts.
        evidence = (Passage(document=f"pages/{page}.md", quote=""),)
        cases += [
            Case(
                id=qa["id"],
                question=qa["question"],
                person=Person(language=language),
                evidence=evidence,
            )
            for qa in paragraph["qas"]
        ]
    return Corpus(pages, tuple(cases))


def _runs(language: str, corpus: Corpus) -> dict[str, RecordedRun]:
    workspace = open_pages(f"xquad-{language}", corpus.pages)
    runs = {}
    for mode in MODES:
        say(f"xquad {language} {mode}")
        runs[mode] = measure(
            f"xquad {language} {mode}",
            LocalTarget(workspace),
            workspace.store,
            corpus.cases,
            ", ".join(METRICS),
            plan={"mode": mode},
        )
    workspace.close()
    return runs
