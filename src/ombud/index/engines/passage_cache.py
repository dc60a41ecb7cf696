"""Passages read from object storage, kept in a folder of this machine.

Only what is found in the index is looked up here, so nobody sees more by it. But what was deleted
must not stay: whenever the index has changed, files of rows that are no more are removed."""

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

MOST = 200_000
"""Passages that are kept, about 8 kB each; the oldest go first."""
MARK = "passages-"
"""Beginning of the names of our own folders: others are left alone."""


class StoredPassage(NamedTuple):
    json: bytes
    """Of its Chunk."""
    tokens: bytes | None


class PassageCache:
    """Of one table. What cannot be read or written is not in it: a full disk makes it slower, no
    more.

    Files are of the system's user alone, and hold texts as they are, so that a look for a phrase in
    the folder finds it."""

    def __init__(self, root: Path, table: str) -> None:
        """root: of all tables; it may be shared by processes. table: its place."""
        self._root = root
        self.folder = root / (MARK + sha256(table.encode()).hexdigest()[:16])

    def get(self, wanted: Mapping[int, str]) -> dict[int, StoredPassage]:
        """wanted: address -> chunk id, which a passage must have to be the one that is meant."""
        found: dict[int, StoredPassage] = {}
        for address, chunk_id in wanted.items():
            try:
                content = self._file(address).read_bytes()
            except OSError:
                continue
            passage = _unpacked(content, chunk_id)
            if passage:
                found[address] = passage
        return found

    def put(self, passages: Mapping[int, StoredPassage]) -> None:
        with suppress(OSError):
            for address, passage in passages.items():
                file = self._file(address)
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                handle, name = tempfile.mkstemp(dir=file.parent)
                with os.fdopen(handle, "wb") as stream:
                    stream.write(_packed(passage))
                Path(name).replace(file)

    def keep(self, alive: Collection[int]) -> None:
        """Remove all but these addresses, and what is kept of other tables: one index, one
        folder."""
        with suppress(OSError):
            for other in self._root.glob(MARK + "*"):
                if other != self.folder:
                    shutil.rmtree(other, ignore_errors=True)
        kept: list[tuple[float, Path]] = []
        for file in self._files():
            with suppress(OSError):
                if not file.name.isdecimal() or int(file.name) not in alive:
                    file.unlink()
                else:
                    kept.append((file.stat().st_mtime, file))
        for _, file in sorted(kept)[: max(0, len(kept) - MOST)]:
            file.unlink(missing_ok=True)

    def is_empty(self) -> bool:
        return next(self._files(), None) is None

    def _files(self) -> Iterator[Path]:
        with suppress(OSError):
            yield from (file for file in self.folder.rglob("*") if file.is_file())

    def _file(self, address: int) -> Path:
        return self.folder / f"{address % 256:02x}" / str(address)


def clear_cache(root: Path) -> None:
    """Of all tables."""
    for folder in root.glob(MARK + "*"):
        shutil.rmtree(folder, ignore_errors=True)


def _packed(passage: StoredPassage) -> bytes:
    length = len(passage.json).to_bytes(4, "big")
    has_tokens = b"\0" if passage.tokens is None else b"\1"
    return length + has_tokens + passage.json + (passage.tokens or b"")


def _unpacked(content: bytes, chunk_id: str) -> StoredPassage | None:
    end = 5 + int.from_bytes(content[:4], "big")
    text, tokens = content[5:end], content[end:]
    if len(content) < end or f'"id":"{chunk_id}"'.encode() not in text:
        return None
    return StoredPassage(text, tokens if content[4:5] == b"\1" else None)
