"""The persona study: chunk size, passages, embedder, and prompts tailored to a reader."""

from typing import Any

from research.studies.design import NO_FIGURE, Study, StudyAxes, StudyClaim, StudyRow
from research.studies.tables import table_line, table_lines

SIZES: dict[str, dict[str, Any]] = {
    "128 tokens": {"index.chunk_tokens": 128},
    "256 tokens": {"index.chunk_tokens": 256},
    "2048 tokens, 512 shared": {"index.chunker": "fixed"},
}
"""The last is how the study cut."""
TOP = (3, 8)
READERS = ("employee", "manager", "engineer", "marketing", "legal", "hr_advisor")
TAILORED = ("engineer", "marketing")
"""The study's two personas, for whom every prompt is tried."""
COMPLETE = ["+persona-reinforcement", "+turn-delimiters"]
"""What the study's complete prompt has beside those of ours that are usual."""
_NO_INSTRUCTIONS = ["-tailoring", "-persona-length", "-persona-style"]
_ENDS = ["answer-cue", "turn-delimiters"]
WHOLE = "complete prompt"
NO_LENGTH = "13B, no persona instructions on length"
QUESTION_FIRST = "13K, question before context"
NO_MARKS = "13M, no marks of a turn"
BARE = "13P, no detailed instructions"
PROMPTS = {
    WHOLE: COMPLETE,
    NO_LENGTH: [*COMPLETE, "-persona-length"],
    "13C, no persona instructions on style": [*COMPLETE, "-persona-style"],
    "13D, no persona instructions": [*COMPLETE, *_NO_INSTRUCTIONS],
    "13E, nor their reinforcement": ["+turn-delimiters", *_NO_INSTRUCTIONS],
    "13F, no ignoring of some content": [*COMPLETE, "-ignore-irrelevant"],
    "13G, no answers from the context alone": [*COMPLETE, "-only-context"],
    "13H, no insufficient context": [*COMPLETE, "-insufficient-context"],
    "13I, no output format": [*COMPLETE, "-format"],
    "13J, no limited answer": [*COMPLETE, "-no-extraneous"],
    QUESTION_FIRST: [*COMPLETE, "+question-first"],
    "13L, no cue to answer": [*COMPLETE, "-answer-cue"],
    NO_MARKS: ["+persona-reinforcement"],
    "13N, neither marks nor cue": ["+persona-reinforcement", "-answer-cue"],
    "13O, reinforcement alone": ["persona-reinforcement", *_ENDS],
    BARE: _ENDS,
}
"""The study's runs and, first, the prompt that they are derived from -> what is switched."""
BEST = (
    ("runB", "4.33", "3.41", "3.85", "3.21", "3.70"),
    ("runE", "4.59", "3.31", "3.62", "3.23", "3.69"),
    ("runF", "4.50", "3.35", "3.77", "3.21", "3.71"),
)
"""The study's three best runs; their settings it does not print."""


