"""Syncs that run by themselves while `ombud serve` is up: one owner at a time, by the lease of the sync itself."""

import re
import threading
from collections.abc import Callable
from datetime import timedelta

from ombud.app.syncing import sync_all
from ombud.app.workspace import Workspace
from ombud.errors import BadSetting, Busy, OmbudError
from ombud.ingest import Report

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def every(text: str) -> timedelta | None:
    """A period such as 30m, 12h, 7d or 2w; None for an empty one. Raises BadSetting."""
    if not text:
        return None
    match = re.fullmatch(r"([1-9]\d{0,3})([mhdw])", text)
    if not match:
        raise BadSetting(f"sync.every = `{text}` is not a period.", hint="Write it as 30m, 12h, 7d or 2w.")
    return timedelta(**{UNITS[match[2]]: int(match[1])})


def run_schedule(workspace: Workspace, stop: threading.Event, tell: Callable[[str], None]) -> None:
    """Sync at once and then every period until `stop` is set; a failure is told and the next turn comes."""
    period = every(workspace.settings.sync.every)
    if period:
        run_every(workspace, period, stop, tell)


def run_every(workspace: Workspace, period: timedelta, stop: threading.Event, tell: Callable[[str], None]) -> None:
    while True:
        try:
            for report in sync_all(workspace):
                tell(report_line(report))
        except Busy:
            tell("sync: another process is at it")
        except OmbudError as failed:
            tell(f"sync failed: {failed} {failed.hint}".strip())
        if stop.wait(period.total_seconds()):
            return


def report_line(report: Report) -> str:
    counts = {k: getattr(report, k) for k in ("added", "updated", "moved", "deleted")}
    said = ", ".join(f"{n} {what}" for what, n in counts.items() if n) or "nothing changed"
    return (
        f"sync {report.name}: {said}"
        + (f", {len(report.failed)} failed" if report.failed else "")
        + f". {report.note}".rstrip(". ")
    )
