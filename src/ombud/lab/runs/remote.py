"""A deployed ombud over its REST API: what is measured is what people use."""

import asyncio
import json
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, ValidationError

from ombud.errors import LabError, Unreachable
from ombud.lab.runs.target import Target
from ombud.proxies import bypass_proxies
from ombud.types import Answer, Chunk, Hit, Question, Trace

TRIES = 4
WAIT = 0.5
"""Seconds before the second try, doubled each time."""
LONGEST_WAIT = 30.0
"""Seconds that a server may ask for at most."""
PATIENCE = 300.0
"""Seconds that one question waits at most for a server that limits how often it is asked."""
CONNECT_SECONDS = 5.0
Record = TypeVar("Record", bound=BaseModel)
_SHOWN = {
    *("document_id", "uri", "title", "trail", "header", "text", "page_from", "page_to", "start"),
    *("countries", "effective_from", "effective_to", "digest"),
}
BUSY = {429, 502, 503, 504}


class RemoteTarget:
    """Raises Unreachable when no connection is made, also after waiting, and LabError for an answer
    that is none.

    seconds: how long one answer may take.
    """

    def __init__(self, url: str, *, seconds: float = 120.0, token: str = "") -> None:
        address = _address(url)
        # The name is stored with every run and printed: a password has no place in it.
        self.name = str(address.copy_with(userinfo=b""))
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._options: dict[str, Any] = {
            "base_url": address,
            "timeout": httpx.Timeout(seconds, connect=CONNECT_SECONDS),
            "headers": headers,
            "trust_env": False,
        }
        self._clients: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}
        self._lock = threading.Lock()
        self._texts: dict[tuple[str, str], str] | None = None

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        body = _asked(question) | {"question": question.text, "plan": dict(plan)}
        return _read(Answer, await self._post("/api/v1/ask", body))

    async def ask_from(
        self, question: Question, plan: Mapping[str, Any], hits: Sequence[Hit], *, triage: bool
    ) -> Answer:
        body = _asked(question) | {"question": question.text, "plan": dict(plan)}
        body |= {"evidence": list(map(_evidence, hits)), "triage": triage}
        return _read(Answer, await self._post("/api/v1/ask", body))

    async def search(
        self, question: Question, plan: Mapping[str, Any]
    ) -> tuple[tuple[Hit, ...], Trace]:
        body = _asked(question) | {"query": question.text, "plan": dict(plan)}
        found = await self._post("/api/v1/search", body)
        if not isinstance(found, dict) or not isinstance(found.get("hits"), list):
            raise _nonsense("no list of hits")
        return tuple(map(_hit, found["hits"])), _read(Trace, found.get("trace", {}))

    def describe(self) -> dict[str, Any]:
        with self._open() as client:
            described = _body(_sent(lambda: client.get("/api/v1/describe"), self.name))
        if not isinstance(described, dict):
            raise _nonsense("no description of itself")
        return described

    async def aclose(self) -> None:
        """Close what this event loop has open; asking on opens it again."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    def passages(self) -> Iterator[Chunk]:
        with self._open() as client:
            accept = {"accept": "application/x-ndjson"}
            try:
                with client.stream("GET", "/api/v1/passages", headers=accept) as response:
                    if response.status_code != httpx.codes.OK:
                        response.read()
                        raise _refused(response)
                    for line in _lines(response.iter_bytes()):
                        yield _read(Chunk, _parsed(line))
            except httpx.HTTPError as failed:
                raise _down(self.name, failed) from failed

    def text_of(self, document_id: str, version: str) -> str | None:
        """As far as passages cover it; what lies between them is blank. None for all where they
        cannot be had."""
        with self._lock:
            if self._texts is None:
                self._texts = {}  # a server that says no is not asked again for every citation
                self._texts = _joined(self.passages())
            return self._texts.get((document_id, version))

    def variant(self, settings: Mapping[str, Any]) -> Target:
        raise LabError(
            f"{self.name} cannot be indexed anew with {', '.join(settings)}.",
            hint="Sweep `index.*` with --target local, in the workspace itself.",
        )

    async def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        wait = WAIT
        for attempt in range(1, TRIES + 1):
            try:
                response = await self._post_within_rate(path, body)
            except (httpx.ConnectError, httpx.ConnectTimeout) as failed:
                if attempt == TRIES:
                    raise _down(self.name, failed) from failed
            except httpx.TimeoutException as failed:
                raise LabError(
                    "The target gave no answer in time.", hint="Give it longer with --seconds."
                ) from failed
            except httpx.HTTPError as failed:
                if attempt == TRIES:
                    raise LabError(f"The target broke off: {_said(failed)}.") from failed
            else:
                if response.status_code not in BUSY or attempt == TRIES:
                    return _body(response)
                wait = max(wait, _asked_to_wait(response))
            await asyncio.sleep(min(wait, LONGEST_WAIT))
            wait *= 2
        raise AssertionError  # the last attempt returns or raises

    async def _post_within_rate(self, path: str, body: Mapping[str, Any]) -> httpx.Response:
        """The reply, once the server's limit of requests lets it through.

        No try that failed: such a server says when it takes more. One that still says so after
        `PATIENCE` seconds is taken at its word.
        """
        waited = 0.0
        while True:
            response = await self._client().post(path, json=body)
            if response.status_code != httpx.codes.TOO_MANY_REQUESTS:
                return response
            wait = min(_asked_to_wait(response), LONGEST_WAIT)
            if not wait > 0 or waited >= PATIENCE:
                return response
            await asyncio.sleep(wait)
            waited += wait

    def _client(self) -> httpx.AsyncClient:
        """One for each event loop: connections cannot be used in another."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = httpx.AsyncClient(**self._options)
        return self._clients[loop]

    def _open(self) -> httpx.Client:
        return httpx.Client(**self._options)


