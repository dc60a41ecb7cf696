"""Cross-encoders: how well each text answers a query, read together. A folder on this machine, or
an endpoint."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ombud.registry import find
from ombud.settings import ModelSettings


class Reranker(Protocol):
    """One whose texts do not leave this machine says so: `remote = False`."""

    name: str
    """As the settings name it, such as `cohere:rerank-v3.5`."""

    @property
    def price(self) -> float | None:
        """US dollars of a call; None = not known."""
        ...

    async def score(self, query: str, texts: Sequence[str], seconds: float) -> list[float]:
        """One score a text, in their order; higher is more relevant, on a scale of the model's own.

        seconds: wall clock of the whole call. Asks once; raises ModelUnavailable or
        MalformedOutput."""
        ...


def open_reranker(settings: ModelSettings) -> Reranker | None:
    """The reranker that the settings name; None where they name none.

    Raises UnknownName for a kind nobody knows, SetupError for files, a key or an address that
    cannot work."""
    name = settings.reranker
    if name in ("", "none"):
        return None
    kind, colon, rest = name.partition(":")
    if not colon and ("/" in name or Path(name).is_dir()):
        kind = "folder"
        rest = name
    found: Reranker = find("reranker", kind, RERANKERS)(rest, settings)
    return found


RERANKERS = {
    "folder": "ombud.models.rerank.cross_encoder:open_folder",
    "cohere": "ombud.models.rerank.rerank_api:open_cohere",
    "jina": "ombud.models.rerank.rerank_api:open_jina",
}
"""What stands before the colon -> `(what stands after it, settings) -> Reranker`."""
