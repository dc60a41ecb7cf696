"""Call the coroutines of engines from synchronous code.

They run on one event loop in a thread of its own, as in `fsspec.asyn.sync`, so that it does not
matter whether a loop runs in the caller's thread."""

import asyncio
import threading
from collections.abc import Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")
_STARTING = threading.Lock()


class AtHand(Coroutine[Any, Any, T]):
    """The result of an engine's call that need not wait: `await` and `blocking` return it without
    the event loop."""

    def __init__(self, value: T) -> None:
        self.value = value

    def __await__(self) -> Generator[Any, Any, T]:
        yield from ()
        return self.value

    def send(self, value: object) -> Any:
        raise StopIteration(self.value)

    def throw(self, *raised: Any) -> Any:
        raise raised[0]

    def close(self) -> None:
        """Do nothing, as nothing has begun."""


def blocking(call: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine of an engine and return its result; the caller's thread waits. Code that runs
    on the engines' loop must await instead: here it would wait for itself, so it gets a
    RuntimeError."""
    if isinstance(call, AtHand):
        value: T = call.value
        return value
    with _STARTING:  # two threads must not start a loop each
        loop = _loop()
    if asyncio._get_running_loop() is loop:
        call.close()
        raise RuntimeError("an engine is waited for inside the loop that it answers on")
    return asyncio.run_coroutine_threadsafe(call, loop).result()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="engine", daemon=True).start()
    return loop


def is_process_ending() -> bool:
    """Tell whether the interpreter is shutting down. Thread pools then refuse work with a
    RuntimeError, at which background threads stop."""
    with ThreadPoolExecutor(1) as pool:
        try:
            pool.submit(int)
        except RuntimeError:
            return True
    return False
