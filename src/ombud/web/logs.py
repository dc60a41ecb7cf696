"""What the log says of a failure: where it came from, and never the words of an exception.

These may repeat what somebody asked: databases, models and validators quote what they were given.
So a log holds the kinds of the errors and the lines of code; of our own errors also the sentence,
unless a model's server wrote it."""

import traceback

from ombud.errors import EngineError, SetupError, StoreError

SAID = (EngineError, SetupError, StoreError)
"""Errors whose sentence is made by us alone."""


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
