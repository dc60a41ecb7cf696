"""Opens the database and keeps its schema current."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, exc, inspect, text
from sqlalchemy.engine import URL, make_url

from ombud.errors import SetupError, StoreError
from ombud.private_files import close_to_others, make_private_file, make_private_folder
from ombud.store.audit.chain import begin_chain

HEAD = "0023"
MIGRATIONS = Path(__file__).parent / "migrations"
_ONLY_READS = "ombud_only_reads"
"""Execution option of the connections of `Store.read` on SQLite."""
LOG_MODE_ATTEMPTS = 20
LOG_MODE_WAIT = 0.05
"""Number of attempts to set the log's mode, and the seconds between them."""
UPGRADABLE = {file.name.partition("_")[0] for file in (MIGRATIONS / "versions").glob("[0-9]*.py")}
FIRST = min(UPGRADABLE)
"""The oldest schema that this version can upgrade."""


class Store:
    """A database with its connections; every failure of it becomes a StoreError.

    `read` and `write` are one transaction each. A reader sees the database as it was at its first
    query and waits for nobody; a writer waits for the writer before it.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # The same connection pool with another way to begin transactions.
        self._reading = engine.execution_options(**reading_options(engine))
        self._endings: list[Callable[[], None]] = []
        self._listeners: list[Callable[[], None]] = []

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a read-only transaction; a change inside it raises StoreError."""
        with self._begin(self._reading) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a writing transaction, which is rolled back if the block raises."""
        with self._begin(self._engine) as connection:
            yield connection

    @contextmanager
    def _begin(self, engine: Engine) -> Iterator[Connection]:
        try:
            with engine.begin() as connection:
                yield connection
        except exc.SQLAlchemyError as failed:
            # Not `from failed`: a database's message may repeat the values and end up in a log.
            raise store_error(failed) from None

    def settle(self) -> None:
        """Remove deleted rows from the files: empty SQLite's log, vacuum PostgreSQL's tables."""
        statement = "PRAGMA wal_checkpoint(TRUNCATE)"
        if self._engine.dialect.name == "postgresql":
            statement = "VACUUM (ANALYZE)"
        try:
            # Neither works inside a transaction.
            with closing(self._engine.raw_connection()) as connection:
                raw: Any = connection.driver_connection
                if self._engine.dialect.name == "postgresql":
                    raw.rollback()
                    raw.autocommit = True
                try:
                    raw.cursor().execute(statement)
                finally:
                    if self._engine.dialect.name == "postgresql":
                        raw.autocommit = False
        except (exc.SQLAlchemyError, sqlite3.Error, OSError) as failed:
            raise StoreError(
                f"The store failed: {failed}.", hint="Try again when no other process uses it."
            ) from failed

    @property
    def is_server(self) -> bool:
        """Tell whether the database is a server with its own log, snapshots and backups."""
        return self._engine.dialect.name != "sqlite"

    @property
    def files(self) -> list[Path]:
        """Return the paths of a SQLite database and its log; empty for a server."""
        return sqlite_files(self._engine.url)

    def before_close(self, end: Callable[[], None]) -> None:
        """Register a task to finish while the database is still open."""
        self._endings.append(end)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Register a listener for changes that this process makes to conversations; it may be
        called from any thread."""
        self._listeners.append(listener)

    def announce(self) -> None:
        """Notify the listeners of a change in a conversation."""
        for listener in self._listeners:
            listener()

    def close(self) -> None:
        for end in self._endings:
            end()
        self._engine.dispose()


def open_store(url: str, folder: Path) -> Store:
    """Open the database at `url`, or SQLite in `folder`; create or migrate it where needed."""
    try:
        target = (
            make_url(url) if url else URL.create("sqlite", database=str(folder / "store.sqlite"))
        )
        if not url:
            make_private_folder(folder)
            close_to_others(folder)
        engine = create_engine(
            target,
            connect_args=connect_arguments(target),
            pool_pre_ping=not is_sqlite(target),
            hide_parameters=True,
        )
        if engine.dialect.name == "sqlite":
            event.listen(engine, "do_connect", connect_sqlite)
            event.listen(engine, "connect", tune_sqlite)
            event.listen(engine, "begin", begin_sqlite)
        try:
            migrate(engine)
        except BaseException:
            engine.dispose()
            raise
        for file in sqlite_files(target):
            close_to_others(file)
    except (exc.ArgumentError, exc.NoSuchModuleError, ModuleNotFoundError, ValueError) as wrong:
        raise SetupError(
            f"store.url cannot be used: {wrong}.",
            hint="Such as postgresql+psycopg://user@host/ombud, or leave it empty.",
        ) from wrong
    except OSError as wrong:
        raise StoreError(
            "The folder of the workspace cannot be written.",
            hint="Check its permissions.",
            detail=f"{folder}: {wrong.strerror}.",
        ) from wrong
    except exc.SQLAlchemyError as failed:
        if not url and not os.access(folder, os.W_OK):
            raise StoreError(
                "The workspace can only be read, but its database needs to be written.",
                hint="Make the folder of the workspace writable, or search in a copy of it.",
                detail=f"{target.database} is on a read-only disk or lacks permission.",
            ) from failed
        raise store_error(failed) from failed
    return Store(engine)


