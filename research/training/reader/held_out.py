"""What readers that had not seen a question's documents make of its passages: confidence and the
ranker of sentences are fitted on these, for the reader that ships has seen every case of dev."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ombud.errors import BadRequest
from ombud.models import ReaderPassage, Reading

SHIPPED = Path(__file__).with_name("held_out.npz")
DIGEST_BYTES = 16
UNREAD = -12.0
"""Logit of a piece that was cut off, as at run time."""


class HeldOutReading(NamedTuple):
    question: str
    """As it was searched for."""
    heading: str
    pieces: Sequence[str]
    answerable: float
    """Logit that the passage answers."""
    logits: Sequence[float]
    """Of each piece; what is not a number was cut off."""


def write_held_out(path: Path, rows: Iterable[HeldOutReading]) -> None:
    """Logits in half precision under digests of what was read: no text goes into the file."""
    digests: list[bytes] = []
    answerable: list[float] = []
    counts: list[int] = []
    pieces: list[float] = []
    for row in rows:
        digests.append(_digest(row.question, row.heading, row.pieces))
        answerable.append(row.answerable)
        counts.append(len(row.pieces))
        pieces += row.logits
    keys = np.frombuffer(b"".join(digests), np.uint8)
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            allow_pickle=False,
            digests=keys.reshape(-1, DIGEST_BYTES),
            answerable=np.array(answerable, np.float16),
            counts=np.array(counts, np.uint16),
            pieces=np.array(pieces, np.float16),
        )


class HeldOutReader:
    """Reads as a `Reader` does, what was read before."""

    def __init__(self, path: Path = SHIPPED) -> None:
        self._known: dict[bytes, Reading] = {}
        with np.load(path, allow_pickle=False) as parts:
            ends = np.cumsum(parts["counts"], dtype=np.int64)
            pieces: npt.NDArray[np.float64] = parts["pieces"].astype(np.float64)
            rows = zip(parts["digests"], parts["answerable"], ends, parts["counts"], strict=True)
            for digest, answerable, end, count in rows:
                logits = np.nan_to_num(pieces[end - count : end], nan=UNREAD)
                self._known[digest.tobytes()] = Reading(float(answerable), logits)

    def has_read(self, question: str, passage: ReaderPassage) -> bool:
        return _digest(question, passage.heading, passage.pieces) in self._known

    def read(self, question: str, passages: Sequence[ReaderPassage]) -> list[Reading]:
        """Raises BadRequest where a passage was never read for this question."""
        readings: list[Reading] = []
        for passage in passages:
            known = self._known.get(_digest(question, passage.heading, passage.pieces))
            if known is None:
                raise BadRequest(
                    f"Nobody read “{passage.heading}” for “{question}”.",
                    hint="Texts or what is searched have changed: `make reader` reads anew.",
                )
            readings.append(known)
        return readings


def _digest(question: str, heading: str, pieces: Sequence[str]) -> bytes:
    text = "\n".join([question, heading, *pieces])
    return sha256(text.encode()).digest()[:DIGEST_BYTES]
