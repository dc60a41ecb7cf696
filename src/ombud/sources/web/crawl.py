"""One crawl of a site: which address to request next, and what the answers are."""

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from hashlib import sha256
from typing import NamedTuple

from ombud.errors import SourceError
from ombud.settings import Web
from ombud.sources.client import HOPS, LARGEST, HttpResponse, PublicClient, refused
from ombud.sources.matching import Matching
from ombud.sources.source import LeftOut
from ombud.sources.web.kinds import declared_text, kind_of, may_be_document
from ombud.sources.web.non_documents import (
    BEHIND_SIGN_IN,
    MISSING,
    NOT_LISTED,
    SIGN_IN,
    MissingPages,
    names_origin,
    why_no_document,
)
from ombud.sources.web.pages import LARGEST_HTML, WebPage, read_page, refuses_index
from ombud.sources.web.robots import Robots
from ombud.sources.web.sitemaps import GONE
from ombud.sources.web.state import FetchState
from ombud.sources.web.urls import absolute, bare, host_of, next_of_series, path_of

ANSWERS_PER_PAGE = 4
"""Most answers for each page that is wanted: a trap may consist of redirects and errors."""
LONGEST_SERIES = 100
"""Pages of a series that are followed; a calendar always has a next page."""


class Visit(NamedTuple):
    """The result of requesting an address; one of the first four is set."""

    seen: FetchState | None = None
    target: str = ""
    """Target of a redirect."""
    gone: SourceError | None = None
    """Why it is no page, or not any more."""
    failed: SourceError | None = None
    """Why it cannot be read for now."""
    is_dead: bool = False
    """True if the server says that nothing is there."""


class Site(NamedTuple):
    """The settings of a crawl."""

    place: Web
    hosts: frozenset[str]
    matching: Matching


class QueuedAddress(NamedTuple):
    """An address to request; the smallest is next."""

    urgency: int
    number: int
    url: str
    depth: int
    """Links from a start page."""
    hops: int
    """Redirects that led here."""
    steps: int
    """Pages of a series before this one."""


