"""The persona study: chunk size, passages, embedder, and prompts tailored to a reader."""

from ombud.lab.experiments.design import Study, StudyClaim, StudyRow

SIZES = (128, 256, 512)
TOP = (3, 8)
PROMPTS = {
    "13B, no persona": ["no-persona"],
    "13C, no guards": ["no-guards"],
    "13D, question first": ["+question-first"],
    "13E, turn delimiters": ["+turn-delimiters"],
    "13F, persona said again": ["+persona-reinforcement"],
    "13G, bare": ["bare"],
    "13P, as shipped": ["usual"],
}
"""Named as the study numbers its prompts; which words stand in each is ours."""


def _sizes() -> tuple[StudyRow, ...]:
    rows: list[StudyRow] = []
    for size in SIZES:
        for k in TOP:
            cell = {"index.chunk_tokens": size, "plan.k": k}
            rows.append(StudyRow(f"{size} tokens, k={k}", cell, table="Retrieval"))
    rows.append(
        StudyRow("no embedder, k=8", {"models.embedder": "none", "plan.k": 8}, table="Retrieval")
    )
    return tuple(rows)


def _prompts() -> tuple[StudyRow, ...]:
    rows: list[StudyRow] = []
    for label, components in PROMPTS.items():
        cell = {"plan.components": components}
        rows.append(StudyRow(label, cell, "chat model", table="Prompts"))
    return tuple(rows)


STUDY = Study(
    title="Persona study: for whom an answer is written",
    about=(
        "Chunk size, passages and embedder, then prompts that tell the model for whom it writes. "
        "Its own scores were a judge's, `persona.comprehensive` and its seven parts, which can be"
        " named with --metrics; means and medians are shown by persona."
    ),
    metrics=("citation_recall", "quote_recall@1000w", "token_f1", "outcome_accuracy", "length"),
    rows=(*_sizes(), *_prompts()),
    claims=(
        StudyClaim(
            "Smaller chunks with few passages lose to larger ones.",
            "quote_recall@1000w",
            "512 tokens, k=3",
            "128 tokens, k=3",
        ),
        StudyClaim(
            "An embedder is worth having.",
            "quote_recall@1000w",
            "256 tokens, k=8",
            "no embedder, k=8",
        ),
        StudyClaim(
            "Naming the persona makes better answers.",
            "token_f1",
            "13P, as shipped",
            "13B, no persona",
        ),
    ),
    groups=("persona",),
)
