"""Request a site that the operator configured with an account, over the machine's own network and
proxies. Credentials are sent to this site only.

Addresses that strangers may have written go through `client.PublicClient`."""

import json
import weakref
from collections.abc import Callable, Container, Mapping
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx

from ombud.deadlines import retry_after
from ombud.errors import SourceError
from ombud.sources.client import (
    HOPS,
    LARGEST,
    MOVED,
    HttpClient,
    HttpRequest,
    HttpResponse,
    IsBusy,
    NoAnswer,
    RequestPolicy,
    never_busy,
)

MAX_RENEWALS = 3
"""Renewals of credentials for one request."""
PARALLEL_REQUESTS = 4
"""Requests to one site at a time."""
MAX_LIST_PARTS = 10_000
HIDDEN = frozenset({403, 404})
"""Statuses of content that the account may not see; Confluence answers 404 then, too."""
LARGEST_JSON = 64 * 2**20
"""Bytes of one answer."""
Credentials = Mapping[str, str] | Callable[[Mapping[str, str] | None], Mapping[str, str]]
"""Headers, or a function that returns them; it gets the headers that were just refused, or None."""


class SiteClient:
    """An HTTP client for one site, which several threads may share. Its errors name no header,
    query or user.

    name: the site as errors call it. address: `credentials` are sent to its origin only. hint: what
    to do about a refused account. is_busy: tells whether a response only asks for a pause, besides
    the usual statuses."""

    POLICY = RequestPolicy(
        tries=5,
        longest_wait=300.0,
        silent_seconds=60.0,
        whole_seconds=900.0,
    )

    def __init__(
        self,
        name: str,
        address: str,
        *,
        credentials: Credentials,
        hint: str,
        is_busy: IsBusy = never_busy,
    ) -> None:
        self._is_busy = is_busy
        self._name = name
        self._hint = hint
        self._home = origin_of(httpx.URL(address))
        self._credentials = credentials if callable(credentials) else dict(credentials)
        self._accepted: Mapping[str, str] = {}
        """The last credentials that were accepted."""
        # A jar would send cookies to every port of the host, and tokens need no session.
        http = httpx.Client(
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])), follow_redirects=False
        )
        weakref.finalize(self, http.close)
        self._client = HttpClient(partial(http.send, stream=True), self.POLICY)

    def get(
        self, url: str, *, absent: Container[int] = (), largest: int = LARGEST
    ) -> HttpResponse | None:
        """Follow redirects and return the response; None for a status in `absent`. Raises
        SourceError for other failures."""
        target = self._address(url)
        trusted = True
        for _ in range(HOPS + 1):
            trusted = trusted and self._is_home(target)
            if trusted:
                response = self._get_with_credentials(target, largest)
            else:
                response = self._answer(target, {}, largest)
            if response.status in MOVED and "location" in response.headers:
                target = self._onward(target, response.headers["location"])
                continue
            if response.ok:
                return response
            if self._is_busy(response):
                raise SourceError(f"{self._name} asks for a pause.", hint="Sync again later.")
            if response.status in absent:
                return None
            raise self._refusal(target, response.status)
        raise SourceError(
            f"{self._name} sends from one address to the next, more than {HOPS} times."
        )

    def get_json(self, url: str, *, absent: Container[int] = ()) -> tuple[Any, HttpResponse] | None:
        """Return the parsed JSON and the response; None for a status in `absent`."""
        response = self.get(url, absent=absent, largest=LARGEST_JSON)
        if response is None:
            return None
        try:
            return json.loads(response.body), response
        except (ValueError, RecursionError) as wrong:
            raise SourceError(
                f"{self._name} sent no JSON for {self._display_url(self._address(url))}.",
                hint="Is the address right? A login page or a proxy may stand before it.",
            ) from wrong

    def exchange(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> HttpResponse:
        """Send a GET, or a form, to get credentials: without credentials or redirects, to this site
        only. Returns the response, whatever its status. Raises SourceError."""
        target = self._address(url)
        if not self._is_home(target):
            raise SourceError(
                f"{self._name} sends to another host, {target.host}, which is told nothing."
            )
        return self._answer(target, headers or {}, LARGEST_JSON, form)

    def _get_with_credentials(self, url: httpx.URL, largest: int) -> HttpResponse:
        """Send a GET with credentials, renewed once if they are refused; more often if the renewed
        ones were accepted for another request and have expired since."""
        if not callable(self._credentials):
            return self._answer(url, self._credentials, largest)
        sent = self._credentials(None)
        response = self._answer(url, sent, largest)
        for _ in range(MAX_RENEWALS):
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
            display_url=self._display_url(url),
            headers=headers,
            body_limit=lambda _: largest,
            form=form,
            is_busy=self._is_busy,
        )
        try:
            response = self._client.ask(request)
        except NoAnswer as failed:
            raise SourceError(
                f"{request.display_url} cannot be read: {failed}.",
                hint="Check the address and the network; the next sync tries again.",
            ) from failed
        server_wait = retry_after(response.headers) or 0.0
        if response.status in self.POLICY.busy and server_wait > self.POLICY.longest_wait:
            raise SourceError(
                f"{self._name} wants {server_wait:.0f} seconds of rest.", hint="Sync again later."
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
        address = self._display_url(url)
        if status == 401 and self._is_home(url):
            return SourceError(
                f"{self._name} does not accept the account or its token.", hint=self._hint
            )
        if status == 403:
            return SourceError(
                f"The account may not read {address}.",
                hint="Give it that permission, or leave it out.",
            )
        if status == 404:
            return SourceError(
                f"{address} is not there, or the account may not see it.",
                hint="It may have been removed just now.",
            )
        return SourceError(
            f"{address} answered {status}.", hint="Try again later, or ask who runs the site."
        )

    def _is_home(self, url: httpx.URL) -> bool:
        return origin_of(url) == self._home

    def _display_url(self, url: httpx.URL) -> str:
        """Return the address for messages; of other hosts only the name, as addresses of signed
        downloads are secrets."""
        return f"{url.host}{url.path}" if self._is_home(url) else url.host


def origin_of(url: httpx.URL) -> tuple[str, str, int]:
    usual = {"http": 80, "https": 443}.get(url.scheme, 0)
    return url.scheme, url.host, url.port or usual
