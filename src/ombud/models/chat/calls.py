"""What every call of a model came to, for whoever wants to know: traces, reports, `ombud
doctor`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Call(NamedTuple):
    """A request for one value with all its retries. It contains no text that was sent or
    received."""

    role: str
    model: str
    seconds: float
    tokens_in: int = 0
    tokens_out: int = 0
    price: float | None = 0.0
    """US dollars; None where it is not known."""
    attempts: int = 0
    """Requests made; 0 where none was, such as for a reply from memory or a model that rests."""
    failed: str = ""
    """Why there was no reply, in a few words; empty where there was one."""
    tokens_cached: int = 0
    """Of `tokens_in`, those that the provider had read before."""
    instead_of: str = ""
    """The models that should have answered and why they did not; empty where this one was the
    first."""


_lists: ContextVar[tuple[list[Call], ...]] = ContextVar("_lists", default=())


@contextmanager
def recorded() -> Iterator[list[Call]]:
    """Record the calls made inside the block as they end, those of its tasks and threads
    included."""
    calls: list[Call] = []
    token = _lists.set((*_lists.get(), calls))
    try:
        yield calls
    finally:
        _lists.reset(token)


def record(call: Call) -> None:
    for calls in _lists.get():
        calls.append(call)


def stand_ins(calls: Sequence[Call]) -> tuple[str, ...]:
    """Return notes for `trace.degraded` on which model replaced which."""
    notes: dict[str, None] = {}
    for call in calls:
        if call.instead_of:
            role = call.role or "model"
            notes[f"{role}: `{call.model}` answered instead of {call.instead_of}"] = None
    return tuple(notes)
