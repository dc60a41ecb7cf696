"""A client of one model: how it is asked so that its bad days stay bearable."""

import asyncio
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import BaseModel

from ombud.errors import ModelUnavailable
from ombud.models.chat.asking import (
    ModelRequest,
    OnText,
    TextListener,
    TypedAgent,
    agent_for,
    ask_once,
)
from ombud.models.chat.budget import Budget
from ombud.models.chat.outcomes import ModelFailure, ModelOutput, T, Usage
from ombud.models.chat.reply_cache import ReplyCache
from ombud.models.chat.resilience import Breaker, Timing, pause
from ombud.models.remote import client_route, is_remote_client

MUTE = 3
"""Replies in a row that came only when they were not asked for as a stream, after which streams are
not tried again."""
PATIENCE = 2.0
"""Seconds that a model is waited for where another stands ready."""


class CallPolicy(NamedTuple):
    """How models are asked; `[models]` of the settings."""

    retries: int = 2
    concurrency: int = 16
    breaker_failures: int = 3
    breaker_seconds: float = 30.0
    timing: Timing = Timing()
    budget: Budget | None = None
    cache: ReplyCache | None = None


class Deadline(NamedTuple):
    """How long one model may take."""

    until: float
    """On the clock of the policy's timing."""
    has_stand_in: bool
    """A further model stands ready, so that this one need not be waited for long."""


