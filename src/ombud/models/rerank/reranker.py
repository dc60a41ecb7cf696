"""Cross-encoders: how well each text answers a query, read together. A folder on this machine, or
an endpoint."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ombud.registry import open_part
from ombud.settings import ModelSettings


class Reranker(Protocol):
    """The protocol of cross-encoders. A local one has `remote = False`."""

    name: str
    """As the settings name it, such as `cohere:rerank-v3.5`."""

    @property
    def price(self) -> float | None:
        """Return US dollars per call; None if unknown."""
        ...

    async def score(self, query: str, texts: Sequence[str], seconds: float) -> list[float]:
        """Return one score per text in their order; higher is more relevant, on the model's own
        scale. Asks once; raises ModelUnavailable or MalformedOutput.

        seconds: wall clock of the whole call."""
        ...


def open_reranker(settings: ModelSettings) -> Reranker | None:
    """Open the reranker of the settings; None if they name none. Raises UnknownName for an unknown
    kind, SetupError for files, a key or an address that cannot work."""
    name = settings.reranker
    if name in ("", "none"):
        return None
    kind, colon, rest = name.partition(":")
    if not colon and ("/" in name or Path(name).is_dir()):
        kind = "folder"
        rest = name
    reranker: Reranker = open_part(
        "reranker", kind, RERANKERS, rest, settings, needs=("name", "score")
    )
    return reranker


RERANKERS = {
    "folder": "ombud.models.rerank.cross_encoder:open_folder",
    "cohere": "ombud.models.rerank.rerank_api:open_cohere",
    "jina": "ombud.models.rerank.rerank_api:open_jina",
    "tei": "ombud.models.rerank.rerank_api:open_tei",
}
"""What stands before the colon -> `(what stands after it, settings) -> Reranker`."""
