"""What the log says of a failure: where it came from, and never the words of an exception.

These may repeat what somebody asked: databases, models and validators quote what they were given.
So a log holds the kinds of the errors and the lines of code; of our own errors also the sentence,
unless a model's server wrote it."""

import json
import logging
import traceback
from datetime import UTC, datetime
from typing import Any, TextIO

from ombud.errors import EngineError, SetupError, StoreError

SAID = (EngineError, SetupError, StoreError)
"""Errors whose sentence is made by us alone."""
ACCESS = logging.getLogger("ombud.access")
"""Of each request its route and how it ended: never its address, which may hold what somebody
searched for."""


def told(error: BaseException) -> str:
    """The error and what it came from, the first cause first."""
    parts: list[str] = []
    seen: set[int] = set()
    while error and id(error) not in seen:
        seen.add(id(error))
        frames = "".join(traceback.format_tb(error.__traceback__)).rstrip()
        words = f": {error}" if isinstance(error, SAID) else ""
        parts.append(
            f"{frames}\n{type(error).__module__}.{type(error).__qualname__}{words}".strip("\n")
        )
        before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if before is None:
            break
        error = before
    return "\nwhich led to\n".join(reversed(parts))


class JsonLines(logging.Formatter):
    """A record as one line of JSON: when, how grave, who says it, what, and the facts beside it.

    Of an exception its kinds and lines of code, as `told` says them."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[1]:
            line["error"] = told(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False, default=str)


def write_json(stream: TextIO) -> None:
    """From now on every logger of this process writes lines of JSON there, requests included."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    ACCESS.setLevel(logging.INFO)
