"""A connection to a server under measurement: patient with one that is busy, clear about one that
fails."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from ombud.deadlines import retry_after
from ombud.errors import LabError, Unreachable
from ombud.proxies import bypass_proxies

TRIES = 4
WAIT = 0.5
"""Seconds before the second try, doubled each time."""
LONGEST_WAIT = 30.0
"""Seconds that a server may ask for at most."""
PATIENCE = 300.0
"""Seconds that one question waits at most for a server that limits how often it is asked."""
CONNECT_SECONDS = 5.0
BUSY = {429, 502, 503, 504}
THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}
PROBLEM = "application/problem+json"
"""How an ombud refuses."""


class Connection:
    """Sends requests to one address.

    seconds: how long one answer may take. hint: what to check where a reply makes no sense.
    """

    def __init__(self, url: str, seconds: float, headers: Mapping[str, str], hint: str) -> None:
        address = parse_address(url)
        # The name is stored with every run and printed: a password has no place in it.
        self.name = str(address.copy_with(userinfo=b""))
        self._hint = hint
        self._options: dict[str, Any] = {
            "base_url": address,
            "timeout": httpx.Timeout(seconds, connect=CONNECT_SECONDS),
            "headers": dict(headers),
            "trust_env": False,
        }
        self._clients: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}

    async def send(self, method: str, path: str, body: Any = None) -> Any:
        """Return the JSON of the reply; retries if the server is busy or breaks off.

        Raises Unreachable when no connection is made, and LabError for an answer that is none.
        """
        wait = WAIT
        for attempt in range(1, TRIES + 1):
            try:
                response = await self._send_within_rate(method, path, body)
            except (httpx.ConnectError, httpx.ConnectTimeout) as failed:
                if attempt == TRIES:
                    raise self.down(failed) from failed
            except httpx.TimeoutException as failed:
                raise LabError(
                    "The target gave no answer in time.", hint="Give it longer with --seconds."
                ) from failed
            except httpx.HTTPError as failed:
                if attempt == TRIES:
                    raise LabError(f"The target broke off: {_reason(failed)}.") from failed
            else:
                if response.status_code not in BUSY or attempt == TRIES:
                    return self.body_of(response)
                wait = max(wait, retry_after(response.headers) or 0.0)
            await asyncio.sleep(min(wait, LONGEST_WAIT))
            wait *= 2
        raise AssertionError  # the last attempt returns or raises

    def get(self, path: str) -> Any:
        """Request the JSON of a page once, without waiting."""
        with self.open() as client:
            try:
                response = client.get(path)
            except httpx.HTTPError as failed:
                raise self.down(failed) from failed
        return self.body_of(response)

    def open(self) -> httpx.Client:
        return httpx.Client(**self._options)

    async def aclose(self) -> None:
        """Close what this event loop has open; asking on opens it again."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    def body_of(self, response: httpx.Response) -> Any:
        if not response.is_success:
            raise refusal_of(response, self._hint)
        return self.parse(response.text)

    def parse(self, text: str) -> Any:
        try:
            value = json.loads(text)
            # What cannot be stored is refused before a run begins.
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as wrong:
            raise self.nonsense("half a character (a lone surrogate)") from wrong
        except (ValueError, RecursionError) as wrong:
            raise self.nonsense(f"no JSON: {text[:60]!r}") from wrong
        return value

    def nonsense(self, what: str) -> LabError:
        return LabError(f"The target sent {what}.", hint=self._hint)

    def down(self, failed: Exception) -> Unreachable:
        return Unreachable(
            f"{self.name} cannot be reached: {_reason(failed)}.",
            hint="Start it; the run then goes on.",
        )

    async def _send_within_rate(self, method: str, path: str, body: Any) -> httpx.Response:
        """Return the reply once the server's rate limit lets it through.

        No try that failed: such a server says when it takes more. One that still says so after
        `PATIENCE` seconds is taken at its word.
        """
        waited = 0.0
        while True:
            response = await self._client().request(method, path, json=body)
            if response.status_code != httpx.codes.TOO_MANY_REQUESTS:
                return response
            wait = min(retry_after(response.headers) or 0.0, LONGEST_WAIT)
            if not wait > 0 or waited >= PATIENCE:
                return response
            await asyncio.sleep(wait)
            waited += wait

    def _client(self) -> httpx.AsyncClient:
        """Make one for each event loop: connections cannot be used in another."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = httpx.AsyncClient(**self._options)
        return self._clients[loop]


def parse_address(url: str) -> httpx.URL:
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        has_host = bool(parts.hostname) and not any(map(str.isspace, parts.netloc))
        if parts.scheme in {"http", "https"} and has_host and parts.port != 0:
            address = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
            bypass_proxies(address)
            return httpx.URL(address)
    except (ValueError, httpx.InvalidURL):
        pass
    raise LabError(
        f"`{url}` is not an address.",
        hint="Such as http://127.0.0.1:8321, `module:function`, or `local`.",
    )


def same_address(one: str, other: str) -> bool:
    """Compare two addresses; the names of this machine are one host."""
    first, second = (
        address.copy_with(host="localhost") if address.host in THIS_MACHINE else address
        for address in map(parse_address, (one, other))
    )
    return first == second


def refusal_of(response: httpx.Response, hint: str = "") -> LabError:
    """Make an error of a response; the hint is for one that did not know the request, rather than
    refused it or broke."""
    try:
        problem = response.json()
        why = problem.get("detail") or problem.get("title") or ""
    except (ValueError, AttributeError, RecursionError):
        why = response.reason_phrase
    if response.is_redirect:
        why = f"it has moved to {response.headers.get('location', 'nowhere')}"
    # Half characters cannot be stored, and what is refused is stored with its case.
    why = str(why)[:300].encode(errors="replace").decode()
    is_problem = response.headers.get("content-type", "").startswith(PROBLEM)
    is_broken = response.status_code != httpx.codes.NOT_IMPLEMENTED and response.is_server_error
    return LabError(
        f"The target answered {response.status_code}: {why}",
        hint="" if is_problem or is_broken else hint,
    )


def _reason(failed: Exception) -> str:
    return str(failed).strip().rstrip(".") or type(failed).__name__
