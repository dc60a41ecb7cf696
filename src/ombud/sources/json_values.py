"""Values of JSON that somebody else wrote: of the kind that is wanted, or empty."""

from collections.abc import Mapping
from typing import Any


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def as_object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def as_objects(value: Any) -> list[Mapping[str, Any]]:
    """Those of a list that are objects."""
    if not isinstance(value, list):
        return []
    return [row for row in value if isinstance(row, dict)]


def is_table(value: Any) -> bool:
    """Whether it is a list of nothing but objects."""
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)
