"""Whether a quote stands in what was returned: by text, so that it survives re-chunking.

Texts are compared after `normalise`. Chunks of one document are first joined into the union of
their intervals, so that a quote cut by a chunk border counts as found when both sides came back.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ombud.types import Hit

GAP = 2
"""Characters that may lie between two chunks that still touch: blocks are joined by a blank
line."""

_QUOTES = "\"'`´‘’‚‛“”„‟«»‹›′″‴‵〝〞＂＇「」『』"
_DASHES = "-‐‑‒–—―−⁃﹘﹣－\u00ad"
_MARKS = "|*_~#>\\[]•◦▪‣·●○■"
_INVISIBLE = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_IGNORED = dict.fromkeys(map(ord, _QUOTES + _DASHES + _MARKS + _INVISIBLE))
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_RULE = re.compile(r"(?m)^[ \t]*[|:=-][|:=\- \t]*$|<br ?/?>")
_WORD = re.compile(r"\S+")


@lru_cache(maxsize=8192)
def normalise(text: str) -> str:
    """Remove what may differ between a page and its Markdown; letter case is kept.

    Gone are white space, quotation marks, dashes, table pipes and rules, and Markdown marks; of a
    link its words stay. The rest is NFKC."""
    if not text.isascii():
        # Before NFKC too: it turns a lone acute accent into a space and a combining mark.
        text = unicodedata.normalize("NFKC", text.translate(_ACCENTS))
    text = _RULE.sub("", _LINK.sub(r"\1", text))
    return "".join(text.translate(_IGNORED).split())


_ACCENTS = dict.fromkeys(map(ord, "´‵"))


class ReturnedText(NamedTuple):
    """A returned stretch of one version of one document."""

    uri: str
    digest: str
    start: int | None
    """Offset of the first character; None when the offsets do not fit the text, so that it stands
    alone."""
    text: str
    copies: tuple[str, ...] = ()
    """Other documents in which the same text stands."""


def pieces(hits: Iterable[Hit]) -> Iterator[ReturnedText]:
    """Yield the hits' texts with their places, without a table's repeated header."""
    for hit in hits:
        chunk = hit.chunk
        fits = len(chunk.text) == chunk.end - chunk.start
        yield ReturnedText(
            uri=chunk.uri,
            digest=chunk.digest,
            start=chunk.start if fits else None,
            text=chunk.text,
            copies=tuple(copy.uri for copy in hit.copies),
        )


def first_words(pieces: Iterable[ReturnedText], limit: int) -> Iterator[ReturnedText]:
    """Yield the first `limit` white-space separated words, in order; the piece that crosses the
    limit is cut there."""
    left = limit
    for piece in pieces:
        ends = [match.end() for match in _WORD.finditer(piece.text)]
        if len(ends) > left:
            if left:
                yield piece._replace(text=piece.text[: ends[left - 1]])
            return
        left -= len(ends)
        yield piece


def union(pieces: Iterable[ReturnedText]) -> dict[str, tuple[str, ...]]:
    """Map each uri to the texts of its joined intervals.

    Two pieces of the same version join when their intervals overlap, touch or leave at most `GAP`
    characters, and only if they say the same where they overlap."""
    stretches: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    texts: dict[str, list[str]] = defaultdict(list)
    for piece in pieces:
        for uri in piece.copies:
            texts[uri].append(piece.text)
        if piece.start is None:
            texts[piece.uri].append(piece.text)
        else:
            of_version = stretches[piece.uri, piece.digest]
            of_version.append((piece.start, piece.text))
    for (uri, _), of_version in stretches.items():
        texts[uri] += _join(sorted(of_version))
    return {uri: tuple(joined) for uri, joined in texts.items()}


def _join(stretches: Sequence[tuple[int, str]]) -> Iterator[str]:
    begin, text = stretches[0]
    for start, more in stretches[1:]:
        gap = start - (begin + len(text))
        if 0 <= gap <= GAP:
            text += "\n" * gap + more
        elif gap < 0 and text[start - begin :][: len(more)] == more[:-gap]:
            text += more[-gap:]
        else:
            yield text
            begin = start
            text = more
    yield text


def holds(texts: Iterable[str], quote: str) -> bool:
    """Tell whether one of the texts contains the normalised quote; False for a quote without
    letters."""
    wanted = normalise(quote)
    if not wanted:
        return False
    return any(wanted in normalise(text) for text in texts)


def shared(first: str, second: str) -> int:
    """Count the normalised characters that two texts share if one contains the other or the end of
    one is the beginning of the other."""
    a = normalise(first)
    b = normalise(second)
    if a in b or b in a:
        return min(len(a), len(b))
    for size in range(min(len(a), len(b)) - 1, 0, -1):
        if a.endswith(b[:size]) or b.endswith(a[:size]):
            return size
    return 0
