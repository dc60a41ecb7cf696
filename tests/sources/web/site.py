"""A web site in a thread, with everything that makes crawling hard, and a clock on which no time
passes."""

import gzip
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from ombud.settings import Web
from ombud.sources.client import PublicClient
from ombud.sources.guard import Network
from ombud.sources.web.source import WebSource

HOST = "site.test"


class Reply(NamedTuple):
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = {}
    endless: bytes = b""
    """Sent again and again until the client has had enough."""
    cut: bool = False
    """Announce more than is sent, and hang up."""


Answer = Reply | Callable[[str, Mapping[str, str]], Reply]
"""Or what makes one from path and headers."""


class Site(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages: dict[str, Answer] = {}
        self.otherwise: Answer = Reply(b"not here", 404)
        self.asked: list[tuple[str, dict[str, str]]] = []
        """(path with query, headers) of every request."""
        self.tags = True
        """Give ETags and honour them."""

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_port}"

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def page(self, path: str, text: str = "", *links: str, head: str = "", **headers: str) -> None:
        """One of HTML; its text stands under its path as title."""
        anchors = "".join(f'<a href="{link}">to {link}</a> ' for link in links)
        html = (
            f"<html><head><title>{path}</title>{head}</head>"
            f"<body><nav>{anchors}</nav><main>{text}</main></body></html>"
        )
        self.pages[path] = Reply(
            html.encode(), headers={"content-type": "text/html; charset=utf-8", **headers}
        )

    def send(
        self,
        path: str,
        body: bytes | str,
        content_type: str = "",
        status: int = 200,
        **headers: str,
    ) -> None:
        raw = body.encode() if isinstance(body, str) else body
        named = {"content-type": content_type} if content_type else {}
        self.pages[path] = Reply(
            raw, status, {**named, **{k.replace("_", "-"): v for k, v in headers.items()}}
        )

    def moved(self, path: str, target: str, status: int = 302) -> None:
        self.pages[path] = Reply(status=status, headers={"location": target})

    def sitemap(self, path: str, *pages: str, index: bool = False, zipped: bool = False) -> None:
        outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
        rows = "".join(f"<{inner}><loc>{self.url}{page}</loc></{inner}>" for page in pages)
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        raw = f'<?xml version="1.0"?><{outer} xmlns="{space}">{rows}</{outer}>'.encode()
        self.send(path, gzip.compress(raw, mtime=0) if zipped else raw, "application/xml")

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients hang up too."""


class _Handler(BaseHTTPRequestHandler):
    server: Site
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else headers and body wait for each other

    def do_GET(self) -> None:
        headers = {key.lower(): value for key, value in self.headers.items()}
        self.server.asked.append((self.path, headers))
        answer = self.server.pages.get(self.path) or self.server.otherwise
        reply = answer if isinstance(answer, Reply) else answer(self.path, headers)
        tag = (
            f'"{sha256(reply.body).hexdigest()[:12]}"'
            if self.server.tags and reply.status == 200
            else ""
        )
        named = dict(reply.headers) | ({"etag": tag} if tag else {})
        if tag and headers.get("if-none-match") == tag and not reply.endless:
            reply = Reply(status=304)
        self.send_response(reply.status)
        for name, value in named.items():
            self.send_header(name, value)
        if reply.endless:
            self.close_connection = True
            self.end_headers()
            while True:
                self.wfile.write(reply.endless)
        if reply.status != 304 and "content-length" not in named:
            self.send_header("content-length", str(len(reply.body) + 100 * reply.cut))
        self.close_connection = self.close_connection or reply.cut
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        pass


class Time:
    """A clock that only waiting moves, and, with `tick`, being looked at."""

    def __init__(self, tick: float = 0.0) -> None:
        self.now, self.tick = 1000.0, tick
        self.waits: list[float] = []

    def clock(self) -> float:
        self.now += self.tick
        return self.now

    def pause(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def known(host: str, port: int) -> Sequence[str]:
    """The name server of these tests: everything under .test is this machine, addresses are
    themselves."""
    del port
    return ["127.0.0.1"] if host.endswith(".test") else [host]


def fetcher(
    time: Time | None = None, private: Sequence[str] = (HOST,), spacing: float = 0.0
) -> PublicClient:
    time = time or Time()
    return PublicClient(
        Network(private, known), spacing=spacing, clock=time.clock, pause=time.pause
    )


def source(site: Site, home: Path, time: Time | None = None, **fields: Any) -> WebSource:
    start = fields.pop("start", () if "sitemaps" in fields else ("/",))
    whole = {
        key: tuple(f"{site.url}{path}" for path in fields.pop(key, ())) for key in ("sitemaps",)
    }
    place = Web(name="hr", start=tuple(f"{site.url}{path}" for path in start), **whole, **fields)
    return WebSource(place, home, fetcher(time, spacing=1 / place.rate))


@contextmanager
def serving() -> Iterator[Site]:
    with Site() as site:
        thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield site
        finally:
            site.shutdown()
            thread.join()
