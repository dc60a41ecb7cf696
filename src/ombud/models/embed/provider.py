"""Any embedding model that pydantic-ai knows, such as `openai:text-embedding-3-small`."""

import asyncio
import os
import threading
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ombud.deadlines import seconds_left
from ombud.errors import MalformedOutput, ModelUnavailable, SetupError
from ombud.models.chat.model_client import CallPolicy
from ombud.models.chat.resilience import CircuitBreaker
from ombud.models.embed.embedder import EmbeddedText, Vectors
from ombud.models.entra import needs_identity, open_provider
from ombud.models.remote import client_route, is_remote_client, open_past_proxies

BATCH = 64


class ProviderEmbedder:
    """Texts are sent to the provider as they are, behind the prefixes of the settings; it cuts what
    is too long."""

    languages: frozenset[str] | None = None

    def __init__(
        self,
        name: str,
        base_url: str,
        *,
        prefixes: tuple[str, str] = ("", ""),
        query_seconds: float,
        document_seconds: float,
        cache: Path,
    ) -> None:
        """Connect the client. prefixes: before questions, before passages. query_seconds,
        document_seconds: deadlines of one call. cache: folder that remembers the length of the
        vectors, so that a server starts while the provider is away."""
        from pydantic_ai import UserError
        from pydantic_ai.embeddings import Embedder

        try:
            model = open_past_proxies(lambda: _connect(name, base_url))
            self._model = Embedder(model)
        except (UserError, ValueError, ImportError) as wrong:
            raise SetupError(
                f"The embedder `{name}` cannot be used: {wrong}", hint="Check its name and API key."
            ) from wrong
        self._query_prefix, self._passage_prefix = prefixes
        # The vectors of an index belong to what its passages were read behind.
        self.fingerprint = name + (f" behind {prefixes!r}" if any(prefixes) else "")
        self._query_seconds = query_seconds
        self._document_seconds = document_seconds
        self.remote = is_remote_client(model)
        self.route = client_route(model)
        # Open connections belong to one event loop, whichever thread asks.
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="embedder", daemon=True).start()
        policy = CallPolicy()
        self._breaker = CircuitBreaker(
            policy.breaker_failures, policy.breaker_seconds, policy.timing
        )
        place = sha256(f"{name} {base_url}".encode()).hexdigest()
        self._remembered = cache / f"dimension-{place}"
        self.dimension = 0
        self.dimension = self._length_of_vectors()

    def _length_of_vectors(self) -> int:
        with suppress(OSError, ValueError):
            return int(self._remembered.read_text(encoding="utf-8"))
        dimension = int(self.embed(["dimension"]).shape[1])
        with suppress(OSError):
            self._remembered.parent.mkdir(parents=True, exist_ok=True)
            self._remembered.write_text(str(dimension), encoding="utf-8")
        return dimension

    def count(self, text: str) -> int:
        return -(-len(text.split()) * 4 // 3)

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        vectors: list[Vectors] = []
        for batch in batches:
            request = self._model.embed_documents([self._passage_prefix + text for text in batch])
            vectors.append(self._call(request, len(batch), self._document_seconds))
        return np.concatenate(vectors)

    def read(self, texts: Sequence[str]) -> list[EmbeddedText]:
        return [EmbeddedText(vector[None]) for vector in self.embed(texts)]

    def read_queries(self, texts: Sequence[str]) -> list[EmbeddedText]:
        """Read texts as what is searched for: some models tell questions from documents."""
        if not seconds_left(self._query_seconds):  # not the embedder's fault
            raise ModelUnavailable(
                f"There was no time left to ask the embedder `{self.fingerprint}`.",
                hint="Raise models.timeout_seconds.",
            )
        if not self._breaker.admit():
            raise ModelUnavailable(
                f"The embedder `{self.fingerprint}` failed and is left alone for "
                f"{self._breaker.left:.0f} more seconds.",
                hint="`ombud doctor` says what is wrong with it.",
            )
        began = time.monotonic()
        try:
            request = self._model.embed_query([self._query_prefix + text for text in texts])
            vectors = self._call(request, len(texts), self._query_seconds)
            self._breaker.succeeded()
        except ModelUnavailable:
            self._breaker.failed(time.monotonic() - began)
            raise
        finally:
            self._breaker.leave()
        return [EmbeddedText(vector[None]) for vector in vectors]

    def _call(self, request: Coroutine[Any, Any, Any], count: int, seconds: float) -> Vectors:
        from pydantic_ai.exceptions import AgentRunError

        seconds = seconds_left(seconds)
        answer = asyncio.run_coroutine_threadsafe(request, self._loop)
        try:
            embeddings = answer.result(seconds).embeddings
            vectors: Vectors = np.asarray(embeddings, np.float32)
            if vectors.ndim != 2 or len(vectors) != count:
                raise ValueError(f"{len(embeddings)} for {count} texts")
            if self.dimension not in (0, vectors.shape[1]):
                self._remembered.unlink(missing_ok=True)
                raise ValueError(f"{vectors.shape[1]} numbers each, not {self.dimension}")
        except TimeoutError as late:
            answer.cancel()
            raise ModelUnavailable(
                f"The embedder `{self.fingerprint}` gave no answer within {seconds:g} seconds.",
                hint="Raise models.search_seconds or models.timeout_seconds.",
            ) from late
        except (AgentRunError, OSError) as failed:
            raise ModelUnavailable(
                f"The embedder `{self.fingerprint}` did not answer: {failed}",
                hint="Is the provider reachable and the key valid?",
            ) from failed
        except (AttributeError, TypeError, ValueError) as odd:
            raise MalformedOutput(
                f"The embedder `{self.fingerprint}` gave no usable vectors: {odd}",
                hint="Check models.embedder and models.base_url.",
            ) from odd
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return vectors


def _connect(name: str, base_url: str) -> Any:
    from pydantic_ai.embeddings import infer_embedding_model

    if base_url and name.startswith("openai:"):
        return _compatible(name, base_url)
    if needs_identity(name):
        return infer_embedding_model(name, provider_factory=lambda _: open_provider(name))
    return infer_embedding_model(name)


def _compatible(name: str, base_url: str) -> Any:
    from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
    from pydantic_ai.providers.openai import OpenAIProvider

    # Local servers want no key, but the client insists on one.
    key = os.environ.get("OPENAI_API_KEY") or "none"
    return OpenAIEmbeddingModel(
        name.partition(":")[2], provider=OpenAIProvider(base_url=base_url, api_key=key)
    )
