"""Decompress bodies piece by piece, so that the reader can stop before they are large."""

import zlib
from collections.abc import Iterator

from ombud.errors import SourceError

PIECE = 2**16
"""Bytes of one piece after decompression."""
GZIP_OR_ZLIB = zlib.MAX_WBITS + 32
"""Lets zlib detect by the header which of the two it is."""
ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})


def expanded(pieces: Iterator[bytes], encoding: str, name: str) -> Iterator[bytes]:
    """Undo the `Content-Encoding` of a body; raises SourceError for an encoding that was not
    requested and for damaged data.

    name: the address as errors print it."""
    if encoding in {"", "identity"}:
        yield from pieces
        return
    if encoding not in ENCODINGS:
        raise SourceError(f"{name} is sent as `{encoding[:40]}`, which was not asked for.")
    try:
        yield from unzipped(pieces, raw=encoding == "deflate")
    except (zlib.error, EOFError) as broken:
        raise SourceError(
            f"{name} is damaged: its compressed data cannot be read.", hint="Try again later."
        ) from broken


def unzipped(pieces: Iterator[bytes], *, raw: bool = False) -> Iterator[bytes]:
    """Expand gzip or deflate data into pieces of bounded size; raises zlib.error, and EOFError for
    truncated data.

    raw: accept deflate without a header too, which is wrong and common."""
    members = GzipMembers(raw)
    for piece in pieces:
        yield from members.expand(piece)
    if not members.complete:
        raise EOFError


class GzipMembers:
    """Decompresses one gzip member after another; some files pad their end with zeros."""

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
