"""What we know: chunks, the engines that hold them, and who may read which."""

from ombud.index.engine import Engine, EngineBackend, Leg, Row, Stats, Vector
from ombud.index.engine_loop import blocking
from ombud.index.opening import (
    ENGINES,
    current_generation,
    index_bytes,
    keep_only_current,
    new_generation,
    open_engine,
    open_generation,
    open_snapshot,
    switch_generation,
)
from ombud.index.visibility import Filter, is_visible

__all__ = [
    "ENGINES",
    "Engine",
    "EngineBackend",
    "Filter",
    "Leg",
    "Row",
    "Stats",
    "Vector",
    "blocking",
    "current_generation",
    "index_bytes",
    "is_visible",
    "keep_only_current",
    "new_generation",
    "open_engine",
    "open_generation",
    "open_snapshot",
    "switch_generation",
]
