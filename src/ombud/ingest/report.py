"""The report of a sync, with a line for each document that failed."""

from ombud.types import Loss, Record

REREAD = "read again, as this version reads files better"
"""How a report describes documents that had not changed and were read again."""


class Failure(Record):
    uri: str
    name: str = ""
    """Display name, if the uri does not tell it."""
    reason: str


class LossLine(Record):
    """A document that was read in part."""

    uri: str
    name: str = ""
    """As in `Failure`."""
    summary: str
    """Describes what of the file is not in the text."""
    loss: Loss


class Skipped(Record):
    """A file that was not read at all."""

    uri: str
    name: str = ""
    """As in `Failure`."""
    why: str


def called(line: Failure | LossLine | Skipped) -> str:
    """Return the uri of a document, followed by its display name if it has one."""
    return f"{line.uri} ({line.name})" if line.name else line.uri


class SyncReport(Record):
    """Counts of one source. Of `failed` documents the earlier version stays in the index."""

    name: str
    added: int = 0
    updated: int = 0
    moved: int = 0
    deleted: int = 0
    unchanged: int = 0
    failed: tuple[Failure, ...] = ()
    lost: tuple[LossLine, ...] = ()
    """Documents that this sync read in part."""
    incomplete: int = 0
    """Documents that are indexed in part, including those of earlier syncs."""
    left_out: tuple[Skipped, ...] = ()
    """Files of the source that are not read, such as unknown formats, copies and links."""
    reread: int = 0
    """Documents that had not changed and were read again by newer parsers."""
    replaced: tuple[str, ...] = ()
    """Earlier sources of the same folder, whose documents were deleted."""
    note: str = ""
    """Why the source was synced in part; empty if it was synced completely."""

    @property
    def changed(self) -> bool:
        """Tell whether the sync changed the index."""
        return any((self.added, self.updated, self.moved, self.deleted))

    @property
    def ok(self) -> bool:
        return not self.failed and not self.note
