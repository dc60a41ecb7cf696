"""NatWest: embedder, number of results and how rankings are joined; responses by tag."""

from ombud.lab.experiments.design import Study, StudyClaim, StudyRow

RESULTS = (5, 10)
JOINED = {"RRF": "rrf", "CombSUM": "combsum"}


def _rows() -> tuple[StudyRow, ...]:
    rows: list[StudyRow] = []
    for k in RESULTS:
        for name, fusion in JOINED.items():
            cell = {"plan.k": k, "plan.fusion": fusion, "plan.late": 0}
            rows.append(StudyRow(f"{name}, {k} results", cell))
        rows.append(StudyRow(f"sparse alone, {k} results", {"plan.k": k, "plan.mode": "sparse"}))
        rows.append(
            StudyRow(
                f"embedder alone, {k} results",
                {"plan.k": k, "plan.mode": "dense", "plan.late": 0},
            )
        )
        rows.append(StudyRow(f"late interaction, {k} results", {"plan.k": k, "plan.late": 2}))
        rows.append(
            StudyRow(
                f"cross-encoder, {k} results",
                {"plan.k": k, "plan.reranker": "cross-encoder"},
                "reranker",
            )
        )
    return tuple(rows)


STUDY = Study(
    title="NatWest: embedders, results, fusion and rerankers",
    about=(
        "An evaluation framework run against a deployed assistant: retrieval by embedder, number "
        "of results and the way rankings are joined (RRF, CombSUM, a reranker), and responses by "
        "the tags of their questions. Other embedders are axes of a sweep: `models.embedder=...`."
    ),
    metrics=("quote_recall@5", "mrr", "citation_recall", "outcome_accuracy", "words@10"),
    rows=_rows(),
    claims=(
        StudyClaim(
            "Joining sparse and dense rankings beats the embedder alone.",
            "quote_recall@5",
            "RRF, 10 results",
            "embedder alone, 10 results",
        ),
        StudyClaim(
            "Joining them beats sparse search alone.",
            "quote_recall@5",
            "RRF, 10 results",
            "sparse alone, 10 results",
        ),
        StudyClaim(
            "A reranker beats RRF.",
            "quote_recall@5",
            "cross-encoder, 10 results",
            "RRF, 10 results",
        ),
        StudyClaim(
            "Joining scores beats joining ranks.",
            "quote_recall@5",
            "CombSUM, 10 results",
            "RRF, 10 results",
        ),
    ),
    groups=("type", "tag"),
    notes=(
        "Late interaction stands where the study had a reranker and none is set up here; it is "
        "ours.",
    ),
)