def persona_study(axes: StudyAxes) -> Study:
    generators = ("", *axes.generators)
    return Study(
        title="Persona study: for whom an answer is written",
        about=(
            "Chunk size by passages by embedder, then answers by generator: for six readers, and "
            "for the study's two (engineers and marketing) with its complete prompt and fifteen "
            "derived from it (13B to 13P). Its own scores were a judge's, 1-5; here they lead "
            "where a judge is set up."
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
        claims=(*_found_claims(), *_written_claims()),
        judged=(
            "persona.comprehensive",
            "persona.context_relevance",
            "persona.faithfulness",
            "persona.answer_relevance",
            "persona.pairwise",
        ),
        medians="Readers",
        grouped=("token_f1", "citation_recall", "length"),
        own_tables=(_best_runs(),),
        notes=(
            "The study asked 15 questions for each of its two personas; about 5 % of its verdicts "
            "were invalid and left out.",
            "Its text counts 13K among the runs without instructions on length; its list of runs "
            "says that 13K swaps context and question. The rows follow the list.",
            "Its comprehensive score weighs the pairwise one as one of four; ours is the mean of "
            "seven parts, of which four make up the pairwise one.",
            "Its persona for marketing did better plain than catchy; ours is plain, another is a "
            "file in `personas/`.",
            "Without a chat model every reader gets the same quotes, so readers and prompts "
            "cannot differ and are not run.",
        ),
    )


def _best_runs() -> str:
    head = ["", "context relevance", "faithfulness", "answer relevance", "pairwise", "mean of four"]
    lines = [*table_lines(head), *map(table_line, BEST)]
    return "\n".join(["## The study's three best runs, as published\n", *lines])


def _retrieval(embedders: tuple[str, ...]) -> tuple[StudyRow, ...]:
    rows: list[StudyRow] = []
    for embedder in ("", *embedders):
        chosen = {"models.embedder": embedder} if embedder else {}
        for size, cut in SIZES.items():
            for k in TOP:
                label = ", ".join(filter(None, [size, f"k={k}", embedder]))
                cell = {**cut, "plan.k": k, **chosen}
                rows.append(StudyRow(label, cell, table="Retrieval"))
    return tuple(rows)


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
        for reader in TAILORED:
            for name, components in PROMPTS.items():
                cell = {
                    "plan.persona": reader,
                    "plan.components": components,
                    **_by(generator),
                }
                label = f"{name}, {reader}{_named(generator)}"
                rows.append(StudyRow(label, cell, "chat model", table="Prompts"))
    return tuple(rows)


def _by(generator: str) -> dict[str, Any]:
    return {"models.chat": generator} if generator else {}


def _named(generator: str) -> str:
    return f" ({generator})" if generator else ""


def _found_claims() -> tuple[StudyClaim, ...]:
    def claim(said: str, better: str, worse: str, stated: str = NO_FIGURE) -> StudyClaim:
        metric = "quote_recall@1000w"
        return StudyClaim(
            said,
            metric,
            better,
            worse,
            stated=stated,
            judged="persona.comprehensive",
            found=metric,
        )

    largest = "2048 tokens, 512 shared"
    return (
        claim("Larger chunks are better (2048 tokens over 256).", f"{largest}, k=8",
              "256 tokens, k=8"),
        claim("So they are where few passages are read (256 over 128).", "256 tokens, k=3",
              "128 tokens, k=3"),
        claim("More passages are better (k = 8 over k = 3).", "256 tokens, k=8",
              "256 tokens, k=3"),
        claim("From the first set-up to the best the score rises (small chunks and few of them, "
              "large ones and many).", f"{largest}, k=8", "128 tokens, k=3",
              "3.0 to 3.7, prompts and models changed as well"),
    )  # fmt: skip


def _written_claims() -> tuple[StudyClaim, ...]:
    def claim(said: str, better: str, worse: str, judged: str, stated: str) -> StudyClaim:
        return StudyClaim(said, "token_f1", better, worse, stated=stated, judged=judged)

    pairwise = "persona.pairwise"
    whole = "persona.comprehensive"
    claims = [
        claim("Answers for marketing are more like the gold ones than those for engineers.",
              "for: marketing", "for: engineer", pairwise, NO_FIGURE),
    ]  # fmt: skip
    falls = {
        "engineer": f"a fall, {NO_FIGURE}, the larger of the two",
        "marketing": f"a fall, {NO_FIGURE}",
    }
    for reader, fall in falls.items():
        complete = f"{WHOLE}, {reader}"
        claims += [
            claim(f"Saying how long to write makes answers more like the gold ones ({reader}).",
                  complete, f"{NO_LENGTH}, {reader}", pairwise, fall),
            claim(f"So does the question after the context ({reader}).",
                  complete, f"{QUESTION_FIRST}, {reader}", pairwise, fall),
            claim(f"Without the marks of a turn the score falls ({reader}).",
                  complete, f"{NO_MARKS}, {reader}", whole,
                  ".2 of 1-5, on its best Mistral model"),
            claim(f"Detailed instructions raise the score ({reader}).",
                  complete, f"{BARE}, {reader}", whole, NO_FIGURE),
        ]  # fmt: skip
    return tuple(claims)
