"""Wombat (Ekimetrics): how much of the corpus to index, which search texts, how many passages."""

from itertools import pairwise
from typing import Any

from research.studies.design import Need, Study, StudyAxes, StudyClaim, StudyRow

KS = (3, 5, 8, 10)
_SPARSE = {"plan.mode": "sparse"}
OWN = "the question itself"


def wombat_study(axes: StudyAxes) -> Study:
    extents = _extents(axes.sources)
    return Study(
        title="Wombat: corpus, search texts and k on sparse search",
        about=(
            "An assistant over a company's pages, improved step by step: first what is indexed, "
            "then how search texts are made (reformulate, keywords, a hypothetical passage) for k "
            "from 3 to 10 on sparse search, then the old set-up against the new one on score, "
            "time, model calls, tokens and price. Its own score was a judge's; name "
            "`wombat.composite` with --metrics where a judge is set up."
        ),
        metrics=(
            "citation_recall",
            "quote_recall@10",
            "outcome_accuracy",
            "model_calls",
            "tokens",
            "price",
        ),
        rows=(*extents, *_figure_3(), *_old_and_new()),
        claims=(*_extent_claims(extents), *_claims()),
        paper_metric="a judge's composite",
        lines="Figure 3",
        timed="Old and new",
        notes=(
            "Of the study's own figures we know: keywords cost 5 % fewer tokens and 8 % less time "
            "than a hypothetical passage, and its final set-up was hyde, sparse, k = 8. Our score "
            "is not its own, so only the direction compares.",
            "What its old set-up was is not known to us: here it is the question itself, sparse, "
            "k = 3.",
            "The extents of the corpus are the sources named with --source, in their order; "
            "without it only its tables in two forms are compared.",
            "`feedback` (words of the best passages, by rules) needs no model and stands for "
            "search texts where there is none; it is not in the study.",
        ),
    )


def _extents(sources: tuple[str, ...]) -> tuple[StudyRow, ...]:
    """Source after source, as they are; then all, tables row by row."""
    flat = {"index.tables": "markdown"}
    rows: list[StudyRow] = []
    for count in range(1, len(sources)):
        first = list(sources[:count])
        cell = {**flat, "plan.sources": first}
        rows.append(StudyRow(" + ".join(first), cell, table="Corpus"))
    rows.append(StudyRow("everything, tables as they are", flat, table="Corpus"))
    by_row = {"index.tables": "rows"}
    rows.append(StudyRow("everything, tables row by row", by_row, table="Corpus"))
    return tuple(rows)


def _extent_claims(extents: tuple[StudyRow, ...]) -> tuple[StudyClaim, ...]:
    """Each extent beside the one before it."""
    claims: list[StudyClaim] = []
    for before, after in pairwise(extents):
        said = f"“{after.label}” beats “{before.label}”."
        if after is extents[-1]:
            said = "Parsing tables raises the score."
        claims.append(
            StudyClaim(
                said,
                "citation_recall",
                after.label,
                before.label,
                found="quote_recall@10",
            )
        )
    return tuple(claims)


def _figure_3() -> tuple[StudyRow, ...]:
    return (
        *_by_k(OWN, "standard", ""),
        *_by_k("feedback", "feedback", ""),
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


def _old_and_new() -> tuple[StudyRow, ...]:
    old: dict[str, Any] = {**_SPARSE, "plan.k": 3, "plan.strategies": ["standard"]}
    new = {**_SPARSE, "plan.k": 8, "plan.strategies": ["hyde"]}
    stand_in = {**new, "plan.strategies": ["feedback"]}
    return (
        StudyRow("old: the question, sparse, k=3", old, table="Old and new"),
        StudyRow("new: hyde, sparse, k=8", new, "chat model", table="Old and new"),
        StudyRow("new without a model: feedback, sparse, k=8", stand_in, table="Old and new"),
        StudyRow("ours, as it is", {}, table="Old and new"),
    )


def _claims() -> tuple[StudyClaim, ...]:
    def claim(said: str, better: str, worse: str, *, is_known: bool = False) -> StudyClaim:
        return StudyClaim(
            said,
            "citation_recall",
            better,
            worse,
            is_known=is_known,
            found="quote_recall@10",
        )

    return (
        claim("Keywords beat a hypothetical passage at k = 5.", "keywords, k=5", "hyde, k=5",
              is_known=True),
        claim("On sparse search reformulating is weak: a hypothetical passage beats it (k = 8).",
              "hyde, k=8", "reformulate, k=8", is_known=True),
        claim("More passages help up to k = 8.", f"{OWN}, k=8", f"{OWN}, k=3"),
        claim("The new set-up beats the old one.", "new: hyde, sparse, k=8",
              "old: the question, sparse, k=3"),
        StudyClaim("Keywords cost fewer tokens than a hypothetical passage (5 % there, k = 5).",
                   "tokens", "keywords, k=5", "hyde, k=5", is_known=True),
        claim("Without a model: feedback beats the question itself (k = 8; ours to ask).",
              "feedback, k=8", f"{OWN}, k=8"),
    )  # fmt: skip
