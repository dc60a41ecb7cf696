"""What every parser gives back, and the few rules of wording that they share."""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from ombud.types import Block


class ParsedFile(NamedTuple):
    """What a parser found in the bytes, before it becomes a `Document`."""

    blocks: list[Block]
    title: str = ""
    """A title that the format itself carries, such as HTML's <title>; used when there is no
    heading."""


_SPACE = re.compile(r"[\s\u00a0\u2000-\u200a\u202f\u205f\u3000]+")
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ufffe\uffff]"
)
# Surrogates cannot be written as UTF-8; broken PDF fonts produce them.
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"},
)


def visible(text: str) -> str:
    """NFC without control, zero-width and direction characters, ligatures spelt out; line breaks
    are kept."""
    plain = _SURROGATE.sub("\ufffd", _INVISIBLE.sub("", text)).translate(_LIGATURES)
    return unicodedata.normalize("NFC", plain)


def tidy(text: str) -> str:
    """One line: `visible`, with every run of white space as one space."""
    return _SPACE.sub(" ", visible(text)).strip()


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first row is its header. Empty rows and columns are left out; "" when
    nothing is left."""
    cells = [[tidy(cell).replace("|", "\\|") for cell in row] for row in rows]
    cells = [row for row in cells if any(row)]
    width = max((len(row) for row in cells), default=0)
    padded = [_once(row) + [""] * (width - len(row)) for row in cells]
    kept = [column for column in range(width) if any(row[column] for row in padded)]
    lines = ["| " + " | ".join(row[column] for column in kept) + " |" for row in padded]
    if not lines:
        return ""
    return "\n".join([lines[0], "|" + " --- |" * len(kept), *lines[1:]])


def _once(row: list[str]) -> list[str]:
    """A cell that spans the whole row is said once."""
    spanning = len(row) > 2 and len(set(row)) == 1
    return [row[0]] + [""] * (len(row) - 1) if spanning else row
