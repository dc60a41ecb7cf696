"""The parts of a workspace that ingestion works with."""

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
    """Opens the model that reads passages for the graph; called only if `index.graph` is
    `model`."""
    prompts: Path | None = None
    """Folder of the workspace's own prompts."""
    originals: Path | None = None
    """Folder for originals whose pages can be displayed; None stores none."""
