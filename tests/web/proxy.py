"""A reverse proxy that serves a server below a path, and strips that path: HTTP and WebSockets."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import urlsplit


class StrippingProxy:
    """target: the server's address, to be set once it is known."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix.encode()
        self.target = ""
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request for each connection, which neither side keeps open then."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            writer.close()
            return
        line, _, fields = head.partition(b"\r\n")
        method, path, version = line.split(b" ")
        if not path.startswith(self.prefix + b"/"):
            writer.write(
                b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
            writer.close()
            return
        kept = [one for one in fields.split(b"\r\n") if not one.lower().startswith(b"connection:")]
        is_socket = b"upgrade: websocket" in fields.lower()
        connection = b"Connection: Upgrade" if is_socket else b"Connection: close"
        line = b" ".join((method, path.removeprefix(self.prefix), version))
        address = urlsplit(self.target)
        theirs, ours = await asyncio.open_connection(address.hostname, address.port)
        ours.write(b"\r\n".join((line, connection, *kept)))
        await asyncio.gather(self._pass(reader, ours), self._pass(theirs, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(65536):
                writer.write(piece)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


@contextmanager
def stripping(prefix: str) -> Iterator[StrippingProxy]:
    proxy, ready, over = StrippingProxy(prefix), threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def run() -> None:
        server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
        proxy.port = server.sockets[0].getsockname()[1]
        ready.set()
        await over.wait()
        server.close()

    def work() -> None:
        with closing(loop):
            loop.run_until_complete(run())

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    ready.wait(30)
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(30)
