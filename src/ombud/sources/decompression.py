"""Compressed bodies, expanded piece by piece: whoever reads them can say stop before they are
large."""

import zlib
from collections.abc import Iterator

from ombud.errors import SourceError

PIECE = 2**16
"""Bytes of one piece after decompression."""
GZIP_OR_ZLIB = zlib.MAX_WBITS + 32
"""By its header, zlib finds out itself which of the two it is."""
ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})


def expanded(pieces: Iterator[bytes], encoding: str, shown: str) -> Iterator[bytes]:
    """Pieces of a body as they were before its `Content-Encoding`.

    shown: how errors call the address. Raises SourceError for an encoding that was not asked for,
    and for damaged data."""
    if encoding in {"", "identity"}:
        yield from pieces
        return
    if encoding not in ENCODINGS:
        raise SourceError(f"{shown} is sent as `{encoding[:40]}`, which was not asked for.")
    try:
        yield from unzipped(pieces, raw=encoding == "deflate")
    except (zlib.error, EOFError) as broken:
        raise SourceError(
            f"{shown} is damaged: its compressed data cannot be read.", hint="Try again later."
        ) from broken


def unzipped(pieces: Iterator[bytes], *, raw: bool = False) -> Iterator[bytes]:
    """Bounded pieces of gzip or deflate data; raises zlib.error, and EOFError where it breaks
    off.

    raw: also deflate without a header, which is wrong and common."""
    members = _Members(raw)
    for piece in pieces:
        yield from members.expand(piece)
    if not members.complete:
        raise EOFError


class _Members:
    """One gzip member after another; some files pad their end with zeros."""

    def __init__(self, raw: bool) -> None:
        self._raw = raw
        self._begun = False
        self._engine = zlib.decompressobj(GZIP_OR_ZLIB)

    @property
    def complete(self) -> bool:
        return self._engine.eof

    def expand(self, piece: bytes) -> Iterator[bytes]:
        rest = piece
        more = bool(piece)
        while more:
            if self._engine.eof:
                rest = rest.lstrip(b"\0")
                if not rest:
                    return
                self._engine = zlib.decompressobj(GZIP_OR_ZLIB)
            out = self._decompressed(rest)
            self._begun = True
            yield out
            ended = self._engine.eof
            rest = self._engine.unused_data if ended else self._engine.unconsumed_tail
            more = bool(rest) or (len(out) == PIECE and not ended)

    def _decompressed(self, data: bytes) -> bytes:
        try:
            return self._engine.decompress(data, PIECE)
        except zlib.error:
            if self._begun or not self._raw:
                raise
            self._engine = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._engine.decompress(data, PIECE)
