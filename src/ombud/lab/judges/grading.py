"""One rubric, one answer: whether it applies, what the judge says, which of several verdicts
counts."""

import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

from ombud.lab.judges.asking import Judge, NoVerdictError
from ombud.lab.judges.forms import verdict_form
from ombud.lab.judges.reading import Rubric
from ombud.lab.judges.wording import (
    answer_text,
    material,
    passages_text,
    question_text,
    reference_text,
    rubric_words,
)
from ombud.lab.metrics.answers import NO_ANSWER, NO_REFERENCE
from ombud.lab.metrics.metric import Grade, Judgement, Undefined
from ombud.types import Answer, Observation

NO_SEARCH = Undefined("nothing was searched")
NO_PASSAGES = "no passage was found"
REFUSAL = Undefined("not applicable: a refusal")


def by_rubric(rubric: Rubric) -> Grade:
    levels = tuple(sorted(rubric.levels))
    words = rubric_words(rubric)
    kind = verdict_form(levels, rubric.reason_first)
    lowest = levels[0] if rubric.better == "higher" else levels[-1]

    async def grade(observation: Observation, judge: Judge) -> Judgement:
        missing = _missing(rubric, observation)
        if missing:
            return Judgement(missing)
        settled = _settled(rubric, observation)
        if settled:
            return Judgement(lowest / rubric.scale, settled)
        graded_text = material(_texts(rubric, observation))
        verdicts: list[Any] = []
        refused: list[NoVerdictError] = []
        for repeat in range(judge.policy.repeats):
            try:
                pending = judge.ask("grade", kind, repeat=repeat, material=graded_text, **words)
                verdicts.append(await pending)
            except NoVerdictError as none:
                refused.append(none)
        if len(refused) > len(verdicts):
            raise refused[0]
        return _counting(verdicts, rubric)

    return grade


def is_refusal(answer: Answer) -> bool:
    """Tell whether nothing was answered and no closest passages were shown either."""
    return answer.outcome == "denied" and not answer.claims


def _missing(rubric: Rubric, observation: Observation) -> Undefined | None:
    """Explain why the rubric has no value here; None if it has one."""
    case = observation.case
    if not rubric.applies_to(case):
        return Undefined(f"not applicable: a case of type {case.type} that expects {case.expect}")
    lacks = (
        _Lack("answer", observation.answer is None, NO_ANSWER),
        _Lack("reference", not case.references, NO_REFERENCE),
        _Lack("passages", observation.hits is None, NO_SEARCH),
    )
    for lack in lacks:
        if lack.is_missing and lack.input in rubric.inputs:
            return lack.reason
    if "answer" not in rubric.inputs or observation.answer is None:
        return None
    is_skipped = rubric.refused == "skip" and is_refusal(observation.answer)
    return REFUSAL if is_skipped else None


class _Lack(NamedTuple):
    input: str
    is_missing: bool
    reason: Undefined


def _settled(rubric: Rubric, observation: Observation) -> str:
    """Explain why this is the lowest grade without asking the judge; empty if it must be asked."""
    answer = observation.answer
    is_lowest = "answer" in rubric.inputs and rubric.refused == "lowest"
    if is_lowest and answer and is_refusal(answer):
        return "a refusal, where the reference answers"
    if "passages" in rubric.inputs and not observation.hits:
        return NO_PASSAGES
    return ""


def _texts(rubric: Rubric, observation: Observation) -> dict[str, str]:
    texts = {
        "question": question_text(observation.case),
        "reference": reference_text(observation.case),
        "passages": passages_text(observation.hits or ()),
        "answer": answer_text(observation),
    }
    return {name: text for name, text in texts.items() if name in rubric.inputs}


def _counting(verdicts: Sequence[Any], rubric: Rubric) -> Judgement:
    """Return the most frequent grade; of equally frequent ones the worse for the answer."""
    frequent = statistics.multimode(verdict.grade for verdict in verdicts)
    chosen = min(frequent) if rubric.better == "higher" else max(frequent)
    words = next(verdict.reason for verdict in verdicts if verdict.grade == chosen)
    if len(verdicts) > 1:
        grades = ", ".join(str(verdict.grade) for verdict in verdicts)
        words = f"{words} (grades: {grades})"
    return Judgement(chosen / rubric.scale, words)
