"""What a sync did, document by document where it failed."""

from ombud.types import Loss, Record

REREAD = "read again, as this version reads files better"
"""What is said of documents that had not changed."""


class Failure(Record):
    uri: str
    name: str = ""
    """What people call it, where the uri does not say that."""
    reason: str


class LossLine(Record):
    """A document that was read, but not whole."""

    uri: str
    name: str = ""
    """As in `Failure`."""
    summary: str
    """What of the file is not in the text."""
    loss: Loss


class Skipped(Record):
    """A file that was not read at all."""

    uri: str
    name: str = ""
    """As in `Failure`."""
    why: str


def called(line: Failure | LossLine | Skipped) -> str:
    """The uri, and the name where that says more."""
    return f"{line.uri} ({line.name})" if line.name else line.uri


class SyncReport(Record):
    """Counts of one source. `failed` documents keep what was indexed of them before."""

    name: str
    added: int = 0
    updated: int = 0
    moved: int = 0
    deleted: int = 0
    unchanged: int = 0
    failed: tuple[Failure, ...] = ()
    lost: tuple[LossLine, ...] = ()
    """Documents that this sync read, but not whole."""
    incomplete: int = 0
    """Documents that are indexed, but not whole, those of earlier syncs included."""
    left_out: tuple[Skipped, ...] = ()
    """What the source holds and is not read, such as files of other kinds, copies and links."""
    reread: int = 0
    """Documents that had not changed and were read again by newer parsers."""
    replaced: tuple[str, ...] = ()
    """Sources that this folder was under another name or in another place; their documents went."""
    note: str = ""
    """Why the source was not synced whole, where it was not."""

    @property
    def changed(self) -> bool:
        """Whether the index holds something else than before."""
        return any((self.added, self.updated, self.moved, self.deleted))

    @property
    def ok(self) -> bool:
        return not self.failed and not self.note
