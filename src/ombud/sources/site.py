"""Asking a site that the operator named: waits when told to, gives up in the end, and keeps
credentials at home.

For sites that an account belongs to, over the machine's own network and proxies. Addresses that
strangers may have written go through `client.PublicClient`."""

import json
import weakref
from collections.abc import Callable, Container, Mapping
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx

from ombud.errors import SourceError
from ombud.sources.client import (
    HOPS,
    LARGEST,
    MOVED,
    HttpClient,
    HttpRequest,
    HttpResponse,
    NoAnswer,
    RequestPolicy,
    retry_after,
)

RENEWALS = 3
"""Of credentials, for one request."""
AT_ONCE = 4
"""Requests on their way to one site."""
MOST_ANSWERS = 10_000
"""Parts of one list."""
HIDDEN = frozenset({403, 404})
"""Statuses of what the account may not see; Confluence says 404 then, too."""
LARGEST_JSON = 64 * 2**20
"""Bytes of one answer."""


Credentials = Mapping[str, str] | Callable[[Mapping[str, str] | None], Mapping[str, str]]
"""Headers; or what gives them for a request, told which ones were refused a moment ago (None =
none)."""


class SiteClient:
    """Several threads may share one. Nothing it raises names a header, a query or a user.

    name: how messages call the site. address: its origin counts as home, and `credentials`
    (headers) go nowhere else. hint: what to do about a refused account."""

    POLICY = RequestPolicy(
        tries=5,
        longest_wait=300.0,
        silent_seconds=60.0,
        whole_seconds=900.0,
    )

    def __init__(self, name: str, address: str, *, credentials: Credentials, hint: str) -> None:
        self._name = name
        self._hint = hint
        self._home = _origin(httpx.URL(address))
        self._credentials = credentials if callable(credentials) else dict(credentials)
        self._accepted: Mapping[str, str] = {}
        """The latest credentials that were good for a request."""
        # A jar gives cookies to every port of a host, and a session is nothing that a token needs.
        http = httpx.Client(
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])), follow_redirects=False
        )
        weakref.finalize(self, http.close)
        self._client = HttpClient(partial(http.send, stream=True), self.POLICY)

    def get(
        self, url: str, *, absent: Container[int] = (), largest: int = LARGEST
    ) -> HttpResponse | None:
        """The answer behind all redirects; None for a status in `absent`. Raises SourceError for
        everything else."""
        target = self._address(url)
        trusted = True
        for _ in range(HOPS + 1):
            trusted = trusted and self._is_home(target)
            if trusted:
                response = self._admitted(target, largest)
            else:
                response = self._answer(target, {}, largest)
            if response.status in MOVED and "location" in response.headers:
                target = self._onward(target, response.headers["location"])
                continue
            if response.ok:
                return response
            if response.status in absent:
                return None
            raise self._refusal(target, response.status)
        raise SourceError(
            f"{self._name} sends from one address to the next, more than {HOPS} times."
        )

    def get_json(self, url: str, *, absent: Container[int] = ()) -> tuple[Any, HttpResponse] | None:
        """(what the JSON says, the answer); None for a status in `absent`."""
        response = self.get(url, absent=absent, largest=LARGEST_JSON)
        if response is None:
            return None
        try:
            return json.loads(response.body), response
        except (ValueError, RecursionError) as wrong:
            raise SourceError(
                f"{self._name} sent no JSON for {self._shown(self._address(url))}.",
                hint="Is the address right? A login page or a proxy may stand before it.",
            ) from wrong

    def exchange(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> HttpResponse:
        """What is answered to a GET, or to a form that is sent, whatever the status. Only at home;
        redirects are not followed and credentials not added: this is how credentials are got.
        Raises SourceError."""
        target = self._address(url)
        if not self._is_home(target):
            raise SourceError(
                f"{self._name} sends to another host, {target.host}, which is told nothing."
            )
        return self._answer(target, headers or {}, LARGEST_JSON, form)

    def _admitted(self, url: httpx.URL, largest: int) -> HttpResponse:
        """With credentials, and with new ones, once, where those are not valid any more; again
        where the new ones were good for another request and have run out meanwhile."""
        if not callable(self._credentials):
            return self._answer(url, self._credentials, largest)
        sent = self._credentials(None)
        response = self._answer(url, sent, largest)
        for _ in range(RENEWALS):
            if response.status != 401:
                self._accepted = sent
                break
            sent = self._credentials(sent)
            response = self._answer(url, sent, largest)
            if response.status == 401 and sent != self._accepted:
                break
        return response

    def _answer(
        self,
        url: httpx.URL,
        headers: Mapping[str, str],
        largest: int,
        form: Mapping[str, str] | None = None,
    ) -> HttpResponse:
        request = HttpRequest(
            url=url,
            shown=self._shown(url),
            headers=headers,
            body_limit=lambda _: largest,
            form=form,
        )
        try:
            response = self._client.ask(request)
        except NoAnswer as failed:
            raise SourceError(
                f"{request.shown} cannot be read: {failed}.",
                hint="Check the address and the network; the next sync tries again.",
            ) from failed
        asked_wait = retry_after(response.headers)
        if response.status in self.POLICY.busy and asked_wait > self.POLICY.longest_wait:
            raise SourceError(
                f"{self._name} wants {asked_wait:.0f} seconds of rest.", hint="Sync again later."
            )
        return response

    def _address(self, url: str) -> httpx.URL:
        try:
            address = httpx.URL(url)
        except (httpx.InvalidURL, ValueError) as wrong:
            raise SourceError(f"{self._name} gave an address that is none.") from wrong
        if address.scheme not in {"http", "https"} or not address.host or address.userinfo:
            raise SourceError(f"{self._name} gave an address that is not followed.")
        return address

    def _onward(self, here: httpx.URL, location: str) -> httpx.URL:
        try:
            there = self._address(str(here.join(location)))
        except (httpx.InvalidURL, ValueError) as wrong:
            raise SourceError(f"{self._name} sends to an address that is none.") from wrong
        if here.scheme == "https" and there.scheme == "http":
            raise SourceError(f"{self._name} sends from https to http, which is not followed.")
        return there

    def _refusal(self, url: httpx.URL, status: int) -> SourceError:
        shown = self._shown(url)
        if status == 401 and self._is_home(url):
            return SourceError(
                f"{self._name} does not accept the account or its token.", hint=self._hint
            )
        if status == 403:
            return SourceError(
                f"The account may not read {shown}.",
                hint="Give it that permission, or leave it out.",
            )
        if status == 404:
            return SourceError(
                f"{shown} is not there, or the account may not see it.",
                hint="It may have been removed just now.",
            )
        return SourceError(
            f"{shown} answered {status}.", hint="Try again later, or ask who runs the site."
        )

    def _is_home(self, url: httpx.URL) -> bool:
        return _origin(url) == self._home

    def _shown(self, url: httpx.URL) -> str:
        """Of other hosts only the name: addresses of signed downloads are secrets."""
        return f"{url.host}{url.path}" if self._is_home(url) else url.host


def _origin(url: httpx.URL) -> tuple[str, str, int]:
    usual = {"http": 80, "https": 443}.get(url.scheme, 0)
    return url.scheme, url.host, url.port or usual
