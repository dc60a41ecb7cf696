"""Confluence as a source: pages of its spaces and the documents attached to them.

A page is NAME/SPACE KEY/PAGE ID.html, an attachment NAME/SPACE KEY/PAGE ID/FILE NAME: a renamed or
moved page stays the same document. Who may read them is in `access`, which also says
what is not looked at."""

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
from ombud.sources.site import AT_ONCE, SiteClient
from ombud.sources.source import WRITTEN_BY, LeftOut, Ref
from ombud.sources.web.urls import joined
from ombud.types import Audience

MOST_INCLUDED = 100
DEEPEST_INCLUDED = 10
"""Pages shown inside one page, in all and one inside the other."""
_PAGE = "page "
_FILE = "file "
_REFUSED = "refused "


class _Seen(NamedTuple):
    page: ConfluencePage
    audience: Audience


class _Listed(NamedTuple):
    page: ConfluencePage
    includes: bool
    """It shows text of others, or nobody knows whether it does."""


class _Shown(NamedTuple):
    """What the account is shown of a page, beside its text."""

    readers: Audience
    labels: tuple[str, ...]
    files: Sequence[Attachment]


def open_confluence(place: Confluence, home: Path) -> "ConfluenceSource":
    """With `user` it is Cloud, without Data Center. Raises SourceError for an address or labels
    that are none."""
    del home
    where = f"source `{place.name}`"
    parts = _address(place.url)
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


def _address(url: str) -> SplitResult | None:
    """None where it is no address of a site."""
    try:
        parts = urlsplit(url)
        port = parts.port or 1
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not parts.hostname or port <= 0:
        return None
    return None if parts.query or parts.fragment else parts


