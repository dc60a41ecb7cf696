"""Permissions of what a workspace stores: only its owner may read it, as decided here alone."""

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

logger = logging.getLogger(__name__)

FOLDER, FILE = 0o700, 0o600
OTHERS = 0o077
"""Permissions of the group and of everybody else."""


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner may enter, unless it exists. Raises OSError where it cannot
    be made."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=FOLDER, exist_ok=True)


def make_private_file(file: Path) -> None:
    """Make an empty file that only its owner may read, unless something is there. Raises OSError
    where it cannot be made."""
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE))


def is_open_to_others(path: Path) -> bool:
    """Tell whether the group or everybody may do anything with a file; False where none is."""
    try:
        return bool(path.stat().st_mode & OTHERS)
    except FileNotFoundError:
        return False


def close_to_others(path: Path) -> None:
    """Take all permissions from the group and everybody. A file system that has none, or another
    owner, is a warning."""
    try:
        if not is_open_to_others(path):
            return
        path.chmod(FOLDER if path.is_dir() else FILE)
        if is_open_to_others(path):
            _warn(path, "the file system does not store permissions")
    except FileNotFoundError:  # SQLite removes its log when the last connection is closed
        return
    except OSError as failed:
        _warn(path, str(failed.strerror))


def protect_folder(folder: Path) -> None:
    """Close an existing data folder to others, with everything in it.

    A closed folder protects what lies deeper, so all of it is looked through only when the folder
    itself was open; after that its first level is enough.
    """
    try:
        was_open = is_open_to_others(folder)
        close_to_others(folder)
        for path in _everything_in(folder) if was_open else list(_entries_of(folder)):
            close_to_others(path)
    except OSError as failed:
        _warn(folder, str(failed.strerror))


def command_to_close(folder: Path) -> str:
    """Return the shell command that closes a folder to others."""
    return f"chmod -R go-rwx '{folder}'"


def _entries_of(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if not path.is_symlink():
            yield path


def _everything_in(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            if not path.is_symlink():
                yield path


@cache
def _warn(path: Path, reason: str) -> None:
    logger.warning(
        "Others may read %s, and that cannot be changed here: %s. Its owner can run: %s",
        path,
        reason,
        command_to_close(path),
    )
