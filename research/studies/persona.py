"""The persona study: chunk size, passages, embedder, and prompts tailored to a reader."""

from typing import Any

from research.studies.design import Study, StudyAxes, StudyClaim, StudyRow

SIZES: dict[str, dict[str, Any]] = {
    "128 tokens": {"index.chunk_tokens": 128},
    "256 tokens": {"index.chunk_tokens": 256},
    "2048 tokens, 512 shared": {"index.chunker": "fixed"},
}
"""The last is how the study cut."""
TOP = (3, 8)
READERS = ("employee", "manager", "engineer", "marketing", "legal", "hr_advisor")
PROMPTS = {
    "13B, as shipped": ["usual"],
    "13C, no role": ["-role"],
    "13D, no tailoring": ["-tailoring"],
    "13E, no only-context": ["-only-context"],
    "13F, no ignore-irrelevant": ["-ignore-irrelevant"],
    "13G, no key-information": ["-key-information"],
    "13H, no insufficient-context": ["-insufficient-context"],
    "13I, no format": ["-format"],
    "13J, no persona length": ["-persona-length"],
    "13K, no persona style": ["-persona-style"],
    "13L, no no-extraneous": ["-no-extraneous"],
    "13M, question first": ["+question-first"],
    "13N, turn delimiters": ["+turn-delimiters"],
    "13O, no persona at all": ["no-persona"],
    "13P, bare": ["bare"],
}
"""Fifteen runs, as the study numbers them; which components each of them drops is ours."""


def persona_study(axes: StudyAxes) -> Study:
    generators = ("", *axes.generators)
    return Study(
        title="Persona study: for whom an answer is written",
        about=(
            "Chunk size by passages by embedder, then answers by generator, for six readers and "
            "with fifteen prompts (13B to 13P) that drop one component to many. Its own scores "
            "were a judge's, `persona.comprehensive` and its parts on a scale of 1-5, which can "
            "be named with --metrics."
        ),
        metrics=(
            "token_f1",
            "citation_recall",
            "quote_recall@1000w",
            "outcome_accuracy",
            "length",
            "tokens",
        ),
        rows=(*_retrieval(axes.embedders), *_readers(generators), *_prompts(generators)),
        claims=_claims(),
        medians="Readers",
        grouped=("token_f1", "citation_recall", "length"),
        notes=(
            "Known of the study: telling the model how long to write went with the pairwise "
            "score; turn delimiters cost .2 (of 1-5) on one model; its persona for marketing did "
            "better plain than catchy (ours is plain; another is a file in `personas/`).",
            "Which components the study's fifteen runs dropped is not known to us: ours drop one "
            "each, then change the order, then drop many.",
            "Without a chat model every reader gets the same quotes, so readers and prompts "
            "cannot differ and are not run.",
        ),
    )


def _retrieval(embedders: tuple[str, ...]) -> tuple[StudyRow, ...]:
    rows: list[StudyRow] = []
    for embedder in ("", "none", *embedders):
        for size, cut in SIZES.items():
            for k in TOP:
                rows.append(_retrieved(embedder, size, {**cut, "plan.k": k}, k))
    return tuple(rows)


def _retrieved(embedder: str, size: str, cell: dict[str, Any], k: int) -> StudyRow:
    label = f"{size}, k={k}"
    if embedder == "none":
        # The same passages, found by their words alone: an index without vectors would say no more.
        return StudyRow(f"{label}, no embedder", {**cell, "plan.mode": "sparse"}, table="Retrieval")
    if embedder:
        cell = {**cell, "models.embedder": embedder}
        label = f"{label}, {embedder}"
    return StudyRow(label, cell, table="Retrieval")


def _readers(generators: tuple[str, ...]) -> tuple[StudyRow, ...]:
    rows: list[StudyRow] = []
    for generator in generators:
        for reader in READERS:
            cell = {"plan.persona": reader, **_by(generator)}
            label = f"for: {reader}{_named(generator)}"
            rows.append(StudyRow(label, cell, "chat model", table="Readers"))
    return tuple(rows)


def _prompts(generators: tuple[str, ...]) -> tuple[StudyRow, ...]:
    rows: list[StudyRow] = []
    for generator in generators:
        for name, components in PROMPTS.items():
            cell = {"plan.components": components, **_by(generator)}
            label = f"{name}{_named(generator)}"
            rows.append(StudyRow(label, cell, "chat model", table="Prompts"))
    return tuple(rows)


def _by(generator: str) -> dict[str, Any]:
    return {"models.chat": generator} if generator else {}


def _named(generator: str) -> str:
    return f" ({generator})" if generator else ""


def _claims() -> tuple[StudyClaim, ...]:
    def found(said: str, better: str, worse: str) -> StudyClaim:
        metric = "quote_recall@1000w"
        return StudyClaim(said, metric, better, worse, found=metric)

    def written(said: str, worse: str) -> StudyClaim:
        return StudyClaim(said, "token_f1", "13B, as shipped", worse, is_known=True)

    return (
        found("Chunks of 2048 tokens, as the study cut, find more than 256 (within 1,000 words).",
              "2048 tokens, 512 shared, k=8", "256 tokens, k=8"),
        found("Larger chunks find more where few passages are read (256 over 128, k = 3).",
              "256 tokens, k=3", "128 tokens, k=3"),
        found("More passages find more (k = 8 over k = 3).", "256 tokens, k=8", "256 tokens, k=3"),
        found("An embedder is worth having.", "256 tokens, k=8", "256 tokens, k=8, no embedder"),
        written("Saying how long to write makes better answers.", "13J, no persona length"),
        written("Turn delimiters cost (.2 of 1-5 there, on one model).", "13N, turn delimiters"),
    )  # fmt: skip
