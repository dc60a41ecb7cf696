"""Any embedding model that pydantic-ai knows, such as `openai:text-embedding-3-small`."""

from collections.abc import Sequence

import numpy as np

from ombud.errors import ModelUnavailable, SetupError
from ombud.models.embedder import Vectors

BATCH = 64


class ProviderEmbedder:
    """Texts are sent to the provider as they are; it cuts what is too long."""

    languages: frozenset[str] | None = None

    def __init__(self, name: str) -> None:
        from pydantic_ai import UserError
        from pydantic_ai.embeddings import Embedder

        try:
            self._model = Embedder(name, defer_model_check=False)
        except (UserError, ValueError, ImportError) as wrong:
            raise SetupError(
                f"The embedder `{name}` cannot be used: {wrong}", hint="Check its name and API key."
            ) from wrong
        self.fingerprint = name
        self.dimension = int(self.embed(["dimension"]).shape[1])

    def count(self, text: str) -> int:
        return -(-len(text.split()) * 4 // 3)

    def embed(self, texts: Sequence[str]) -> Vectors:
        parts = [self._call(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimension), np.float32)

    def windows(self, texts: Sequence[str]) -> list[Vectors]:
        return list(self.embed(texts)[:, None, :])

    def _call(self, texts: Sequence[str]) -> Vectors:
        from pydantic_ai.exceptions import AgentRunError

        try:
            found = self._model.embed_documents_sync(list(texts)).embeddings
        except (AgentRunError, OSError) as failed:
            raise ModelUnavailable(
                f"The embedder `{getattr(self, 'fingerprint', '')}` did not answer: {failed}",
                hint="Is the provider reachable and the key valid?",
            ) from failed
        vectors = np.asarray(found, np.float32)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
