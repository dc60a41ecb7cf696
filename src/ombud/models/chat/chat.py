"""Chat models: a typed value out, with what it cost, from the first model that can give it."""

import asyncio
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple

from ombud.errors import MalformedOutput, ModelError, ModelUnavailable
from ombud.models.chat.asking import ModelRequest, OnText
from ombud.models.chat.calls import Call, record
from ombud.models.chat.model_client import CallPolicy, ModelClient
from ombud.models.chat.outcomes import ModelFailure, ModelOutput, T
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
    `ModelRoles`. clients: the models in the order they are asked. loop: where that happens; where
    the caller is, when there is none."""

    def __init__(
        self,
        name: str,
        model: Any = None,
        *,
        clients: Sequence[ModelClient] = (),
        role: str = "",
        timing: Timing = Timing(),  # noqa: B008 - never written to
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.name = name
        self.role = role
        self._clients = clients or (ModelClient(name, model, CallPolicy(timing=timing)),)
        self._timing = timing
        self._loop = loop

    @property
    def remote_models(self) -> tuple[str, ...]:
        """Those of its models that are not on this machine."""
        return tuple(client.name for client in self._clients if client.remote)

    def on_this_machine(self) -> "Chat | None":
        """Only those of its models that are; None where none is."""
        clients = [client for client in self._clients if not client.remote]
        if not clients:
            return None
        return Chat(
            clients[0].name, clients=clients, role=self.role, timing=self._timing, loop=self._loop
        )

    async def reply(
        self,
        instructions: str,
        prompt: str,
        kind: type[T],
        *,
        temperature: float,
        seconds: float,
        on_text: OnText | None = None,
    ) -> ChatReply[T]:
        """Ask once; raises ModelUnavailable (worth retrying elsewhere), MalformedOutput or
        ModelError.

        seconds: wall clock of it all: waiting for a turn, asking again, other models. Of several
        models that are up, each may use its part of what is left, so that silence leaves time for
        the next.
        on_text: gets the reply while it is written, from another thread where the models have a
        loop of their own. What it gets is proof of nothing: only the value that is returned fits
        the type.
        """
        request = ModelRequest(instructions, prompt, kind, temperature)
        replying = self._reply(request, seconds, on_text)
        if self._loop is None:
            return await replying
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(replying, self._loop))

    async def _reply(
        self, request: ModelRequest[T], seconds: float, on_text: OnText | None
    ) -> ChatReply[T]:
        clock = self._timing.clock
        until = clock() + seconds
        failures: list[tuple[str, ModelFailure]] = []
        for number, client in enumerate(self._clients):
            started = clock()
            stand_ins = sum(other.ready for other in self._clients[number + 1 :])
            share = (until - started) / (1 + stand_ins)
            outcome, attempts = await client.ask(request, share, stand_ins > 0, on_text)
            call = Call(
                role=self.role,
                model=client.name,
                seconds=round(clock() - started, 4),
                tokens_in=outcome.usage.tokens_in,
                tokens_out=outcome.usage.tokens_out,
                price=outcome.usage.price,
                attempts=attempts,
                tokens_cached=outcome.usage.tokens_cached,
            )
            if isinstance(outcome, ModelOutput):
                record(call._replace(instead_of=_reasons(failures)))
                return _reply_of(outcome, client.name)
            record(call._replace(failed=outcome.reason))
            failures.append((client.name, outcome))
        raise _joint_error(failures)


def _reply_of(output: ModelOutput[T], model: str) -> ChatReply[T]:
    return ChatReply(
        value=output.value,
        tokens_in=output.usage.tokens_in,
        tokens_out=output.usage.tokens_out,
        price=output.usage.price,
        model=model,
    )


def _reasons(failures: Sequence[tuple[str, ModelFailure]]) -> str:
    return "; ".join(f"`{name}` ({failure.reason})" for name, failure in failures)


def _joint_error(failures: Sequence[tuple[str, ModelFailure]]) -> ModelError:
    """The one error, or one that names all."""
    first = failures[0][1].error
    if len(failures) == 1:
        return first
    reasons: list[str] = []
    kind: type[ModelError] = MalformedOutput
    for name, failure in failures:
        reasons.append(f"`{name}`: {failure.reason}")
        if not isinstance(failure.error, MalformedOutput):
            kind = ModelUnavailable
    return kind(f"No model answered: {'; '.join(reasons)}.", hint=first.hint)
