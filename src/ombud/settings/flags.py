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
from ombud.settings.loading import FILE, Settings, open_settings

FLAGS = ("plan", "country", "persona", "experiment")
"""Sections that are taken over while a server runs; behind the others stand parts that are open
already."""
PAUSE = 0.5
"""Seconds between two looks at the file."""
MOST_LISTED = 8

FileSignature = tuple[int, int, int] | None


class Signature(NamedTuple):
    file: FileSignature
    """None where there is none."""
    remote: int
    """Which state of App Configuration."""


class Flags:
    """The present settings of the workspace `home`, safe to use from several threads. Raises
    BadSetting if they are wrong at the start; a later error keeps the settings.

    overrides: values that win over the file, as for `load`. check: raises OmbudError for what
    cannot be judged here, such as a strategy that does not exist. on_change: gets one line for each
    change. clock: a monotonic clock in seconds."""

    def __init__(
        self,
        home: Path,
        overrides: Mapping[str, Any] | None = None,
        *,
        check: Callable[[Settings], None] = lambda _: None,
        on_change: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.home = home
        self._overrides = dict(overrides or {})
        self._check = check
        self._on_change = on_change
        self._clock = clock
        self._lock = threading.Lock()
        file = file_signature(home / FILE)
        self._settings = self._read(None)
        self._remote = RemoteFlags(self._settings.azure, self._settings.remote, clock)
        self._remote_note = ""
        self._seen = Signature(file, 0)
        self._next = clock() + PAUSE
        self.note = ""
        """What stands in the file and does not count, and why; empty when all of it counts."""

    def current(self) -> Settings:
        """Return the present settings. The file is looked at twice a second at most, and read only
        after a change."""
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
        """Read the settings. remote: flags of App Configuration; None polls it."""
        settings = open_settings(self.home, self._overrides, remote)
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
            read = self._read(self._remote.state().flags)
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
        return Signature(file_signature(self.home / FILE), self._remote.state().version)

    def _remote_news(self) -> list[str]:
        """Return a line if App Configuration became readable or unreadable."""
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
        changed = describe_changes(old, self._settings)
        if changed:
            lines.append(f"settings read again: {changed}")
        waiting = ""
        later = sorted(keys_needing_restart(self._settings, read))
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


def file_signature(path: Path) -> FileSignature:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def describe_changes(old: Settings, new: Settings) -> str:
    """Describe changes, such as `plan.k 8 -> 5, experiment.hyde.share 0.1 -> 0`; empty if there are
    none."""
    before = dict(flatten(old.model_dump(mode="json", include=set(FLAGS))))
    after = dict(flatten(new.model_dump(mode="json", include=set(FLAGS))))
    changes: list[str] = []
    for key in dict.fromkeys((*before, *after)):
        then, now = before.get(key, "unset"), after.get(key, "unset")
        if then != now:
            changes.append(f"{key} {then} -> {now}")
    listed = changes[:MOST_LISTED]
    if len(changes) > MOST_LISTED:
        listed.append(f"and {len(changes) - MOST_LISTED} more")
    return ", ".join(listed)


def flatten(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{above}{key}.")
        else:
            yield above + key, json.dumps(value, ensure_ascii=False)


def keys_needing_restart(running: Settings, read: Settings) -> Iterator[str]:
    """Return the changed keys that need a restart. Values are left out: they may contain a
    password."""
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
