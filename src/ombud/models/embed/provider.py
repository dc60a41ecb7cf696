"""Any embedding model that pydantic-ai knows, such as `openai:text-embedding-3-small`."""

import asyncio
import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ombud.errors import MalformedOutput, ModelUnavailable, SetupError
from ombud.models.embed.embedder import EmbeddedText, Vectors
from ombud.models.remote import client_route, is_remote_client, open_past_proxies

BATCH = 64


class ProviderEmbedder:
    """Texts are sent to the provider as they are; it cuts what is too long."""

    languages: frozenset[str] | None = None

    def __init__(self, name: str, base_url: str = "") -> None:
        from pydantic_ai import UserError
        from pydantic_ai.embeddings import Embedder

        try:
            model = open_past_proxies(lambda: _connect(name, base_url))
            self._model = Embedder(model)
        except (UserError, ValueError, ImportError) as wrong:
            raise SetupError(
                f"The embedder `{name}` cannot be used: {wrong}", hint="Check its name and API key."
            ) from wrong
        self.fingerprint = name
        self.remote = is_remote_client(model)
        self.route = client_route(model)
        # Open connections belong to one event loop, whichever thread asks.
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="embedder", daemon=True).start()
        self.dimension = int(self.embed(["dimension"]).shape[1])

    def count(self, text: str) -> int:
        return -(-len(text.split()) * 4 // 3)

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        return np.concatenate(list(map(self._call, batches)))

    def read(self, texts: Sequence[str]) -> list[EmbeddedText]:
        return [EmbeddedText(vector[None]) for vector in self.embed(texts)]

    def _call(self, texts: Sequence[str]) -> Vectors:
        from pydantic_ai.exceptions import AgentRunError

        asked = self._model.embed_documents(list(texts))
        try:
            found = asyncio.run_coroutine_threadsafe(asked, self._loop).result().embeddings
            vectors: Vectors = np.asarray(found, np.float32)
            if vectors.ndim != 2 or len(vectors) != len(texts):
                raise ValueError(f"{len(found)} for {len(texts)} texts")
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
    return infer_embedding_model(name)


def _compatible(name: str, base_url: str) -> Any:
    from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
    from pydantic_ai.providers.openai import OpenAIProvider

    # Local servers want no key, but the client insists on one.
    key = os.environ.get("OPENAI_API_KEY") or "none"
    return OpenAIEmbeddingModel(
        name.partition(":")[2], provider=OpenAIProvider(base_url=base_url, api_key=key)
    )
