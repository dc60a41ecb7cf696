"""A running server and its `ombud.toml`: what an edit changes, and what a wrong edit does not."""

import itertools
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ombud.errors import BadSetting, UnknownName
from ombud.settings import Flags, Settings, plan_for
from ombud.types import Person

ANNE = Person(id="anne", country="GB")
WHOLE = "[plan]\nk = 5\n[experiment.deep]\nshare = 1\nplan = { rewrites = 7 }\n"
_times = itertools.count(1_700_000_000)


class Running:
    """A workspace whose clock and file only move when the test says so."""

    def __init__(
        self, home: Path, text: str, given: dict[str, Any] | None = None, **more: Any
    ) -> None:
        self.home, self.time, self.told = home, 0.0, list[str]()
        self.save(text)
        self.flags = Flags(home, given, on_change=self.told.append, clock=lambda: self.time, **more)

    def save(self, text: str) -> None:
        path = self.home / "ombud.toml"
        path.write_text(text, encoding="utf-8")
        now = next(_times)  # two saves in one tick of the disk's clock have the same time
        os.utime(path, (now, now))

    def later(self, seconds: float = 0.5) -> Settings:
        self.time += seconds
        return self.flags.current()


Start = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    for name in [n for n in os.environ if n.startswith("OMBUD_")]:
        monkeypatch.delenv(name)
    return lambda text, given=None, **more: Running(tmp_path, text, given, **more)


def test_one_edited_line_changes_and_reverts(start: Start) -> None:
    running = start(WHOLE)
    running.save(WHOLE.replace("share = 1", "share = 0"))
    assert plan_for(running.later(), ANNE).variant == ""
    running.save(WHOLE)
    planned = plan_for(running.later(), ANNE)
    assert (planned.variant, planned.plan.rewrites) == ("deep", 7)
    assert running.told == [
        "settings read again: experiment.deep.share 1.0 -> 0.0",
        "settings read again: experiment.deep.share 0.0 -> 1.0",
    ]
    assert running.flags.note == ""


def test_every_flag_is_taken_over(start: Start) -> None:
    running = start("")
    running.save(
        "[plan]\nk = 3\nadaptive = ['k']\n[country.GB.plan]\npool = 9\n[persona.employee.plan]\nbudget_tokens = 700\n"
        "[experiment.deep]\nshare = 1\nplan = { rewrites = 7 }\n"
    )
    planned = plan_for(running.later(), ANNE)
    assert (
        planned.plan.k,
        planned.plan.pool,
        planned.plan.budget_tokens,
        planned.plan.rewrites,
    ) == (
        3,
        9,
        700,
        7,
    )
    assert running.told == [
        'settings read again: plan.k 8 -> 3, plan.adaptive false -> ["k"], country.GB.plan.pool unset -> 9, '
        "persona.employee.plan.budget_tokens unset -> 700, experiment.deep.plan.rewrites unset -> 7, "
        "experiment.deep.share unset -> 1.0, experiment.deep.countries unset -> [], "
        "experiment.deep.off unset -> false, and 1 more"
    ]


def test_many_changes_are_one_short_line(start: Start) -> None:
    running = start("")
    running.save("".join(f"[country.A{letter}.plan]\nk = 3\n" for letter in "ABCDEFGHIJKL"))
    running.later()
    assert running.told[0].endswith("country.AH.plan.k unset -> 3, and 4 more")


def test_the_file_is_looked_at_twice_a_second(start: Start) -> None:
    running = start("[plan]\nk = 5\n")
    running.save("[plan]\nk = 6\n")
    assert running.flags.current().plan.k == 5
    assert running.later(0.4).plan.k == 5
    assert running.later(0.1).plan.k == 6


def test_a_file_that_did_not_change_is_not_read_again(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start("[plan]\nk = 5\n")
    monkeypatch.setenv("OMBUD_PLAN__K", "9")  # would be seen by anyone who reads the settings
    assert running.later().plan.k == 5
    assert running.told == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[plan]\nk = 0\n",
            "k = 0 asks the chat model without documents: it is for the lab, not for people",
        ),
        ("[plan]\npol = 3\n", "not a setting. Did you mean `pool`?"),
        ("[plan\n", "is not valid TOML"),
        ("[plan]\nk = 6\n[sever]\nport = 1\n", "Did you mean `server`?"),
        ("[experiment.deep]\nshare = 2\n", "experiment.deep.share = 2"),
    ],
)
def test_a_wrong_edit_leaves_the_old_settings(start: Start, text: str, said: str) -> None:
    running = start(WHOLE)
    running.save(text)
    assert running.later().plan.k == 5
    assert said in running.flags.note
    assert plan_for(running.later(), ANNE).variant == "deep"
    assert running.told == [running.flags.note]  # once, not at every look
    running.save(WHOLE.replace("k = 5", "k = 6"))
    assert running.later().plan.k == 6
    assert running.flags.note == ""
    assert running.told[1:] == ["settings read again: plan.k 5 -> 6"]


def test_a_wrong_edit_that_is_taken_back_is_told(start: Start) -> None:
    running = start(WHOLE)
    running.save("[plan\n")
    running.later()
    running.save(WHOLE)
    running.later()
    assert running.told[1:] == ["settings read again: ombud.toml is as it was."]
    assert running.flags.note == ""


def test_a_second_wrong_edit_is_told_too(start: Start) -> None:
    running = start(WHOLE)
    for text in ("[plan]\nk = 0\n", "[plan]\nk = 0\n# now?\n", "[plan]\nk = 101\n"):
        running.save(text)
        running.later()
    assert len(running.told) == 2
    assert "k = 101" in running.flags.note


