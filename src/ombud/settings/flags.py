"""Feature flags of a running server: plans and experiments are read again when `ombud.toml`
changes."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ombud.errors import OmbudError
from ombud.settings.azure import RemoteFlags
from ombud.settings.loading import FILE, Settings, load

FLAGS = ("plan", "country", "persona", "experiment")
"""Sections that are taken over while a server runs; behind the others stand parts that are open
already."""
PAUSE = 0.5
"""Seconds between two looks at the file."""
MOST_SAID = 8

FileSignature = tuple[int, int, int] | None


class Signature(NamedTuple):
    file: FileSignature
    """None where there is none."""
    remote: int
    """Which state of App Configuration."""


class Flags:
    """The settings of the workspace `home` as they are now; raises BadSetting when they are wrong
    at the beginning.

    Later a wrong file, or none, leaves the settings as they were. Safe to use from several threads.

    given: values that win over the file, as for `load`. check: raises OmbudError for what cannot be
    judged here, such as a strategy that does not exist. on_change: gets one line for each change.
    clock: seconds that only grow."""

    def __init__(
        self,
        home: Path,
        given: Mapping[str, Any] | None = None,
        *,
        check: Callable[[Settings], None] = lambda _: None,
        on_change: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.home = home
        self._given = dict(given or {})
        self._check = check
        self._on_change = on_change
        self._clock = clock
        self._lock = threading.Lock()
        file = _file_signature(home / FILE)
        self._settings = self._read(None)
        self._remote = RemoteFlags(self._settings.azure, self._settings.remote, clock)
        self._remote_note = ""
        self._seen = Signature(file, 0)
        self._next = clock() + PAUSE
        self.note = ""
        """What stands in the file and does not count, and why; empty when all of it counts."""

    def current(self) -> Settings:
        """The settings of now. Looks at the file twice a second at most, and reads it only when it
        changed."""
        # Who comes while another thread looks does not wait for it, and gets what was true until
        # now.
        if self._clock() >= self._next and self._lock.acquire(blocking=False):
            try:
                messages = self._look()
            finally:
                self._lock.release()
            for line in messages:
                self._on_change(line)
        return self._settings

    def _read(self, remote: Mapping[str, Any] | None) -> Settings:
        """remote: of App Configuration; None = look there."""
        settings = load(self.home, self._given, remote)
        self._check(settings)
        return settings

    def _look(self) -> list[str]:
        """Take over what changed; returns what is to be told of it."""
        self._next = self._clock() + PAUSE
        seen = self._signature()
        if seen == self._seen:
            return self._remote_news()
        # Some editors delete and write anew: defaults must not rule in between.
        if seen.file is None and self._seen.file is not None:
            self._seen = seen
            return self._noted(f"{FILE} is not there any more; the settings stay as they were.")
        try:
            read = self._read(self._remote.state().held)
        except OmbudError as wrong:
            place = FILE if seen.file != self._seen.file else "App Configuration"
            messages = self._noted(
                f"{place} is wrong, the old one stays: {wrong} {wrong.hint}".strip()
            )
        else:
            if self._signature() != seen:  # still being written
                return []
            messages = self._taken(read)
        self._seen = seen
        return messages

    def _signature(self) -> Signature:
        return Signature(_file_signature(self.home / FILE), self._remote.state().version)

    def _remote_news(self) -> list[str]:
        """Whether App Configuration can be read, where that changed."""
        note = self._remote.state().note
        if note == self._remote_note:
            return []
        self._remote_note = note
        return [note or "App Configuration can be read again."]

    def _taken(self, read: Settings) -> list[str]:
        old = self._settings
        had_note = bool(self.note)
        self._settings = old.model_copy(update={name: getattr(read, name) for name in FLAGS})
        lines: list[str] = []
        changed = _changed(old, self._settings)
        if changed:
            lines.append(f"settings read again: {changed}")
        waiting = ""
        later = sorted(_restarts(self._settings, read))
        if later:
            keys = ", ".join(later)
            waiting = f"{FILE}: {keys} changed too, which counts after a restart."
        if had_note and not lines and not waiting:
            lines.append(f"settings read again: {FILE} is as it was.")
        return lines + self._noted(waiting)

    def _noted(self, note: str) -> list[str]:
        """Keep the note; returns it when it is a new one."""
        new = [note] if note and note != self.note else []
        self.note = note
        return new


def _file_signature(path: Path) -> FileSignature:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _changed(old: Settings, new: Settings) -> str:
    """Such as `plan.k 8 -> 5, experiment.hyde.share 0.1 -> 0`; empty where nothing changed."""
    before = dict(_flat(old.model_dump(mode="json", include=set(FLAGS))))
    after = dict(_flat(new.model_dump(mode="json", include=set(FLAGS))))
    changes: list[str] = []
    for key in dict.fromkeys((*before, *after)):
        then, now = before.get(key, "unset"), after.get(key, "unset")
        if then != now:
            changes.append(f"{key} {then} -> {now}")
    shown = changes[:MOST_SAID]
    if len(changes) > MOST_SAID:
        shown.append(f"and {len(changes) - MOST_SAID} more")
    return ", ".join(shown)


def _flat(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield above + key, json.dumps(value, ensure_ascii=False)


def _restarts(running: Settings, read: Settings) -> Iterator[str]:
    """Keys that differ outside of the flags. Only their names: a value may hold a password."""
    for section in set(Settings.model_fields) - set(FLAGS):
        before, after = getattr(running, section), getattr(read, section)
        if isinstance(before, tuple):
            yield from [section] if before != after else []
            continue
        yield from (
            f"{section}.{key}"
            for key in type(before).model_fields
            if getattr(before, key) != getattr(after, key)
        )
