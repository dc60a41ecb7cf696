"""Removes deleted data from the index's files within an hour.

An engine hides deleted rows at once, but keeps them in older versions and in files with few
deletions. A sync records that there are some; a server, or the next sync, has the engine rewrite
its files after some minutes without changes, or within the hour at the latest.
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
"""Seconds without a change after which files are rewritten."""
LATEST = 3000.0
"""Seconds after the first change at which files are rewritten in any case."""
GRACE = 60.0
"""Seconds for which others may go on reading a version."""
LOOK = 10.0
"""Seconds between two checks by a server, which also drop deleted documents from its memory and
from `index.cache` while nobody asks."""


def note_purge(store: Store, clock: Callable[[], float] = time.time) -> None:
    """Record that something was deleted or replaced."""
    now = clock()
    note = read_progress(store, JOB) or {}
    since = note["since"] if note.get("state") == "due" else now
    save_progress(store, JOB, {"state": "due", "since": since, "last": now})


def purge_when_due(workspace: Workspace, clock: Callable[[], float] = time.time) -> bool:
    """Rewrite the files if it is time, and return whether that was done. Raises Busy while a sync
    runs."""
    note = read_progress(workspace.store, JOB) or {}
    now = clock()
    if note.get("state") != "due":
        return False
    if now - note["last"] < IDLE and now - note["since"] < LATEST:
        return False
    with acquire_lease(workspace.store, "sync"):
        noted = GRACE + 2 * workspace.settings.index.oldest_view
        blocking(workspace.newest_engine.purge(keep_seconds=noted))
        workspace.store.settle()
        newer = read_progress(workspace.store, JOB) or {}
        if newer == note and now - note["last"] > noted:
            save_progress(workspace.store, JOB, {"state": "done", "at": now})
        else:
            save_progress(workspace.store, JOB, {**newer, "since": now})
    return True


def run_purges(workspace: Workspace, stop: threading.Event, on_line: Callable[[str], None]) -> None:
    """Check repeatedly until `stop` is set."""
    while not stop.wait(LOOK):
        try:
            workspace.follow_index()
            with suppress(Busy):  # a sync, which purges at its end
                purge_when_due(workspace)
        except OmbudError as failed:
            on_line(f"purge failed: {failed} {failed.hint}".strip())
