"""What was read in passages and remembered: many questions meet the same ones.

All of it is let go when the documents change, so that nothing deleted stays in memory."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])
_forgetting: list[Callable[[], None]] = []


def remembered(most: int) -> Callable[[T], T]:
    """Cache the last `most` results of a function of passages until `forget_passages`."""

    def keeping(function: T) -> T:
        cached = lru_cache(maxsize=most)(function)
        _forgetting.append(cached.cache_clear)
        return cached  # type: ignore[return-value]

    return keeping


def forget_passages() -> None:
    """Clear the caches because documents have changed."""
    for forget in _forgetting:
        forget()