class ConfluenceSource:
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
        self._seen: dict[tuple[str, str], _Seen] | None = None
        """(space key, title) -> what `list` found out; pages include each other by title."""
        self._people: dict[tuple[str, str], str] = {}
        self._file_urls: dict[tuple[str, str], str] = {}
        """(page id, file name) -> where an attachment lies."""
        self.left_out: list[LeftOut] = []

    def list(self) -> list[Ref]:
        """Asks for the restrictions (and labels, attachments) of every page: those change without a
        new version."""
        seen: dict[tuple[str, str], _Seen] = {}
        self.left_out = []
        restrictions = Restrictions(self._site().restriction)

        def refs_of(listed: _Listed) -> tuple[Ref, ...]:
            return tuple(self._refs(listed, restrictions, seen))

        pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="confluence")
        refs: list[Ref] = []
        try:
            for part in pool.map(refs_of, self._pages()):
                refs += part
        finally:
            pool.shutdown(cancel_futures=True)
        self._seen = seen
        self.left_out.sort()
        return refs

    def _pages(self) -> Collection[_Listed]:
        """Each once: a page may be moved while the list is read, and then stands in it twice."""
        site = self._site()
        archived = self._place.archived
        listed: dict[str, _Listed] = {}
        for space in site.spaces(self._place.spaces, archived):
            pages = site.pages(space, archived)
            including = site.including(space) if pages else set()
            for page in pages:
                includes = including is None or page.id in including
                listed[page.id] = _Listed(page, includes)
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
            # Its restrictions were read for the other version.
            raise SourceError(
                "The page was changed while it was read.", hint="The next sync reads it."
            )
        readers = ref.facts.get("audience", {})
        written = self._written(body, space, readers, (page,), Counter())
        title = escape(body.title)
        # The title is known beside the bytes. A page of nothing else (most parents are) is no
        # damaged file.
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
            # The HTTP client would quote it in its own message.
            raise SourceError(
                f"The token in {variable} holds characters that no token has.",
                hint="Copy it again.",
            )
        return token

    def _refs(
        self, listed: _Listed, restrictions: Restrictions, seen: dict[tuple[str, str], _Seen]
    ) -> Iterator[Ref]:
        page = listed.page
        relative = f"{page.space}/{page.id}.html"
        wanted = self._matching.wanted(relative)
        if not wanted and not self._place.attachments:
            return
        try:
            shown = self._shown(page, restrictions)
        except NotShown as hidden:
            # Attachments are not listed at all: what nobody may be given is deleted.
            if wanted:
                place = f"{_REFUSED}{hidden}"
                uri = f"{self.name}/{relative}"
                yield Ref(uri, place, 0, {"audience": NOBODY}, name=_name_of(page))
            return
        facts = self._facts_of(relative, shown)
        facts["url"] = page.url
        seen[page.space, page.title] = _Seen(page, facts["audience"])
        if wanted:
            if page.title:
                facts["title"] = page.title
            yield Ref(
                uri=f"{self.name}/{relative}",
                place=f"{_PAGE}{page.space} {page.id} {page.number}",
                size=0,
                facts=facts,
                version="" if listed.includes else f"{page.version}.{WRITTEN_BY}",
                name=_name_of(page),
            )
        yield from self._files(page, shown)

    def _shown(self, page: ConfluencePage, restrictions: Restrictions) -> _Shown:
        """Raises NotShown where one of these is not shown to the account."""
        site = self._site()
        levels = (page.id, *site.above(page))
        readers = restrictions.readers(levels)
        labels = site.labels(page) if self._labels else ()
        files = site.attachments(page) if self._place.attachments else []
        if files is None:
            raise NotShown("its attachments are not shown to the account")
        return _Shown(audience(readers, self._place.groups), labels, files)

    def _files(self, page: ConfluencePage, shown: _Shown) -> Iterator[Ref]:
        for file in shown.files:
            name = _safe(file.name)
            relative = f"{page.space}/{page.id}/{name}"
            if file.url:
                self._file_urls[page.id, file.name] = file.url
            if not self._matching.wanted(relative):
                continue
            if not is_document(name):
                left = LeftOut(uri=f"{_name_of(page)}/{name}", why=why_unreadable(name))
                self.left_out.append(left)
                continue
            facts = self._facts_of(relative, shown)
            yield Ref(
                uri=f"{self.name}/{relative}",
                place=f"{_FILE}{file.link}",
                size=file.size,
                facts=facts | {"url": file.url or page.url},
                version=file.version,
                final=("audience",) if facts["audience"] else (),
                name=f"{_name_of(page)}/{name}",
            )

    def _facts_of(self, relative: str, shown: _Shown) -> dict[str, Any]:
        """Weakest first: the source's own, patterns, labels in the order of the settings. Of
        several labels with an audience a reader must fit all; restrictions narrow whatever came of
        that."""
        labelled: dict[str, Any] = {}
        for label, layer in self._labels.items():
            if label not in shown.labels:
                continue
            before = labelled.get("audience", {})
            labelled |= layer
            both = narrow(before, layer.get("audience", {}), NOBODY)
            if both:
                labelled["audience"] = both
        facts = self._matching.facts_of(relative) | labelled
        facts["audience"] = narrow(facts.get("audience", {}), shown.readers, NOBODY)
        return facts

    def _written(
        self,
        body: PageBody,
        space: str,
        readers: Audience,
        chain: tuple[str, ...],
        shown: Counter[str],
    ) -> RenderedPage:
        """readers: of the outermost page. chain: ids of pages around this text. shown: what is
        included so far."""

        def include(key: str, title: str) -> RenderedPage | None:
            if self._seen is None:
                self.list()
            included = (self._seen or {}).get((key or space, title))
            if included is None:
                return None
            page = included.page
            if page.id in chain or len(chain) >= DEEPEST_INCLUDED:
                return None
            # What some readers of this page may not read stays out of it, as in Confluence itself.
            if not within(readers, included.audience):
                return None
            if shown.total() >= MOST_INCLUDED:
                return None
            shown[page.id] += 1
            inner = self._site().body(page.id)
            if inner is None or inner.number != page.number:
                return None
            longer_chain = (*chain, page.id)
            return self._written(inner, page.space, readers, longer_chain, shown)

        def address(kind: str, attributes: Mapping[str, str]) -> str:
            return self._address_of(kind, attributes, space, chain[-1])

        return render(body.storage, Surroundings(self._person, include, address))

    def _address_of(self, kind: str, attributes: Mapping[str, str], space: str, page: str) -> str:
        """Where a link leads; empty where that is no page or file that the account was shown."""
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


def _name_of(page: ConfluencePage) -> str:
    return f"{page.space}/{page.title}"


def _safe(name: str) -> str:
    """A name is text of somebody's choice: no step of a path, no half characters."""
    return name.replace("/", "_").encode(errors="backslashreplace").decode()
