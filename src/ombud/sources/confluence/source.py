"""Confluence as a source: pages of its spaces and the documents attached to them.

A page is NAME/SPACE KEY/PAGE ID.html, an attachment NAME/SPACE KEY/PAGE ID/FILE NAME, so a renamed
or moved page stays the same document. `access` decides who may read them."""

import base64
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from ombud.errors import SourceError
from ombud.settings import Confluence
from ombud.sources.access import NotShown, narrow, within
from ombud.sources.confluence.access import NOBODY, Restrictions, audience
from ombud.sources.confluence.api import Attachment, Cloud, ConfluencePage, DataCenter, PageBody
from ombud.sources.confluence.storage import RenderedPage, Surroundings, has_text, render
from ombud.sources.matching import is_document, matching_of, why_unreadable
from ombud.sources.metadata import normalise_metadata
from ombud.sources.site import PARALLEL_REQUESTS, SiteClient
from ombud.sources.source import WRITTEN_BY, LeftOut, Ref
from ombud.sources.web.urls import joined
from ombud.types import Audience

MAX_INCLUDED = 100
"""Pages included in one page, directly or not."""
MAX_INCLUDE_DEPTH = 10
_PAGE = "page "
_FILE = "file "
_REFUSED = "refused "


class IncludablePage(NamedTuple):
    page: ConfluencePage
    audience: Audience


class ListedPage(NamedTuple):
    page: ConfluencePage
    includes: bool
    """True if it includes text of other pages, or that is unknown."""


class PageDetails(NamedTuple):
    """Readers, labels and attachments of a page, as far as the account sees them."""

    readers: Audience
    labels: tuple[str, ...]
    files: Sequence[Attachment]


def open_confluence(place: Confluence, home: Path) -> "ConfluenceSource":
    """Open a source: Cloud with `user`, else Data Center. Raises SourceError for an invalid address
    or label."""
    del home
    where = f"source `{place.name}`"
    parts = parse_site_address(place.url)
    if parts is None:
        raise SourceError(
            f"{where}: url is no address.", hint="Such as https://example.atlassian.net."
        )
    if parts.username is not None or parts.password is not None:
        raise SourceError(f"{where}: url holds a user or password.", hint="Use user and token_env.")
    if (parts.hostname or "").endswith(".atlassian.net") and not place.user:
        raise SourceError(
            f"{where}: Cloud needs the account's mail address.", hint="Set user beside token_env."
        )
    path = parts.path.rstrip("/")
    return ConfluenceSource(place, f"{parts.scheme}://{parts.netloc}{path}")


def parse_site_address(url: str) -> SplitResult | None:
    """Parse the address of a site; None if it is none."""
    try:
        parts = urlsplit(url)
        port = parts.port or 1
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not parts.hostname or port <= 0:
        return None
    return None if parts.query or parts.fragment else parts


