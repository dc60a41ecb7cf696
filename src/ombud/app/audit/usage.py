"""What the given answers cost, by the path on which they came about."""

from dataclasses import asdict
from datetime import date, timedelta
from typing import Any, NamedTuple

from ombud.app.audit.auditing import beginning_of
from ombud.app.workspace import Workspace
from ombud.lab import PathCost, costs_by_path
from ombud.store import list_answers

DAYS = 30
"""Default number of days to look back."""


class UsageReport(NamedTuple):
    """Costs of the answers of a period."""

    since: date
    until: date
    paths: tuple[PathCost, ...]
    """Averages for one question, by path; empty if no model was called."""


def find_usage(workspace: Workspace, since: date | None = None) -> UsageReport:
    """Report on the stored answers since that day, without erased ones."""
    today = workspace.today()
    first = since or today - timedelta(days=DAYS)
    rows = list_answers(workspace.store, beginning_of(workspace, first))
    traces = (row.answer.trace for row in rows if row.answer)
    return UsageReport(first, today, tuple(costs_by_path(traces)))


def usage_json(usage: UsageReport) -> dict[str, Any]:
    return {
        "since": usage.since.isoformat(),
        "until": usage.until.isoformat(),
        "paths": list(map(asdict, usage.paths)),
    }
