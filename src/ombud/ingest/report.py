"""What a sync did, document by document where it failed."""

from pydantic import Field

from ombud.types import Record


class Failure(Record):
    uri: str
    reason: str


class SyncReport(Record):
    """Counts of one source. `failed` documents keep what was indexed of them before."""

    name: str
    added: int = 0
    updated: int = 0
    moved: int = 0
    deleted: int = 0
    unchanged: int = 0
    failed: tuple[Failure, ...] = ()
    skipped: dict[str, int] = Field(
        default={}, description="What is not read: suffix of a kind of file, or links -> count."
    )
    note: str = ""
    """Why the source was not synced whole, where it was not."""

    @property
    def changed(self) -> bool:
        """Whether the index holds something else than before."""
        return any((self.added, self.updated, self.moved, self.deleted))

    @property
    def ok(self) -> bool:
        return not self.failed and not self.note
