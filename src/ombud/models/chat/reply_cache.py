"""Replies remembered, for requests that are exactly the same."""

import json
from collections import OrderedDict
from hashlib import sha256
from typing import Any

from pydantic import BaseModel, ValidationError

from ombud.models.chat.asking import ModelRequest
from ombud.models.chat.outcomes import T
from ombud.models.chat.resilience import Timing

MOST = 1000
LONGEST = 100_000
"""Replies kept, and characters of each."""
SECONDS = 3600.0
"""How long one is true. In memory and not in the store: what is deleted there must be gone
everywhere."""


class ReplyCache:
    """In the memory of this process, the latest used. Only what was asked at temperature 0:
    elsewhere people want another answer each time."""

    def __init__(self, timing: Timing) -> None:
        self._clock = timing.clock
        self._kept: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def find(self, model: str, request: ModelRequest[T]) -> T | None:
        key = _key(model, request)
        born, text = self._kept.get(key, (0.0, ""))
        if not text:
            return None
        if self._clock() - born > SECONDS:
            del self._kept[key]
            return None
        self._kept.move_to_end(key)
        try:
            return request.kind.model_validate_json(text)
        except ValidationError:  # a type that does not read what it writes
            return None

    def keep(self, model: str, request: ModelRequest[Any], value: BaseModel) -> None:
        text = value.model_dump_json()
        if request.temperature > 0 or len(text) > LONGEST:
            return
        self._kept[_key(model, request)] = self._clock(), text
        if len(self._kept) > MOST:
            self._kept.popitem(last=False)


def _key(model: str, request: ModelRequest[Any]) -> str:
    kind = f"{request.kind.__module__}.{request.kind.__qualname__}"
    parts = [model, kind, request.temperature, request.instructions, request.prompt]
    return sha256(json.dumps(parts).encode()).hexdigest()
