"""Rerank endpoints: Cohere's `POST /v2/rerank`, Jina's `POST /v1/rerank`, which vLLM and llama.cpp
speak too, and `POST /rerank` of Hugging Face's text-embeddings-inference (TEI).

Cohere and Jina take {model, query, documents, top_n} and give {results: [{index,
relevance_score}]}, best first: docs.cohere.com/reference/rerank, api.jina.ai/redoc. TEI serves one
model, takes {query, texts, truncate} and gives [{index, score}]:
huggingface.github.io/text-embeddings-inference. A server's own words are never repeated: they may
hold the texts."""

import asyncio
import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import httpx
from pydantic import BaseModel, FiniteFloat, RootModel, ValidationError

from ombud.deadlines import seconds_left
from ombud.errors import MalformedOutput, ModelUnavailable, SetupError
from ombud.models.remote import is_remote_address
from ombud.proxies import bypass_proxies, route_of
from ombud.settings import ModelSettings

REFUSED = (401, 403)


class Dialect(NamedTuple):
    kind: str
    address: str
    path: str
    keys: tuple[str, ...]
    """Variables that may hold the key; the first that does counts."""
    more: dict[str, Any] = {}  # noqa: RUF012 - never written to
    """What else a request says."""


COHERE = Dialect("cohere", "https://api.cohere.com", "/v2/rerank", ("COHERE_API_KEY", "CO_API_KEY"))
JINA = Dialect(
    "jina", "https://api.jina.ai", "/v1/rerank", ("JINA_API_KEY",), {"return_documents": False}
)
TEI = Dialect("tei", "", "/rerank", ("TEI_API_KEY",), {"truncate": True})


class RerankResult(BaseModel):
    index: int
    relevance_score: FiniteFloat


class RerankResults(BaseModel):
    results: list[RerankResult]


class TeiResult(BaseModel):
    index: int
    score: FiniteFloat


class TeiResults(RootModel[list[TeiResult]]):
    """The reply of TEI, a list without a name."""


class RerankEndpoint:
    """The texts are sent as they are; the server cuts what is too long."""

    price: float | None = None

    def __init__(self, name: str, dialect: Dialect, address: str, key: str) -> None:
        self.name = name
        self._dialect = dialect
        self._address = address
        bypass_proxies(address)
        self.remote = is_remote_address(address)
        self.route = route_of(address)
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        # Reading the certificates takes longer than many a call.
        self._trust = httpx.create_ssl_context()

    async def score(self, query: str, texts: Sequence[str], seconds: float) -> list[float]:
        if not texts:
            return []
        body = self._body(query, texts) | self._dialect.more
        try:
            async with (
                asyncio.timeout(seconds_left(seconds)),
                # A client of its own: open connections belong to one event loop, whichever thread
                # asks.
                self._client() as client,
            ):
                response = await client.post(self._address, json=body)
        except TimeoutError as late:
            raise ModelUnavailable(
                f"The reranker `{self.name}` gave no scores within {seconds:.0f} seconds.",
                hint="Raise models.search_seconds.",
            ) from late
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as away:
            raise ModelUnavailable(
                f"The reranker `{self.name}` cannot be reached ({type(away).__name__}).",
                hint="Check models.reranker_url and the network.",
            ) from away
        if response.status_code != httpx.codes.OK:
            raise ModelUnavailable(
                f"The reranker `{self.name}` answered with HTTP {response.status_code}.",
                hint=self._hint(response.status_code),
            )
        return self._scores(response.content, len(texts))

    def _body(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        return {
            "model": self.name.partition(":")[2],
            "query": query,
            "documents": list(texts),
            "top_n": len(texts),
        }

    def _results(self, body: bytes) -> list[tuple[int, float]]:
        results = RerankResults.model_validate_json(body).results
        return [(result.index, result.relevance_score) for result in results]

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            verify=self._trust,
            headers=self._headers,
            timeout=None,  # noqa: S113 - `score` has the deadline
        )

    def _scores(self, body: bytes, count: int) -> list[float]:
        try:
            results = self._results(body)
        except ValidationError:
            # Not chained: it quotes what it was given.
            raise MalformedOutput(
                f"The reranker `{self.name}` answered in another form.",
                hint=f"`{self._dialect.kind}:` is for servers that speak {self._dialect.path}.",
            ) from None
        scores = dict(results)
        if len(results) != count or set(scores) != set(range(count)):
            raise MalformedOutput(
                f"The reranker `{self.name}` did not give one score for each of {count} texts."
            )
        return [scores[index] for index in range(count)]

    def _hint(self, status: int) -> str:
        if status in REFUSED:
            return f"Is the key in {' or '.join(self._dialect.keys)} valid?"
        if status in (httpx.codes.TOO_MANY_REQUESTS, *range(500, 600)):
            return "The server is busy or broken; later it may work again."
        return "Check models.reranker_url and the model's name."


class TeiEndpoint(RerankEndpoint):
    """A server of text-embeddings-inference, which has one model whatever its name here."""

    def _body(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        return {"query": query, "texts": list(texts)}

    def _results(self, body: bytes) -> list[tuple[int, float]]:
        results = TeiResults.model_validate_json(body).root
        return [(result.index, result.score) for result in results]


def open_cohere(model: str, settings: ModelSettings) -> RerankEndpoint:
    _require_model(COHERE, model, settings)
    return _open(COHERE, RerankEndpoint, settings)


def open_jina(model: str, settings: ModelSettings) -> RerankEndpoint:
    _require_model(JINA, model, settings)
    return _open(JINA, RerankEndpoint, settings)


def open_tei(_model: str, settings: ModelSettings) -> RerankEndpoint:
    """Open a server of text-embeddings-inference; the model after `tei:` is only a name for people
    and traces."""
    if not settings.reranker_url:
        raise SetupError(
            f"The reranker `{settings.reranker}` has no address.",
            hint="Set models.reranker_url, such as http://127.0.0.1:8080.",
        )
    return _open(TEI, TeiEndpoint, settings)


def _require_model(dialect: Dialect, model: str, settings: ModelSettings) -> None:
    if not model:
        raise SetupError(
            f"The reranker `{settings.reranker}` names no model.",
            hint=f"Such as {dialect.kind}:MODEL.",
        )


def _open(
    dialect: Dialect, endpoint: type[RerankEndpoint], settings: ModelSettings
) -> RerankEndpoint:
    name = settings.reranker
    variable = next((key for key in dialect.keys if os.environ.get(key, "").strip()), "")
    key = os.environ.get(variable, "").strip()
    if not key and not settings.reranker_url:  # servers of one's own often want none
        raise SetupError(
            f"The reranker `{name}` needs a key.", hint=f"Set {' or '.join(dialect.keys)}."
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SetupError(f"{variable} holds no key.", hint="A key is one word of ASCII characters.")
    return endpoint(name, dialect, _address(dialect, settings.reranker_url), key)


def _address(dialect: Dialect, base: str) -> str:
    """Return the URL to POST to: `base` may end before or after the version, or be the whole
    URL."""
    base = base.rstrip("/") or dialect.address
    try:
        url = httpx.URL(base)
    except (httpx.InvalidURL, ValueError) as wrong:
        raise SetupError(
            "models.reranker_url is no address.", hint="Such as http://127.0.0.1:8000."
        ) from wrong
    if url.scheme not in ("http", "https") or not url.host:
        raise SetupError(
            "models.reranker_url is no address.", hint="Such as http://127.0.0.1:8000."
        )
    if base.endswith("/rerank"):
        return base
    return base + ("/rerank" if re.search(r"/v\d+$", base) else dialect.path)
