"""Scheduled syncs of `ombud serve`: one process at a time, by the lease of the sync itself."""

import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from ombud.app.syncing import sync_all
from ombud.app.workspace import Workspace
from ombud.errors import BadSetting, Busy, OmbudError
from ombud.ingest import REREAD, SyncReport

UNITS = {
    "m": "minutes",
    "h": "hours",
    "d": "days",
    "w": "weeks",
}


class Schedule(NamedTuple):
    """A period, which begins at once, or the times of a cron line."""

    period: timedelta | None
    cron: str = ""

    def pause(self, now: datetime) -> float:
        """Return the seconds from `now` to the next turn. A cron line uses the time zone of
        `now`."""
        if self.period:
            return self.period.total_seconds()
        # Within one zone Python subtracts wall-clock times, which jump twice a year.
        following = next(CronSim(self.cron, now))
        wait = following.astimezone(UTC) - now.astimezone(UTC)
        return wait.total_seconds()


def every(text: str) -> Schedule | None:
    """Parse a period such as 30m, 12h, 7d or 2w, or a cron line of five fields; None for an empty
    text. Raises BadSetting."""
    if not text:
        return None
    if match := re.fullmatch(r"([1-9]\d{0,3})([mhdw])", text):
        unit = UNITS[match[2]]
        return Schedule(timedelta(**{unit: int(match[1])}))
    try:
        if len(text.split()) == 5:  # the library also accepts a sixth field, seconds
            next(CronSim(text, datetime(2000, 1, 1)))  # noqa: DTZ001 - only whether there is one
            return Schedule(None, text)
    except (CronSimError, StopIteration):
        pass
    raise BadSetting(
        f"sync.every = `{text}` is no period and no cron line.",
        hint="Write it as 30m, 12h, 7d or 2w, or as `0 3 * * 1` for Mondays at three.",
    )


def run_schedule(
    workspace: Workspace, stop: threading.Event, on_line: Callable[[str], None]
) -> None:
    """Sync at once and then every period, or at the times of a cron line, until `stop` is set;
    failures are reported, and the next turn comes."""
    schedule = every(workspace.settings.sync.every)
    if schedule:
        run_every(workspace, schedule, stop, on_line, at_once=bool(schedule.period))


def run_every(
    workspace: Workspace,
    schedule: Schedule,
    stop: threading.Event,
    on_line: Callable[[str], None],
    *,
    at_once: bool,
) -> None:
    zone = ZoneInfo(workspace.settings.general.timezone)
    while at_once or not stop.wait(schedule.pause(datetime.now(zone))):
        at_once = False
        try:
            for report in sync_all(workspace):
                on_line(report_line(report))
        except Busy:
            on_line("sync: another process is at it")
        except OmbudError as failed:
            on_line(f"sync failed: {failed} {failed.hint}".strip())


def report_line(report: SyncReport) -> str:
    counts = {
        "added": report.added,
        "updated": report.updated,
        "moved": report.moved,
        "deleted": report.deleted,
    }
    changes = []
    for what, count in counts.items():
        if count:
            changes.append(f"{count} {what}")
    line = f"sync {report.name}: {', '.join(changes) or 'nothing changed'}"
    if report.reread:
        line += f", {report.reread} {REREAD}"
    if report.failed:
        line += f", {len(report.failed)} failed"
    return line + f". {report.note}".rstrip(". ")
