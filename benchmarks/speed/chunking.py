"""How fast is each chunker?

Text: the sample handbook and, where they lie beside the repository, the shared real handbooks
(Japanese among them), parsed before the clock runs. Each chunker cuts all of it, with its own sizes
and the tokens of the shipped embedder; each repetition has an embedder of its own, whose counter
knows no word yet. MB are of UTF-8 text.

`semantic` needs vectors, which cost a hundred times more than all the rest: it is given made-up
ones, and the time of making them is left out. `pattern` begins a chunk at numbered lines. Target:
>= 1 MB/s.
Run: python chunking.py [--repeat N]
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from record import ROOT, SHARED, keep, print_table, say, spread, verdict

from ombud.documents import Worker, chunk
from ombud.documents.chunking.chunks import CHUNKERS
from ombud.errors import SourceError
from ombud.models import Embedder, open_embedder
from ombud.settings import DocumentSettings, IndexSettings, ModelSettings
from ombud.types import Document

TARGET = 1.0
PATTERN = r"(?m)^(?:§ ?)?[0-9]+[.)]"
SUFFIXES = frozenset({".md", ".html", ".pdf", ".docx"})


class MadeUp:
    """Unit vectors from a text's digest, and the seconds it took to make them."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, texts: Sequence[str]) -> Any:
        started = time.perf_counter()
        digests = b"".join(sha256(text.encode()).digest() for text in texts)
        vectors = (
            np.frombuffer(digests, np.uint8).reshape(len(texts), -1).astype(np.float32) - 127.5
        )
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        self.seconds += time.perf_counter() - started
        return vectors


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--repeat", type=int, default=5, help="times that each chunker cuts everything"
    )
    parser.add_argument(
        "--chunker", choices=sorted(CHUNKERS), action="append", help="only this one"
    )
    options = parser.parse_args(arguments)
    documents = list(_documents())
    size = sum(len(document.text.encode()) for document in documents) / 1e6
    say(f"{len(documents)} documents, {size:.2f} MB")
    rows = []
    for name in options.chunker or CHUNKERS:
        measured = [_measure(name, documents) for _ in range(options.repeat)]
        speeds, chunks = [size / seconds for _, seconds in measured], measured[0][0]
        rows.append(
            [
                name,
                chunks,
                spread(speeds, 2),
                f">= {TARGET} {verdict(median(speeds), TARGET, most=False)}",
            ]
        )
        keep("chunking", {"chunker": name, "documents": len(documents), "mb": round(size, 2), "chunks": chunks,
                          "mb_per_s": [round(speed, 2) for speed in speeds], "target": TARGET},
             len(measured))  # fmt: skip
    print_table(["chunker", "chunks", "MB/s", "target"], rows)


def _measure(name: str, documents: Sequence[Document]) -> tuple[int, float]:
    """(chunks, seconds)."""
    settings, count, embed = (
        IndexSettings(chunker=name, pattern=PATTERN),
        _embedder().count,
        MadeUp(),
    )
    started = time.perf_counter()
    chunks = sum(len(chunk(document, settings, count, embed)) for document in documents)
    return chunks, time.perf_counter() - started - embed.seconds


def _embedder() -> Embedder:
    found = open_embedder(ModelSettings(), Path(tempfile.gettempdir()))
    if found is None:
        raise SystemExit("There is no embedding model; `ombud doctor` says how to install it.")
    return found


def _documents() -> Iterator[Document]:
    folders = [ROOT / "sample/handbook", *(sorted(SHARED.iterdir()) if SHARED.is_dir() else [])]
    files = [
        file for folder in folders for file in sorted(folder.rglob("*")) if file.suffix in SUFFIXES
    ]
    with Worker(DocumentSettings()) as worker:
        for file in files:
            blank = Document(id=sha256(str(file).encode()).hexdigest()[:16], source="bench", uri=file.name, title="",
                             language="")  # fmt: skip
            try:
                yield worker.parse(file.read_bytes(), blank)
            except SourceError:
                continue


if __name__ == "__main__":
    main(sys.argv[1:])
