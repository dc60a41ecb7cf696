"""What we know: chunks, the engines that hold them, and who may read which."""

from pathlib import Path
from typing import Any

from ombud.index.analyser import analyse
from ombud.index.engine import Engine, Leg, Row, Stats, Vector
from ombud.index.visibility import Filter, may_read, reader_key, visible
from ombud.index.wording import plain, term_pattern
from ombud.registry import find

__all__ = [
    "ENGINES",
    "Engine",
    "Filter",
    "Leg",
    "Row",
    "Stats",
    "Vector",
    "analyse",
    "may_read",
    "open_engine",
    "plain",
    "reader_key",
    "term_pattern",
    "visible",
]

ENGINES = {"lance": "ombud.index.lance:LanceEngine"}


def open_engine(name: str, folder: Path, *, fingerprint: str, dimension: int, **options: Any) -> Engine:
    """Open or create an index in `folder`.

    fingerprint: identity of the embedder ("" = no vectors); a different one than the index was built with
    raises EngineError. dimension: length of a vector, 0 without an embedder.
    """
    engine: Engine = find("engine", name, ENGINES)(folder, fingerprint=fingerprint, dimension=dimension, **options)
    return engine
