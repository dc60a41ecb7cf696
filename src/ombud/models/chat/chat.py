"""Chat models: a typed value out, with what it cost, from the first model that can give it."""

import asyncio
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple

from ombud.deadlines import seconds_left
from ombud.errors import BudgetSpent, MalformedOutput, ModelError, ModelUnavailable
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
    """A chat model and its fallbacks.

    model: a pydantic-ai model, so that a scripted one can replace it. Those of the settings come
    from `ModelRoles`. clients: the models in the order they are asked. loop: the event loop of the
    calls; the caller's own if None."""

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
        """Return its models that are not on this machine."""
        return tuple(client.name for client in self._clients if client.remote)

    def on_this_machine(self) -> "Chat | None":
        """Return it with only the models on this machine; None if there are none."""
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

        seconds: wall clock of the whole call: queueing, retries and other models. Of several models
        that are up, each may use its share of the rest, so that a silent one leaves time for the
        next. on_text: receives the reply as it is written, perhaps on another thread. It is not
        validated: only the returned value fits the type."""
        seconds = seconds_left(seconds)
        if not seconds:  # not the model's fault, so no circuit breaker counts it
            raise ModelUnavailable(
                f"There was no time left to ask the model `{self.name}`.",
                hint="Raise models.timeout_seconds.",
            )
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
                return reply_of(outcome, client.name)
            record(call._replace(failed=outcome.reason))
            failures.append((client.name, outcome))
        raise joint_error(failures)


def reply_of(output: ModelOutput[T], model: str) -> ChatReply[T]:
    return ChatReply(
        value=output.value,
        tokens_in=output.usage.tokens_in,
        tokens_out=output.usage.tokens_out,
        price=output.usage.price,
        model=model,
    )


def _reasons(failures: Sequence[tuple[str, ModelFailure]]) -> str:
    return "; ".join(f"`{name}` ({failure.reason})" for name, failure in failures)


def joint_error(failures: Sequence[tuple[str, ModelFailure]]) -> ModelError:
    """Return the single error, or one that names all."""
    first = failures[0][1].error
    if len(failures) == 1:
        return first
    spent = [failure.error for _, failure in failures if isinstance(failure.error, BudgetSpent)]
    if len(spent) == len(failures):
        return first
    reasons: list[str] = []
    kind: type[ModelError] = MalformedOutput
    for name, failure in failures:
        reasons.append(f"`{name}`: {failure.reason}")
        if not isinstance(failure.error, MalformedOutput):
            kind = ModelUnavailable
    return kind(f"No model answered: {'; '.join(reasons)}.", hint=first.hint)
