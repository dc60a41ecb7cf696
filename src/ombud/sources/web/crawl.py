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


class Visit(NamedTuple):
    """What came of asking for one address; one of these is set."""

    seen: FetchState | None = None
    target: str = ""
    """Where a redirect leads."""
    gone: SourceError | None = None
    """Why it is no page (any more)."""
    failed: SourceError | None = None
    """Why nobody knows for now."""


class Site(NamedTuple):
    """What belongs to a source."""

    place: Web
    hosts: frozenset[str]
    matching: Matching


class _Waiting(NamedTuple):
    """An address to ask for; the smallest is next."""

    urgency: int
    number: int
    url: str
    depth: int
    """Links from a start page."""
    hops: int
    """Redirects that led here."""


class Crawl:
    """Breadth first, so that a trap far down (a calendar without end) never keeps out what is near.

    old: what the last crawl remembered. keep: takes a document's bytes.
    """

    def __init__(
        self,
        site: Site,
        client: PublicClient,
        old: Mapping[str, FetchState],
        keep: Callable[[str, bytes], None],
    ) -> None:
        self._place = site.place
        self._hosts = site.hosts
        self._matching = site.matching
        self._client = client
        self._old = old
        self._keep = keep
        self._robots = Robots(client)
        self.visits: dict[str, Visit] = {}
        """Address -> what came of asking for it."""
        self._pages = 0
        self._least: dict[str, int] = {}
        """Fewest links from a start page."""
        self._queue: list[_Waiting] = []

    def start(self, url: str) -> None:
        """Raises SourceError when it cannot be had: what it leads to would be taken for gone."""
        for _ in range(HOPS + 1):
            visit = self._visit(url)
            failed = visit.gone or visit.failed
            if failed:
                raise failed
            if not visit.target:
                self._least[url] = 0
                self._follow(url, 0, 0)
                return
            if not self._ours(visit.target):
                raise SourceError(
                    f"The start page {url} leads to {host_of(visit.target)}.",
                    hint="Start there, or add it to `hosts`.",
                )
            url = visit.target
        raise SourceError(
            f"The start page {url} is redirected in circles.", hint="Give the address it ends at."
        )

    def add(self, url: str) -> None:
        """A page of a sitemap; its links are followed only when it is found from a start page,
        too."""
        self._push(url, self._place.depth, 0, urgency=0)

    def run(self) -> None:
        while self._queue:
            waiting = heapq.heappop(self._queue)
            answers = len(self.visits)
            if self._pages >= self._place.pages or answers >= ANSWERS * self._place.pages:
                return
            self._follow(waiting.url, waiting.depth, waiting.hops)

    def _follow(self, url: str, depth: int, hops: int) -> None:
        visit = self._visit(url)
        if visit.target:
            self._push(visit.target, depth, hops + 1)
        seen = visit.seen
        if visit.failed:
            seen = self._old.get(url)
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
        if url not in self._least and not self._wanted(url):
            self._least[url] = -1  # never asked about again
            return
        self._least[url] = depth
        waiting = _Waiting(
            urgency=depth if urgency is None else urgency,
            number=len(self._least),
            url=url,
            depth=depth,
            hops=hops,
        )
        heapq.heappush(self._queue, waiting)

    def _wanted(self, url: str) -> bool:
        if not self._ours(url) or not worth_asking(url):
            return False
        return not self._matching.excluded(path_of(url))

    def _ours(self, url: str) -> bool:
        return bare(host_of(url)) in self._hosts

    def _visit(self, url: str) -> Visit:
        """Asks once for each address."""
        if url not in self.visits:
            try:
                visit = self._asked(url)
            except SourceError as failed:
                visit = Visit(failed=failed)
            self.visits[url] = visit
            if visit.seen and visit.seen.kind:
                self._pages += 1
        return self.visits[url]

    def _asked(self, url: str) -> Visit:
        if not self._robots.allow(url):
            why = SourceError(
                f"{url} is closed to ombud by robots.txt.", hint="Ask its owner to let `ombud` in."
            )
            return Visit(gone=why)
        old = self._old.get(url)
        conditions = old.conditions if old else {}
        reply = self._client.get(url, headers=conditions, hops=0, body_limit=_body_limit)
        if reply.status == 304 and old and conditions:
            return Visit(seen=old)
        if reply.ok:
            return self._read(url, reply)
        return _without_page(url, reply)

    def _read(self, url: str, reply: HttpResponse) -> Visit:
        seen, data = understood(url, reply, self._hosts)
        if seen.kind and seen.listed:
            self._keep(url, data)
        return Visit(seen=seen)


def _without_page(url: str, reply: HttpResponse) -> Visit:
    if reply.target:
        target = absolute(reply.target)
        return Visit(target=target) if target != url else Visit(gone=refused(reply))
    if reply.status in PublicClient.POLICY.busy or reply.status >= 500:
        return Visit(failed=refused(reply))
    # Also 401 and 403: what is no longer public must not go on answering.
    return Visit(gone=refused(reply))


def understood(url: str, reply: HttpResponse, hosts: frozenset[str]) -> tuple[FetchState, bytes]:
    """What an answer is, and the bytes of the document it becomes."""
    kind = kind_of(url, reply.headers)
    if kind:
        kind = kind_of(url, reply.headers, reply.body)
    page = WebPage(listed=not refuses_index(reply.headers))
    data = reply.body
    if kind == ".html":
        page = read_page(url, reply.body, reply.headers)
        data = page.content
        if page.blank and page.links:
            kind = ""
    elif kind in {".txt", ".md", ".csv"}:
        data = text_of(reply.body, reply.headers).encode(errors="replace")
    links = [link for link in page.links if bare(host_of(link)) in hosts]
    seen = FetchState(
        kind=kind,
        etag=reply.headers.get("etag", ""),
        modified=reply.headers.get("last-modified", ""),
        digest=sha256(data).hexdigest() if kind else "",
        size=len(data) if kind else 0,
        listed=page.listed,
        canonical=_believed(url, page.canonical, hosts),
        links=tuple(links),
    )
    return seen, data


def _believed(url: str, canonical: str, hosts: frozenset[str]) -> str:
    """Broken templates name the front page on every page; that would leave one document of a whole
    site."""
    if not canonical or canonical == url or bare(host_of(canonical)) not in hosts:
        return ""
    if path_of(canonical) == "index.html" and path_of(url) != "index.html":
        return ""
    return canonical


def _body_limit(reply: HttpResponse) -> int:
    kind = kind_of(reply.url, reply.headers)
    if not kind:
        return 0
    return LARGEST_HTML if kind == ".html" else LARGEST