class ModelClient:
    """One model, shared by the roles that name it. `model` is a pydantic-ai model. For one event
    loop at a time."""

    def __init__(self, name: str, model: Any, policy: CallPolicy) -> None:
        self.name = name
        self._model = model
        self._policy = policy
        self._breaker = Breaker(policy.breaker_failures, policy.breaker_seconds, policy.timing)
        self._slots = asyncio.Semaphore(policy.concurrency)
        self._mute = 0
        self._agents: dict[type[BaseModel], TypedAgent] = {}

    @cached_property
    def remote(self) -> bool:
        """Whether what it is asked leaves this machine."""
        return is_remote_client(self._model)

    @cached_property
    def route(self) -> str:
        """Where its requests go, for an administrator."""
        return client_route(self._model)

    @property
    def ready(self) -> bool:
        return self._breaker.ready

    @cached_property
    def rates(self) -> tuple[float, float] | None:
        """US dollars for a million tokens in and out; None where the price list does not know
        it."""
        from genai_prices import Usage as TokenCounts
        from genai_prices import calc_price

        thousand = TokenCounts(input_tokens=1000, output_tokens=1000)
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
        self,
        request: ModelRequest[T],
        seconds: float,
        has_stand_in: bool,
        on_text: OnText | None = None,
    ) -> tuple[ModelOutput[T] | ModelFailure, int]:
        """The reply, or why there is none, and how many requests that took.

        seconds: wall clock. has_stand_in: a further model stands ready, so that this one need not
        be waited for long. on_text: gets the reply while it is written; nothing of one that comes
        from memory.
        """
        policy = self._policy
        deadline = Deadline(policy.timing.clock() + seconds, has_stand_in)
        if policy.cache:
            kept = policy.cache.find(self.name, request)
            if kept:
                return ModelOutput(kept), 0
        if policy.budget and self.priced and await policy.budget.is_spent():
            return _spent(self.name, policy.budget.limit), 0
        if not self.ready:  # said at once, not after a turn in the queue
            return _resting(self.name, self._breaker.left), 0
        try:
            async with asyncio.timeout(seconds):
                await self._slots.acquire()
        except TimeoutError:
            return _busy(self.name, policy.concurrency), 0
        try:
            return await self._in_turn(request, deadline, on_text)
        finally:
            self._slots.release()

    async def _in_turn(
        self, request: ModelRequest[T], deadline: Deadline, on_text: OnText | None
    ) -> tuple[ModelOutput[T] | ModelFailure, int]:
        policy = self._policy
        if not self._breaker.admit():  # what it came to while this call waited
            return _resting(self.name, self._breaker.left), 0
        try:
            outcome, attempts = await self._attempts(request, deadline, on_text)
        finally:
            self._breaker.leave()
        if policy.budget:
            await policy.budget.pay(self.name, outcome.usage)
        if policy.cache and isinstance(outcome, ModelOutput):
            policy.cache.keep(self.name, request, outcome.value)
        return outcome, attempts

    async def _attempts(
        self, request: ModelRequest[T], deadline: Deadline, on_text: OnText | None
    ) -> tuple[ModelOutput[T] | ModelFailure, int]:
        timing = self._policy.timing
        started = timing.clock()
        usage = Usage()
        attempt = 0
        is_plain = False
        while True:
            attempt += 1
            listener = self._listener(on_text, is_plain)
            left = max(0.0, deadline.until - timing.clock())
            outcome = await ask_once(self._agent(request.kind), request, left, listener)
            usage = usage.plus(outcome.usage)
            if isinstance(outcome, ModelOutput):
                self._succeeded(listener, is_plain)
                break
            if listener and self._refuses_streams(outcome, listener, deadline):
                is_plain = True
                continue
            wait = self._wait_before_next(outcome, attempt, deadline)
            if wait is None:
                self._judge(outcome, timing.clock() - started)
                break
            await timing.sleep(wait)
        return outcome._replace(usage=usage), attempt

    def _listener(self, on_text: OnText | None, is_plain: bool) -> TextListener | None:
        """None: the reply is not asked for as a stream."""
        if on_text is None or is_plain or self._mute >= MUTE:
            return None
        return TextListener(on_text)

    def _refuses_streams(
        self, failure: ModelFailure, listener: TextListener, deadline: Deadline
    ) -> bool:
        """A server that knows no streams refuses them, or answers in another form."""
        if listener.has_text or failure.again or failure.down:
            return False
        return self._policy.timing.clock() < deadline.until

    def _wait_before_next(
        self, failure: ModelFailure, attempt: int, deadline: Deadline
    ) -> float | None:
        """Seconds until it is asked again; None: it is not."""
        if not failure.again or attempt > self._policy.retries:
            return None
        timing = self._policy.timing
        wait = pause(attempt, failure.after, timing)
        longest = deadline.until - timing.clock()
        if deadline.has_stand_in:
            longest = min(longest, PATIENCE)
        return wait if wait < longest else None

    def _succeeded(self, listener: TextListener | None, is_plain: bool) -> None:
        self._breaker.succeeded()
        if is_plain:
            self._mute += 1
        elif listener:
            self._mute = 0

    def _judge(self, failure: ModelFailure, seconds: float) -> None:
        if failure.down:
            self._breaker.failed(seconds, failure.after)
        else:  # it was there, whatever it thought of the request
            self._breaker.succeeded()

    def _agent(self, kind: type[BaseModel]) -> TypedAgent:
        if kind not in self._agents:
            self._agents[kind] = agent_for(self.name, self._model, kind)
        return self._agents[kind]


def _spent(name: str, limit: float) -> ModelFailure:
    error = ModelUnavailable(
        f"The model `{name}` is not asked: today's {limit:g} US dollars for models are spent.",
        hint="It is asked again tomorrow; or raise models.daily_budget.",
    )
    return ModelFailure(error, "the day's budget is spent")


def _resting(name: str, seconds: float) -> ModelFailure:
    error = ModelUnavailable(
        f"The model `{name}` failed and is left alone for {seconds:.0f} more seconds.",
        hint="`ombud doctor --ask` says what is wrong with it.",
    )
    return ModelFailure(error, "it rests after failures")


def _busy(name: str, most: int) -> ModelFailure:
    error = ModelUnavailable(
        f"The model `{name}` had no time: {most} calls were under way.",
        hint="Raise models.concurrency.",
    )
    return ModelFailure(error, "too many calls under way")
