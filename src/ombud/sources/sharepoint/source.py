"""SharePoint as a source: files of a site's document libraries, and its pages.

A file is NAME/DRIVE ID/ITEM ID.ending, a page NAME/SitePages/PAGE ID.html: renamed or moved within
its library it stays the same document. Patterns match what people see: LIBRARY/FOLDER/FILE and
SitePages/NAME.aspx. `access` decides who may read them, `api` lists them.

Of a file that is checked out, an application gets the version last checked in. Of a page that is
being edited, the version last published stays; a page that was never published is not read."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from ombud.errors import SourceError
from ombud.settings import SharePoint
from ombud.sources.access import NotShown, narrow
from ombud.sources.matching import is_document, matching_of, why_unreadable
from ombud.sources.sharepoint.access import NOBODY, audience, readers
from ombud.sources.sharepoint.api import Item, SharePointSite, SitePage
from ombud.sources.sharepoint.pages import render
from ombud.sources.sharepoint.token import AccessToken, Application
from ombud.sources.site import PARALLEL_REQUESTS, SiteClient
from ombud.sources.source import WRITTEN_BY, LeftOut, Ref
from ombud.sources.web.pages import document

PAGES = "SitePages"
_FILE = "file "
_PAGE = "page "
_REFUSED = "refused "


def open_sharepoint(place: SharePoint, home: Path) -> "SharePointSource":
    """Open a source; raises SourceError for invalid addresses and ids."""
    del home
    for key, url in (("url", place.url), ("graph", place.graph), ("authority", place.authority)):
        check_address(place.name, key, url)
    for key, name in (("tenant", place.tenant), ("client", place.client)):
        if not name or not name.isascii() or not name.replace("-", "").replace(".", "").isalnum():
            raise SourceError(
                f"source `{place.name}`: {key} is no id.",
                hint="Both stand in the app registration's overview.",
            )
    return SharePointSource(place)


class SharePointSource:
    """Files and pages of a SharePoint site."""

    def __init__(self, place: SharePoint) -> None:
        self.name = place.name
        self._place = place
        self._matching = matching_of(place)
        self._opened: SharePointSite | None = None
        self.left_out: list[LeftOut] = []

    def list(self) -> list[Ref]:
        """List files and pages. Permissions of each are requested, as they change without a new
        version."""
        self.left_out = []
        listed = [*self._files()]
        if self._place.pages:
            listed += self._pages()
        pool = ThreadPoolExecutor(PARALLEL_REQUESTS, thread_name_prefix="sharepoint")
        try:
            return [*pool.map(lambda pair: self._with_readers(*pair), listed)]
        finally:
            pool.shutdown(cancel_futures=True)

    def _files(self) -> Iterator[tuple[Ref, Item | None]]:
        site = self._site()
        for library in site.libraries(self._place.libraries):
            for item in site.items(library.drive):
                path = f"{library.name}/{item.path}"
                if not self._matching.wanted(path):
                    continue
                why = item.why or ("" if is_document(path) else why_unreadable(path))
                if why:
                    self.left_out.append(LeftOut(uri=path, why=why))
                else:
                    yield self._file(item, path), item

    def _pages(self) -> Iterator[tuple[Ref, Item | None]]:
        site = self._site()
        pages = []
        for page in site.pages():
            path = f"{PAGES}/{page.name}"
            if not self._matching.wanted(path):
                continue
            if page.version:
                pages.append(page)
            else:
                self.left_out.append(LeftOut(uri=path, why="it was never published"))
        items = site.page_items() if pages else {}
        for page in pages:
            yield self._page(page), items.get(page.id.lower())

    def read(self, ref: Ref) -> bytes:
        if ref.place.startswith(_REFUSED):
            raise SourceError(
                f"Who may read it is not known: {ref.place.removeprefix(_REFUSED)}.",
                hint="Let the application see its permissions, or leave it out with `exclude`.",
            )
        if ref.place.startswith(_PAGE):
            page, version = ref.place.removeprefix(_PAGE).split(" ", 1)
            return self._read_page(page, version, str(ref.facts.get("url", "")))
        drive, item, version = ref.place.removeprefix(_FILE).split(" ", 2)
        data = self._site().download(drive, item)
        if self._site().version(drive, item) != version:
            # Its permissions were read for another version.
            raise SourceError(
                "The file was changed while it was read.", hint="The next sync reads it."
            )
        return data

    def _read_page(self, page: str, version: str, url: str) -> bytes:
        content = self._site().content(page)
        if content is None:
            raise SourceError(
                "The page is not there any more.", hint="The next sync will not list it."
            )
        if content.editing:
            raise SourceError(
                "The page is being edited, and what is published cannot be read.",
                hint="It is read once it is published.",
            )
        if content.version != version:
            raise SourceError(
                "The page was changed while it was read.", hint="The next sync reads it."
            )
        return document(content.title, render(content.title, content.canvas, url))

    def _site(self) -> SharePointSite:
        if self._opened is None:
            place = self._place
            secret = os.environ.get(place.secret_env, "").strip()
            if not secret:
                raise SourceError(
                    f"There is no secret for source `{self.name}`.",
                    hint=f"Set the environment variable {place.secret_env}.",
                )
            graph = place.graph.rstrip("/")
            token = AccessToken(
                self.name,
                Application(
                    authority=place.authority.rstrip("/"),
                    tenant=place.tenant,
                    client=place.client,
                    scope=f"{graph}/.default",
                ),
                secret=secret,
                variable=place.secret_env,
            )
            hint = f"Check the application's permissions for {place.url}."
            client = SiteClient("Microsoft Graph", graph, credentials=token, hint=hint)
            self._opened = SharePointSite(client, graph, place.url)
        return self._opened

    def _file(self, item: Item, path: str) -> Ref:
        name = PurePosixPath(item.path)
        title = name.stem.replace("_", " ").strip()
        facts = {"title": title} | self._matching.facts_of(path) | {"url": item.url}
        return Ref(
            uri=f"{self.name}/{item.drive}/{item.id}{name.suffix.lower()}",
            place=f"{_FILE}{item.drive} {item.id} {item.version}",
            size=item.size,
            facts=facts,
            version=item.version,
            name=path,
        )

    def _page(self, page: SitePage) -> Ref:
        # The title is read from the page: here editors may have changed it before publishing.
        name = f"{PAGES}/{page.name}"
        facts = self._matching.facts_of(name) | {"url": page.url}
        return Ref(
            uri=f"{self.name}/{PAGES}/{page.id}.html",
            place=f"{_PAGE}{page.id} {page.version}",
            size=0,
            facts=facts,
            version=f"{page.version}.{WRITTEN_BY}",
            name=name,
        )

    def _with_readers(self, ref: Ref, item: Item | None) -> Ref:
        """Add the audience of a file or page; if it is unknown, nobody may read it. item: the file
        with the permissions."""
        try:
            if item is None:
                raise NotShown("the file behind the page is not shown to the application")
            principals = readers(self._site().permissions(item), links=self._place.links)
        except NotShown as hidden:
            place = f"{_REFUSED}{hidden}"
            return Ref(ref.uri, place, 0, {"audience": NOBODY}, name=ref.name)
        site_audience = audience(principals, self._place.groups)
        allowed = narrow(ref.facts.get("audience", {}), site_audience, NOBODY)
        final = ("audience",) if allowed else ()
        return ref._replace(facts={**ref.facts, "audience": allowed}, final=final)


def check_address(name: str, key: str, url: str) -> None:
    try:
        parts = urlsplit(url)
        fine = parts.scheme == "https" and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        parts, fine = urlsplit(""), False
    if parts.username is not None or parts.password is not None:
        raise SourceError(
            f"source `{name}`: {key} holds a user or password.", hint="Use client and secret_env."
        )
    if not fine or parts.query or parts.fragment:
        raise SourceError(
            f"source `{name}`: {key} is no https address.",
            hint="Such as https://contoso.sharepoint.com/sites/hr.",
        )
