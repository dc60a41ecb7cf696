"""What a sync did, document by document where it failed."""

from pydantic import Field

from ombud.types import Loss, Record


class Failure(Record):
    uri: str
    reason: str


class LossLine(Record):
    """A document that was read, but not whole."""

    uri: str
    summary: str
    """What of the file is not in the text."""
    loss: Loss


class Skipped(Record):
    """A file that was not read at all."""

    uri: str
    why: str


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
    """Documents of this sync that were read, but not whole."""
    skipped: dict[str, int] = Field(
        default={}, description="What is not read: suffix of a kind of file, or links -> count."
    )
    left_out: tuple[Skipped, ...] = ()
    """The files of a kind that is not read."""
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