def test_a_strategy_that_does_not_exist_is_a_wrong_edit(start: Start) -> None:
    def check(settings: Settings) -> None:
        if "hdye" in settings.plan.strategies:
            raise UnknownName("No strategy is called `hdye`.", hint="Did you mean `hyde`?")

    running = start("[plan]\nk = 5\n", check=check)
    running.save("[plan]\nk = 6\nstrategies = ['hdye']\n")
    assert running.later().plan.k == 5
    assert running.flags.note.endswith("No strategy is called `hdye`. Did you mean `hyde`?")


def test_what_is_wrong_at_the_beginning_is_an_error(start: Start) -> None:
    with pytest.raises(BadSetting, match="plan: k = 0"):
        start("[plan]\nk = 0\n")


def test_other_sections_count_after_a_restart(start: Start) -> None:
    source = "[[source]]\nname = 'a'\npath = 'a'\n"
    running = start("[server]\nport = 1000\n[store]\nurl = 'sqlite:///a'\n[plan]\nk = 5\n" + source)
    edited = "[server]\nport = 2000\n[store]\nurl = 'postgresql://me:secret@db/x'\n[plan]\nk = 6\n"
    running.save(edited)
    settings = running.later()
    assert (settings.plan.k, settings.server.port, settings.store.url) == (6, 1000, "sqlite:///a")
    assert [s.name for s in settings.source] == ["a"]
    wanted = "ombud.toml: server.port, source, store.url changed too, which counts after a restart."
    assert running.told == ["settings read again: plan.k 5 -> 6", wanted]
    assert running.flags.note == wanted
    running.save(edited + "# a comment\n")
    running.later()
    assert len(running.told) == 2  # said once
    running.save("[server]\nport = 1000\n[store]\nurl = 'sqlite:///a'\n[plan]\nk = 6\n" + source)
    assert running.later().server.port == 1000
    assert running.flags.note == ""


def test_variables_and_options_win_over_every_edit(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMBUD_PLAN__POOL", "77")
    running = start("[plan]\nk = 5\npool = 5\n", {"plan": {"k": 9}})
    running.save("[plan]\nk = 6\npool = 6\nrewrites = 6\n")
    plan = running.later().plan
    assert (plan.k, plan.pool, plan.rewrites) == (9, 77, 6)


def test_a_file_that_goes_away_leaves_the_settings(start: Start) -> None:
    running = start("[plan]\nk = 5\n")
    path = running.home / "ombud.toml"
    path.rename(running.home / "aside")
    assert running.later().plan.k == 5
    assert running.flags.note == "ombud.toml is not there any more; the settings stay as they were."
    (running.home / "aside").rename(path)
    assert running.later().plan.k == 5
    assert running.flags.note == ""
    assert len(running.told) == 2


def test_a_workspace_without_a_file_may_get_one(tmp_path: Path, start: Start) -> None:
    running = start("")
    (tmp_path / "ombud.toml").unlink()
    flags = Flags(tmp_path, clock=lambda: running.time)
    assert flags.current().plan.k == 8
    running.save("[plan]\nk = 5\n")
    running.time += 0.5
    assert flags.current().plan.k == 5


def test_a_file_that_takes_the_place_of_the_old_one_is_seen(start: Start) -> None:
    running = start("[plan]\nk = 5\n")
    path, new = running.home / "ombud.toml", running.home / "new"
    new.write_text("[plan]\nk = 6\n")
    os.utime(
        new, ns=(path.stat().st_mtime_ns, path.stat().st_mtime_ns)
    )  # same time, same size: only the inode differs
    new.rename(path)
    assert running.later().plan.k == 6


def test_a_file_that_is_still_being_written_is_read_at_the_next_look(start: Start) -> None:
    halves = ["[plan]\nk = 6\n", "[plan]\nk = 6\n[country.GB.plan]\npool = 9\n"]

    def go_on_writing(_: Settings) -> None:
        if len(halves) == 1:
            running.save(halves.pop())

    running: Running = start("[plan]\nk = 5\n", check=go_on_writing)
    running.save(halves.pop(0))
    assert running.later().plan.k == 5
    assert plan_for(running.later(), ANNE).plan.pool == 9
    assert len(running.told) == 1


def test_nobody_waits_for_the_one_who_reads(start: Start) -> None:
    reading, go_on = threading.Event(), threading.Event()

    def check(settings: Settings) -> None:
        if settings.plan.k == 6:
            reading.set()
            assert go_on.wait(30)

    running = start("[plan]\nk = 5\n", check=check)
    running.save("[plan]\nk = 6\n")
    running.time += 1
    seen: list[int] = []
    reader = threading.Thread(target=lambda: seen.append(running.flags.current().plan.k))
    reader.start()
    assert reading.wait(30)
    assert running.flags.current().plan.k == 5
    go_on.set()
    reader.join(30)
    assert seen == [6]
    assert running.flags.current().plan.k == 6


def test_threads_see_one_file_or_the_other_and_never_a_mixture(start: Start) -> None:
    running = start("[plan]\nk = 1\npool = 1\n")
    seen: set[tuple[int, int]] = set()
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            plan = running.flags.current().plan
            seen.add((plan.k, plan.pool))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(2, 12):
        running.save(f"[plan]\nk = {number}\npool = {number}\n")
        running.later()
    done.set()
    for thread in threads:
        thread.join()
    assert all(k == pool for k, pool in seen)
    running.time += 1
    assert running.flags.current().plan.k == 11
