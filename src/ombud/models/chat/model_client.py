"""A client of one model: how it is asked so that its bad days stay bearable."""

import asyncio
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import BaseModel

from ombud.errors import BudgetSpent, ModelUnavailable
from ombud.models.chat.asking import (
    ModelRequest,
    OnText,
    TextListener,
    TimeLimits,
    TypedAgent,
    agent_for,
    ask_once,
)
from ombud.models.chat.budget import Budget, BudgetLimit, Level
from ombud.models.chat.outcomes import ModelFailure, ModelOutput, T, Usage
from ombud.models.chat.resilience import LONG_WAIT, CircuitBreaker, Timing, backoff_seconds
from ombud.models.remote import client_route, is_remote_client

MUTE = 3
"""Replies in a row that came only when they were not asked for as a stream, after which streams are
not tried again."""
OWNERS: dict[Level, str] = {
    "organisation": "the organisation",
    "person": "the person",
    "group": "a group of theirs",
}
SETTINGS: dict[Level, str] = {
    "organisation": "daily_budget",
    "person": "person_budget",
    "group": "group_budgets",
}
PATIENCE = 2.0
"""Seconds that a model is waited for where another stands ready."""


class CallPolicy(NamedTuple):
    """The limits of model calls: `[models]` of the settings."""

    retries: int = 2
    concurrency: int = 16
    breaker_failures: int = 3
    """Failed calls in a row after which a model rests; one that used up its time does at once."""
    breaker_seconds: float = 30.0
    """How long it rests before one call tries it again."""
    stall: float = 10.0
    """Seconds of silence that end a reply which has begun."""
    timing: Timing = Timing()
    budget: Budget | None = None


class Deadline(NamedTuple):
    """The time that one model may take."""

    until: float
    """On the clock of the policy's timing."""
    has_stand_in: bool
    """A further model stands ready, so that this one need not be waited for long."""


class ModelClient:
    """A client of a single pydantic-ai model, shared by the roles that name it. It serves one event
    loop at a time.

    own_rates: US dollars for a million tokens in and out, which override the price list."""

    def __init__(
        self,
        name: str,
        model: Any,
        policy: CallPolicy,
        own_rates: tuple[float, float] | None = None,
    ) -> None:
        self._own_rates = own_rates
        self.name = name
        self._model = model
        self._policy = policy
        self._breaker = CircuitBreaker(
            policy.breaker_failures, policy.breaker_seconds, policy.timing
        )
        self._slots = asyncio.Semaphore(policy.concurrency)
        self._mute = 0
        self.errors = 0
        """Requests after which there was no reply, since the process began."""
        self._agents: dict[type[BaseModel], TypedAgent] = {}

    @cached_property
    def remote(self) -> bool:
        """Tell whether requests leave this machine."""
        return is_remote_client(self._model)

    @cached_property
    def route(self) -> str:
        """Return where its requests go, for an administrator."""
        return client_route(self._model)

    @property
    def ready(self) -> bool:
        return self._breaker.ready

    @cached_property
    def rates(self) -> tuple[float, float] | None:
        """Return the price of tokens: US dollars for a million in and out; None if neither the
        settings nor the price list has the model."""
        if self._own_rates:
            return self._own_rates
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
        """Tell whether its price is known: no budget can limit an unknown price."""
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
        """Return the reply or the error, and how many requests that took.

        seconds: wall clock. has_stand_in: a further model is ready, so that this one is not waited
        for long. on_text: receives the reply as it is written."""
        policy = self._policy
        deadline = Deadline(policy.timing.clock() + seconds, has_stand_in)
        reached = await policy.budget.used_up() if policy.budget and self.priced else None
        if reached:
            return _spent(self.name, reached), 0
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
        self.errors += isinstance(outcome, ModelFailure)
        if policy.budget:
            await policy.budget.pay(self.name, outcome.usage)
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
            limits = TimeLimits(left, self._policy.stall)
            outcome = await ask_once(self._agent(request.kind), request, limits, listener)
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
        """Return the listener of a streamed reply; None if the reply is not streamed."""
        if on_text is None or is_plain or self._mute >= MUTE:
            return None
        return TextListener(on_text)

    def _refuses_streams(
        self, failure: ModelFailure, listener: TextListener, deadline: Deadline
    ) -> bool:
        """Tell whether a failure shows that the server cannot stream: it refuses streams, or
        answers in another form."""
        if listener.has_text or failure.again or failure.down:
            return False
        return self._policy.timing.clock() < deadline.until

    def _wait_before_next(
        self, failure: ModelFailure, attempt: int, deadline: Deadline
    ) -> float | None:
        """Return the backoff in seconds before the next retry; None if there is none."""
        if not failure.again or attempt > self._policy.retries:
            return None
        timing = self._policy.timing
        wait = backoff_seconds(attempt, failure.after, timing)
        longest = deadline.until - timing.clock()
        if deadline.has_stand_in:
            longest = min(longest, PATIENCE)
        else:  # who asks would not wait as long as some servers want
            wait = min(wait, LONG_WAIT)
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
            self._agents[kind] = agent_for(self.name, self._model, kind, self._own_rates)
        return self._agents[kind]


def _spent(name: str, limit: BudgetLimit) -> ModelFailure:
    error = BudgetSpent(
        f"The model `{name}` is not asked: today's {limit.amount:g} US dollars for models are "
        f"spent, the budget of {OWNERS[limit.level]}.",
        hint=f"It is asked again tomorrow; or raise models.{SETTINGS[limit.level]}.",
    )
    return ModelFailure(error, f"the day's budget of {OWNERS[limit.level]} is spent")


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
