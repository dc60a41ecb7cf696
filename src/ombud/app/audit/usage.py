"""What the answers that were given have cost, by the way on which they came about."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import date, timedelta
from typing import Any, NamedTuple

from ombud.app.audit.auditing import beginning_of
from ombud.app.workspace import Workspace
from ombud.lab import PathCost, costs_by_path
from ombud.store import list_answers
from ombud.types import Trace

DAYS = 30
"""Days that are looked back on where none is given."""


class UsageReport(NamedTuple):
    since: date
    until: date
    paths: tuple[PathCost, ...]
    """Means of a question; none where no model was asked."""


def find_usage(workspace: Workspace, since: date | None = None) -> UsageReport:
    """Of the answers kept since that day; what was erased is not counted."""
    today = workspace.today()
    first = since or today - timedelta(days=DAYS)
    return UsageReport(first, today, tuple(costs_by_path(_traces(workspace, first))))


def usage_json(usage: UsageReport) -> dict[str, Any]:
    return {
        "since": usage.since.isoformat(),
        "until": usage.until.isoformat(),
        "paths": list(map(asdict, usage.paths)),
    }


def _traces(workspace: Workspace, first: date) -> Iterator[Trace]:
    for row in list_answers(workspace.store, beginning_of(workspace, first)):
        if row.answer:
            yield row.answer.trace
