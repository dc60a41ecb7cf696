"""What the log says of a failure: where it came from, and never the words of an exception.

These may repeat what somebody asked: databases, models and validators quote what they were given.
So a log holds the kinds of the errors and the lines of code; of our own errors also the sentence,
unless a model's server wrote it."""

import json
import logging
import sys
import threading
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TextIO

from ombud.errors import EngineError, SetupError, StoreError

OWN_ERRORS = (EngineError, SetupError, StoreError)
"""Errors whose sentence is made by us alone."""
ACCESS = logging.getLogger("ombud.access")
"""Of each request its route and how it ended: never its address, which may hold what somebody
searched for."""

SERVER = logging.getLogger("ombud.server")
"""What a server or worker tells whoever runs it, such as the address at which it answers."""


def describe_error(error: BaseException) -> str:
    """Return the error and its causes, the first cause first."""
    parts: list[str] = []
    seen: set[int] = set()
    while error and id(error) not in seen:
        seen.add(id(error))
        frames = "".join(traceback.format_tb(error.__traceback__)).rstrip()
        words = f": {error}" if isinstance(error, OWN_ERRORS) else ""
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

    Of an exception its kinds and lines of code, as `describe_error` says them."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[1]:
            line["error"] = describe_error(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False, default=str)


def line_writer(form: str) -> Callable[[str], None]:
    """Return what tells whoever runs this process a line. form: of the setting `server.log`; after
    `json` everything that this process logs is JSON."""
    if form == "json":
        write_json(sys.stderr)
        return SERVER.info
    return lambda line: print(line, file=sys.stderr, flush=True)


def write_json(stream: TextIO) -> None:
    """Write all further log lines of this process as JSON there, requests included."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    ACCESS.setLevel(logging.INFO)
    SERVER.setLevel(logging.INFO)
    logging.captureWarnings(capture=True)
    threading.excepthook = _log_thread
    sys.excepthook = lambda kind, error, _: SERVER.critical("The process failed", exc_info=error)


def _log_thread(args: threading.ExceptHookArgs) -> None:
    name = args.thread.name if args.thread else ""
    SERVER.error("The thread %s failed", name, exc_info=args.exc_value)
