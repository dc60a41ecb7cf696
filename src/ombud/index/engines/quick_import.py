"""Importing lancedb in a third of the time.

lancedb imports the HTTP client of a remote catalogue that nothing here calls. Importing that
package runs through 40 modules of requests and builds the schemas of hundreds of pydantic models:
.55 of the 1.1 s of CPU that `import lancedb` needs (lancedb 0.40, 2 cores), for a command that
answers in .2. The models' 147 modules alone take another .06, reading the bytecode of its classes
for every `@override` .08, and pandas, where it is installed, .1.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import pyarrow
import pydantic
from typing_extensions import override

CLIENT = "lance_namespace_urllib3_client"


@contextmanager
def without_remote_client() -> Iterator[None]:
    """Inside, the client is a package without contents of its own, whose models are imported when
    one of them is first used, and every pydantic model builds its schema when it is first used."""
    _open_as_empty_package(CLIENT)
    _import_later(f"{CLIENT}.models")
    _believe_overrides()
    _look_for_no_pandas()
    config = pydantic.BaseModel.model_config
    deferred_before = config.get("defer_build", False)
    config["defer_build"] = True
    try:
        yield
    finally:
        config["defer_build"] = deferred_before


def _open_as_empty_package(name: str) -> ModuleType | None:
    """Its modules can be imported one by one; its own `__init__`, which imports all of them, does
    not run. None where it is imported already, or not installed."""
    spec = None if name in sys.modules else find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        return None
    package = ModuleType(name)
    package.__spec__ = spec
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules[name] = package
    return package


def _import_later(name: str) -> None:
    """Whoever imports a class from the package gets a `_LaterClass`, where it has a module named
    like it: `string_fts_query` for `StringFtsQuery`."""
    package = _open_as_empty_package(name)
    if package is None:
        return
    modules: dict[str, str] = {}
    for module in iter_modules(package.__path__):
        modules[module.name.replace("_", "")] = module.name

    def find_class(wanted: str) -> object:
        if wanted.lower() not in modules:
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}")
        return _LaterClass(f"{name}.{modules[wanted.lower()]}", wanted)

    vars(package)["__getattr__"] = find_class


class _LaterClass:
    """Stands for a class whose module is imported when the class is first called, derived from,
    asked for an attribute or whether something is an instance of it."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def _class(self) -> Any:
        return getattr(import_module(self._module), self._name)

    def __call__(self, *values: object, **named: object) -> object:
        return self._class()(*values, **named)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._class(), name)

    def __or__(self, other: Any) -> Any:
        return self._class() | other

    def __ror__(self, other: Any) -> Any:
        return other | self._class()

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        return (self._class(),)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, self._class())


def _believe_overrides() -> None:
    """What lancedb does by itself from Python 3.12 on: what it marks as an override is not checked
    against its base class."""
    if sys.version_info < (3, 12):
        import overrides

        overrides.override = override  # type: ignore[assignment]
        overrides.EnforceOverrides = object  # type: ignore[misc, assignment]


def _look_for_no_pandas() -> None:
    """pyarrow imports pandas for its first scalar, to know a missing value of pandas. Told then
    that it is not there, it looks again when somebody wants something of pandas from it."""
    if "pandas" in sys.modules:
        return
    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        pyarrow.scalar(True)
    finally:
        sys.meta_path.remove(hidden)


class _Hidden:
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        del path, target
        if name == "pandas":
            raise ModuleNotFoundError(name=name)
