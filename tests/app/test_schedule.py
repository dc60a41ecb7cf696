"""Syncs that run by themselves."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from app.conftest import Open
from ombud.app import every, run_schedule
from ombud.errors import BadSetting
from ombud.store import acquire_lease

TOML = '[[source]]\nname = "docs"\npath = "docs"\n[sync]\nevery = "1h"\n'


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("", None),
        ("30m", timedelta(minutes=30)),
        ("12h", timedelta(hours=12)),
        ("7d", timedelta(days=7)),
        ("2w", timedelta(days=14)),
    ],
)
def test_periods(text: str, period: timedelta | None) -> None:
    schedule = every(text)
    assert (schedule.period if schedule else None) == period


@pytest.mark.parametrize(
    "text",
    [
        "7",
        "d",
        "0d",
        "7 d",
        "-7d",
        "1.5h",
        "7D",
        "7days",
        "7d ",
        "99999w",
        "٣d",
        "0 3 * *",
        "61 3 * * 1",
        "0 3 * * 1 1",
        "0 0 30 2 *",
    ],
)
def test_what_is_no_period_is_said(text: str) -> None:
    with pytest.raises(BadSetting) as wrong:
        every(text)
    assert text in str(wrong.value)
    assert "7d" in wrong.value.hint


def test_the_longest_period_can_be_waited_for() -> None:
    schedule = every("9999w")
    assert schedule
    assert schedule.pause(datetime.now(UTC)) < threading.TIMEOUT_MAX


@pytest.mark.parametrize(
    ("line", "now", "hours"),
    [
        ("0 3 * * 1", "2026-03-02T02:00", 1),  # a Monday
        ("0 3 * * 1", "2026-03-02T03:00", 7 * 24),
        ("30 4 1 * *", "2026-02-28T04:30", 24),
        (
            "0 3 * * *",
            "2026-03-29T00:00",
            2,
        ),  # the night in which Paris loses the hour from two to three
    ],
)
def test_a_cron_line_counts_in_the_time_zone_of_the_settings(
    line: str, now: str, hours: float
) -> None:
    schedule = every(line)
    assert schedule
    moment = datetime.fromisoformat(now).replace(tzinfo=ZoneInfo("Europe/Paris"))
    assert schedule.pause(moment) / 3600 == pytest.approx(hours)


def test_a_cron_line_waits_for_its_time(open_home: Open, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Leave\n\nYou have 26 days of leave.\n")
    told, stop = list[str](), Turns(2)
    run_schedule(open_home(TOML.replace("1h", "* * * * *")), stop, told.append)
    assert told == ["sync docs: 1 added"]
    assert all(0 < (pause or 0) <= 60 for pause in stop.waits)


class Turns(threading.Event):
    """Ends the schedule after so many turns, and says how long each wait would have been."""

    def __init__(self, turns: int) -> None:
        super().__init__()
        self.turns, self.waits = turns, list[float | None]()

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        return len(self.waits) >= self.turns


def test_it_syncs_at_once_and_every_period(open_home: Open, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Leave\n\nYou have 26 days of leave.\n")
    (tmp_path / "docs" / "b.md").write_text("")
    told, stop = list[str](), Turns(2)
    run_schedule(open_home(TOML), stop, told.append)
    assert told == ["sync docs: 1 added, 1 failed", "sync docs: nothing changed, 1 failed"]
    assert stop.waits == [3600, 3600]


def test_a_failure_is_told_and_the_next_turn_comes(open_home: Open, tmp_path: Path) -> None:
    told, stop = list[str](), Turns(2)
    run_schedule(open_home(TOML), stop, told.append)
    assert len(told) == 2
    assert told[0].startswith("sync docs: nothing changed. The folder")
    assert "does not exist" in told[0]


def test_a_sync_elsewhere_is_waited_out(open_home: Open, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    workspace, told = open_home(TOML), list[str]()
    with acquire_lease(workspace.store, "sync"):
        run_schedule(workspace, Turns(1), told.append)
    assert told == ["sync: another process is at it"]


def test_a_source_that_is_set_wrong_is_told(open_home: Open) -> None:
    told = list[str]()
    run_schedule(
        open_home(TOML + '[[source]]\nname = "x"\npath = "x"\ncountry = "GBR"\n'),
        Turns(1),
        told.append,
    )
    (line,) = told
    assert line.startswith("sync failed: source `x`")


def test_without_a_period_nothing_runs(open_home: Open) -> None:
    told, stop = list[str](), Turns(1)
    run_schedule(open_home(), stop, told.append)
    assert told == []
    assert stop.waits == []
