"""What the people who look after ombud do on its pages: each change is a record of the audit."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ombud.app.admin import (
        drafting,
        flagging,
        inspecting,
        jobs,
        overview,
        prompting,
        rating,
        studying,
        trying,
    )

__all__ = [
    "drafting",
    "flagging",
    "inspecting",
    "jobs",
    "overview",
    "prompting",
    "rating",
    "studying",
    "trying",
]


def __getattr__(name: str) -> object:
    """Imported when they are first used, as at the door of the room."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
