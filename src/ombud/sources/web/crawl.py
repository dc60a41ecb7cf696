"""One pass over a site: what to ask for next, and what the answers are."""

import heapq
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import NamedTuple

from ombud.errors import SourceError
from ombud.settings import Web
from ombud.sources.client import HOPS, LARGEST, HttpResponse, PublicClient, refused
from ombud.sources.matching import Matching
from ombud.sources.web.pages import (
    LARGEST_HTML,
    WebPage,
    kind_of,
    read_page,
    refuses_index,
    text_of,
    worth_asking,
)
from ombud.sources.web.robots import Robots
from ombud.sources.web.state import FetchState
from ombud.sources.web.urls import absolute, bare, host_of, path_of

ANSWERS = 4
"""Most answers, counted in pages: redirects and errors are answers, too, and a trap may be made of
them."""


class Look(NamedTuple):
    """What came of asking for one address; one of these is set."""

    seen: FetchState | None = None
    target: str = ""
    """Where a redirect leads."""
    gone: SourceError | None = None
    """Why it is no page (any more)."""
    failed: SourceError | None = None
    """Why nobody knows for now."""


class Crawl:
    """Breadth first, so that a trap far down (a calendar without end) never keeps out what is near.

    old: what the last crawl remembered. keep: takes a document's bytes.
    """

    def __init__(
        self,
        place: Web,
        hosts: frozenset[str],
        client: PublicClient,
        matching: Matching,
        old: Mapping[str, FetchState],
        keep: Callable[[str, bytes], None],
    ) -> None:
        self._place, self._hosts, self._client, self._matching = place, hosts, client, matching
        self._old, self._keep, self._robots = old, keep, Robots(client)
        self.looks: dict[str, Look] = {}
        self._pages = 0
        self._least: dict[str, int] = {}
        """Fewest links from a start page."""
        self._queue: list[tuple[int, int, str, int, int]] = []

    def start(self, url: str) -> None:
        """Raises SourceError when it cannot be had: what it leads to would be taken for gone."""
        for _ in range(HOPS + 1):
            look = self._look(url)
            if failed := look.gone or look.failed:
                raise failed
            if not look.target:
                self._least[url] = 0
                self._follow(url, 0, 0)
                return
            if not self._ours(look.target):
                raise SourceError(
                    f"The start page {url} leads to {host_of(look.target)}.",
                    hint="Start there, or add it to `hosts`.",
                )
            url = look.target
        raise SourceError(
            f"The start page {url} is redirected in circles.", hint="Give the address it ends at."
        )

    def add(self, url: str) -> None:
        """A page of a sitemap; its links are followed only when it is found from a start page,
        too."""
        self._push(url, self._place.depth, 0, urgency=0)

    def run(self) -> None:
        while self._queue:
            _, _, url, depth, hops = heapq.heappop(self._queue)
            if self._pages >= self._place.pages or len(self.looks) >= ANSWERS * self._place.pages:
                return
            self._follow(url, depth, hops)

    def _follow(self, url: str, depth: int, hops: int) -> None:
        look = self._look(url)
        if look.target:
            self._push(look.target, depth, hops + 1)
        seen = look.seen or (self._old.get(url) if look.failed else None)
        if seen is None:
            return
        if seen.canonical:
            self._push(seen.canonical, depth, hops)
        if depth < self._place.depth:
            for link in seen.links:
                self._push(link, depth + 1, 0)

    def _push(self, url: str, depth: int, hops: int, *, urgency: int | None = None) -> None:
        if self._least.get(url, depth + 1) <= depth or hops > HOPS:
            return
        if url not in self._least and not (
            self._ours(url) and worth_asking(url) and not self._matching.excluded(path_of(url))
        ):
            self._least[url] = -1  # never asked about again
            return
        self._least[url] = depth
        heapq.heappush(
            self._queue, (depth if urgency is None else urgency, len(self._least), url, depth, hops)
        )

    def _ours(self, url: str) -> bool:
        return bare(host_of(url)) in self._hosts

    def _look(self, url: str) -> Look:
        if url not in self.looks:
            try:
                look = self._asked(url)
            except SourceError as failed:
                look = Look(failed=failed)
            self.looks[url] = look
            self._pages += bool(look.seen and look.seen.kind)
        return self.looks[url]

    def _asked(self, url: str) -> Look:
        if not self._robots.allow(url):
            why = SourceError(
                f"{url} is closed to ombud by robots.txt.", hint="Ask its owner to let `ombud` in."
            )
            return Look(gone=why)
        old = self._old.get(url)
        reply = self._client.get(
            url, headers=old.conditions if old else None, hops=0, body_limit=_body_limit
        )
        if reply.status == 304 and old and old.conditions:
            return Look(seen=old)
        if reply.target:
            target = absolute(reply.target)
            return Look(target=target) if target != url else Look(gone=refused(reply))
        if reply.status in PublicClient.POLICY.busy or reply.status >= 500:
            return Look(failed=refused(reply))
        if not reply.ok:
            # Also 401 and 403: what is no longer public must not go on answering.
            return Look(gone=refused(reply))
        seen, data = understood(url, reply, self._hosts)
        if seen.kind and seen.listed:
            self._keep(url, data)
        return Look(seen=seen)


def understood(url: str, reply: HttpResponse, hosts: frozenset[str]) -> tuple[FetchState, bytes]:
    """What an answer is, and the bytes of the document it becomes."""
    kind = kind_of(url, reply.headers, reply.body) if kind_of(url, reply.headers) else ""
    page, data = WebPage(listed=not refuses_index(reply.headers)), reply.body
    if kind == ".html":
        page = read_page(url, reply.body, reply.headers)
        data = page.content
        kind = "" if page.blank and page.links else kind
    elif kind in {".txt", ".md", ".csv"}:
        data = text_of(reply.body, reply.headers).encode(errors="replace")
    seen = FetchState(
        kind=kind,
        etag=reply.headers.get("etag", ""),
        modified=reply.headers.get("last-modified", ""),
        digest=sha256(data).hexdigest() if kind else "",
        size=len(data) if kind else 0,
        listed=page.listed,
        canonical=_believed(url, page.canonical, hosts),
        links=tuple(link for link in page.links if bare(host_of(link)) in hosts),
    )
    return seen, data


def _believed(url: str, canonical: str, hosts: frozenset[str]) -> str:
    """Broken templates name the front page on every page; that would leave one document of a whole
    site."""
    if not canonical or canonical == url or bare(host_of(canonical)) not in hosts:
        return ""
    return "" if path_of(canonical) == "index.html" and path_of(url) != "index.html" else canonical


def _body_limit(reply: HttpResponse) -> int:
    kind = kind_of(reply.url, reply.headers)
    return LARGEST_HTML if kind == ".html" else LARGEST if kind else 0