class ConfluenceSource:
    """Pages and attachments of Confluence."""

    def __init__(self, place: Confluence, address: str) -> None:
        self.name = place.name
        self._place = place
        self._address = address
        self._matching = matching_of(place)
        self._labels: dict[str, dict[str, Any]] = {}
        for label, layer in place.labels.items():
            where = f"source `{place.name}`: label `{label}`"
            self._labels[label.lower()] = normalise_metadata(layer, where, strict=True)
        self._opened: Cloud | DataCenter | None = None
        self._seen: dict[tuple[str, str], IncludablePage] | None = None
        """(space key, title) -> page listed last; pages include each other by title."""
        self._people: dict[tuple[str, str], str] = {}
        self._file_urls: dict[tuple[str, str], str] = {}
        """(page id, file name) -> address of an attachment."""
        self.left_out: list[LeftOut] = []

    def list(self) -> list[Ref]:
        """List pages and attachments. Restrictions, labels and attachments of every page are
        requested, as they change without a new version."""
        seen: dict[tuple[str, str], IncludablePage] = {}
        self.left_out = []
        restrictions = Restrictions(self._site().restriction)

        def refs_of(listed: ListedPage) -> tuple[Ref, ...]:
            return tuple(self._refs(listed, restrictions, seen))

        pool = ThreadPoolExecutor(PARALLEL_REQUESTS, thread_name_prefix="confluence")
        refs: list[Ref] = []
        try:
            for part in pool.map(refs_of, self._pages()):
                refs += part
        finally:
            pool.shutdown(cancel_futures=True)
        self._seen = seen
        self.left_out.sort()
        return refs

    def _pages(self) -> Collection[ListedPage]:
        """List each page once: one that is moved meanwhile is in the list twice."""
        site = self._site()
        archived = self._place.archived
        listed: dict[str, ListedPage] = {}
        for space in site.spaces(self._place.spaces, archived):
            pages = site.pages(space, archived)
            including = site.including(space) if pages else set()
            for page in pages:
                includes = including is None or page.id in including
                listed[page.id] = ListedPage(page, includes)
        return listed.values()

    def read(self, ref: Ref) -> bytes:
        if ref.place.startswith(_REFUSED):
            raise SourceError(
                f"Who may read it is not known: {ref.place.removeprefix(_REFUSED)}.",
                hint="Let the account see that, or leave the page out with `exclude`.",
            )
        if ref.place.startswith(_FILE):
            return self._site().download(ref.place.removeprefix(_FILE))
        return self._page(ref)

    def _page(self, ref: Ref) -> bytes:
        space, page, number = ref.place.removeprefix(_PAGE).rsplit(" ", 2)
        body = self._site().body(page)
        if body is None:
            raise SourceError(
                "The page is not there any more.", hint="The next sync will not list it."
            )
        if body.number != int(number):
            # Its restrictions were read for another version.
            raise SourceError(
                "The page was changed while it was read.", hint="The next sync reads it."
            )
        readers = ref.facts.get("audience", {})
        written = self._render(body, space, readers, (page,), Counter())
        title = escape(body.title)
        # A page without text, as most parents are, gets its title as text.
        alone = "" if has_text(written.html) else f"<h1>{title}</h1>"
        head = f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{title}</title></head>'
        return f"{head}<body>{alone}{written.html}</body></html>\n".encode(errors="replace")

    def _site(self) -> Cloud | DataCenter:
        if self._opened is None:
            user = self._place.user
            token = self._token()
            authorization = f"Bearer {token}"
            if user:
                pair = base64.b64encode(f"{user}:{token}".encode())
                authorization = f"Basic {pair.decode()}"
            credentials = {
                "authorization": authorization,
                "accept": "application/json, */*",
            }
            whose = "user and the token" if user else "the token"
            client = SiteClient(
                f"Confluence at {urlsplit(self._address).hostname}",
                self._address,
                credentials=credentials,
                hint=f"Check {whose} in {self._place.token_env}; tokens expire.",
            )
            kind = Cloud if user else DataCenter
            self._opened = kind(client, self._address)
        return self._opened

    def _token(self) -> str:
        variable = self._place.token_env
        token = os.environ.get(variable, "").strip()
        if not token:
            raise SourceError(
                f"There is no token for source `{self.name}`.",
                hint=f"Set the environment variable {variable}.",
            )
        if not (token.isascii() and token.isprintable() and " " not in token):
            # The HTTP client would quote the token in its message.
            raise SourceError(
                f"The token in {variable} holds characters that no token has.",
                hint="Copy it again.",
            )
        return token

    def _refs(
        self,
        listed: ListedPage,
        restrictions: Restrictions,
        seen: dict[tuple[str, str], IncludablePage],
    ) -> Iterator[Ref]:
        page = listed.page
        relative = f"{page.space}/{page.id}.html"
        wanted = self._matching.wanted(relative)
        if not wanted and not self._place.attachments:
            return
        try:
            details = self._details(page, restrictions)
        except NotShown as hidden:
            # Its attachments are not listed, so that they are deleted.
            if wanted:
                place = f"{_REFUSED}{hidden}"
                uri = f"{self.name}/{relative}"
                yield Ref(uri, place, 0, {"audience": NOBODY}, name=display_name(page))
            return
        facts = self._facts_of(relative, details)
        facts["url"] = page.url
        seen[page.space, page.title] = IncludablePage(page, facts["audience"])
        if wanted:
            if page.title:
                facts["title"] = page.title
            yield Ref(
                uri=f"{self.name}/{relative}",
                place=f"{_PAGE}{page.space} {page.id} {page.number}",
                size=0,
                facts=facts,
                version="" if listed.includes else f"{page.version}.{WRITTEN_BY}",
                name=display_name(page),
            )
        yield from self._files(page, details)

    def _details(self, page: ConfluencePage, restrictions: Restrictions) -> PageDetails:
        """Request the details of a page; raises NotShown if one is hidden from the account."""
        site = self._site()
        levels = (page.id, *site.above(page))
        readers = restrictions.readers(levels)
        labels = site.labels(page) if self._labels else ()
        files = site.attachments(page) if self._place.attachments else []
        if files is None:
            raise NotShown("its attachments are not shown to the account")
        return PageDetails(audience(readers, self._place.groups), labels, files)

    def _files(self, page: ConfluencePage, details: PageDetails) -> Iterator[Ref]:
        for file in details.files:
            # A name is foreign text: no step of a path, no half characters.
            name = file.name.replace("/", "_").encode(errors="backslashreplace").decode()
            relative = f"{page.space}/{page.id}/{name}"
            if file.url:
                self._file_urls[page.id, file.name] = file.url
            if not self._matching.wanted(relative):
                continue
            if not is_document(name):
                left = LeftOut(uri=f"{display_name(page)}/{name}", why=why_unreadable(name))
                self.left_out.append(left)
                continue
            facts = self._facts_of(relative, details)
            yield Ref(
                uri=f"{self.name}/{relative}",
                place=f"{_FILE}{file.link}",
                size=file.size,
                facts=facts | {"url": file.url or page.url},
                version=file.version,
                final=("audience",) if facts["audience"] else (),
                name=f"{display_name(page)}/{name}",
            )

    def _facts_of(self, relative: str, details: PageDetails) -> dict[str, Any]:
        """Merge metadata, weakest first: of the source, of patterns, of labels in the order of the
        settings. A reader must be in the audience of every label and pass the restrictions."""
        labelled: dict[str, Any] = {}
        for label, layer in self._labels.items():
            if label not in details.labels:
                continue
            before = labelled.get("audience", {})
            labelled |= layer
            both = narrow(before, layer.get("audience", {}), NOBODY)
            if both:
                labelled["audience"] = both
        facts = self._matching.facts_of(relative) | labelled
        facts["audience"] = narrow(facts.get("audience", {}), details.readers, NOBODY)
        return facts

    def _render(
        self,
        body: PageBody,
        space: str,
        readers: Audience,
        chain: tuple[str, ...],
        included: Counter[str],
    ) -> RenderedPage:
        """Render a page with the pages it includes. readers: of the outermost page. chain: ids of
        the pages around this one. included: pages included so far."""

        def include(key: str, title: str) -> RenderedPage | None:
            if self._seen is None:
                self.list()
            target = (self._seen or {}).get((key or space, title))
            if target is None:
                return None
            page = target.page
            if page.id in chain or len(chain) >= MAX_INCLUDE_DEPTH:
                return None
            # Text that some readers of this page may not read stays out, as in Confluence itself.
            if not within(readers, target.audience):
                return None
            if included.total() >= MAX_INCLUDED:
                return None
            included[page.id] += 1
            inner = self._site().body(page.id)
            if inner is None or inner.number != page.number:
                return None
            longer_chain = (*chain, page.id)
            return self._render(inner, page.space, readers, longer_chain, included)

        def address(kind: str, attributes: Mapping[str, str]) -> str:
            return self._address_of(kind, attributes, space, chain[-1])

        return render(body.storage, Surroundings(self._person, include, address))

    def _address_of(self, kind: str, attributes: Mapping[str, str], space: str, page: str) -> str:
        """Return the target of a link; empty if it is no page or file that the account sees."""
        if kind == "a":
            link = attributes.get("href", "")
            return link if link.startswith("#") else joined(f"{self._address}/", link)
        if kind == "ri:url":
            return attributes.get("ri:value", "")
        title = attributes.get("ri:content-title", "")
        target = (self._seen or {}).get((attributes.get("ri:space-key") or space, title))
        if kind == "ri:page":
            return target.page.url if target else ""
        if kind == "ri:attachment":
            holder = target.page.id if title and target else page
            return self._file_urls.get((holder, attributes.get("ri:filename", "")), "")
        return ""

    def _person(self, kind: str, value: str) -> str:
        key = (kind, value)
        if key not in self._people:
            self._people[key] = self._site().person(kind, value)
        return self._people[key]


def display_name(page: ConfluencePage) -> str:
    return f"{page.space}/{page.title}"
