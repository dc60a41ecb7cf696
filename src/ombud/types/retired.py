"""Loading stored records whose fields or values were removed since they were written."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeVar, get_args

from pydantic import ValidationError

from ombud.types.asking import Plan
from ombud.types.records import Record

R = TypeVar("R", bound=Record)

RETIRED_FIELDS: dict[type[Record], Collection[str]] = {
    Plan: {
        *("k_simple", "stepback_with_question", "glossary", "rrf_k", "rerank_pool"),
        *("mapping", "pinned"),
    }
}
"""Record -> fields that it no longer has; they are dropped when a row is loaded, wherever the
record stands, such as in the trace of an answer."""

RETIRED_VALUES: dict[type[Record], Mapping[str, Mapping[Any, Any]]] = {
    Plan: {"fusion": {"combmnz": "combsum"}}
}
"""Record -> field -> value that it no longer takes -> value to load instead."""


def load_record(shape: type[R], stored: Any) -> R:
    """Make a record of a stored row, JSON text or what was read of it. Raises ValidationError where
    it is none, whatever was retired."""
    try:
        if isinstance(stored, str):
            return shape.model_validate_json(stored)
        return shape.model_validate(stored)
    except ValidationError:
        fields = json.loads(stored) if isinstance(stored, str) else stored
        return shape.model_validate(_without_retired(shape, fields))


def _without_retired(annotation: Any, value: Any) -> Any:
    shapes = set(_records_in(annotation))
    if len(shapes) != 1:
        return value
    if isinstance(value, list):
        return [_without_retired(annotation, item) for item in value]
    if not isinstance(value, dict):
        return value
    shape = shapes.pop()
    retired_values = RETIRED_VALUES.get(shape, {})
    fields: dict[str, Any] = {}
    for name, inner in value.items():
        if name in RETIRED_FIELDS.get(shape, ()):
            continue
        if isinstance(inner, str):
            inner = retired_values.get(name, {}).get(inner, inner)
        field = shape.model_fields.get(name)
        fields[name] = _without_retired(field.annotation, inner) if field else inner
    return fields


def _records_in(annotation: Any) -> Iterator[type[Record]]:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        yield annotation
    for inner in get_args(annotation):
        yield from _records_in(inner)
