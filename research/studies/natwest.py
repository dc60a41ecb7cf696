"""NatWest: embedder, number of results and how rankings are joined; responses by tag."""

from typing import Any

from research.studies.design import Study, StudyAxes, StudyClaim, StudyRow

RESULTS = (5, 10)
JOINED: dict[str, dict[str, Any]] = {
    "embedder alone": {"plan.mode": "dense"},
    "RRF": {"plan.fusion": "rrf"},
    "CombSUM": {"plan.fusion": "combsum"},
}
OURS: dict[str, dict[str, Any]] = {
    "CombSUM, reordered by diversity (mmr)": {"plan.fusion": "combsum", "plan.reranker": "mmr"},
    "CombSUM, late interaction": {"plan.fusion": "combsum", "plan.late": 2},
}
"""Rerankers that need no model."""


def natwest_study(axes: StudyAxes) -> Study:
    rows: list[StudyRow] = []
    for k in RESULTS:
        rows += _rows(k, axes.embedders)
    return Study(
        title="NatWest: embedders, results, fusion and rerankers",
        about=(
            "An evaluation framework run against a deployed assistant: retrieval by embedder, "
            "number of results and the way rankings are joined (RRF, CombSUM, a reranker), and "
            "responses by the tags of their questions. Its responses were graded by people on six "
            "criteria; `natwest.faithfulness` and its siblings can be named with --metrics where "
            "a judge is set up."
        ),
        metrics=(
            "quote_recall@10",
            "quote_recall@5",
            "ndcg@10",
            "mrr",
            "citation_recall",
            "outcome_accuracy",
            "token_f1",
        ),
        rows=tuple(rows),
        claims=_claims(),
        groups=("tag",),
        grouped=("outcome_accuracy", "citation_recall"),
        notes=(
            "None of the study's own figures is known to us, so none stands beside ours.",
            "Late interaction is off except in the row that names it. It and mmr stand where the "
            "study had a reranker and none is set up here; they are ours.",
            "Other embedders are rows of their own with --embedder; each has its own index.",
        ),
    )


def _rows(k: int, embedders: tuple[str, ...]) -> list[StudyRow]:
    results = f"{k} results"
    plain = {"plan.k": k, "plan.late": 0}
    rows = [StudyRow(f"no embedder, {results}", {**plain, "plan.mode": "sparse"}, table=results)]
    for name, joined in JOINED.items():
        rows.append(StudyRow(f"{name}, {results}", {**plain, **joined}, table=results))
        for embedder in embedders:
            cell = {**plain, **joined, "models.embedder": embedder}
            rows.append(StudyRow(f"{name} ({embedder}), {results}", cell, table=results))
    for name, joined in OURS.items():
        rows.append(StudyRow(f"{name}, {results}", {**plain, **joined}, table=results))
    reranked = {**plain, "plan.reranker": "cross-encoder"}
    rows.append(StudyRow(f"cross-encoder, {results}", reranked, "reranker", table=results))
    return rows


def _claims() -> tuple[StudyClaim, ...]:
    def claim(said: str, better: str, worse: str) -> StudyClaim:
        return StudyClaim(
            said,
            "quote_recall@5",
            f"{better}, 10 results",
            f"{worse}, 10 results",
            found="quote_recall@5",
        )

    return (
        claim("Joining two rankings (RRF) beats the embedder alone.", "RRF", "embedder alone"),
        claim("Joining them (RRF) beats sparse search alone.", "RRF", "no embedder"),
        claim("Joining scores (CombSUM) beats joining ranks (RRF).", "CombSUM", "RRF"),
        claim("A reranker beats RRF.", "cross-encoder", "RRF"),
        claim(
            "Late interaction, in place of a reranker, beats the same without.",
            "CombSUM, late interaction",
            "CombSUM",
        ),
        StudyClaim(
            "Ten results hold more of the evidence than five (RRF).",
            "quote_recall@10",
            "RRF, 10 results",
            "RRF, 5 results",
            found="quote_recall@10",
        ),
        StudyClaim(
            "Ten results make better responses than five (RRF).",
            "citation_recall",
            "RRF, 10 results",
            "RRF, 5 results",
        ),
    )
