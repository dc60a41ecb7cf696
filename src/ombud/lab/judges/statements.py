"""RAGAS's metrics: texts cut into statements, each held against what it should rest on.

Formulas: Es et al. 2024, "RAGAS: Automated Evaluation of Retrieval Augmented Generation", and
its later context metrics. The prompts are ours."""

from collections.abc import Sequence

from ombud.lab.judges.asking import INVALID, Judge, NoVerdictError
from ombud.lab.judges.forms import Marks, Regenerated, Statements
from ombud.lab.judges.grading import NO_PASSAGES, NO_SEARCH, REFUSAL, is_refusal
from ombud.lab.judges.wording import (
    answer_text,
    fenced,
    material,
    passages_text,
    question_text,
    reference_text,
)
from ombud.lab.metrics.answers import NO_ANSWER, NO_EMBEDDER, NO_REFERENCE, NO_VECTOR
from ombud.lab.metrics.metric import Judgement, Undefined
from ombud.types import Hit, Observation

NO_STATEMENTS = Undefined("the text states nothing")
SHOWN = 3
"""Statements that a verdict's words name."""


async def faithfulness(observation: Observation, judge: Judge) -> Judgement:
    """Compute the share of the answer's statements that the passages support; 0 without
    passages."""
    lacking = _lacking(observation, reference=False)
    if lacking:
        return Judgement(lacking)
    return await _supported(observation, judge, answer_text(observation))


async def context_recall(observation: Observation, judge: Judge) -> Judgement:
    """Compute the share of the reference's statements that the passages support; 0 without
    passages."""
    lacking = _lacking(observation, reference=True)
    if lacking:
        return Judgement(lacking)
    return await _supported(observation, judge, reference_text(observation.case))


async def context_precision(observation: Observation, judge: Judge) -> Judgement:
    """Compute the mean of precision@rank over the ranks of passages that helped; 0 if none did."""
    lacking = _lacking(observation, reference=True)
    if lacking:
        return Judgement(lacking)
    hits = observation.hits or ()
    if not hits:
        return Judgement(0.0, NO_PASSAGES)
    marks = await judge.ask(
        "useful",
        Marks,
        question=fenced(question_text(observation.case)),
        reference=fenced(reference_text(observation.case)),
        passages=_shown(hits),
        marks=str(len(hits)),
    )
    helped = _in_order(marks, len(hits))
    precisions: list[float] = []
    for rank, is_helpful in enumerate(helped, start=1):
        if is_helpful:
            precisions.append((len(precisions) + 1) / rank)
    words = f"{len(precisions)} of {len(hits)} passages helped"
    return Judgement(sum(precisions) / len(precisions) if precisions else 0.0, words)


async def answer_relevancy(observation: Observation, judge: Judge) -> Judgement:
    """Compute the mean cosine between the question and three questions generated from the answer; a
    noncommittal answer scores 0."""
    answer = observation.answer
    if answer is None:
        return Judgement(NO_ANSWER)
    if observation.case.expect != "answer" or is_refusal(answer):
        return Judgement(REFUSAL)
    if judge.embed is None:
        return Judgement(NO_EMBEDDER)
    made = await judge.ask("questions", Regenerated, answer=fenced(answer_text(observation)))
    if made.noncommittal:
        return Judgement(0.0, "noncommittal")
    if not made.questions:
        raise NoVerdictError(f"{INVALID}no question was written")
    import numpy as np

    vectors = np.asarray(judge.embed([observation.case.question, *made.questions]), dtype=float)
    lengths = np.linalg.norm(vectors, axis=1)
    if not np.isfinite(lengths).all() or not lengths.all():
        return Judgement(NO_VECTOR)
    units = vectors / lengths[:, None]
    cosines = units[1:] @ units[0]
    return Judgement(float(cosines.mean()), "; ".join(made.questions))


def _lacking(observation: Observation, *, reference: bool) -> Undefined | None:
    case = observation.case
    answer = observation.answer
    if case.expect != "answer":
        return Undefined(f"not applicable: the case expects {case.expect}")
    if observation.hits is None:
        return NO_SEARCH
    if reference:
        return None if case.references else NO_REFERENCE
    if answer is None:
        return NO_ANSWER
    return REFUSAL if is_refusal(answer) else None


async def _supported(observation: Observation, judge: Judge, text: str) -> Judgement:
    question = fenced(question_text(observation.case))
    cut = await judge.ask("statements", Statements, question=question, matter=fenced(text))
    statements = [one.strip() for one in cut.statements if one.strip()]
    if not statements:
        return Judgement(NO_STATEMENTS)
    if not observation.hits:
        return Judgement(0.0, NO_PASSAGES)
    numbered = [f"{number}. {one}" for number, one in enumerate(statements, start=1)]
    marks = await judge.ask(
        "support",
        Marks,
        passages=_shown(observation.hits),
        statements=fenced("\n".join(numbered)),
        marks=str(len(statements)),
    )
    supported = _in_order(marks, len(statements))
    left = [one for one, holds in zip(statements, supported, strict=True) if not holds]
    words = f"{sum(supported)} of {len(statements)} statements"
    if left:
        words += f"; not: {' / '.join(left[:SHOWN])}"
    return Judgement(sum(supported) / len(statements), words)


def _in_order(marks: Marks, count: int) -> list[bool]:
    """Return one mark for each statement, in order; raises NoVerdictError if the numbers do not
    match."""
    by_number = {mark.number: mark.supported for mark in marks.marks}
    if sorted(by_number) != list(range(1, count + 1)) or len(marks.marks) != count:
        raise NoVerdictError(f"{INVALID}{len(marks.marks)} marks for {count}")
    return [by_number[number] for number in range(1, count + 1)]


def _shown(hits: Sequence[Hit]) -> str:
    return material({"passages": passages_text(hits)})
