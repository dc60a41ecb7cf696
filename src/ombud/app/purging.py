"""Nothing that was deleted stays in the index's files for longer than an hour.

An engine hides deleted rows at once, but keeps them in older versions and in files of which little
is deleted. A sync notes that there are such; a server, or the next sync, lets the engine rewrite
its files when nothing has changed for some minutes, within the hour at the latest.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from ombud.app.workspace import Workspace
from ombud.errors import Busy, OmbudError
from ombud.index import blocking
from ombud.store import Store, acquire_lease, read_progress, save_progress

JOB = "purge"
IDLE = 300.0
"""Seconds without a change after which it is done."""
LATEST = 3000.0
"""Seconds after the first change after which it is done though there are more."""
GRACE = 60.0
"""Seconds for which others may go on reading a version."""
LOOK = 10.0
"""Seconds between two looks of a server at the index: what it has in memory, or in `index.cache`,
of a deleted document goes then, though nobody asks."""


def note_purge(store: Store, clock: Callable[[], float] = time.time) -> None:
    """Something was deleted or replaced."""
    now = clock()
    note = read_progress(store, JOB) or {}
    since = note["since"] if note.get("state") == "due" else now
    save_progress(store, JOB, {"state": "due", "since": since, "last": now})


def purge_when_due(workspace: Workspace, clock: Callable[[], float] = time.time) -> bool:
    """Whether it was done. Raises Busy while a sync runs."""
    note = read_progress(workspace.store, JOB) or {}
    now = clock()
    if note.get("state") != "due":
        return False
    if now - note["last"] < IDLE and now - note["since"] < LATEST:
        return False
    with acquire_lease(workspace.store, "sync"):
        kept = GRACE + 2 * workspace.settings.index.oldest_view
        blocking(workspace.newest_engine.purge(keep_seconds=kept))
        workspace.store.settle()
        newer = read_progress(workspace.store, JOB) or {}
        if newer == note and now - note["last"] > kept:
            save_progress(workspace.store, JOB, {"state": "done", "at": now})
        else:
            save_progress(workspace.store, JOB, {**newer, "since": now})
    return True


def run_purges(workspace: Workspace, stop: threading.Event, on_line: Callable[[str], None]) -> None:
    """Look again and again, until `stop` is set."""
    while not stop.wait(LOOK):
        try:
            workspace.follow_index()
            with suppress(Busy):  # a sync; its end is soon enough
                purge_when_due(workspace)
        except OmbudError as failed:
            on_line(f"purge failed: {failed} {failed.hint}".strip())
