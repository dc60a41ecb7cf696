"""NatWest: embedder, number of results and how rankings are joined; responses by tag."""

from typing import Any

from research.studies.design import NO_FIGURE, Study, StudyAxes, StudyClaim, StudyRow

RESULTS = (5, 10)
PLAIN = {"plan.late": 0, "plan.strategies": ["standard"]}
"""One search text, nothing reordered: rows differ in their legs and in how these are joined."""
JOINED: dict[str, dict[str, Any]] = {
    "embedder alone": {"plan.mode": "dense"},
    "RRF": {"plan.mode": "hybrid", "plan.fusion": "rrf"},
    "CombSUM": {"plan.mode": "hybrid", "plan.fusion": "combsum"},
}
CRITERIA = ("faithfulness", "truthfulness", "relevance", "completeness", "fluency", "bias")


def natwest_study(axes: StudyAxes) -> Study:
    rows: list[StudyRow] = []
    for k in RESULTS:
        rows += _rows(k, axes.embedders)
    return Study(
        title="NatWest: embedders, results, fusion and rerankers",
        about=(
            "An evaluation framework run against a deployed assistant. Embedder, number of results "
            "and the way rankings are joined (RRF, CombSUM, a reranker) were tuned by recall and "
            "mean reciprocal rank of the passage that a question was made from; responses were "
            "compared by the tags of their questions. People graded real questions by six "
            "criteria, and a judge was aligned with them; here those criteria lead where a judge "
            "is set up."
        ),
        metrics=(
            "quote_recall@10",
            "mrr",
            "quote_recall@5",
            "ndcg@10",
            "citation_recall",
            "outcome_accuracy",
            "token_f1",
        ),
        rows=tuple(rows),
        claims=_claims(),
        judged=tuple(f"natwest.{criterion}" for criterion in CRITERIA),
        groups=("tag",),
        grouped=("outcome_accuracy", "citation_recall"),
        notes=(
            "The study gives no figures, so none stands beside ours.",
            "Its samples for people were 50 to 100 real questions a release. `ombud lab annotate` "
            "shows people the same rubrics, `agree` and `align` say how far raters and a judge "
            "agree.",
            "Other embedders are rows of their own with --embedder; each has its own index.",
        ),
    )


def _rows(k: int, embedders: tuple[str, ...]) -> list[StudyRow]:
    results = f"{k} results"
    plain = {**PLAIN, "plan.k": k}
    rows = [StudyRow(f"no embedder, {results}", {**plain, "plan.mode": "sparse"}, table=results)]
    for name, joined in JOINED.items():
        rows.append(StudyRow(f"{name}, {results}", {**plain, **joined}, table=results))
        for embedder in embedders:
            cell = {**plain, **joined, "models.embedder": embedder}
            rows.append(StudyRow(f"{name} ({embedder}), {results}", cell, table=results))
    reranked = {**plain, **JOINED["RRF"], "plan.reranker": "cross-encoder"}
    rows.append(StudyRow(f"cross-encoder, {results}", reranked, "reranker", table=results))
    return rows


def _claims() -> tuple[StudyClaim, ...]:
    def claim(said: str, metric: str, better: str, worse: str, stated: str = "") -> StudyClaim:
        return StudyClaim(
            said,
            metric,
            f"{better}, 10 results",
            f"{worse}, 10 results",
            stated=stated,
            found=metric,
        )

    recall = "quote_recall@5"
    return (
        claim("Joining two rankings (RRF) beats the embedder alone.", recall, "RRF",
              "embedder alone"),
        claim("Joining them (RRF) beats sparse search alone.", recall, "RRF", "no embedder"),
        claim("Joining scores (CombSUM) beats joining ranks (RRF).", recall, "CombSUM", "RRF"),
        claim("A reranker beats RRF in recall.", recall, "cross-encoder", "RRF", NO_FIGURE),
        claim("A reranker beats RRF in rank.", "mrr", "cross-encoder", "RRF", NO_FIGURE),
        claim("A reranker beats CombSUM in recall.", recall, "cross-encoder", "CombSUM",
              NO_FIGURE),
        claim("A reranker beats CombSUM in rank.", "mrr", "cross-encoder", "CombSUM", NO_FIGURE),
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
            judged="natwest.completeness",
        ),
    )  # fmt: skip
