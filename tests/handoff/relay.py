"""A wire between a desk and its server that can be cut where it hurts: after the server has heard."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

BLOCK = 65536


class Relay:
    """Passes bytes both ways; `deaf` lets requests through and no reply back."""

    def __init__(self, port: int) -> None:
        self.deaf = False
        self.url = ""
        self._port = port
        self._connections: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(self._connect(reader, writer))
        self._connections.add(connection)
        with suppress(asyncio.CancelledError):
            await connection

    async def end(self) -> None:
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, here = await asyncio.open_connection("127.0.0.1", self._port)
        sending = asyncio.create_task(self._pass(reader, here, is_reply=False))
        try:
            await self._pass(there, writer, is_reply=True)
        finally:
            sending.cancel()
            for end in (writer, here):
                end.close()
                with suppress(ConnectionError):
                    await end.wait_closed()

    async def _pass(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, is_reply: bool
    ) -> None:
        with suppress(ConnectionError):
            while block := await source.read(BLOCK):
                if is_reply and self.deaf:
                    return
                target.write(block)
                await target.drain()


@asynccontextmanager
async def relayed(port: int) -> AsyncIterator[Relay]:
    """A relay to a port of this machine, until the end."""
    relay = Relay(port)
    server = await asyncio.start_server(relay.serve, "127.0.0.1", 0)
    relay.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield relay
    finally:
        server.close()
        await relay.end()
