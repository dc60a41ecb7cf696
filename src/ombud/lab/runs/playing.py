"""An asker who is played by a chat model: with a goal, it keeps asking until it has what it wants,
gives up, or has used its turns."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from pydantic import BaseModel

from ombud.errors import LabError
from ombud.lab.judges.asking import Judge, NoVerdictError
from ombud.lab.judges.wording import conversation_text, fenced
from ombud.types import Case, Goal, Message, Observation, PlayedTurn

Ask = Callable[[Case], Awaitable[Observation]]


class NextMessage(BaseModel):
    status: Literal["asking", "satisfied", "giving up"]
    message: str


async def play(case: Case, ask: Ask, asker: Judge) -> Observation:
    """Ask turn after turn; returns what was seen of the last turn, with all turns. A target that
    gives no answer is asked once."""
    if case.goal is None:
        return await ask(case)
    turns: list[PlayedTurn] = []
    now = case
    while True:
        seen = await ask(now)
        if seen.answer is None:
            break
        turns.append(PlayedTurn(question=now.question, answer=seen.answer))
        message = ""
        if len(turns) < case.goal.turns:
            message = await _next_message(case.goal, case.history, turns, asker)
        if not message:
            break
        history = (*now.history, *turns[-1].messages())
        now = now.model_copy(update={"history": history, "question": message})
    return seen.model_copy(update={"case": case, "turns": tuple(turns)})


async def _next_message(
    goal: Goal, before: Sequence[Message], turns: Sequence[PlayedTurn], asker: Judge
) -> str:
    """Have the model write the asker's next message; empty if the asker stops."""
    try:
        made = await asker.ask(
            "turn",
            NextMessage,
            goal=goal.wanted,
            about=goal.about or "You are an employee.",
            conversation=fenced(conversation_text(before, turns)),
        )
    except NoVerdictError as none:
        raise LabError(f"The asker's model wrote nothing usable: {none}") from none
    return made.message.strip() if made.status == "asking" else ""
