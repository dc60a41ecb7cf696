"""Files of labelled examples: one JSON object a line, and what is wrong is said with its line."""

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ombud.errors import BadRequest

Example = TypeVar("Example")
DIGEST_DIGITS = 12


class ExampleFormat(NamedTuple):
    noun: str
    """Of one example, such as `question`."""
    hint: str
    """How a line looks."""


def read_examples(
    path: Path,
    kind: ExampleFormat,
    parse: Callable[[dict[str, Any], int], Example | None],
) -> tuple[Example, ...]:
    """One example for each line that is not blank.

    parse: of the object and its line number, from 1; None, LookupError, TypeError and ValueError
    say that it is no example. Raises BadRequest naming the line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as failed:
        raise BadRequest(f"{path} cannot be read.", hint=kind.hint) from failed
    examples = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            example = parse(json.loads(line), number)
        except (ValueError, LookupError, TypeError, RecursionError):
            example = None
        if example is None:
            problem = f"{path.name}, line {number}, is no labelled {kind.noun}."
            raise BadRequest(problem, hint=kind.hint)
        examples.append(example)
    if not examples:
        raise BadRequest(f"{path} has no {kind.noun}s.", hint=kind.hint)
    return tuple(examples)


def examples_digest(rows: Sequence[Sequence[Any]]) -> str:
    """First 12 hex digits of the sha256 of what is learnt from, in order."""
    written = json.dumps(rows, ensure_ascii=False)
    return sha256(written.encode()).hexdigest()[:DIGEST_DIGITS]
