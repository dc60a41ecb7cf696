"""A page as each kind of site serves it, read by the source of that kind."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from ombud.settings import Confluence, SharePoint, Wikipedia
from ombud.sources import Source, open_source
from ombud.sources.wikipedia import WikipediaSource
from sources.confluence.site import TOKEN, USER, Wiki, WikiPage
from sources.confluence.site import standing as confluence_site
from sources.sharepoint.site import (
    CLIENT,
    SECRET,
    SITE_URL,
    TENANT,
    Drive,
    SharePointSite,
    Stored,
    Written,
    everyone,
    text_part,
)
from sources.sharepoint.site import standing as sharepoint_site
from sources.test_wikipedia import Emulator
from sources.web.site import fetcher, serving, source

from .elements import Elements
from .markup import ConfluenceStorage, Html, MediaWikiHtml

PAGE_ID = "f45354cb-d634-45df-8b88-2b4e96a1dc45"


class Place:
    """Where sources keep what they need."""

    def __init__(self, folder: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.certificate = certificate
        monkeypatch.setenv("CONFLUENCE_TOKEN", TOKEN)
        monkeypatch.setenv("SHAREPOINT_SECRET", SECRET)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        monkeypatch.setenv("NO_PROXY", "*")


@contextmanager
def confluence(elements: Elements, place: Place) -> Iterator[Source]:
    del place
    page = WikiPage("1", "Rules", ConfluenceStorage().body(elements))
    with confluence_site(Wiki([page])) as wiki:
        where = Confluence(name="hr", url=wiki.url, user=USER, spaces=("HR",))
        yield open_source(where, Path())


@contextmanager
def sharepoint(elements: Elements, place: Place) -> Iterator[Source]:
    site = SharePointSite([Drive("b!documents", "Documents", [], (everyone(),))])
    site.pages = [Written(PAGE_ID, "Rules.aspx", "Rules", [text_part(Html().body(elements))])]
    site.pages_drive.grants = (everyone(),)
    site.pages_drive.items = [Stored("01RULES", "Rules.aspx", unique=PAGE_ID.upper())]
    with sharepoint_site(site, place.certificate) as served:
        where = SharePoint(
            name="hr",
            url=SITE_URL,
            tenant=TENANT,
            client=CLIENT,
            graph=served.graph,
            authority=served.login,
        )
        yield open_source(where, Path())


@contextmanager
def wiki(elements: Elements, place: Place) -> Iterator[Source]:
    del place
    with serving() as site:
        emulator = Emulator(site)
        emulator.pages = {"Rules": 7}
        body = MediaWikiHtml().body(elements)
        emulator.texts = {7: f'<div class="mw-parser-output">{body}</div>'}
        where = Wikipedia(name="wiki", url=f"{site.url}/w/api.php", titles=("Rules",))
        yield WikipediaSource(where, fetcher())


@contextmanager
def web(elements: Elements, place: Place) -> Iterator[Source]:
    with serving() as site:
        site.page("/", f"<h1>Rules</h1>{Html().body(elements)}")
        yield source(site, place.folder)


SITES: dict[str, Callable[[Elements, Place], AbstractContextManager[Source]]] = {
    "confluence": confluence,
    "sharepoint": sharepoint,
    "wiki": wiki,
    "web": web,
}
