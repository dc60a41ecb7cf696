"""Import lancedb in a third of the time.

lancedb imports the HTTP client of a remote catalogue that nothing here calls: 40 modules of
requests, and hundreds of pydantic models whose schemas are built at once. That is half of the CPU
time of `import lancedb`. Checking `@override` and importing pandas are further parts."""

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
    """Import lancedb inside this context: the client becomes an empty package whose models are
    imported on first use, and pydantic models build their schemas on first use."""
    open_as_empty_package(CLIENT)
    import_later(f"{CLIENT}.models")
    skip_override_checks()
    hide_pandas()
    config = pydantic.BaseModel.model_config
    deferred_before = config.get("defer_build", False)
    config["defer_build"] = True
    try:
        yield
    finally:
        config["defer_build"] = deferred_before


def open_as_empty_package(name: str) -> ModuleType | None:
    """Register a package without running its `__init__`, which imports all of its modules; None if
    it is imported already or not installed."""
    spec = None if name in sys.modules else find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        return None
    package = ModuleType(name)
    package.__spec__ = spec
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules[name] = package
    return package


def import_later(name: str) -> None:
    """Register a package whose classes are each a `_LaterClass`, if there is a module of that name:
    `string_fts_query` for `StringFtsQuery`."""
    package = open_as_empty_package(name)
    if package is None:
        return
    modules: dict[str, str] = {}
    for module in iter_modules(package.__path__):
        modules[module.name.replace("_", "")] = module.name

    def find_class(class_name: str) -> object:
        if class_name.lower() not in modules:
            raise AttributeError(f"module {name!r} has no attribute {class_name!r}")
        return _LaterClass(f"{name}.{modules[class_name.lower()]}", class_name)

    vars(package)["__getattr__"] = find_class


class _LaterClass:
    """A stand-in for a class, whose module is imported when the class is first called, subclassed
    or inspected."""

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


def skip_override_checks() -> None:
    """Do not check overrides against base classes, as lancedb itself does from Python 3.12 on."""
    if sys.version_info < (3, 12):
        import overrides

        overrides.override = override  # type: ignore[assignment]
        overrides.EnforceOverrides = object  # type: ignore[misc, assignment]


def hide_pandas() -> None:
    """Hide pandas from pyarrow's first scalar, for which it would import pandas. It looks again
    when a caller asks it for something of pandas."""
    if "pandas" in sys.modules:
        return
    hidden = _PandasHider()
    sys.meta_path.insert(0, hidden)
    try:
        pyarrow.scalar(True)
    finally:
        sys.meta_path.remove(hidden)


class _PandasHider:
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        del path, target
        if name == "pandas":
            raise ModuleNotFoundError(name=name)
