"""Opening the database and keeping its schema current."""

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

HEAD = "0019"
MIGRATIONS = Path(__file__).parent / "migrations"
_ONLY_READS = "ombud_only_reads"
"""Execution option of the connections that `Store.read` uses on SQLite."""
_TURNS = 20
_TURN = 0.05
"""How often, and after how many seconds each time, the log's mode is asked for again."""
KNOWN = {file.name.partition("_")[0] for file in (MIGRATIONS / "versions").glob("[0-9]*.py")}
FIRST = min(KNOWN)
"""The oldest schema that this version upgrades."""


class Store:
    """A database with its connections; every failure of it becomes a StoreError.

    `read` and `write` are one transaction each. A reader sees the database as it was at its first
    query and waits for nobody; a writer waits for the writer before it.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # The same pool of connections, whose transactions begin in another way.
        self._reading = engine.execution_options(**_reading_options(engine))
        self._endings: list[Callable[[], None]] = []
        self._listeners: list[Callable[[], None]] = []

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads: a change inside it raises StoreError."""
        with self._begin(self._reading) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that changes something: all of it, or nothing where the block raises."""
        with self._begin(self._engine) as connection:
            yield connection

    @contextmanager
    def _begin(self, engine: Engine) -> Iterator[Connection]:
        try:
            with engine.begin() as connection:
                yield connection
        except exc.SQLAlchemyError as failed:
            # Not `from failed`: a database's own words may repeat what was to be stored, and end
            # in a log.
            raise _explain(failed) from None

    def settle(self) -> None:
        """Leave nothing of deleted rows where the database can do so by itself: SQLite's log goes
        into the file and is emptied, PostgreSQL's tables are vacuumed."""
        statement = "PRAGMA wal_checkpoint(TRUNCATE)"
        if self._engine.dialect.name == "postgresql":
            statement = "VACUUM (ANALYZE)"
        try:
            # Outside of SQLAlchemy's transactions: inside one neither can be done.
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
        """Whether it is a server with a log, snapshots and backups of its own."""
        return self._engine.dialect.name != "sqlite"

    @property
    def files(self) -> list[Path]:
        """Where a SQLite database lies, with its log; empty for a server."""
        return _files_of(self._engine.url)

    def before_close(self, end: Callable[[], None]) -> None:
        """What is to be finished while the database can still be used."""
        self._endings.append(end)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Hear of what this process writes into conversations; from any thread."""
        self._listeners.append(listener)

    def announce(self) -> None:
        """Something in a conversation has changed and can be read now."""
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
            connect_args=_arguments(target),
            pool_pre_ping=not _is_sqlite(target),
            hide_parameters=True,
        )
        if engine.dialect.name == "sqlite":
            event.listen(engine, "do_connect", _connect_sqlite)
            event.listen(engine, "connect", _tune_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
        try:
            _migrate(engine)
        except BaseException:
            engine.dispose()
            raise
        for file in _files_of(target):
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
        raise _explain(failed) from failed
    return Store(engine)


def _files_of(url: URL) -> list[Path]:
    if not _is_sqlite(url) or not url.database:
        return []
    return [Path(url.database + ending) for ending in ("", "-wal", "-shm")]


def _is_sqlite(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def _arguments(url: URL) -> dict[str, Any]:
    if not _is_sqlite(url):
        return {}
    arguments: dict[str, Any] = {"check_same_thread": False}
    if "timeout" not in url.query:  # given here, it would win over the one of the URL
        arguments["timeout"] = 30
    return arguments


def _connect_sqlite(dialect: Any, _record: Any, arguments: Any, options: Any) -> Any:
    connect = dialect.loaded_dbapi.connect
    # SQLite gives its log the permissions of the database.
    with suppress(OSError):
        make_private_file(Path(arguments[0]))
    connection = connect(*arguments, **options)
    try:
        _keep_log(connection)
    except sqlite3.OperationalError as failed:
        connection.close()
        if failed.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            raise
        # A full disk has no room for the memory that processes share. Where there is none yet,
        # nobody else has the file open, and it can be read without; by a new connection, for that
        # one has failed for good.
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("PRAGMA journal_mode=WAL")
    return connection


def _keep_log(connection: sqlite3.Connection) -> None:
    """Set the log's mode. Of two that set it at once in a new file, SQLite turns one away without
    letting it wait."""
    for left in range(_TURNS, -1, -1):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as failed:
            if failed.sqlite_errorcode != sqlite3.SQLITE_BUSY or not left:
                raise
            time.sleep(_TURN)


def _tune_sqlite(connection: Any, _record: Any) -> None:
    # `_begin_sqlite` says BEGIN.
    connection.isolation_level = None
    # What is deleted is overwritten, so that a certified deletion leaves nothing in free pages.
    for pragma in ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _reading_options(engine: Engine) -> dict[str, Any]:
    """What makes the transactions of an engine read only, by its database."""
    if engine.dialect.name == "sqlite":
        return {_ONLY_READS: True}
    # Repeatable read, so that all queries of one transaction see the same moment, as SQLite's do.
    return {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}


def _begin_sqlite(connection: Connection) -> None:
    """Deferred and read only for `Store.read`; for all others IMMEDIATE.

    With IMMEDIATE a writer waits for its turn before it has read anything, instead of failing in
    the middle. In the log's mode a deferred reader holds no lock that anybody waits for.
    """
    only_reads = connection.get_execution_options().get(_ONLY_READS, False)
    connection.exec_driver_sql(f"PRAGMA query_only={'ON' if only_reads else 'OFF'}")
    connection.exec_driver_sql("BEGIN" if only_reads else "BEGIN IMMEDIATE")


def _migrate(engine: Engine) -> None:
    # Whoever opens a database that is up to date waits for no writer.
    at = _revision(engine.execution_options(**_reading_options(engine)))
    if at == HEAD:
        return
    if at is not None and at not in KNOWN:
        raise _foreign_revision(at)
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("recursive_version_locations", "true")
    with engine.begin() as connection:
        # Two processes that open a fresh database at once: the second finds it done when its turn
        # comes.
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(826219)"))
        config.attributes["connection"] = connection
        command.upgrade(config, HEAD)
        begin_chain(connection)


def _foreign_revision(at: str) -> StoreError:
    """The error for a database that this version can neither use nor upgrade."""
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


def _revision(engine: Engine) -> str | None:
    with engine.begin() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
        return str(row[0]) if row else None


def _explain(failed: exc.SQLAlchemyError) -> StoreError:
    cause = getattr(failed, "orig", None) or failed
    said = (str(cause).splitlines() or ["unknown"])[0]
    message = "The store failed."
    hint = "Check that the database is running, has space and may be written."
    if "locked" in said:
        hint = "Another process holds the database; try again when it is done."
    if "full" in said:
        message = "The disk that holds the store is full."
        hint = "Free some disk space; nothing that was acknowledged is lost."
    return StoreError(message, hint=hint, detail=f"{said}.")
