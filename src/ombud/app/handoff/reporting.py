"""Report of our own desk: waits, first responses, resolutions, volumes and ratings, in figures
about no fewer people than [audit] allows."""

import csv
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta
from io import StringIO
from statistics import fmean, median
from typing import NamedTuple
from zoneinfo import ZoneInfo

from ombud.app.admin.overview import WEEKS
from ombud.app.audit.auditing import beginning_of
from ombud.app.workspace import Workspace
from ombud.store import HandoffTimes, list_handoff_times


class DeskFigures(NamedTuple):
    """Figures of some hand-overs; a figure is None if too few people are behind it."""

    label: str
    """Monday, topic or country; empty for all of them, or for what has none."""
    handed_over: int
    taken: int
    wait: float | None
    """Median seconds from the request until an advisor came, as are the next two until the first
    message of an advisor and until the end."""
    first_response: float | None
    resolution: float | None
    ratings: int | None
    rating: float | None
    """Mean, from 1 to 5."""


class DeskReport(NamedTuple):
    since: date
    group_size: int
    """Fewest people behind a figure."""
    total: DeskFigures
    weeks: Sequence[DeskFigures]
    """Oldest first."""
    topics: Sequence[DeskFigures]
    """The largest first, as are the countries; smaller groups than allowed are left out."""
    countries: Sequence[DeskFigures]


def desk_figures(workspace: Workspace) -> DeskReport:
    """Report the hand-overs of the last weeks."""
    today = workspace.today()
    first = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    rows = list_handoff_times(workspace.store, beginning_of(workspace, first))
    size = workspace.settings.audit.group_size
    zone = ZoneInfo(workspace.settings.general.timezone)
    weeks: list[DeskFigures] = []
    for number in range(WEEKS):
        monday = first + timedelta(weeks=number)
        of_week = [row for row in rows if monday_of(row, zone) == monday]
        weeks.append(figures_of(monday.isoformat(), of_week, size))
    return DeskReport(
        since=first,
        group_size=size,
        total=figures_of("", rows, size),
        weeks=weeks,
        topics=by_group(rows, lambda row: row.topic, size),
        countries=by_group(rows, lambda row: row.country, size),
    )


def monday_of(row: HandoffTimes, zone: ZoneInfo) -> date:
    day = row.handed_over.astimezone(zone).date()
    return day - timedelta(days=day.weekday())


def by_group(
    rows: Iterable[HandoffTimes], key: Callable[[HandoffTimes], str], size: int
) -> list[DeskFigures]:
    groups: dict[str, list[HandoffTimes]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    large = {label: own for label, own in groups.items() if is_enough(own, size)}
    figures = [figures_of(label, own, size) for label, own in large.items()]
    return sorted(figures, key=lambda one: (-one.handed_over, one.label))


def is_enough(rows: Iterable[HandoffTimes], size: int) -> bool:
    """Tell whether enough people are behind these hand-overs."""
    return len({row.owner for row in rows}) >= size


def figures_of(label: str, rows: Sequence[HandoffTimes], size: int) -> DeskFigures:
    rated = [row for row in rows if row.rating is not None]
    scores = [row.rating for row in rated if row.rating is not None]
    return DeskFigures(
        label=label,
        handed_over=len(rows),
        taken=sum(row.joined is not None for row in rows),
        wait=median_seconds(rows, lambda row: row.joined, size),
        first_response=median_seconds(rows, lambda row: row.responded, size),
        resolution=median_seconds(rows, lambda row: row.ended if row.joined else None, size),
        ratings=len(rated) if is_enough(rated, size) else None,
        rating=fmean(scores) if is_enough(rated, size) and scores else None,
    )


def median_seconds(
    rows: Iterable[HandoffTimes], until: Callable[[HandoffTimes], datetime | None], size: int
) -> float | None:
    spans = [(row, until(row)) for row in rows]
    reached = [(row, at) for row, at in spans if at is not None]
    if not reached or not is_enough([row for row, _ in reached], size):
        return None
    return median((at - row.handed_over).total_seconds() for row, at in reached)


def desk_csv(report: DeskReport) -> str:
    """Write the report as CSV with a header; times are in seconds."""
    out = StringIO()
    writer = csv.writer(out)
    writer.writerow(["group", *DeskFigures._fields])
    groups = {
        "all": [report.total],
        "week": report.weeks,
        "topic": report.topics,
        "country": report.countries,
    }
    for group, rows in groups.items():
        for row in rows:
            # A spreadsheet would run a label that begins like a formula.
            label = f"'{row.label}" if row.label.startswith(("=", "+", "-", "@")) else row.label
            writer.writerow([group, label, *row[1:]])
    return out.getvalue()
