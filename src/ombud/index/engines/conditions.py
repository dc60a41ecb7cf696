"""Translate the filter of a search into the SQL that LanceDB and Milvus share."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from ombud.index.engines.lance_rows import EARLIEST, as_number
from ombud.index.visibility import Filter, is_open_to
from ombud.types import Status


def condition_of(
    where: Filter,
    rules: Callable[[], Mapping[str, Mapping[str, Any]]],
    among: Callable[[str, Sequence[str]], str],
) -> str | None:
    """Write the condition of a filter; "" if it hides nothing, None if nothing can be visible.

    rules: reader key -> countries and audience, called only if needed. among: writes that a column
    holds one of some values. Conditions that hide nothing are left out, as they cost as much as
    others."""
    parts: list[str] = []
    if where.countries is not None or where.reader is not None:
        keys: list[str] = []
        for key, rule in rules().items():
            if is_open_to(rule["countries"], rule["audience"], where):
                keys.append(key)
        if not keys:
            return None
        parts.append(among("reader", keys))
    if not where.status:
        return None
    if set(where.status) != set(get_args(Status)):
        parts.append(among("status", where.status))
    if where.as_of:
        day = as_number(where.as_of, EARLIEST)
        parts.append(f"effective_from <= {day} and effective_to >= {day}")
    if where.sources:
        parts.append(among("source", where.sources))
    return " and ".join(parts)
