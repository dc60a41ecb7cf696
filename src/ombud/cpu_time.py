"""CPU time counted for the person who causes it, and whole questions kept off the serving loop."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

T = TypeVar("T")
Charge = Callable[[float], None]
"""Takes CPU seconds that were used; called from any thread."""
THREADS = 64
"""Questions under way at once in this process; a server lets fewer in."""

_charge: ContextVar[Charge | None] = ContextVar("charge", default=None)


@contextmanager
def charged_to(charge: Charge) -> Iterator[None]:
    """Report the CPU time of all work on threads that is begun inside to `charge`."""
    token = _charge.set(charge)
    try:
        yield
    finally:
        _charge.reset(token)


class MeteredThreads(ThreadPoolExecutor):
    """A thread pool whose work is charged to whoever submits it."""

    def submit(self, work: Callable[..., T], /, *args: Any, **options: Any) -> Future[T]:
        charge = _charge.get()
        if charge is None:
            return super().submit(work, *args, **options)
        return super().submit(_measured, charge, work, *args, **options)


def _measured(charge: Charge, work: Callable[..., T], /, *args: Any, **options: Any) -> T:
    began = time.thread_time()
    try:
        return work(*args, **options)
    finally:
        charge(time.thread_time() - began)


_threads = MeteredThreads(THREADS, "question")


async def run_apart(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end on a thread with an event loop of its own.

    Whatever it does between two awaits then delays nobody else's requests. Cancelling this cancels
    the coroutine."""
    running: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()

    async def announced() -> T:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(MeteredThreads(thread_name_prefix="step"))
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine always runs in one
        running.set_result((loop, task))
        return await work()

    context = copy_context()
    submitted = _threads.submit(lambda: context.run(lambda: asyncio.run(announced())))
    try:
        return await asyncio.wrap_future(submitted)
    except asyncio.CancelledError:
        running.add_done_callback(_cancel)
        raise


def _cancel(running: "Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]]") -> None:
    loop, task = running.result()
    if not loop.is_closed():
        loop.call_soon_threadsafe(task.cancel)
