"""One answer as a stream of events, for the API and for the page."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import StreamingResponse

from ombud.channels import OwnPlace
from ombud.types import Answer
from ombud.web.logs import describe_error
from ombud.web.problems import problem

Event = tuple[str, dict[str, Any]]
OnEvent = Callable[[str, dict[str, Any]], None]
Work = Callable[[OnEvent | None], Awaitable[Answer]]
"""Answers; where nobody waits for events, the claims come with the answer."""
T = TypeVar("T")

PULSE = 15.0
"""Seconds of silence after which a comment is sent, so that nothing on the way closes the
connection."""
logger = logging.getLogger(__name__)


async def events(work: Work, place: OwnPlace) -> AsyncGenerator[Event, None]:
    """Yield `status`, `claim` and at last `answer` or `error`. An error before the first event is
    raised, so that it becomes an HTTP error; closing the generator cancels the work."""
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[Event | Exception]()

    def on_event(name: str, data: dict[str, Any]) -> None:
        # The work may speak from a thread.
        loop.call_soon_threadsafe(queue.put_nowait, (name, data))

    async def run() -> None:
        try:
            if place.locked():
                on_event("status", {"step": "wait"})
            async with place:
                answer = await work(on_event)
            on_event("answer", answer.model_dump(mode="json"))
        except Exception as error:  # noqa: BLE001 - handed on to the reader of the queue
            loop.call_soon_threadsafe(queue.put_nowait, error)

    task, has_begun = asyncio.create_task(run()), False
    try:
        while True:
            event = await queue.get()
            if isinstance(event, Exception):
                if not has_begun:
                    raise event
                logger.error("The answer failed in mid-stream\n%s", describe_error(event))
                event = ("error", problem(event).model_dump())
            has_begun = True
            yield event
            if event[0] in {"answer", "error"}:
                return
    finally:
        task.cancel()


async def respond(stream: AsyncGenerator[Event, None]) -> StreamingResponse:
    """Respond with server-sent events; an error before the first event is raised."""
    first = await anext(stream)
    return StreamingResponse(_lines(first, stream), media_type="text/event-stream")


async def _lines(first: Event, stream: AsyncGenerator[Event, None]) -> AsyncIterator[str]:
    coming: asyncio.Task[Event] | None = None
    try:
        yield _line(first)
        while True:
            coming = asyncio.ensure_future(anext(stream))
            while not (await asyncio.wait({coming}, timeout=PULSE))[0]:
                yield ": still here\n\n"
            try:
                yield _line(coming.result())
            except StopAsyncIteration:
                return
    finally:
        if coming and not coming.done():
            coming.cancel()  # ends the generator at its `await`, which cancels the work
        else:
            await stream.aclose()


def _line(event: Event) -> str:
    return f"event: {event[0]}\ndata: {json.dumps(event[1], ensure_ascii=False)}\n\n"


async def while_connected(request: Request, work: Awaitable[T]) -> T | None:
    """Return the result of the work; None if the client disconnected, which cancels the work."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        return await task if task.done() else None
    finally:
        task.cancel()
        gone.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await gone


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
