"""Pages that are no documents although their server answers with success: sign-in pages, pages that
only scripts or frames fill, and the page that stands for every address that does not exist."""

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from ombud.errors import SourceError
from ombud.sources.client import PublicClient
from ombud.sources.web.kinds import kind_of
from ombud.sources.web.pages import LARGEST_HTML, LITTLE, WebPage, read_page
from ombud.sources.web.robots import Robots
from ombud.sources.web.urls import site_of

SIGN_IN = "it is a sign-in page"
BEHIND_SIGN_IN = "its server asks to sign in first"
SCRIPT_ONLY = "only scripts fill it; the server sends no text"
FRAMES_ONLY = "it only shows frames; those of this site are read by themselves"
MISSING = "its server answers the same for addresses that do not exist"
NOT_LISTED = "it asks search engines not to list it"
ALIKE = 0.9
"""Share of their words that two answers have in common when they are nearly the same."""


def why_no_document(page: WebPage) -> str:
    """Why a page is no document, as far as it tells by itself; empty where it may be one."""
    letters = sum(map(len, page.lines))
    if page.has_frames and not letters:
        return FRAMES_ONLY
    if page.asks_password and letters < LITTLE:
        return SIGN_IN
    if page.has_scripts and page.is_shell and letters < LITTLE:
        return SCRIPT_ONLY
    return ""


def names_origin(target: str, origin: str) -> bool:
    """Whether the address of a redirect says where to come back to afterwards, as those of sign-in
    pages do."""
    parts = urlsplit(origin)
    spellings = {unquote(origin), unquote(origin.partition("://")[2].partition("/")[2])}
    spellings.add(unquote(f"{parts.path}?{parts.query}" if parts.query else parts.path))
    spellings -= {"", "/"}
    return any(unquote(value) in spellings for _, value in parse_qsl(urlsplit(target).query))


class MissingPages:
    """What each site answers for an address that cannot exist. Asked for once, and not before a
    page is to be compared with it."""

    def __init__(self, client: PublicClient, robots: Robots) -> None:
        self._client = client
        self._robots = robots
        self._answers: dict[str, _MissingPage | None] = {}
        self._fronts: dict[str, str] = {}

    def add_front(self, url: str) -> None:
        """A page that surely exists."""
        self._fronts.setdefault(site_of(url), url)

    def is_like(self, url: str, page: WebPage) -> bool:
        """Whether a page is nearly what its site answers for addresses that do not exist."""
        site = site_of(url)
        if site not in self._answers:
            self._answers[site] = self._missing_page(self._fronts.get(site, url))
        answer = self._answers[site]
        if answer is None:
            return False
        own = _own_words(url, page.lines, answer.template)
        total = own.total() + answer.words.total()
        return 2 * (own & answer.words).total() >= ALIKE * total

    def _missing_page(self, front: str) -> "_MissingPage | None":
        """None where the site says "not found" as it should. What the page has in common with
        another of its site is no sign of it."""
        name = sha256(front.encode()).hexdigest()[:24]
        url = f"{front.partition('?')[0].rpartition('/')[0]}/{name}"
        answer = self._page(url)
        other = self._page(front) if answer else None
        if answer is None:
            return None
        template = frozenset(other.lines if other else ())
        return _MissingPage(_own_words(url, answer.lines, template), template)

    def _page(self, url: str) -> WebPage | None:
        """None where there is none that could be taken for a document."""
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
    """Those of the answer alone."""
    template: frozenset[str]
    """Lines of another page of the site, such as its menu."""


def _own_words(url: str, lines: Sequence[str], template: frozenset[str]) -> Counter[str]:
    """The words of a page that its template does not hold, without its own address."""
    path = unquote(urlsplit(url).path).strip("/")
    words = " ".join(line for line in lines if line not in template).split()
    return Counter(word for word in words if not path or path not in word)
