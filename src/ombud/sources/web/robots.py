"""Read robots.txt: what ombud may request, and how often."""

from urllib.parse import urlsplit

from protego import Protego

from ombud.errors import SourceError
from ombud.sources.client import HttpResponse, PublicClient, refused
from ombud.sources.guard import host_key
from ombud.sources.web.urls import site_of

NAME = "ombud"
LARGEST = 512 * 1024
MAX_CRAWL_DELAY = 60.0
"""Most seconds between two requests that are obeyed; with more, a crawl would never end."""


class Robots:
    """The robots.txt of each site, requested once. Obeys crawl delays by slowing the client
    down."""

    def __init__(self, client: PublicClient) -> None:
        self._client = client
        self._rules: dict[str, Protego | SourceError] = {}

    def allow(self, url: str) -> bool:
        """Tell whether an address may be requested; raises SourceError while the rules cannot be
        read, as nothing is allowed then (RFC 9309)."""
        return self._rules_of(url).can_fetch(url, NAME)

    def sitemaps(self, url: str) -> tuple[str, ...]:
        """Return the sitemaps that the site of an address names."""
        return tuple(self._rules_of(url).sitemaps)

    def _rules_of(self, url: str) -> Protego:
        site = site_of(url)
        if site not in self._rules:
            try:
                self._rules[site] = self._read(site)
            except SourceError as failed:
                self._rules[site] = failed
        rules = self._rules[site]
        if isinstance(rules, SourceError):
            raise SourceError(str(rules), hint=rules.hint)
        return rules

    def _read(self, site: str) -> Protego:
        reply = self._client.get(f"{site}/robots.txt", body_limit=_body_limit)
        if reply.status in PublicClient.POLICY.busy or reply.status >= 500:
            raise refused(reply)
        # Without the file everything is allowed.
        text = ""
        if reply.ok:
            text = reply.body.decode("utf-8", errors="replace")
        rules = Protego.parse(text.removeprefix("\ufeff"))
        delay = rules.crawl_delay(NAME) or 0.0
        host = urlsplit(site).hostname or ""
        self._client.slow_down(host_key(host), min(delay, MAX_CRAWL_DELAY))
        return rules


def _body_limit(reply: HttpResponse) -> int:
    """Skip HTML: a "not found" page with status 200 holds no rules."""
    media_type = reply.headers.get("content-type", "").lower()
    return 0 if "html" in media_type else LARGEST
