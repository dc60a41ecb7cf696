"""What we know: chunks, the engines that hold them, and who may read which."""

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from ombud.index.analyser import analyse
from ombud.index.engine import Engine, Leg, Row, Stats, Vector
from ombud.index.entities import alternatives, entity_key, shown, stems, words
from ombud.index.figures import MONTHS, NUMBER_WORDS, decimal, measures, measures_named, numbers, spelt
from ombud.index.generations import current, follow, fresh, keep_only_current, kept_generation, switch
from ombud.index.visibility import Filter, may_read, reader_key, visible
from ombud.index.wording import plain, term_pattern
from ombud.registry import find

__all__ = [
    "ENGINES",
    "MONTHS",
    "NUMBER_WORDS",
    "Engine",
    "Filter",
    "Leg",
    "Row",
    "Stats",
    "Vector",
    "alternatives",
    "analyse",
    "current",
    "decimal",
    "entity_key",
    "fresh",
    "keep_only_current",
    "may_read",
    "measures",
    "measures_named",
    "numbers",
    "open_engine",
    "open_generation",
    "open_snapshot",
    "plain",
    "reader_key",
    "shown",
    "spelt",
    "stems",
    "switch",
    "term_pattern",
    "visible",
    "words",
]

ENGINES = {"lance": "ombud.index.lance:LanceEngine"}


def open_engine(name: str, folder: Path, *, fingerprint: str, dimension: int, **options: Any) -> Engine:
    """Open or create the index in `folder`; after a rebuild, also by another process, it is the new one.

    fingerprint: identity of the embedder ("" = no vectors); a different one than the index was built with
    raises EngineError. dimension: length of a vector, 0 without an embedder.
    """
    make = find("engine", name, ENGINES)
    return follow(folder, partial(make, fingerprint=fingerprint, dimension=dimension, **options))


def open_generation(name: str, folder: Path, *, fingerprint: str, dimension: int, **options: Any) -> Engine:
    """Open or create one generation by itself, such as `folder / fresh(folder)`, to be built before it counts."""
    engine: Engine = find("engine", name, ENGINES)(folder, fingerprint=fingerprint, dimension=dimension, **options)
    return engine


def open_snapshot(
    name: str, folder: Path, version: str, when: datetime, *, fingerprint: str, dimension: int
) -> Engine | None:
    """The index in `folder` as it was at a version that `Engine.version` told at that time; None when it is gone.

    Raises EngineError where it was built with another embedder.
    """
    found = kept_generation(folder, version)
    if found is None:
        return None
    return open_generation(name, found[0], fingerprint=fingerprint, dimension=dimension).at(found[1], when)
