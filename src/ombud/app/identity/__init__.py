"""Who somebody is, what they may do, and how they prove it."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ombud.app.identity import callers, people, provider, signing_in

__all__ = ["callers", "people", "provider", "signing_in"]


def __getattr__(name: str) -> object:
    """Imported when they are first used, as at the door of the room."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
