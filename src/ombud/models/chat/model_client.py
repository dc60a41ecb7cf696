"""The line to one model: how it is asked so that its bad days stay bearable."""

import asyncio
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import BaseModel

from ombud.errors import ModelUnavailable
from ombud.models.chat.asking import (
    Failed,
    Hear,
    Listening,
    ModelOutput,
    ModelRequest,
    T,
    Usage,
    agent_for,
    ask_once,
)
from ombud.models.chat.budget import Budget
from ombud.models.chat.cache import Cache
from ombud.models.chat.resilience import Breaker, Timing, pause

MUTE = 3
"""Replies in a row that came only when they were not asked for as a stream, after which streams are
not tried again."""
PATIENCE = 2.0
"""Seconds that a model is waited for where another stands ready."""


class Conduct(NamedTuple):
    """How models are asked; `[models]` of the settings."""

    retries: int = 2
    concurrency: int = 16
    failures: int = 3
    rest: float = 30.0
    timing: Timing = Timing()
    purse: Budget | None = None
    cache: Cache | None = None


class ModelClient:
    """One model, shared by the roles that name it. `model` is a pydantic-ai model. For one event
    loop at a time."""

    def __init__(self, name: str, model: Any, conduct: Conduct) -> None:
        self.name, self._model, self._conduct = name, model, conduct
        self._breaker = Breaker(conduct.failures, conduct.rest, conduct.timing)
        self._slots = asyncio.Semaphore(conduct.concurrency)
        self._mute = 0
        self._agents: dict[type[BaseModel], Any] = {}

    @property
    def ready(self) -> bool:
        return self._breaker.ready

    @cached_property
    def rates(self) -> tuple[float, float] | None:
        """US dollars for a million tokens in and out; None where the price list does not know
        it."""
        from genai_prices import Usage as Counted
        from genai_prices import calc_price

        thousand = Counted(input_tokens=1000, output_tokens=1000)
        try:
            price = calc_price(thousand, self._model.model_name, provider_id=self._model.system)
        except (LookupError, ValueError):
            return None
        return float(price.input_price) * 1000, float(price.output_price) * 1000

    @property
    def priced(self) -> bool:
        """Whether its price is known; what is not known, no budget can limit."""
        return self.rates is not None

    async def close(self) -> None:
        """Let go of its connections; who asks after that gets new ones."""
        async with self._model:  # whoever leaves a model last closes its client
            pass

    async def ask(
        self, asked: ModelRequest[T], seconds: float, another: bool, hear: Hear | None = None
    ) -> tuple[ModelOutput[T] | Failed, int]:
        """The reply, or why there is none, and how many requests that took.

        seconds: wall clock. another: a further model stands ready, so that this one need not be
        waited for long.
        hear: gets the reply while it is written; nothing of one that comes from memory.
        """
        conduct, timing = self._conduct, self._conduct.timing
        until = timing.clock() + seconds
        if conduct.cache and (kept := conduct.cache.find(self.name, asked)):
            return ModelOutput(kept), 0
        if conduct.purse and self.priced and await conduct.purse.empty():
            return _spent(self.name, conduct.purse.limit), 0
        if not self.ready:  # said at once, not after a turn in the queue
            return _resting(self.name, self._breaker.left), 0
        try:
            async with asyncio.timeout(seconds):
                await self._slots.acquire()
        except TimeoutError:
            return _busy(self.name, conduct.concurrency), 0
        try:
            return await self._in_turn(asked, until, another, hear)
        finally:
            self._slots.release()

    async def _in_turn(
        self, asked: ModelRequest[T], until: float, another: bool, hear: Hear | None
    ) -> tuple[ModelOutput[T] | Failed, int]:
        if not self._breaker.admit():  # what it came to while this call waited
            return _resting(self.name, self._breaker.left), 0
        try:
            outcome, attempts = await self._attempts(asked, until, another, hear)
        finally:
            self._breaker.leave()
        if self._conduct.purse:
            await self._conduct.purse.pay(self.name, outcome.usage)
        if self._conduct.cache and isinstance(outcome, ModelOutput):
            self._conduct.cache.keep(self.name, asked, outcome.value)
        return outcome, attempts

    async def _attempts(
        self, asked: ModelRequest[T], until: float, another: bool, hear: Hear | None
    ) -> tuple[ModelOutput[T] | Failed, int]:
        timing = self._conduct.timing
        started, usage, attempt, plain = timing.clock(), Usage(), 0, False
        while True:
            attempt += 1
            left = max(0.0, until - timing.clock())
            listening = Listening(hear) if hear and not plain and self._mute < MUTE else None
            outcome = await ask_once(
                self.name, self._model, self._agent(asked.kind), asked, left, listening
            )
            usage = usage.plus(outcome.usage)
            if isinstance(outcome, ModelOutput):
                self._breaker.succeeded()
                self._mute = self._mute + 1 if plain else 0 if listening else self._mute
                break
            if (
                listening
                and not listening.heard
                and not (outcome.again or outcome.down or until <= timing.clock())
            ):
                plain = (
                    True  # a server that knows no streams refuses them, or answers in another form
                )
                continue
            wait, left = pause(attempt, outcome.after, timing), until - timing.clock()
            if (
                not outcome.again
                or attempt > self._conduct.retries
                or wait >= min(left, PATIENCE if another else left)
            ):
                self._judge(outcome, timing.clock() - started)
                break
            await timing.sleep(wait)
        return outcome._replace(usage=usage), attempt

    def _judge(self, failed: Failed, seconds: float) -> None:
        if failed.down:
            self._breaker.failed(seconds, failed.after)
        else:  # it was there, whatever it thought of the request
            self._breaker.succeeded()

    def _agent(self, kind: type[BaseModel]) -> Any:
        if kind not in self._agents:
            self._agents[kind] = agent_for(self._model, kind)
        return self._agents[kind]


def _spent(name: str, limit: float) -> Failed:
    error = ModelUnavailable(
        f"The model `{name}` is not asked: today's {limit:g} US dollars for models are spent.",
        hint="It is asked again tomorrow; or raise models.daily_budget.",
    )
    return Failed(error, "the day's budget is spent")


def _resting(name: str, seconds: float) -> Failed:
    error = ModelUnavailable(
        f"The model `{name}` failed and is left alone for {seconds:.0f} more seconds.",
        hint="`ombud doctor --ask` says what is wrong with it.",
    )
    return Failed(error, "it rests after failures")


def _busy(name: str, most: int) -> Failed:
    error = ModelUnavailable(
        f"The model `{name}` had no time: {most} calls were under way.",
        hint="Raise models.concurrency.",
    )
    return Failed(error, "too many calls under way")
