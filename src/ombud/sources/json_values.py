"""Read values of foreign JSON: of the expected type, or empty."""

from collections.abc import Mapping
from typing import Any


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def as_object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def as_objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list; none if the value is no list."""
    if not isinstance(value, list):
        return []
    return [row for row in value if isinstance(row, dict)]


def is_table(value: Any) -> bool:
    """Tell whether the value is a list of objects only."""
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)
