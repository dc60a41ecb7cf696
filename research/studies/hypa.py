"""HyPA-RAG: parameters that follow a question's complexity, a graph, rewrites, a reranker."""

from collections.abc import Sequence
from typing import Any

from research.studies.design import Need, Study, StudyAxes, StudyClaim, StudyRow
from research.studies.tables import table_line, table_lines

FIXED = (3, 5, 7, 10)
PLAIN = {"plan.late": 0, "plan.strategies": ["standard"]}
"""Without what the study had not: each row adds one thing to this."""
_REWRITES = {"plan.strategies": ["standard", "multi"], "plan.strategy_mode": "all"}
_GRAPH = {"index.graph": "rules", "plan.graph": True}
_RERANK = {"plan.reranker": "cross-encoder"}
_LATE = {"plan.late": 2}
_PAPER = {
    (3, "k"): ".7621",
    (3, "k, K, S"): ".8030",
    (3, "k, Q"): ".8141",
    (3, "k, Q, K, S"): ".7918",
    (3, "k, Q, K, S + reranker"): ".8402",
    (2, "k"): ".7546",
    (2, "k, K, S"): ".7955",
}
ROUTERS = {
    "TF-IDF with logistic regression": (".84", ".88"),
    "SVM": (".86", ".92"),
    "DistilBERT": (".90", ".92"),
}
"""Macro F1 of the study's routers: of three classes, of two."""


def hypa_study(axes: StudyAxes) -> Study:
    del axes
    return Study(
        title="HyPA-RAG: parameters that follow the question",
        about=(
            "Questions on a law: the model alone, fixed k, and parameters that a router sets by "
            "the question's complexity: k, the number of rewrites Q, and keywords K and path "
            "length S of a graph; with and without a reranker. PA is k and Q, HyPA all four. Its "
            "own score is correctness by a judge, `hypa.absolute_correctness`, which can be named "
            "with --metrics. The graph is made by rules here, by a model there."
        ),
        metrics=(
            "citation_recall",
            "quote_recall@10",
            "quote_recall@1000w",
            "outcome_accuracy",
            "token_f1",
            "words@10",
            "tokens",
        ),
        rows=(*_fixed(), *_ablations(), *_with_late()),
        claims=(*_cost_claims(), *_graph_claims()),
        paper_metric="share of correct answers, by a judge",
        saves="k=10",
        notes=(
            "The study's scores are of other questions, another corpus and a judge: only the "
            "order of rows compares.",
            "Late interaction is off but in the last table: it is ours, and stands where no "
            "cross-encoder is set up.",
        ),
    )


def router_table(measured: Sequence[tuple[str, int, str, int]]) -> str:
    """The study's routers and ours, in Markdown.

    measured: (set, classes, macro F1 as printed, questions) of ours."""
    lines = ["## Routers, macro F1\n", *table_lines(["", "3 classes", "2 classes", "judged by"])]
    for name, (three, two) in ROUTERS.items():
        lines.append(table_line([f"{name} (the study)", three, two, "its own questions"]))
    found: dict[str, dict[int, str]] = {}
    counts: dict[str, int] = {}
    for held, classes, shown, questions in measured:
        found.setdefault(held, {})[classes] = shown
        counts[held] = questions
    for held, by_classes in found.items():
        judged_by = f"{held}, {counts[held]} questions that it never saw"
        own = [by_classes.get(classes, "–") for classes in (3, 2)]
        lines.append(table_line(["ours, as it ships or is set", *own, judged_by]))
    if not found:
        lines.append(table_line(["ours", "–", "–", "name labelled questions with --held-out"]))
    lines.append(
        "\nQuestions and labels differ between the rows, so they say no more than roughly."
    )
    return "\n".join(lines)


def _fixed() -> tuple[StudyRow, ...]:
    rows = [StudyRow("model only", {"plan.k": 0}, "chat model", table="Fixed")]
    for k in FIXED:
        rows.append(StudyRow(f"k={k}", {**PLAIN, "plan.k": k}, table="Fixed"))
    return tuple(rows)