def _address(url: str) -> httpx.URL:
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        named = bool(parts.hostname) and not re.search(r"\s", parts.netloc)
        if parts.scheme in {"http", "https"} and named and parts.port != 0:
            address = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
            bypass_proxies(address)
            return httpx.URL(address)
    except (ValueError, httpx.InvalidURL):
        pass
    raise LabError(f"`{url}` is not an address.", hint="Such as http://127.0.0.1:8321, or `local`.")


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """Only \\n ends a line: httpx would also cut at characters that JSON allows inside a string."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            if line.strip():
                yield line.decode(errors="replace")
    if rest.strip():
        yield rest.decode(errors="replace")


def _joined(passages: Iterable[Chunk]) -> dict[tuple[str, str], str]:
    """(document id, version) -> text; passages that do not fit their offsets are left out."""
    pieces: dict[tuple[str, str], list[Chunk]] = {}
    for chunk in passages:
        if 0 <= chunk.start == chunk.end - len(chunk.text):
            pieces.setdefault((chunk.document_id, chunk.version), []).append(chunk)
    texts = {}
    for key, chunks in pieces.items():
        letters = [" "] * max(chunk.end for chunk in chunks)
        for chunk in chunks:
            letters[chunk.start : chunk.end] = chunk.text
        texts[key] = "".join(letters)
    return texts


def _asked(question: Question) -> dict[str, Any]:
    turns = [{"role": message.role, "content": message.content} for message in question.history]
    day = question.as_of.isoformat() if question.as_of else None
    person = question.asker.model_dump(mode="json", exclude={"id"}, exclude_none=True)
    return {"person": person, "as_of": day, "history": turns}


def _evidence(hit: Hit) -> dict[str, Any]:
    """A passage as the search route shows it, whose fields the ask route takes."""
    row = hit.chunk.model_dump(mode="json", include=_SHOWN, exclude_none=True)
    return row | {"chunk_id": hit.chunk.id, "score": hit.score}


def _hit(row: Any) -> Hit:
    if not isinstance(row, dict):
        raise _nonsense("a hit that is no object")
    chunk = {}
    for key, value in row.items():
        field = "id" if key == "chunk_id" else key
        if field in Chunk.model_fields:
            chunk[field] = value
    hit = {"chunk": chunk, "score": row.get("score"), "found_by": row.get("found_by", ())}
    return _read(Hit, hit)


def _read(record: type[Record], value: Any) -> Record:
    try:
        # By way of JSON: the same rules for every target, and half characters are refused.
        return record.model_validate_json(json.dumps(value))
    except ValidationError as wrong:
        first = wrong.errors()[0]
        where = ".".join(map(str, first["loc"])) or "it"
        why = f"{where}: {str(first['msg']).lower()}"
        raise _nonsense(f"no {record.__name__}: {why}") from wrong
    except (ValueError, RecursionError) as wrong:
        raise _nonsense(f"no {record.__name__}: it: {str(wrong).lower()}") from wrong


def _sent(send: Any, name: str) -> httpx.Response:
    try:
        response: httpx.Response = send()
    except httpx.HTTPError as failed:
        raise _down(name, failed) from failed
    return response


def _body(response: httpx.Response) -> Any:
    if not response.is_success:
        raise _refused(response)
    return _parsed(response.text)


def _parsed(text: str) -> Any:
    try:
        value = json.loads(text)
        # What cannot be stored is refused before a run begins.
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as wrong:
        raise _nonsense("half a character (a lone surrogate)") from wrong
    except (ValueError, RecursionError) as wrong:
        raise _nonsense(f"no JSON: {text[:60]!r}") from wrong
    return value


def _refused(response: httpx.Response) -> LabError:
    try:
        problem = response.json()
        why = problem.get("detail") or problem.get("title") or ""
    except (ValueError, AttributeError, RecursionError):
        why = response.reason_phrase
    if response.is_redirect:
        why = f"it has moved to {response.headers.get('location', 'nowhere')}"
    # Half characters cannot be stored, and what is refused is stored with its case.
    why = str(why)[:300].encode(errors="replace").decode()
    return LabError(f"The target answered {response.status_code}: {why}")


def _nonsense(what: str) -> LabError:
    return LabError(f"The target sent {what}.", hint="Is it an ombud of this version?")


def _down(name: str, failed: Exception) -> Unreachable:
    return Unreachable(
        f"{name} cannot be reached: {_said(failed)}.", hint="Start it; the run then goes on."
    )


def _said(failed: Exception) -> str:
    return str(failed).strip().rstrip(".") or type(failed).__name__


def _asked_to_wait(response: httpx.Response) -> float:
    try:
        return float(response.headers.get("retry-after", "0"))
    except ValueError:
        return 0.0
