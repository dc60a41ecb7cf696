"""Wombat (Ekimetrics): how much of the corpus to index, which search texts, how many passages."""

from itertools import pairwise
from typing import Any

from ombud.lab.metrics.parsing import TIMED
from research.studies.design import NO_FIGURE, Need, Study, StudyAxes, StudyClaim, StudyRow

KS = (3, 5, 8, 10)
_SPARSE = {"plan.mode": "sparse"}
OWN = "the question itself"
OLD = "old: the question, embedder, k=5"
NEW = "new: hyde, sparse, k=8"
OURS = "ours, as it is"


def wombat_study(axes: StudyAxes) -> Study:
    extents = _extents(axes.sources)
    return Study(
        title="Wombat: corpus, search texts and k on sparse search",
        about=(
            "An assistant over a company's pages, improved step by step: first what is indexed "
            "(attached PDFs, their tables), then how search texts are made (reformulate, keywords, "
            "a hypothetical passage) for k from 3 to 10 on sparse search, then the old set-up "
            "against the new one on score, time, model calls, tokens and price. Its own score was "
            "a judge's composite over 39 questions; here it leads where a judge is set up."
        ),
        metrics=(
            "citation_recall",
            "quote_recall@10",
            "outcome_accuracy",
            "model_calls",
            "tokens",
            "price",
        ),
        rows=(*extents, *_figure_3(), *_old_and_new(axes.sources)),
        claims=(*_extent_claims(extents), *_claims()),
        judged=("wombat.composite",),
        paper_metrics=("composite",),
        lines="Figure 3",
        timed=("keywords, k=5", "hyde, k=5", OLD, NEW, OURS),
        notes=(
            "The study's curves are a picture without figures; what it states in its text stands "
            "beside our rows and claims. Our questions are not its own, so only the direction "
            "compares.",
            "Its old set-up searched pages alone, by embedder, with the question itself; how many "
            "passages it read is not said, here 5.",
            "The extents of the corpus are the sources named with --source, in their order, and "
            "then all of it: with `--source pages`, where attached PDFs are a source of their own, "
            "the corpus without and with them. Without --source only its tables in two forms are "
            "compared.",
        ),
    )


def _extents(sources: tuple[str, ...]) -> tuple[StudyRow, ...]:
    """Source after source, as they are; then all, tables row by row."""
    flat = {"index.tables": "markdown"}
    rows: list[StudyRow] = []
    # The last of several named ones makes the whole corpus; one alone is what the others add to.
    for count in range(1, max(len(sources), 2) if sources else 1):
        first = list(sources[:count])
        cell = {**flat, "plan.sources": first}
        rows.append(StudyRow(" + ".join(first), cell, table="Corpus"))
    rows.append(StudyRow("everything, tables as they are", flat, table="Corpus"))
    by_row = {"index.tables": "rows"}
    rows.append(StudyRow("everything, tables row by row", by_row, table="Corpus"))
    return tuple(rows)


def _extent_claims(extents: tuple[StudyRow, ...]) -> tuple[StudyClaim, ...]:
    """Each extent beside the one before it, and the last beside the first, as the study has it."""
    claims: list[StudyClaim] = []
    for before, after in pairwise(extents):
        said = f"“{after.label}” beats “{before.label}”."
        if after is extents[-1]:
            said = "Parsing tables raises the score."
        claims.append(_claim(said, after.label, before.label))
    if len(extents) > 2:
        stated = "+37 % of its composite, with pages kept up to date as well"
        said = "Content alone, attachments with their tables, raises the score."
        claims.append(_claim(said, extents[-1].label, extents[0].label, stated))
    return tuple(claims)


def _figure_3() -> tuple[StudyRow, ...]:
    return (
        *_by_k(OWN, "standard", ""),
        *_by_k("reformulate", "reformulate"),
        *_by_k("keywords", "keywords"),
        *_by_k("hyde", "hyde"),
    )


def _by_k(label: str, strategy: str, needs: Need = "chat model") -> tuple[StudyRow, ...]:
    rows: list[StudyRow] = []
    for k in KS:
        cell = {**_SPARSE, "plan.strategies": [strategy], "plan.k": k}
        rows.append(StudyRow(f"{label}, k={k}", cell, needs, table="Figure 3"))
    return tuple(rows)


def _old_and_new(sources: tuple[str, ...]) -> tuple[StudyRow, ...]:
    old: dict[str, Any] = {"plan.mode": "dense", "plan.k": 5, "plan.strategies": ["standard"]}
    if sources:
        old["plan.sources"] = list(sources[:1])
    new = {**_SPARSE, "plan.k": 8, "plan.strategies": ["hyde"]}
    ours = {"plan.own_words": True, "plan.evidence": "section"}
    return (
        StudyRow(OLD, old, paper=(".37",), table="Old and new"),
        StudyRow(NEW, new, "chat model", (".64",), "Old and new"),
        StudyRow(OURS, ours, table="Old and new"),
    )


def _claim(said: str, better: str, worse: str, stated: str = "") -> StudyClaim:
    return StudyClaim(
        said,
        "citation_recall",
        better,
        worse,
        stated=stated,
        judged="wombat.composite",
        found="quote_recall@10",
    )


def _claims() -> tuple[StudyClaim, ...]:
    return (
        _claim("With k = 8 a hypothetical passage beats keywords.", "hyde, k=8", "keywords, k=8",
               NO_FIGURE),
        _claim("With k = 8 it beats a reformulated question.", "hyde, k=8", "reformulate, k=8",
               NO_FIGURE),
        _claim("It does better with k = 8 than with k = 5.", "hyde, k=8", "hyde, k=5", NO_FIGURE),
        _claim("With k = 5 keywords beat a hypothetical passage.", "keywords, k=5", "hyde, k=5",
               NO_FIGURE),
        StudyClaim("Keywords cost fewer tokens than a hypothetical passage (k = 5).", "tokens",
                   "keywords, k=5", "hyde, k=5", stated="-5 %"),
        StudyClaim("They take less time (k = 5).", TIMED, "keywords, k=5", "hyde, k=5",
                   stated="-8 %"),
        _claim("The question itself does better with k = 8 than with k = 3.", f"{OWN}, k=8",
               f"{OWN}, k=3"),
        _claim("The new set-up beats the old one.", NEW, OLD,
               ".37 to .64, the model and its instructions changed as well"),
    )  # fmt: skip
