"""Asking a site that the operator named: waits when told to, gives up in the end, and keeps
credentials at home.

For sites that an account belongs to. Addresses that strangers may have written go through a client
that checks where they lead."""

import json
import weakref
from collections.abc import Callable, Container, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from time import monotonic, sleep
from typing import Any, NamedTuple

import httpx

from ombud.errors import SourceError

TRIES = 5
WAIT, LONGEST_WAIT = 1.0, 300.0
"""Seconds before the second try, doubled each time; and the longest that a site may ask for."""
CONNECT_SECONDS, SILENT_SECONDS, WHOLE_SECONDS = 10.0, 60.0, 900.0
"""To connect; without a byte; for one whole answer, however slowly it drips."""
HOPS, RENEWALS = 5, 3
LARGEST_JSON, LARGEST_FILE = 64 * 2**20, 200 * 2**20
"""Bytes of one answer."""
BUSY = frozenset({429, 500, 502, 503, 504})
_MOVED = frozenset({301, 302, 303, 307, 308})


Credentials = Mapping[str, str] | Callable[[Mapping[str, str] | None], Mapping[str, str]]
"""Headers; or what gives them for a request, told which ones were refused a moment ago (None =
none)."""


class HttpResponse(NamedTuple):
    status: int
    headers: httpx.Headers
    body: bytes

    @property
    def next(self) -> str:
        """Target of `Link: <...>; rel="next"`; empty when there is none."""
        links = httpx.Response(self.status, headers=self.headers).links
        return str(links.get("next", {}).get("url", ""))


class Client:
    """Several threads may share one. Nothing it raises names a header, a query or a user.

    name: how messages call the site. address: its origin counts as home, and `credentials`
    (headers) go nowhere else. hint: what to do about a refused account."""

    def __init__(self, name: str, address: str, *, credentials: Credentials, hint: str) -> None:
        self._name, self._hint = name, hint
        self._home = _origin(httpx.URL(address))
        self._credentials = credentials if callable(credentials) else dict(credentials)
        self._accepted: Mapping[str, str] = {}
        """The latest credentials that were good for a request."""
        # A jar gives cookies to every port of a host, and a session is nothing that a token needs.
        self._http = httpx.Client(
            timeout=httpx.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers={"user-agent": "ombud"},
            follow_redirects=False,
        )
        weakref.finalize(self, self._http.close)

    def get(
        self, url: str, *, absent: Container[int] = (), largest: int = LARGEST_FILE
    ) -> HttpResponse | None:
        """The answer behind all redirects; None for a status in `absent`. Raises SourceError for
        everything else."""
        target, trusted = self._address(url), True
        for _ in range(HOPS + 1):
            trusted = trusted and _origin(target) == self._home
            answer = (
                self._admitted(target, largest) if trusted else self._patiently(target, {}, largest)
            )
            if answer.status in _MOVED and "location" in answer.headers:
                target = self._onward(target, answer.headers["location"])
            elif 200 <= answer.status < 300:
                return answer
            elif answer.status in absent:
                return None
            else:
                raise self._refusal(target, answer.status)
        raise SourceError(
            f"{self._name} sends from one address to the next, more than {HOPS} times."
        )

    def ask(self, url: str, *, absent: Container[int] = ()) -> tuple[Any, HttpResponse] | None:
        """(what the JSON says, the answer); None for a status in `absent`."""
        answer = self.get(url, absent=absent, largest=LARGEST_JSON)
        if answer is None:
            return None
        try:
            return json.loads(answer.body), answer
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
        redirects are not
        followed and credentials not added: this is how credentials are got. Raises SourceError.
        """
        target = self._address(url)
        if _origin(target) != self._home:
            raise SourceError(
                f"{self._name} sends to another host, {target.host}, which is told nothing."
            )
        return self._patiently(target, headers or {}, LARGEST_JSON, form)

    def _admitted(self, url: httpx.URL, largest: int) -> HttpResponse:
        """With credentials, and with new ones, once, where those are not valid any more; again
        where the new ones were good for another request and have run out meanwhile."""
        if not callable(self._credentials):
            return self._patiently(url, self._credentials, largest)
        sent = self._credentials(None)
        answer = self._patiently(url, sent, largest)
        for _ in range(RENEWALS):
            if answer.status != 401:
                self._accepted = sent
                break
            sent = self._credentials(sent)
            answer = self._patiently(url, sent, largest)
            if answer.status == 401 and sent != self._accepted:
                break
        return answer

    def _patiently(
        self,
        url: httpx.URL,
        headers: Mapping[str, str],
        largest: int,
        form: Mapping[str, str] | None = None,
    ) -> HttpResponse:
        wait = WAIT
        for attempt in range(1, TRIES + 1):
            try:
                answer = self._once(url, headers, largest, form)
            except httpx.HTTPError as failed:
                if attempt == TRIES:
                    raise SourceError(
                        f"{self._shown(url)} cannot be read: {_said(failed)}.",
                        hint="Check the address and the network; the next sync tries again.",
                    ) from failed
            else:
                if answer.status not in BUSY or attempt == TRIES:
                    return answer
                asked = _asked_to_wait(answer.headers)
                if asked > LONGEST_WAIT:
                    raise SourceError(
                        f"{self._name} wants {asked:.0f} seconds of rest.", hint="Sync again later."
                    )
                wait = max(wait, asked)
            sleep(min(wait, LONGEST_WAIT))
            wait *= 2
        raise AssertionError  # the last attempt returns or raises

    def _once(
        self,
        url: httpx.URL,
        headers: Mapping[str, str],
        largest: int,
        form: Mapping[str, str] | None,
    ) -> HttpResponse:
        body, until = bytearray(), monotonic() + WHOLE_SECONDS
        method = "GET" if form is None else "POST"
        with self._http.stream(method, url, headers=dict(headers), data=form) as response:
            for piece in response.iter_bytes():
                body += piece
                if len(body) > largest:
                    raise SourceError(
                        f"{self._shown(url)} is larger than {largest // 2**20} MB.",
                        hint="Leave it out with `exclude`.",
                    )
                if monotonic() > until:
                    raise httpx.ReadTimeout("it took too long")
            return HttpResponse(response.status_code, response.headers, bytes(body))

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
        if status == 401 and _origin(url) == self._home:
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

    def _shown(self, url: httpx.URL) -> str:
        """Of other hosts only the name: addresses of signed downloads are secrets."""
        return f"{url.host}{url.path}" if _origin(url) == self._home else url.host


def _origin(url: httpx.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme, 0)


def _asked_to_wait(headers: httpx.Headers) -> float:
    """Seconds of Retry-After, which is a number or a date."""
    value = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    return max(
        0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    )


def _said(failed: Exception) -> str:
    return str(failed).strip().rstrip(".") or type(failed).__name__
