"""Another system behind the webhook: a real HTTP server that checks signatures by itself."""

import asyncio
import base64
import hashlib
import hmac
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from socket import create_server
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

KEY = b"0123456789abcdef0123456789abcdef"


class HelpDesk:
    """Keeps each id once, and answers as it is told to.

    fault: chance that a request fails, before or after it had its effect."""

    def __init__(self, seed: int = 0, fault: float = 0.0) -> None:
        self.port = 0
        self.tickets: dict[str, list[dict[str, Any]]] = {}
        self.tries: list[tuple[str, str]] = []
        self.answers: list[tuple[int, dict[str, str]]] = []
        """Status and headers of the next answers that are not "it has it"."""
        self._ids: set[str] = set()
        self._random = random.Random(seed)
        self._fault = fault

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/ombud"

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/ombud", self.receive, methods=["POST"])])

    def kept(self, ticket_id: str) -> list[tuple[str, str]]:
        return [(entry["type"], entry.get("text", "")) for entry in self.tickets[ticket_id]]

    async def receive(self, request: Request) -> Response:
        body, headers = await request.body(), request.headers
        message_id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
        signed = f"{message_id}.{timestamp}.".encode() + body
        digest = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
        if headers["webhook-signature"] != f"v1,{digest}":
            return Response(status_code=401)
        self.tries.append((message_id, timestamp))
        if self.answers:
            status, answered = self.answers.pop(0)
            return Response(status_code=status, headers=answered)
        if self._random.random() < self._fault:
            return Response(status_code=self._random.choice([429, 500, 503]))
        if message_id in self._ids:
            return Response(status_code=409)
        entry = json.loads(body)
        assert entry["id"] == message_id
        self._ids.add(message_id)
        self.tickets.setdefault(entry["ticket"]["id"], []).append(entry)
        is_cut_off = self._random.random() < self._fault
        return Response(status_code=504 if is_cut_off else 202)


@asynccontextmanager
async def served(seed: int, fault: float) -> AsyncIterator[HelpDesk]:
    """A help desk on a free port of this machine, in this event loop."""
    help_desk = HelpDesk(seed, fault)
    listening = create_server(("127.0.0.1", 0))
    help_desk.port = listening.getsockname()[1]
    config = uvicorn.Config(
        help_desk.app(), log_level="critical", timeout_graceful_shutdown=0, lifespan="off"
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield help_desk
    finally:
        server.should_exit = True
        server.force_exit = True
        await serving
        listening.close()