class Crawl:
    """Crawls breadth first, so that a trap far down (an endless calendar) never displaces near
    pages.

    old: states of the last crawl. keep: stores a document's bytes."""

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
        self.robots = Robots(client)
        self._missing = MissingPages(client, self.robots)
        self.visits: dict[str, Visit] = {}
        """Address -> result of its request."""
        self._pages = 0
        self._least: dict[str, int] = {}
        """Address -> fewest links from a start page."""
        self._queue: list[QueuedAddress] = []
        self.series: dict[str, str] = {}
        """Page of a series -> first page of the series."""

    def start(self, url: str) -> None:
        """Request a start page; raises SourceError if it cannot be read, as the pages it links to
        would be taken for deleted."""
        for _ in range(HOPS + 1):
            visit = self._visit(url, surely_exists=True)
            failed = visit.gone or visit.failed
            if failed:
                raise failed
            if not visit.target:
                self._least[url] = 0
                first = QueuedAddress(urgency=0, number=0, url=url, depth=0, hops=0, steps=0)
                self._follow(first)
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

    def add(self, url: str, *, last: bool = False) -> None:
        """Queue a page of a sitemap; its links are followed only if a start page leads to it, too.
        last: after all pages that start pages lead to."""
        urgency = self._place.depth + 1 if last else 0
        self._push(url, self._place.depth, 0, 0, urgency=urgency)

    def run(self) -> None:
        most = self._place.pages
        while self._queue and self._pages < most and len(self.visits) < ANSWERS_PER_PAGE * most:
            self._follow(heapq.heappop(self._queue))

    def results(self) -> Iterator[tuple[str, Visit]]:
        """Yield every address with its result; pages that turned out to be sign-in pages are no
        documents."""
        sign_in_pages = self._sign_in_pages()
        for url, visit in self.visits.items():
            if visit.seen and visit.seen.kind and url.partition("?")[0] in sign_in_pages:
                seen = visit.seen.model_copy(update={"kind": "", "why": SIGN_IN})
                yield url, visit._replace(seen=seen)
            else:
                yield url, visit

    def left_out(self) -> Iterator[LeftOut]:
        """Yield addresses that might be taken for documents, with the reason why they are none."""
        sign_in_pages = self._sign_in_pages()
        for url, visit in self.results():
            why = self._why_left_out(visit, sign_in_pages)
            if why and self._matching.included(path_of(url)):
                yield LeftOut(uri=url, why=why)
        unread = {waiting.url for waiting in self._queue} - self.visits.keys()
        if unread:
            most = self._place.pages
            yield LeftOut(uri=f"{len(unread):,} addresses", why=f"`pages` is {most:,}")

    def _why_left_out(self, visit: Visit, sign_in_pages: Set[str]) -> str:
        if visit.gone:
            return "" if visit.is_dead else f"{visit.gone} {visit.gone.hint}"
        if visit.target and not self._ours(visit.target):
            return f"it leads to {host_of(visit.target)}"
        if visit.target.partition("?")[0] in sign_in_pages:
            return BEHIND_SIGN_IN
        if visit.seen and visit.seen.kind and not visit.seen.listed:
            return NOT_LISTED
        return visit.seen.why if visit.seen else ""

    def _sign_in_pages(self) -> Set[str]:
        """Find the addresses, without parameters, to which the site redirects requests for other
        pages."""
        origins: dict[str, set[str]] = defaultdict(set)
        for url, visit in self.visits.items():
            if visit.target and names_origin(visit.target, url):
                origins[visit.target.partition("?")[0]].add(url)
        asking = {
            url.partition("?")[0]
            for url, visit in self.visits.items()
            if visit.seen and visit.seen.asks_password
        }
        return {page for page, urls in origins.items() if len(urls) > 1 or page in asking}

    def _follow(self, waiting: QueuedAddress) -> None:
        url, depth = waiting.url, waiting.depth
        visit = self._visit(url)
        if visit.target:
            self._push(visit.target, depth, waiting.hops + 1, waiting.steps)
        seen = visit.seen
        if visit.failed:
            seen = self._old.get(url)
        if seen is None:
            return
        if seen.canonical:
            self._push(seen.canonical, depth, waiting.hops, waiting.steps)
        series = self._follow_series(seen, waiting)
        if depth < self._place.depth:
            for link in seen.links:
                if link not in series:
                    self._push(link, depth + 1, 0, 0)

    def _follow_series(self, seen: FetchState, waiting: QueuedAddress) -> Set[str]:
        """Queue next pages and frames, which are as near to the start as the page itself, and
        return them."""
        url = waiting.url
        is_series = waiting.steps > 0 or waiting.depth == 0
        paged = next_of_series(url, seen.links, is_series=is_series)
        series = {*seen.following, paged} - {url, ""}
        if waiting.steps < LONGEST_SERIES:
            for following in sorted(series - self.visits.keys()):
                self.series.setdefault(following, self.series.get(url, url))
                self._push(following, waiting.depth, 0, waiting.steps + 1)
        return series

    def _push(
        self, url: str, depth: int, hops: int, steps: int, *, urgency: int | None = None
    ) -> None:
        if self._least.get(url, depth + 1) <= depth or hops > HOPS:
            return
        if url not in self._least and not self._wanted(url):
            self._least[url] = -1  # never considered again
            return
        self._least[url] = depth
        waiting = QueuedAddress(
            urgency=depth + steps if urgency is None else urgency,
            number=len(self._least),
            url=url,
            depth=depth,
            hops=hops,
            steps=steps,
        )
        heapq.heappush(self._queue, waiting)

    def _wanted(self, url: str) -> bool:
        if not self._ours(url) or not may_be_document(url):
            return False
        return not self._matching.excluded(path_of(url))

    def _ours(self, url: str) -> bool:
        return bare(host_of(url)) in self._hosts

    def _visit(self, url: str, *, surely_exists: bool = False) -> Visit:
        """Request an address once."""
        if url not in self.visits:
            if surely_exists:
                self._missing.add_front(url)
            try:
                visit = self._request(url, surely_exists)
            except SourceError as failed:
                visit = Visit(failed=failed)
            self.visits[url] = visit
            if visit.seen and visit.seen.kind:
                self._pages += 1
        return self.visits[url]

    def _request(self, url: str, surely_exists: bool) -> Visit:
        if not self.robots.allow(url):
            why = SourceError(
                f"{url} is closed to ombud by robots.txt.", hint="Ask its owner to let `ombud` in."
            )
            return Visit(gone=why)
        old = self._old.get(url)
        conditions = old.conditions if old else {}
        reply = self._client.get(url, headers=conditions, hops=0, body_limit=body_limit_of)
        if reply.status == 304 and old and conditions:
            return Visit(seen=old)
        if reply.ok:
            return self._read(url, reply, surely_exists)
        return visit_without_page(url, reply)

    def _read(self, url: str, reply: HttpResponse, surely_exists: bool) -> Visit:
        seen, data, page = interpret(url, reply, self._hosts)
        is_checked = seen.kind and not surely_exists
        if page and is_checked and self._missing.is_like(url, page):
            seen = seen.model_copy(
                update={"kind": "", "why": MISSING, "links": (), "following": ()}
            )
        if seen.kind and seen.listed:
            self._keep(url, data)
        return Visit(seen=seen)


