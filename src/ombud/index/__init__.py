"""What we know: chunks, the engines that hold them, and who may read which."""

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from ombud.index.engine import Engine, Leg, Row, Vector
from ombud.index.generations import (
    current_generation,
    follow,
    keep_only_current,
    kept_generation,
    new_generation,
    switch_generation,
)
from ombud.index.visibility import Filter, is_visible
from ombud.registry import find

__all__ = [
    "Engine",
    "Filter",
    "Leg",
    "Row",
    "Vector",
    "current_generation",
    "is_visible",
    "keep_only_current",
    "new_generation",
    "open_engine",
    "open_generation",
    "open_snapshot",
    "switch_generation",
]

ENGINES = {"lance": "ombud.index.lance:LanceEngine"}


def open_engine(
    name: str, folder: Path, *, fingerprint: str, dimension: int, **options: Any
) -> Engine:
    """Open or create the index in `folder`; after a rebuild, also by another process, it is the new
    one.

    fingerprint: identity of the embedder ("" = no vectors); a different one than the index was
    built with raises EngineError. dimension: length of a vector, 0 without an embedder."""
    make = find("engine", name, ENGINES)
    return follow(folder, partial(make, fingerprint=fingerprint, dimension=dimension, **options))


def open_generation(
    name: str, folder: Path, *, fingerprint: str, dimension: int, **options: Any
) -> Engine:
    """Open or create one generation by itself, such as `folder / fresh(folder)`, to be built before
    it counts."""
    engine: Engine = find("engine", name, ENGINES)(
        folder, fingerprint=fingerprint, dimension=dimension, **options
    )
    return engine


def open_snapshot(
    name: str, folder: Path, version: str, when: datetime, *, fingerprint: str, dimension: int
) -> Engine | None:
    """The index in `folder` as it was at a version that `Engine.version` told at that time; None
    when it is gone.

    Raises EngineError where it was built with another embedder.
    """
    found = kept_generation(folder, version)
    if found is None:
        return None
    return open_generation(name, found[0], fingerprint=fingerprint, dimension=dimension).at(
        found[1], when
    )
