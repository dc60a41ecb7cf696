"""Importing lancedb in half the time.

lancedb imports the HTTP client of a remote catalogue that nothing here calls. Importing that
package runs through 40 modules of requests and builds the schemas of hundreds of pydantic models:
.55 of the 1.1 s of CPU that `import lancedb` needs (lancedb 0.40, 2 cores), for a command that
answers in .2. Another .08 go into reading the bytecode of its classes for every `@override`.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType

import pydantic
from typing_extensions import override

CLIENT = "lance_namespace_urllib3_client"


@contextmanager
def without_remote_client() -> Iterator[None]:
    """Inside, the client is a package without contents of its own, whose models lancedb still finds
    and which build their schemas when they are first used."""
    _open_as_empty_package(CLIENT)
    _believe_overrides()
    config = pydantic.BaseModel.model_config
    deferred_before = config.get("defer_build", False)
    config["defer_build"] = True
    try:
        yield
    finally:
        config["defer_build"] = deferred_before


def _open_as_empty_package(name: str) -> None:
    """Its modules can be imported one by one; its own `__init__`, which imports all of them, does
    not run."""
    spec = None if name in sys.modules else find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        return
    package = ModuleType(name)
    package.__spec__ = spec
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules[name] = package


def _believe_overrides() -> None:
    """What lancedb does by itself from Python 3.12 on: what it marks as an override is not checked
    against its base class."""
    if sys.version_info < (3, 12):
        import overrides

        overrides.override = override  # type: ignore[assignment]
        overrides.EnforceOverrides = object  # type: ignore[misc, assignment]
