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
from ombud.sources.web.crawl import Crawl, Site, Visit, interpret
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
    """Documents of a web site that a crawl finds. ETags and links are saved, so that an unchanged
    site is not downloaded again.

    A page that fails for the moment stays as it was; one that was never read is listed, and `read`
    reports the failure. Raises SourceError at once for invalid addresses."""

    def __init__(self, place: Web, home: Path, client: PublicClient) -> None:
        self.name = place.name
        self.chunker = place.chunker
        self._place = place
        self._client = client
        self._matching = matching_of(place)
        self._start = check_addresses(place.start)
        self._sitemaps = check_addresses(place.sitemaps)
        hosts = list(map(host_of, self._start + self._sitemaps))
        for host in place.hosts:
            address = host if "://" in host else f"https://{host}/"
            hosts.append(host_of(absolute(address)) or host)
        self._hosts = frozenset(map(bare, hosts))
        self._memory = Memory(state_path(home, place.name))
        self._bodies = Bodies(self._memory.path.with_suffix(".pages"))
        self.left_out: list[LeftOut] = []
        self._failed: dict[str, SourceError] = {}
        self._late: dict[str, str] = {}
        """Address -> digest of a body that `read` had to fetch again."""

    def list(self) -> list[Ref]:
        self._bodies.clear()
        self._failed.clear()
        self._late.clear()
        try:
            addresses, series = self._crawl()
        finally:
            self._client.close()
        chosen = documents(addresses, self._matching, series)
        refs = refs_of(self.name, chosen, self._matching)
        return sorted(refs, key=lambda ref: ref.uri)

    def _crawl(self) -> tuple[dict[str, FetchState], Mapping[str, str]]:
        """Crawl the site and save its state. Returns every address that is or leads to a document,
        and for pages of a series the first page."""
        old = self._memory.load(self._hosts)
        site = Site(place=self._place, hosts=self._hosts, matching=self._matching)
        crawl = Crawl(site, self._client, old, self._bodies.keep)
        sitemaps = Sitemaps(self._client, old, self._hosts)
        for url in self._start:
            crawl.start(url)
        for url in sitemaps.pages(self._sitemaps):
            crawl.add(url)
        # The sitemaps of a site name all of it; pages of other folders are not wanted.
        folders = tuple(f"{start.rpartition('/')[0]}/" for start in self._start)
        for url in sitemaps.pages_of_site(self._named_sitemaps(crawl)):
            if url.startswith(folders):
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
        """Yield the sitemaps that robots.txt names, if links are followed at all."""
        if not self._place.depth:
            return
        for start in self._start:
            for link in crawl.robots.sitemaps(start):
                url = absolute(link, start)
                if url and url not in self._sitemaps:
                    yield url

    def _seen(self, url: str, visit: Visit, old: Mapping[str, FetchState]) -> FetchState | None:
        """Return the state of an address; its last one if it cannot be read for now."""
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
        return self._fetch_again(url) if data is None else data

    def _fetch_again(self, url: str) -> bytes:
        try:
            reply = self._client.get(url, hops=0)
        finally:
            self._client.close()
        if not reply.ok:
            raise refused(reply)
        seen, data, _ = interpret(url, reply, self._hosts)
        if not seen.kind:
            raise SourceError(
                f"{url} is no document any more.", hint="The next sync will leave it out."
            )
        self._late[url] = seen.digest
        self._bodies.keep(url, data)
        return data


def refs_of(source: str, chosen: Mapping[str, FetchState], matching: Matching) -> Iterator[Ref]:
    """Make the Refs of documents, each with a unique name."""
    names = {url: name_of(url, seen.kind) for url, seen in chosen.items()}
    taken: set[str] = set()
    # Of several addresses with one name, the one that is spelled like the name gets it.
    for url in sorted(names, key=lambda url: (path_of(url) != names[url].partition("/")[2], url)):
        name = names[url]
        if name in taken:
            name = unique_name(name, url)
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


def unique_name(name: str, url: str) -> str:
    """Add a mark to a name that no other address gets."""
    suffix = PurePosixPath(name).suffix
    stem = name.removesuffix(suffix)
    mark = sha256(url.encode()).hexdigest()[:8]
    return f"{stem}~{mark}{suffix}"


def documents(
    addresses: dict[str, FetchState], matching: Matching, series: Mapping[str, str]
) -> dict[str, FetchState]:
    """Choose each page once, under its canonical address.

    series: page -> first of its series, which later pages may wrongly call their canonical
    address."""
    pages: dict[str, FetchState] = {}
    for url, seen in addresses.items():
        if seen.kind and seen.listed and matching.included(path_of(url)):
            is_continued = series.get(url) in {seen.canonical, series.get(seen.canonical)} - {None}
            pages[url] = seen.model_copy(update={"canonical": ""}) if is_continued else seen
    chosen: dict[tuple[str, str], str] = {}

    def plainest_first(url: str) -> tuple[bool, bool, int, str]:
        return not url.startswith("https:"), "?" in url, len(url), url

    for url in sorted(pages, key=plainest_first):
        is_https_too = url.startswith("http:") and f"https:{url[5:]}" in pages
        if is_https_too or real_address(url, pages) != url:
            continue
        page = (plain_of(url), pages[url].digest or url)
        chosen.setdefault(page, url)
    return {url: pages[url] for url in chosen.values()}


def real_address(url: str, pages: dict[str, FetchState]) -> str:
    """Follow canonical addresses to the last one."""
    way = [url]
    while True:
        following = pages[way[-1]].canonical
        if following not in pages:
            return way[-1]
        if following in way:  # they name each other
            circle = way[way.index(following) :]
            return min(circle)
        way.append(following)


def check_addresses(urls: Iterable[str]) -> tuple[str, ...]:
    """Normalise addresses of the settings; raises SourceError for an invalid one."""
    addresses = []
    for url in urls:
        address = absolute(url)
        if not address:
            name = "An address with a user or password" if "@" in url else url
            raise SourceError(
                f"{name} is no web address.", hint="Such as https://www.example.com/hr/."
            )
        addresses.append(address)
    return tuple(dict.fromkeys(addresses))
