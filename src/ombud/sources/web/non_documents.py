"""Recognise pages that are no documents although their server reports success: sign-in pages, pages
filled by scripts or frames only, and "not found" pages."""

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from ombud.errors import SourceError
from ombud.sources.client import PublicClient
from ombud.sources.web.kinds import kind_of
from ombud.sources.web.pages import LARGEST_HTML, LITTLE_TEXT, WebPage, read_page
from ombud.sources.web.robots import Robots
from ombud.sources.web.urls import site_of

SIGN_IN = "it is a sign-in page"
BEHIND_SIGN_IN = "its server asks to sign in first"
SCRIPT_ONLY = "only scripts fill it; the server sends no text"
FRAMES_ONLY = "it only shows frames; those of this site are read by themselves"
MISSING = "its server answers the same for addresses that do not exist"
NOT_LISTED = "it asks search engines not to list it"
MIN_SHARED_WORDS = 0.9
"""Share of common words from which two pages are nearly the same."""


def why_no_document(page: WebPage) -> str:
    """Explain why a page, judged by itself, is not a document; empty if it may be one."""
    letters = sum(map(len, page.lines))
    if page.has_frames and not letters:
        return FRAMES_ONLY
    if page.asks_password and letters < LITTLE_TEXT:
        return SIGN_IN
    if page.has_scripts and page.is_shell and letters < LITTLE_TEXT:
        return SCRIPT_ONLY
    return ""


def names_origin(target: str, origin: str) -> bool:
    """Tell whether a parameter of a redirect's target is the original address, as on the way to a
    sign-in page."""
    parts = urlsplit(origin)
    spellings = {unquote(origin), unquote(origin.partition("://")[2].partition("/")[2])}
    spellings.add(unquote(f"{parts.path}?{parts.query}" if parts.query else parts.path))
    spellings -= {"", "/"}
    return any(unquote(value) in spellings for _, value in parse_qsl(urlsplit(target).query))


class MissingPages:
    """Compares pages with what their site answers for an address that cannot exist, which is
    requested once per site and only if needed."""

    def __init__(self, client: PublicClient, robots: Robots) -> None:
        self._client = client
        self._robots = robots
        self._answers: dict[str, _MissingPage | None] = {}
        self._fronts: dict[str, str] = {}

    def add_front(self, url: str) -> None:
        """Note a page that surely exists."""
        self._fronts.setdefault(site_of(url), url)

    def is_like(self, url: str, page: WebPage) -> bool:
        """Tell whether a page is nearly the same as its site's "not found" page."""
        site = site_of(url)
        if site not in self._answers:
            self._answers[site] = self._missing_page(self._fronts.get(site, url))
        answer = self._answers[site]
        if answer is None:
            return False
        own = own_words(url, page.lines, answer.template)
        total = own.total() + answer.words.total()
        return 2 * (own & answer.words).total() >= MIN_SHARED_WORDS * total

    def _missing_page(self, front: str) -> "_MissingPage | None":
        """Request an address that cannot exist; None if the site reports "not found" properly.
        Lines that the answer shares with another page of the site are ignored as its template."""
        name = sha256(front.encode()).hexdigest()[:24]
        url = f"{front.partition('?')[0].rpartition('/')[0]}/{name}"
        answer = self._page(url)
        other = self._page(front) if answer else None
        if answer is None:
            return None
        template = frozenset(other.lines if other else ())
        return _MissingPage(own_words(url, answer.lines, template), template)

    def _page(self, url: str) -> WebPage | None:
        """Read a page; None if it could not be taken for a document."""
        try:
            if not self._robots.allow(url):
                return None
            reply = self._client.get(url, hops=1, body_limit=lambda reply: LARGEST_HTML)
        except SourceError:
            return None
        is_front = urlsplit(reply.url).path in {"", "/"} and reply.url != url
        if not reply.ok or is_front or kind_of(reply.url, reply.headers, reply.body) != ".html":
            return None
        return read_page(reply.url, reply.body, reply.headers)


class _MissingPage(NamedTuple):
    words: Counter[str]
    """Words of the answer outside the template."""
    template: frozenset[str]
    """Lines of another page of the site, such as its menu."""


def own_words(url: str, lines: Sequence[str], template: frozenset[str]) -> Counter[str]:
    """Count the words of a page outside its template and its own address."""
    path = unquote(urlsplit(url).path).strip("/")
    words = " ".join(line for line in lines if line not in template).split()
    return Counter(word for word in words if not path or path not in word)
