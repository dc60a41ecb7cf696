"""HyPA-RAG: parameters that follow a question's complexity, a graph, rewrites, a reranker."""

from typing import Any

from ombud.lab.experiments.design import Need, Study, StudyClaim, StudyRow

_REWRITES = {"plan.strategies": ["standard", "multi"], "plan.strategy_mode": "all"}
_GRAPH = {"index.graph": "rules", "plan.graph": True}
_RERANK = {"plan.reranker": "cross-encoder"}
_PAPER = {
    (3, "k"): ".7621",
    (3, "k, K, S"): ".8030",
    (3, "k, Q"): ".8141",
    (3, "k, Q, K, S"): ".7918",
    (3, "k, Q, K, S + reranker"): ".8402",
    (2, "k"): ".7546",
    (2, "k, K, S"): ".7955",
}


def _fixed() -> tuple[StudyRow, ...]:
    rows = [StudyRow("model only", {"plan.k": 0}, "chat model", table="Fixed")]
    for k in (3, 5, 7, 10):
        rows.append(StudyRow(f"k={k}", {"plan.k": k}, table="Fixed"))
    return tuple(rows)


def _adaptive(classes: int, parts: str, *, reranked: bool) -> StudyRow:
    """parts: of k, Q (rewrites), K and S (keywords and depth of the graph)."""
    named = f"{parts} + reranker" if reranked else parts
    fields = ["k"]
    cell: dict[str, Any] = {"plan.classes": classes}
    needs: Need = ""
    if "Q" in parts:
        cell |= _REWRITES
        fields.append("rewrites")
        needs = "chat model"
    if "K" in parts:
        cell |= _GRAPH
        fields += ["graph_keywords", "graph_depth"]
    if reranked:
        cell |= _RERANK
        needs = "reranker"
    return StudyRow(
        f"{classes}-class: {named}",
        {**cell, "plan.adaptive": fields},
        needs,
        paper=_PAPER.get((classes, named), ""),
        table=f"{classes} classes",
    )


STUDY = Study(
    title="HyPA-RAG: parameters that follow the question",
    about=(
        "Questions on a law: the model alone, fixed k, and parameters that a router sets by the "
        "question's complexity: k, the number of rewrites Q, and keywords K and path length S of "
        "a graph; with and without a reranker. Its own score is correctness by a judge, "
        "`hypa.absolute_correctness`, which can be named with --metrics. The graph is made by "
        "rules here, by a model there."
    ),
    metrics=("citation_recall", "quote_recall@1000w", "outcome_accuracy", "words@10", "tokens"),
    rows=(
        *_fixed(),
        _adaptive(3, "k", reranked=False),
        _adaptive(3, "k, Q", reranked=False),
        _adaptive(3, "k, K, S", reranked=False),
        _adaptive(3, "k, Q, K, S", reranked=False),
        _adaptive(3, "k", reranked=True),
        _adaptive(3, "k, Q", reranked=True),
        _adaptive(3, "k, K, S", reranked=True),
        _adaptive(3, "k, Q, K, S", reranked=True),
        _adaptive(2, "k", reranked=False),
        _adaptive(2, "k, Q", reranked=False),
        _adaptive(2, "k, K, S", reranked=False),
        _adaptive(2, "k, Q, K, S", reranked=False),
        _adaptive(2, "k, Q", reranked=True),
        _adaptive(2, "k, Q, K, S", reranked=True),
    ),
    claims=(
        StudyClaim(
            "An adaptive k keeps up with k = 10 and reads less (fewer words).",
            "words@10",
            "k=10",
            "3-class: k",
        ),
        StudyClaim("An adaptive k is better than k = 3.", "citation_recall", "3-class: k", "k=3"),
        StudyClaim(
            "The graph alone helps, 3 classes.",
            "citation_recall",
            "3-class: k, K, S",
            "3-class: k",
            is_known=True,
        ),
        StudyClaim(
            "The graph alone helps, 2 classes.",
            "citation_recall",
            "2-class: k, K, S",
            "2-class: k",
            is_known=True,
        ),
        StudyClaim(
            "Together with rewrites the graph hurts where no reranker follows.",
            "citation_recall",
            "3-class: k, Q",
            "3-class: k, Q, K, S",
            is_known=True,
        ),
        StudyClaim(
            "Everything with a reranker is best.",
            "citation_recall",
            "3-class: k, Q, K, S + reranker",
            "3-class: k",
            is_known=True,
        ),
    ),
    paper_metric="share of correct answers, by a judge",
    notes=(
        "Router, macro-F1 of the study: 3 classes TF-IDF with logistic regression .84, SVM .86, "
        "DistilBERT .90; 2 classes .88, .92, .92. Ours, on data of its own: "
        "docs/results/router.md.",
    ),
)
