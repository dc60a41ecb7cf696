"""JSON Lines in, JSON Lines out: order kept, a bad line is answered with its error and the run goes
on."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ombud.cli.console import day, messages, person, print_json
from ombud.errors import BadRequest, OmbudError

if TYPE_CHECKING:
    from ombud.types import Person, Question

FIELDS = {"id", "question", "query", "person", "country", "roles", "history", "as_of", "plan"}


def read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any] | OmbudError]]:
    """Yield (id, row or its problem) for each line that is not blank; raises BadRequest for an
    unreadable file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as failed:
        raise BadRequest(
            f"{path} cannot be read.", hint="It is a UTF-8 file with one JSON object a line."
        ) from failed
    # Not splitlines, which also splits inside of texts, at U+2028.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _row(line, number)


def question_of(row: dict[str, Any]) -> "Question":
    """Return the question of a line; country and roles may stand at its top level."""
    from ombud.types import Question

    text = row.get("question") or row.get("query")
    if not isinstance(text, str) or not text.strip():
        raise BadRequest(
            "The line has no question.", hint='Such as {"id": "1", "question": "..."}.'
        )
    return Question(
        text=text,
        asker=person_of(row),
        history=messages(row.get("history")),
        as_of=day(row.get("as_of")),
    )


def person_of(row: dict[str, Any]) -> "Person":
    fields = row.get("person") or {}
    if not isinstance(fields, dict):
        raise BadRequest(
            "person is not an object.", hint='Such as {"country": "GB", "roles": ["manager"]}.'
        )
    country = row.get("country") or fields.get("country") or ""
    roles = row.get("roles") or fields.get("roles") or []
    others = dict(fields)
    others.pop("country", None)
    others.pop("roles", None)
    return person(str(country), roles, **others)


def plan_of(row: dict[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plan fields of a line, overridden by those of the command."""
    plan = row.get("plan") or {}
    if not isinstance(plan, dict):
        raise BadRequest("plan is not an object.", hint='Such as {"k": 5}.')
    return plan | dict(chosen)


def print_failure(identity: str, error: OmbudError) -> None:
    print_json(
        {
            "id": identity,
            "error": {"type": type(error).__name__, "message": str(error), "hint": error.hint},
        }
    )


def _row(line: str, number: int) -> tuple[str, dict[str, Any] | OmbudError]:
    try:
        row = json.loads(line)
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return str(number), BadRequest(
            f"Line {number} holds half a character.", hint="Pair its \\ud800 to \\udfff."
        )
    except (ValueError, RecursionError):
        return str(number), BadRequest(
            f"Line {number} is not JSON.", hint="One JSON object a line."
        )
    if not isinstance(row, dict):
        return str(number), BadRequest(
            f"Line {number} is not an object.", hint="One JSON object a line."
        )
    unknown = sorted(set(row) - FIELDS)
    identity = str(row.get("id", number))
    if unknown:
        return identity, BadRequest(
            f"Line {number}: `{unknown[0]}` is not a field.",
            hint=f"Known: {', '.join(sorted(FIELDS))}.",
        )
    return identity, row
