"""Indexes by url: `lance:///var/ombud/index`, or `lance:index` for a relative place.

The scheme names the engine, here or in a plugin (`ombud.engine`); what stands behind it is the
engine's own business, and is not percent-encoded. fingerprint: identity of the embedder ("" = no
vectors); a different one than the index was built with raises EngineError. dimension: length of a
vector, 0 without an embedder. Raises UnknownName where no engine has the scheme."""

from datetime import datetime

from ombud.index.current import CurrentEngine
from ombud.index.engine import FIRST, Engine, EngineBackend
from ombud.registry import open_part


def open_engine(url: str, *, fingerprint: str, dimension: int) -> Engine:
    """Open or create the index; after a rebuild, also by another process, it is the new one."""
    return CurrentEngine(_backend(url), fingerprint=fingerprint, dimension=dimension)


def open_generation(url: str, generation: str, *, fingerprint: str, dimension: int) -> Engine:
    """Open or create one generation by itself, such as `new_generation(url)`, to be built before it
    counts."""
    return _backend(url).open(generation, fingerprint=fingerprint, dimension=dimension)


async def open_snapshot(
    url: str, version: str, when: datetime, *, fingerprint: str, dimension: int
) -> Engine | None:
    """The index as it was at a version that `Engine.version` told at that time; None when it is
    gone."""
    backend = _backend(url)
    generation, _, number = version.rpartition("/")
    generation = generation or FIRST
    if not backend.holds(generation):
        return None
    engine = backend.open(generation, fingerprint=fingerprint, dimension=dimension)
    return await engine.at(number, when)


def current_generation(url: str) -> str:
    """Name of the generation that counts. Raises EngineError."""
    return _backend(url).current()


def new_generation(url: str) -> str:
    """Name of the next generation; what a killed build left behind under it is removed."""
    return _backend(url).begin()


def switch_generation(url: str, generation: str) -> None:
    """Let it count from now on, and remove all but it and the one before. Raises EngineError."""
    _backend(url).switch(generation)


def keep_only_current(url: str) -> None:
    """Remove the generation before, too: for a deletion that must leave nothing behind."""
    _backend(url).keep_only_current()


def index_bytes(url: str) -> int:
    """Size of all generations."""
    return _backend(url).size()


def _backend(url: str) -> EngineBackend:
    scheme, _, rest = url.partition(":")
    backend: EngineBackend = open_part(
        "engine", scheme, ENGINES, rest.removeprefix("//"), needs=("open", "current", "stamp")
    )
    return backend


ENGINES = {"lance": "ombud.index.engines.lance:LanceBackend"}
