"""A deployed ombud over its REST API: what is measured is what people use."""

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from ombud.errors import LabError
from ombud.lab.runs.connection import Connection, refusal_of
from ombud.lab.runs.target import Target
from ombud.types import Answer, Chunk, Hit, Question, Trace

IS_IT_OMBUD = (
    "Is it an ombud of this version? Another system needs a table [target] in ombud.toml whose "
    "`url` is this address, or --target FILE.toml with such a table."
)
Record = TypeVar("Record", bound=BaseModel)
_SHOWN = {
    *("document_id", "uri", "title", "trail", "header", "text", "page_from", "page_to", "start"),
    *("countries", "effective_from", "effective_to", "digest"),
}


class RemoteTarget:
    """Raises Unreachable when no connection is made, also after waiting, and LabError for an answer
    that is none.

    seconds: how long one answer may take.
    """

    def __init__(self, url: str, *, seconds: float = 120.0, token: str = "") -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._connection = Connection(url, seconds, headers, IS_IT_OMBUD)
        self.name = self._connection.name
        self._lock = threading.Lock()
        self._texts: dict[tuple[str, str], str] | None = None

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        body = _asked(question) | {"question": question.text, "plan": dict(plan)}
        return _read(Answer, await self._connection.send("POST", "/api/v1/ask", body))

    async def ask_from(
        self, question: Question, plan: Mapping[str, Any], hits: Sequence[Hit], *, triage: bool
    ) -> Answer:
        body = _asked(question) | {"question": question.text, "plan": dict(plan)}
        body |= {"evidence": list(map(_evidence, hits)), "triage": triage}
        return _read(Answer, await self._connection.send("POST", "/api/v1/ask", body))

    async def search(
        self, question: Question, plan: Mapping[str, Any]
    ) -> tuple[tuple[Hit, ...], Trace]:
        body = _asked(question) | {"query": question.text, "plan": dict(plan)}
        reply = await self._connection.send("POST", "/api/v1/search", body)
        if not isinstance(reply, dict) or not isinstance(reply.get("hits"), list):
            raise _nonsense("no list of hits")
        return tuple(map(_hit, reply["hits"])), _read(Trace, reply.get("trace", {}))

    def describe(self) -> dict[str, Any]:
        described = self._connection.get("/api/v1/describe")
        if not isinstance(described, dict):
            raise _nonsense("no description of itself")
        return described

    async def aclose(self) -> None:
        await self._connection.aclose()

    def passages(self) -> Iterator[Chunk]:
        with self._connection.open() as client:
            accept = {"accept": "application/x-ndjson"}
            try:
                with client.stream("GET", "/api/v1/passages", headers=accept) as response:
                    if response.status_code != httpx.codes.OK:
                        response.read()
                        raise refusal_of(response, IS_IT_OMBUD)
                    for line in _lines(response.iter_bytes()):
                        yield _read(Chunk, self._connection.parse(line))
            except httpx.HTTPError as failed:
                raise self._connection.down(failed) from failed

    def text_of(self, document_id: str, version: str) -> str | None:
        """Return the text of a document as far as passages cover it, with blanks between them; None
        if the server does not supply them."""
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


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """Split at \n only: httpx would also cut at characters that JSON allows inside a string."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            if line.strip():
                yield line.decode(errors="replace")
    if rest.strip():
        yield rest.decode(errors="replace")


def _joined(passages: Iterable[Chunk]) -> dict[tuple[str, str], str]:
    """Map (document id, version) to its text; passages that do not fit their offsets are left
    out."""
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


def _nonsense(what: str) -> LabError:
    return LabError(f"The target sent {what}.", hint=IS_IT_OMBUD)
