"""Sitemaps: XML, gzipped or lists of addresses, and indexes of them."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ombud.errors import SourceError
from ombud.sources.client import PublicClient, refused
from ombud.sources.trees import gunzipped, local, read_tree, words
from ombud.sources.web.state import FetchState
from ombud.sources.web.urls import absolute, bare, host_of

MOST = 1000
"""Sitemaps of one source."""
GONE = frozenset({404, 410})


class Sitemap(NamedTuple):
    pages: tuple[str, ...]
    sitemaps: tuple[str, ...]


class Sitemaps:
    """Those given and those they name. Raises SourceError when one cannot be read: the list would
    be half.

    old: what is remembered; `seen`: what to remember, under keys that no page has.
    """

    def __init__(
        self, client: PublicClient, old: Mapping[str, FetchState], hosts: frozenset[str]
    ) -> None:
        self._client = client
        self._old = old
        self._hosts = hosts
        self.seen: dict[str, FetchState] = {}

    def pages(self, given: tuple[str, ...]) -> Iterator[str]:
        waiting, known = list(given), set(given)
        while waiting:
            url = waiting.pop(0)
            found = self._read(url, named=url not in given)
            yield from found.pages
            fresh = [sitemap for sitemap in found.sitemaps if sitemap not in known]
            known.update(fresh)
            waiting += fresh
            if len(known) > MOST:
                raise SourceError(
                    f"{given[0]} names more than {MOST} sitemaps.", hint="Name those that matter."
                )

    def _read(self, url: str, *, named: bool) -> Sitemap:
        if bare(host_of(url)) not in self._hosts:
            raise SourceError(
                f"The sitemap {url} is on another host.", hint="Add it to the source's `hosts`."
            )
        old = {
            key: self._old[key] for key in (f"{url}#pages", f"{url}#sitemaps") if key in self._old
        }
        conditions = next(iter(old.values())).conditions if old else {}
        reply = self._client.get(url, headers=conditions)
        if reply.status == 304 and old:
            self.seen |= old
            nothing = FetchState(kind="")
            pages, sitemaps = (
                old.get(f"{url}#{part}", nothing).links for part in ("pages", "sitemaps")
            )
            return Sitemap(pages, sitemaps)
        if named and reply.status in GONE:
            return Sitemap((), ())
        if not reply.ok:
            raise refused(reply)
        found = parsed(url, reply.body, reply.headers.get("content-type", ""))
        marks = {
            "etag": reply.headers.get("etag", ""),
            "modified": reply.headers.get("last-modified", ""),
        }
        self.seen[f"{url}#pages"] = FetchState(kind="", links=found.pages, **marks)
        self.seen[f"{url}#sitemaps"] = FetchState(kind="", links=found.sitemaps, **marks)
        return found


def parsed(url: str, data: bytes, content_type: str) -> Sitemap:
    if "text/plain" in content_type and not data.lstrip().startswith((b"<", b"\x1f\x8b")):
        lines = gunzipped(data).decode("utf-8", errors="replace").splitlines()
        return Sitemap(_addresses(lines, url), ())
    root = read_tree(data, f"The sitemap {url}")
    if local(root) not in {"urlset", "sitemapindex"}:
        raise SourceError(
            f"{url} is no sitemap.", hint=f"It holds <{local(root)}>; a page belongs in `start`."
        )
    # Only the address of the page itself: images and videos bring <loc> of their own, deeper in.
    found = _addresses(
        (words(inner) for entry in root for inner in entry if local(inner) == "loc"), url
    )
    return Sitemap((), found) if local(root) == "sitemapindex" else Sitemap(found, ())


def _addresses(found: Iterator[str] | list[str], url: str) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            address for text in found if text.strip() and (address := absolute(text, url))
        )
    )
