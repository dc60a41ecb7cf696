"""Conversations as employees and advisors have them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ombud.app.handoff import advising, caring, conversing, relaying

__all__ = ["advising", "caring", "conversing", "relaying"]


def __getattr__(name: str) -> object:
    """Imported when they are first used: a question on the command line needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
