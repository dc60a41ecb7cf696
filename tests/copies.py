"""What every test needs at its beginning and makes its own mark on: made once a process, then copied.

A database with all its tables takes .05 s of the processor and twenty waits for the disk; a copy of
it takes neither. A handbook in an index takes four times as much.
"""

import atexit
import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path

from sqlalchemy import Engine

from ombud.store import Store, open_store

Migrate = Callable[[Engine], None]


@cache
def _folder() -> Path:
    """Where the originals are, until this process ends."""
    made = Path(tempfile.mkdtemp(prefix="ombud-tests-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


_MADE: dict[str, Path] = {}


def copy_of(what: str, make: Callable[[Path], object], target: Path) -> None:
    """Fills the folder `target` as `make` does, which is called only for the first of each `what`;
    it must leave nothing open behind."""
    if what not in _MADE:
        original = Path(tempfile.mkdtemp(dir=_folder()))
        make(original)
        _MADE[what] = original
    shutil.copytree(_MADE[what], target, dirs_exist_ok=True)


def migrating_once(migrate: Migrate) -> Migrate:
    """Does what `migrate` does; a file of SQLite that is not there yet becomes a copy of the first
    that `migrate` has made."""
    made: dict[str, Path] = {}
    one_at_a_time = threading.Lock()

    def migrate_or_copy(engine: Engine) -> None:
        file = Path(engine.url.database or "")
        new = engine.dialect.name == "sqlite" and file.suffix == ".sqlite" and not file.exists()
        with one_at_a_time:
            if new and made:
                _lay(made["store"], file)
        migrate(engine)
        with one_at_a_time:
            if new and not made:
                made["store"] = _kept_copy(engine, file.name)

    return migrate_or_copy


def _lay(original: Path, file: Path) -> None:
    """Nothing where `file` is there by now: another thread's, with what it has written."""
    whole = file.with_name(f"{file.name}.new")
    try:
        shutil.copyfile(original, whole)
        os.link(whole, file)
    except OSError:  # there, a folder that may not be written, or a full disk: `migrate` says so
        pass
    finally:
        whole.unlink(missing_ok=True)


def _kept_copy(engine: Engine, name: str) -> Path:
    """What `engine` has in its file. SQLite copies it: whoever opens and closes the file of a
    database by himself takes away the locks that his process has on it."""
    kept = Path(tempfile.mkdtemp(dir=_folder())) / name
    with engine.connect() as connection:
        connection.exec_driver_sql("COMMIT")
        connection.exec_driver_sql("VACUUM INTO ?", (str(kept),))
    with closing(sqlite3.connect(kept)) as copy:
        copy.execute("PRAGMA journal_mode=WAL")
    return kept


def lay_store(home: Path) -> None:
    """The empty database of a workspace, unless it has one."""
    if not (home / ".ombud" / "store.sqlite").exists():
        copy_of("store", _make_store, home / ".ombud")


def open_copy(folder: Path) -> Store:
    """What `open_store("", folder)` makes of a folder without a store."""
    copy_of("store", _make_store, folder)
    return open_store("", folder)


def _make_store(folder: Path) -> None:
    open_store("", folder).close()
