"""Read sitemaps: XML, gzipped XML or lists of addresses, and indexes of them."""

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import NamedTuple

from ombud.errors import SourceError
from ombud.sources.client import PublicClient, refused
from ombud.sources.source import LeftOut
from ombud.sources.trees import local, read_tree, unpacked, words
from ombud.sources.web.state import FetchState
from ombud.sources.web.urls import absolute, bare, host_of

MAX_SITEMAPS = 1000
"""Sitemaps of one source."""
GONE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})


class Sitemap(NamedTuple):
    pages: tuple[str, ...]
    sitemaps: tuple[str, ...]


class Sitemaps:
    """Reads sitemaps and those they name. Raises SourceError if one cannot be read, as the list
    would be incomplete.

    old: states of the last crawl. `seen`: states to save, under keys that no page has."""

    def __init__(
        self, client: PublicClient, old: Mapping[str, FetchState], hosts: frozenset[str]
    ) -> None:
        self._client = client
        self._old = old
        self._hosts = hosts
        self.seen: dict[str, FetchState] = {}
        self.left_out: list[LeftOut] = []

    def pages_of_site(self, named: Iterable[str]) -> Iterator[str]:
        """Yield the pages of the sitemaps that a site names itself. If one cannot be read, its
        pages of the last crawl are used; without these it is left out."""
        for url in dict.fromkeys(named):
            try:
                yield from self.pages((url,))
            except SourceError as failed:
                old = self._remembered(url)
                self.seen |= old
                yield from old[pages_key(url)].links if old else ()
                if not old:
                    self.left_out.append(LeftOut(uri=url, why=f"{failed} {failed.hint}".strip()))

    def pages(self, urls: tuple[str, ...]) -> Iterator[str]:
        """Yield the pages of sitemaps and of those they name."""
        waiting = list(urls)
        queued = set(urls)
        while waiting:
            url = waiting.pop(0)
            sitemap = self._read(url, named=url not in urls)
            yield from sitemap.pages
            fresh = [url for url in sitemap.sitemaps if url not in queued]
            queued.update(fresh)
            waiting += fresh
            if len(queued) > MAX_SITEMAPS:
                raise SourceError(
                    f"{urls[0]} names more than {MAX_SITEMAPS} sitemaps.",
                    hint="Name those that matter.",
                )

    def _read(self, url: str, *, named: bool) -> Sitemap:
        if bare(host_of(url)) not in self._hosts:
            raise SourceError(
                f"The sitemap {url} is on another host.", hint="Add it to the source's `hosts`."
            )
        old = self._remembered(url)
        last = next(iter(old.values()), None)
        reply = self._client.get(url, headers=last.conditions if last else {})
        if reply.status == 304 and old:
            self.seen |= old
            nothing = FetchState(kind="")
            pages = old.get(pages_key(url), nothing)
            sitemaps = old.get(sitemaps_key(url), nothing)
            return Sitemap(pages.links, sitemaps.links)
        if named and reply.status in GONE:
            return Sitemap((), ())
        if not reply.ok:
            raise refused(reply)
        sitemap = parse_sitemap(url, reply.body, reply.headers.get("content-type", ""))
        self._remember(url, sitemap, reply.headers)
        return sitemap

    def _remembered(self, url: str) -> dict[str, FetchState]:
        keys = (pages_key(url), sitemaps_key(url))
        return {key: self._old[key] for key in keys if key in self._old}

    def _remember(self, url: str, sitemap: Sitemap, headers: Mapping[str, str]) -> None:
        mark = FetchState(
            kind="",
            etag=headers.get("etag", ""),
            modified=headers.get("last-modified", ""),
        )
        pages = mark.model_copy(update={"links": sitemap.pages})
        sitemaps = mark.model_copy(update={"links": sitemap.sitemaps})
        self.seen[pages_key(url)] = pages
        self.seen[sitemaps_key(url)] = sitemaps


def pages_key(url: str) -> str:
    return f"{url}#pages"


def sitemaps_key(url: str) -> str:
    return f"{url}#sitemaps"


def parse_sitemap(url: str, data: bytes, content_type: str) -> Sitemap:
    """Parse a sitemap; raises SourceError if it is none."""
    plain = unpacked(data, f"The sitemap {url}")
    is_list = "text/plain" in content_type or "gzip" in content_type
    if is_list and not plain.lstrip().startswith(b"<"):
        text = plain.decode("utf-8", errors="replace")
        return Sitemap(pages=parse_addresses(text.splitlines(), url), sitemaps=())
    root = read_tree(plain, f"The sitemap {url}")
    kind = local(root)
    if kind not in {"urlset", "sitemapindex"}:
        raise SourceError(
            f"{url} is no sitemap.", hint=f"It holds <{kind}>; a page belongs in `start`."
        )
    # Only the address of the page itself: images and videos have a <loc> of their own, deeper in.
    named: list[str] = []
    for entry in root:
        named += [words(inner) for inner in entry if local(inner) == "loc"]
    addresses = parse_addresses(named, url)
    if kind == "sitemapindex":
        return Sitemap(pages=(), sitemaps=addresses)
    return Sitemap(pages=addresses, sitemaps=())


def parse_addresses(texts: Iterable[str], url: str) -> tuple[str, ...]:
    addresses: dict[str, None] = {}
    for text in texts:
        address = absolute(text, url) if text.strip() else ""
        if address:
            addresses[address] = None
    return tuple(addresses)
