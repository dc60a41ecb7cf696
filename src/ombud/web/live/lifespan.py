"""What works beside the requests of a server: the hub, delivery, and care for hand-overs."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from fastapi import FastAPI

from ombud.app import Workspace, handoff_jobs
from ombud.cpu_time import MeteredThreads
from ombud.handoff import Delivery, open_desk, open_tickets
from ombud.messages import use_language
from ombud.store import signal_typing
from ombud.web.live.hub import Hub

logger = logging.getLogger(__name__)


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    """Start and end background work with the server."""
    workspace: Workspace = app.state.workspace
    use_language(workspace.settings.general.language)  # of what desks, tickets and mails are sent
    app.state.hub = Hub(workspace)
    app.state.delivery = _delivery(workspace)
    tickets = _ticket_delivery(workspace)
    asyncio.get_running_loop().set_default_executor(MeteredThreads(thread_name_prefix="serve"))
    works: list[Coroutine[Any, Any, None]] = [app.state.hub.run(), handoff_jobs.run(workspace)]
    for chat in (app.state.slack, app.state.teams):
        if chat is not None:
            works.append(chat.run())
    if app.state.delivery is not None:
        works.append(app.state.delivery.run())
    if tickets is not None:
        works.append(tickets.run())
    tasks = [asyncio.create_task(_log_failure(work)) for work in works]
    try:
        async with app.state.mcp.running() if app.state.mcp else nullcontext():
            yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if app.state.tracing:
            await asyncio.to_thread(app.state.tracing.shutdown)  # what is left is sent


def _delivery(workspace: Workspace) -> Delivery | None:
    settings = workspace.settings.handoff
    desk = open_desk(settings)
    if desk is None:
        return None

    def on_typing(conversation_id: str, name: str, on: bool) -> None:
        loop = asyncio.get_running_loop()
        loop.run_in_executor(
            None, lambda: signal_typing(workspace.store, conversation_id, "advisor", name, on=on)
        )

    delivery = Delivery(
        workspace.store,
        desk,
        settings.desk,
        public_url=workspace.settings.server.public_url,
        on_typing=on_typing,
    )
    workspace.store.on_change(delivery.wake)
    return delivery


def _ticket_delivery(workspace: Workspace) -> Delivery | None:
    settings = workspace.settings.tickets
    public_url = workspace.settings.server.public_url
    desk = open_tickets(settings, public_url)
    if desk is None:
        return None
    delivery = Delivery(workspace.store, desk, settings.system, public_url=public_url)
    workspace.store.on_change(delivery.wake)
    return delivery


async def _log_failure(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except asyncio.CancelledError:
        raise
    except Exception:
        logger.exception("Work beside the requests has ended; restart the server")
        raise