def _ablations() -> tuple[StudyRow, ...]:
    three = ("k", "k, Q", "k, K, S", "k, Q, K, S")
    rows: list[StudyRow] = []
    for parts in three:
        rows.append(_adaptive(3, parts))
    for parts in three:
        rows.append(_adaptive(3, parts, reranked=True))
    for parts in three:
        rows.append(_adaptive(2, parts))
    for parts in ("k, Q", "k, Q, K, S"):
        rows.append(_adaptive(2, parts, reranked=True))
    return tuple(rows)


def _adaptive(classes: int, parts: str, *, reranked: bool = False) -> StudyRow:
    """parts: of k, Q (rewrites), K and S (keywords and depth of the graph)."""
    named = f"{parts} + reranker" if reranked else parts
    cell = _cell(classes, parts)
    needs: Need = "chat model" if "Q" in parts else ""
    if reranked:
        cell |= _RERANK
        needs = "chat model and reranker" if needs else "reranker"
    return StudyRow(
        f"{classes}-class: {named}",
        cell,
        needs,
        paper=_PAPER.get((classes, named), ""),
        table=f"{classes} classes",
    )


def _cell(classes: int, parts: str) -> dict[str, Any]:
    cell: dict[str, Any] = {**PLAIN, "plan.classes": classes}
    fields = ["k"]
    if "Q" in parts:
        cell |= _REWRITES
        fields.append("rewrites")
    if "K" in parts:
        cell |= _GRAPH
        fields += ["graph_keywords", "graph_depth"]
    return {**cell, "plan.adaptive": fields}


def _with_late() -> tuple[StudyRow, ...]:
    name = "Ours: late interaction in place of a reranker"
    rows = [StudyRow("k=10, late", {**PLAIN, **_LATE, "plan.k": 10}, table=name)]
    for classes in (3, 2):
        for parts in ("k", "k, K, S"):
            label = f"{classes}-class: {parts}, late"
            rows.append(StudyRow(label, {**_cell(classes, parts), **_LATE}, table=name))
    return tuple(rows)


def _cost_claims() -> tuple[StudyClaim, ...]:
    claims: list[StudyClaim] = []
    for classes in (3, 2):
        claims.append(
            StudyClaim(
                f"An adaptive k ({classes} classes) loses no more than .05 of what k = 10 has.",
                "citation_recall",
                f"{classes}-class: k",
                "k=10",
                found="quote_recall@10",
                margin=0.05,
            )
        )
        claims.append(
            StudyClaim(
                f"It reads fewer words ({classes} classes).",
                "words@10",
                f"{classes}-class: k",
                "k=10",
                found="words@10",
                is_less=True,
            )
        )
    claims.append(_claim("An adaptive k is better than k = 3.", "3-class: k", "k=3"))
    return tuple(claims)


def _graph_claims() -> tuple[StudyClaim, ...]:
    rerank = "3-class: k, Q, K, S + reranker"
    return (
        _claim("The graph alone helps, 3 classes (.7621 to .8030).", "3-class: k, K, S",
               "3-class: k", is_known=True),
        _claim("The graph alone helps, 2 classes (.7546 to .7955).", "2-class: k, K, S",
               "2-class: k", is_known=True),
        _claim("Rewrites alone help, 3 classes (.7621 to .8141).", "3-class: k, Q", "3-class: k",
               is_known=True),
        _claim("With rewrites the graph hurts where no reranker follows (.7918 against .8141).",
               "3-class: k, Q", "3-class: k, Q, K, S", is_known=True),
        _claim("All of it with a reranker (.8402) beats the best without (.8141).", rerank,
               "3-class: k, Q", is_known=True),
        _claim("Late interaction, in place of a reranker, helps the graph.",
               "3-class: k, K, S, late", "3-class: k, K, S"),
    )  # fmt: skip


def _claim(said: str, better: str, worse: str, *, is_known: bool = False) -> StudyClaim:
    return StudyClaim(
        said,
        "citation_recall",
        better,
        worse,
        is_known=is_known,
        found="quote_recall@1000w",
    )
