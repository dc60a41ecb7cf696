"""Pages of a web site as a source."""

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath

from ombud.errors import SourceError
from ombud.settings import Web
from ombud.sources.client import PublicClient, refused
from ombud.sources.guard import Network
from ombud.sources.matching import Matching, matching_of
from ombud.sources.source import LeftOut, Ref
from ombud.sources.web.crawl import Crawl, Site, Visit, understood
from ombud.sources.web.kinds import kind_of
from ombud.sources.web.sitemaps import Sitemaps
from ombud.sources.web.state import Bodies, FetchState, Memory, state_path
from ombud.sources.web.urls import absolute, bare, host_of, name_of, path_of, plain_of


def open_web(place: Web, home: Path) -> "WebSource":
    if not place.start and not place.sitemaps:
        raise SourceError(
            f"source `{place.name}` has neither start nor sitemaps.", hint='start = ["https://…"]'
        )
    return WebSource(
        place, home, PublicClient(Network(place.private_hosts), spacing=1 / place.rate)
    )


class WebSource:
    """What a crawl finds. It remembers ETags and links, so that a site without changes costs only
    questions.

    A page that fails for the moment stays what it was; one that was never read is listed, and
    `read` says what is wrong with it. Raises SourceError at once for addresses that are none."""

    def __init__(self, place: Web, home: Path, client: PublicClient) -> None:
        self.name = place.name
        self.chunker = place.chunker
        self._place = place
        self._client = client
        self._matching = matching_of(place)
        self._start = _addresses(place.start)
        self._sitemaps = _addresses(place.sitemaps)
        hosts = list(map(host_of, self._start + self._sitemaps))
        hosts += _hosts(place.hosts)
        self._hosts = frozenset(map(bare, hosts))
        self._memory = Memory(state_path(home, place.name))
        self._bodies = Bodies(self._memory.path.with_suffix(".pages"))
        self.left_out: list[LeftOut] = []
        self._failed: dict[str, SourceError] = {}
        self._late: dict[str, str] = {}
        """Address -> digest of what `read` had to fetch again."""

    def list(self) -> list[Ref]:
        self._bodies.clear()
        self._failed.clear()
        self._late.clear()
        try:
            addresses, series = self._crawled()
        finally:
            self._client.close()
        chosen = documents(addresses, self._matching, series)
        refs = refs_of(self.name, chosen, self._matching)
        return sorted(refs, key=lambda ref: ref.uri)

    def _crawled(self) -> tuple[dict[str, FetchState], Mapping[str, str]]:
        """Every address that is or leads to a document, and the first page of each that goes on
        from another; what is remembered of them is saved."""
        old = self._memory.load(self._hosts)
        site = Site(place=self._place, hosts=self._hosts, matching=self._matching)
        crawl = Crawl(site, self._client, old, self._bodies.keep)
        sitemaps = Sitemaps(self._client, old, self._hosts)
        for url in self._start:
            crawl.start(url)
        for url in sitemaps.pages(self._sitemaps):
            crawl.add(url)
        for url in sitemaps.pages_of_site(self._named_sitemaps(crawl)):
            if self._is_below_start(url):
                crawl.add(url, last=True)
        crawl.run()
        addresses: dict[str, FetchState] = {}
        remembered = dict(sitemaps.seen)
        for url, visit in crawl.results():
            seen = self._seen(url, visit, old)
            if seen is None:
                continue
            addresses[url] = seen
            if url not in self._failed:
                remembered[url] = seen
        self._memory.save(remembered, self._hosts)
        self.left_out = [*sitemaps.left_out, *crawl.left_out()]
        return addresses, crawl.series

    def _named_sitemaps(self, crawl: Crawl) -> Iterator[str]:
        """Those of robots.txt, where links are followed at all."""
        if not self._place.depth:
            return
        for start in self._start:
            for link in crawl.robots.sitemaps(start):
                url = absolute(link, start)
                if url and url not in self._sitemaps:
                    yield url

    def _is_below_start(self, url: str) -> bool:
        """Whether a page lies in the folder of a start page: a site's sitemaps name all of it."""
        return any(url.startswith(f"{start.rpartition('/')[0]}/") for start in self._start)

    def _seen(self, url: str, visit: Visit, old: Mapping[str, FetchState]) -> FetchState | None:
        """What an address is now; what it last was, where nobody knows for now."""
        if not visit.failed:
            return visit.seen
        if url in old:
            return old[url]
        self._failed[url] = visit.failed
        return FetchState(kind=kind_of(url, {}) or ".html", digest="")

    def read(self, ref: Ref) -> bytes:
        url = ref.place
        if url in self._failed:
            failed = self._failed[url]
            raise SourceError(str(failed), hint=failed.hint)
        data = self._bodies.find(url, self._late.get(url, ref.version))
        return self._again(url) if data is None else data

    def _again(self, url: str) -> bytes:
        try:
            reply = self._client.get(url, hops=0)
        finally:
            self._client.close()
        if not reply.ok:
            raise refused(reply)
        seen, data, _ = understood(url, reply, self._hosts)
        if not seen.kind:
            raise SourceError(
                f"{url} is no document any more.", hint="The next sync will leave it out."
            )
        self._late[url] = seen.digest
        self._bodies.keep(url, data)
        return data


