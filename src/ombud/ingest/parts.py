"""What ingestion needs of the workspace."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ombud.index import Engine
from ombud.models import Chat, Embedder
from ombud.settings import Settings
from ombud.store import Store

OnProgress = Callable[[str, int, int], None]
"""(step, done, total)."""


class IngestParts(NamedTuple):
    settings: Settings
    store: Store
    engine: Engine
    embedder: Embedder | None
    chat: Callable[[], Chat | None] = lambda: None
    """Opens the model that reads passages for the graph; asked for only where `index.graph` is
    `model`."""
    prompts: Path | None = None
    """A folder of the workspace's own prompts."""
    originals: Path | None = None
    """Where originals are kept whose pages can be shown; None: nowhere."""