def visit_without_page(url: str, reply: HttpResponse) -> Visit:
    if reply.target:
        target = absolute(reply.target)
        return Visit(target=target) if target != url else Visit(gone=refused(reply))
    if reply.status in PublicClient.POLICY.busy or reply.status >= 500:
        return Visit(failed=refused(reply))
    # Also 401 and 403: a page that is no longer public must not stay in the index.
    return Visit(gone=refused(reply), is_dead=reply.status in GONE)


class Interpretation(NamedTuple):
    """A successful answer, interpreted."""

    seen: FetchState
    data: bytes
    """Bytes of the document."""
    page: WebPage | None = None
    """The parsed page, if it is HTML."""


def interpret(url: str, reply: HttpResponse, hosts: frozenset[str]) -> Interpretation:
    """Tell the kind of a successful answer, and its document."""
    kind = kind_of(url, reply.headers)
    if kind:
        kind = kind_of(url, reply.headers, reply.body)
    if kind == ".html":
        return interpret_page(url, reply, hosts)
    data = reply.body
    if kind in {".txt", ".md", ".csv"}:
        text = declared_text(reply.body, reply.headers)
        data = reply.body if text is None else text.encode(errors="replace")
    media_type = reply.headers.get("content-type", "unknown")
    why = "" if kind else f"there is no parser for `{media_type}`"
    listed = not refuses_index(reply.headers)
    return Interpretation(
        make_state(reply, kind, data).model_copy(update={"why": why, "listed": listed}), data
    )


def interpret_page(url: str, reply: HttpResponse, hosts: frozenset[str]) -> Interpretation:
    page = read_page(url, reply.body, reply.headers)
    why = why_no_document(page)
    only_leads_on = page.links and not any(page.lines)
    kind = "" if why or only_leads_on else ".html"
    says = {
        "why": why,
        "listed": page.listed,
        "canonical": credible_canonical(url, page.canonical, hosts),
        "links": tuple(link for link in page.links if bare(host_of(link)) in hosts),
        "following": tuple(link for link in page.following if bare(host_of(link)) in hosts),
        "asks_password": page.asks_password,
    }
    seen = make_state(reply, kind, page.content).model_copy(update=says)
    return Interpretation(seen, page.content, page)


def make_state(reply: HttpResponse, kind: str, data: bytes) -> FetchState:
    return FetchState(
        kind=kind,
        etag=reply.headers.get("etag", ""),
        modified=reply.headers.get("last-modified", ""),
        digest=sha256(data).hexdigest() if kind else "",
        size=len(data) if kind else 0,
    )


def credible_canonical(url: str, canonical: str, hosts: frozenset[str]) -> str:
    """Return the canonical address, or an empty string if it is wrong: broken templates name the
    front page on every page, which would leave one document of a whole site."""
    if not canonical or canonical == url or bare(host_of(canonical)) not in hosts:
        return ""
    if path_of(canonical) == "index.html" and path_of(url) != "index.html":
        return ""
    return canonical


def body_limit_of(reply: HttpResponse) -> int:
    kind = kind_of(reply.url, reply.headers)
    if not kind:
        return 0
    return LARGEST_HTML if kind == ".html" else LARGEST
