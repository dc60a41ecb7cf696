"""Chat models: a typed value out, with what it cost, from the first model that can give it."""

import asyncio
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple

from ombud.errors import MalformedOutput, ModelError, ModelUnavailable
from ombud.models.chat.asking import Failed, Hear, ModelOutput, ModelRequest, T
from ombud.models.chat.calls import Call, record
from ombud.models.chat.model_client import Conduct, ModelClient
from ombud.models.chat.resilience import Timing


class ChatReply(NamedTuple, Generic[T]):
    value: T
    tokens_in: int
    tokens_out: int
    price: float | None
    """US dollars; None where the price list does not know the model."""
    model: str = ""
    """Which model it was."""


class Chat:
    """A chat model, with those that stand in for it.

    model: a pydantic-ai model, so that a scripted one can stand in. Those of the settings come from
    a `Switchboard`:
    lines: the models in the order they are asked. loop: where that happens; where the caller is,
    when there is none."""

    def __init__(
        self,
        name: str,
        model: Any = None,
        *,
        lines: Sequence[ModelClient] = (),
        role: str = "",
        timing: Timing = Timing(),  # noqa: B008 - never written to
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.name, self.role = name, role
        self._lines = lines or (ModelClient(name, model, Conduct(timing=timing)),)
        self._timing, self._loop = timing, loop

    async def reply(
        self,
        instructions: str,
        prompt: str,
        kind: type[T],
        *,
        temperature: float,
        seconds: float,
        hear: Hear | None = None,
    ) -> ChatReply[T]:
        """Ask once; raises ModelUnavailable (worth retrying elsewhere), MalformedOutput or
        ModelError.

        seconds: wall clock of it all: waiting for a turn, asking again, other models. Of several
        models that are up, each may use its part of what is left, so that silence leaves time for
        the next.
        hear: gets the reply while it is written, from another thread where the models have a loop
        of their own. What it
        hears is proof of nothing: only the value that is returned fits the type.
        """
        asked = ModelRequest(instructions, prompt, kind, temperature)
        if self._loop is None:
            return await self._reply(asked, seconds, hear)
        coming = asyncio.run_coroutine_threadsafe(self._reply(asked, seconds, hear), self._loop)
        return await asyncio.wrap_future(coming)

    async def _reply(
        self, asked: ModelRequest[T], seconds: float, hear: Hear | None
    ) -> ChatReply[T]:
        until = self._timing.clock() + seconds
        failed: list[tuple[str, Failed]] = []
        for number, line in enumerate(self._lines):
            began = self._timing.clock()
            later = sum(other.ready for other in self._lines[number + 1 :])
            outcome, attempts = await line.ask(
                asked, (until - began) / (1 + later), later > 0, hear
            )
            why = "; ".join(f"`{name}` ({one.reason})" for name, one in failed)
            call = Call(
                self.role,
                line.name,
                round(self._timing.clock() - began, 4),
                *outcome.usage,
                attempts,
            )
            if isinstance(outcome, ModelOutput):
                record(call._replace(instead_of=why))
                return ChatReply(outcome.value, *outcome.usage, line.name)
            record(call._replace(failed=outcome.reason))
            failed.append((line.name, outcome))
        raise _together(failed)


def _together(failed: Sequence[tuple[str, Failed]]) -> ModelError:
    """The one error, or one that names all."""
    if len(failed) == 1:
        return failed[0][1].error
    said = "; ".join(f"`{name}`: {one.reason}" for name, one in failed)
    malformed = all(isinstance(one.error, MalformedOutput) for _, one in failed)
    kind = MalformedOutput if malformed else ModelUnavailable
    return kind(f"No model answered: {said}.", hint=failed[0][1].error.hint)
