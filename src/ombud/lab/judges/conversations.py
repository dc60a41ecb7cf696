"""Rubrics over a conversation whose asker was played: at its end, and turn by turn."""

from collections.abc import Callable, Mapping
from statistics import fmean

from ombud.lab.judges.asking import Judge
from ombud.lab.judges.grading import by_rubric
from ombud.lab.judges.reading import Rubric
from ombud.lab.judges.wording import conversation_text
from ombud.lab.metrics.answers import NOT_PLAYED
from ombud.lab.metrics.metric import Grade, Judgement, Undefined
from ombud.types import Observation, PlayedTurn


def _at_the_end(rubric: Rubric) -> Grade:
    once = by_rubric(rubric)

    async def grade(seen: Observation, judge: Judge) -> Judgement:
        if seen.case.goal is None or not seen.turns:
            return Judgement(NOT_PLAYED)
        whole = conversation_text(seen.case.history, seen.turns)
        return await once(_shown(seen, f"The asker wants {seen.case.goal.wanted}", whole), judge)

    return grade


def _at_each_turn(rubric: Rubric) -> Grade:
    once = by_rubric(rubric)

    async def grade(seen: Observation, judge: Judge) -> Judgement:
        if seen.case.goal is None or not seen.turns:
            return Judgement(NOT_PLAYED)
        values: list[float] = []
        words: list[str] = []
        for number, turn in enumerate(seen.turns, 1):
            earlier = conversation_text(seen.case.history, seen.turns[: number - 1])
            question = f"The asker wants {seen.case.goal.wanted}\n{earlier}\nuser: {turn.question}"
            judgement = await once(_shown(seen, question, turn.answer.text), judge)
            if isinstance(judgement.value, Undefined):
                return judgement
            values.append(judgement.value)
            words.append(f"turn {number}: {judgement.value:g}, {judgement.words}")
        return Judgement(fmean(values), " / ".join(words))

    return grade


def _shown(seen: Observation, question: str, answer: str) -> Observation:
    last: PlayedTurn = seen.turns[-1]
    case = seen.case.model_copy(update={"question": question, "history": ()})
    answered = last.answer.model_copy(update={"text": answer})
    return seen.model_copy(update={"case": case, "answer": answered})


CONVERSATION: Mapping[str, Callable[[Rubric], Grade]] = {
    "conversation.goal_reached": _at_the_end,
    "conversation.turn_helpful": _at_each_turn,
}
"""Metrics of all turns; every other one is given for the last."""