def refs_of(source: str, chosen: Mapping[str, FetchState], matching: Matching) -> Iterator[Ref]:
    names = {url: name_of(url, seen.kind) for url, seen in chosen.items()}
    taken: set[str] = set()

    def first_right(url: str) -> tuple[bool, str]:
        """An address that is spelled like its name has the first right to it."""
        return path_of(url) != names[url].partition("/")[2], url

    for url in sorted(names, key=first_right):
        name = names[url]
        if name in taken:
            name = _marked(name, url)
        taken.add(name)
        seen = chosen[url]
        facts = matching.facts_of(path_of(url))
        yield Ref(
            uri=f"{source}/{name}",
            place=url,
            size=seen.size,
            facts=facts | {"url": url},
            version=seen.digest,
        )


def _marked(name: str, url: str) -> str:
    """The name, with a mark that no other address gets."""
    suffix = PurePosixPath(name).suffix
    stem = name.removesuffix(suffix)
    mark = sha256(url.encode()).hexdigest()[:8]
    return f"{stem}~{mark}{suffix}"


def documents(
    addresses: dict[str, FetchState], matching: Matching, series: Mapping[str, str]
) -> dict[str, FetchState]:
    """Each page once, under the address it calls its own.

    series: page -> the first of its series, which it may call its own address though it says
    something else."""
    pages: dict[str, FetchState] = {}
    for url, seen in addresses.items():
        if seen.kind and seen.listed and matching.included(path_of(url)):
            is_continued = series.get(url) in {seen.canonical, series.get(seen.canonical)} - {None}
            pages[url] = seen.model_copy(update={"canonical": ""}) if is_continued else seen
    chosen: dict[tuple[str, str], str] = {}
    for url in sorted(pages, key=_plainest_first):
        if real_address(url, pages) != url:
            continue
        if _is_secure_too(url, pages):
            continue
        page = (plain_of(url), pages[url].digest or url)
        chosen.setdefault(page, url)
    return {url: pages[url] for url in chosen.values()}


def _plainest_first(url: str) -> tuple[bool, bool, int, str]:
    return not url.startswith("https:"), "?" in url, len(url), url


def _is_secure_too(url: str, pages: Mapping[str, FetchState]) -> bool:
    """Whether the same page was found under https."""
    return url.startswith("http:") and f"https:{url[5:]}" in pages


def real_address(url: str, pages: dict[str, FetchState]) -> str:
    way = [url]
    while True:
        following = pages[way[-1]].canonical
        if following not in pages:
            return way[-1]
        if following in way:  # they name each other
            circle = way[way.index(following) :]
            return min(circle)
        way.append(following)


def _addresses(given: Iterable[str]) -> tuple[str, ...]:
    addresses = []
    for url in given:
        address = absolute(url)
        if not address:
            shown = "An address with a user or password" if "@" in url else url
            raise SourceError(
                f"{shown} is no web address.", hint="Such as https://www.example.com/hr/."
            )
        addresses.append(address)
    return tuple(dict.fromkeys(addresses))


def _hosts(given: Iterable[str]) -> list[str]:
    hosts = []
    for host in given:
        address = host if "://" in host else f"https://{host}/"
        hosts.append(host_of(absolute(address)) or host)
    return hosts