def sqlite_files(url: URL) -> list[Path]:
    if not is_sqlite(url) or not url.database:
        return []
    return [Path(url.database + ending) for ending in ("", "-wal", "-shm")]


def is_sqlite(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def connect_arguments(url: URL) -> dict[str, Any]:
    if not is_sqlite(url):
        return {}
    arguments: dict[str, Any] = {"check_same_thread": False}
    if "timeout" not in url.query:  # a timeout given here would override the URL's
        arguments["timeout"] = 30
    return arguments


def connect_sqlite(dialect: Any, _record: Any, arguments: Any, options: Any) -> Any:
    connect = dialect.loaded_dbapi.connect
    # SQLite gives its log the permissions of the database.
    with suppress(OSError):
        make_private_file(Path(arguments[0]))
    connection = connect(*arguments, **options)
    try:
        set_log_mode(connection)
    except sqlite3.OperationalError as failed:
        connection.close()
        if failed.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            raise
        # A full disk has no room for SQLite's shared memory. If it does not exist yet, no other
        # process has the file open and exclusive locking works without it, on a new connection
        # because this one has failed for good.
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("PRAGMA journal_mode=WAL")
    return connection


def set_log_mode(connection: sqlite3.Connection) -> None:
    """Set the log's mode. If two processes set it at once in a new file, SQLite refuses one of them
    immediately."""
    for left in range(LOG_MODE_ATTEMPTS, -1, -1):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as failed:
            if failed.sqlite_errorcode != sqlite3.SQLITE_BUSY or not left:
                raise
            time.sleep(LOG_MODE_WAIT)


def tune_sqlite(connection: Any, _record: Any) -> None:
    # `begin_sqlite` says BEGIN.
    connection.isolation_level = None
    # Overwrite deleted data, so that a certified deletion leaves nothing in free pages.
    for pragma in ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def reading_options(engine: Engine) -> dict[str, Any]:
    """Return the execution options that make an engine's transactions read-only."""
    if engine.dialect.name == "sqlite":
        return {_ONLY_READS: True}
    # Repeatable read, so that all queries of one transaction see the same moment, as SQLite's do.
    return {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}


def begin_sqlite(connection: Connection) -> None:
    """Begin a deferred, read-only transaction for `Store.read`, an IMMEDIATE one otherwise.

    An IMMEDIATE writer waits for its turn before it has read anything, instead of failing halfway.
    In write-ahead mode a deferred reader blocks nobody.
    """
    only_reads = connection.get_execution_options().get(_ONLY_READS, False)
    connection.exec_driver_sql(f"PRAGMA query_only={'ON' if only_reads else 'OFF'}")
    connection.exec_driver_sql("BEGIN" if only_reads else "BEGIN IMMEDIATE")


def migrate(engine: Engine) -> None:
    # Opening a current database must not wait for a writer.
    at = current_revision(engine.execution_options(**reading_options(engine)))
    if at == HEAD:
        return
    if at is not None and at not in UPGRADABLE:
        raise foreign_revision_error(at)
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("recursive_version_locations", "true")
    with engine.begin() as connection:
        # If two processes open a new database at once, the second finds it migrated.
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(826219)"))
        config.attributes["connection"] = connection
        command.upgrade(config, HEAD)
        begin_chain(connection)


def foreign_revision_error(at: str) -> StoreError:
    """Return the error for a database that this version can neither use nor upgrade."""
    if at < FIRST:
        return StoreError(
            "The database was made by an ombud that is too old "
            f"(its schema is `{at}`, this one upgrades from `{FIRST}`).",
            hint="Open the workspace once with ombud at commit 09380920, such as with its "
            "`ombud doctor`: that upgrades it. Then start this version again.",
        )
    return StoreError(
        f"The database was made by a newer ombud (its schema is `{at}`, this one knows `{HEAD}`).",
        hint="Install that version again, or point store.url at another database.",
    )


def current_revision(engine: Engine) -> str | None:
    with engine.begin() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
        return str(row[0]) if row else None


def store_error(failed: exc.SQLAlchemyError) -> StoreError:
    cause = getattr(failed, "orig", None) or failed
    reason = (str(cause).splitlines() or ["unknown"])[0]
    message = "The store failed."
    hint = "Check that the database is running, has space and may be written."
    if "locked" in reason:
        hint = "Another process holds the database; try again when it is done."
    if "full" in reason:
        message = "The disk that holds the store is full."
        hint = "Free some disk space; nothing that was acknowledged is lost."
    return StoreError(message, hint=hint, detail=f"{reason}.")
