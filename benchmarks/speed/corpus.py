"""Indexes of 1k, 20k and 100k chunks for `search.py`, built once and kept in the user's cache.

Text: windows of 120 words sliding over the sample handbook and, where they lie beside the
repository, the shared real handbooks (not those in scripts without spaces), so vocabulary and term
frequencies are real. 20 neighbouring windows are a document. Its facts come from its name's hash:
40 % global, the rest GB, US, FR, DE; a sixth with an audience, a third with dates, of which some
are superseded, a few are drafts.

Vectors: about 8,000 windows, evenly spread, are embedded by MiniLM. Each other window takes the
vector of the nearest of them plus small noise, made a unit vector again; it overlaps that window by
most of its words. Speed depends on how vectors lie, not on what they say, and 100,000 real ones
take a quarter of an hour."""

import os
import shutil
from collections.abc import Iterator, Sequence
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from record import ROOT, SHARED, say

from ombud.app import Workspace, create_workspace
from ombud.documents import Worker
from ombud.errors import SourceError
from ombud.index import Row, Vector, blocking
from ombud.ingest.rows import searchable, terms
from ombud.models import Embedder
from ombud.models.embed import late
from ombud.settings import DocumentSettings, IndexSettings
from ombud.types import Chunk, Document

BUILT = "4"
"""Raise it when windows, facts, the index's columns or the embedder change: the next run builds
anew."""
WORDS, EMBEDDED, TOGETHER, NOISE = 120, 8000, 20, 0.02
TOKENS = 90
"""That carry meaning, of a passage: the mean over the handbooks."""
LARGEST = 100_000
SPACELESS = frozenset({"ja", "ko", "zh"})
COUNTRIES = ("", "", "", "", "GB", "GB", "US", "US", "FR", "DE")


class Window(NamedTuple):
    document: Document
    start: int
    end: int


def open_corpus(size: int) -> Workspace:
    """A workspace whose index has `size` chunks; takes minutes the first time."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ombud/bench"
    key = BUILT + (
        "-shared" if SHARED.is_dir() else ""
    )  # not the texts' digest: an edited page changes no speed
    home = cache / f"{key}-{size}"
    if not (home / "built").is_file():
        shutil.rmtree(home, ignore_errors=True)
        _build(size, home, cache / f"{key}-windows.npy")
        (home / "built").touch()
    return Workspace(home)


def _build(size: int, home: Path, vectors_at: Path) -> None:
    create_workspace(home)
    shutil.copy(ROOT / "sample/glossary.csv", home)
    workspace = Workspace(home)
    embedder = workspace.embedder
    if embedder is None:
        raise SystemExit("There is no embedding model; `ombud doctor` says how to install it.")
    windows = _windows(list(_documents()))
    vectors = _vectors(windows, embedder, vectors_at)
    chosen = np.linspace(0, len(windows) - 1, size).astype(int)
    batch: list[Row] = []
    for number, at in enumerate(chosen):
        # Documents are counted in the index at hand, so that a small one has the facts of a large
        # one.
        batch.append(_row(windows[at], number // TOGETHER, int(at), vectors[at]))
        if len(batch) == 100 * TOGETHER or number == size - 1:
            blocking(
                workspace.engine.upsert(sorted({row.chunk.document_id for row in batch}), batch)
            )
            batch = []
            say(f"index of {size:,}: {number + 1:,} chunks")
    blocking(workspace.engine.maintain())
    workspace.close()


def _files() -> list[Path]:
    folders = [ROOT / "sample/handbook", *(sorted(SHARED.iterdir()) if SHARED.is_dir() else [])]
    files = [file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()]
    return [file for file in files if file.suffix in (".md", ".html", ".pdf", ".docx")]


def _documents() -> Iterator[Document]:
    with Worker(DocumentSettings()) as worker:
        for file in _files():
            uri = f"{file.parent.name}/{file.name}"
            identity = sha256(uri.encode()).hexdigest()[:16]
            blank = Document(id=identity, source="bench", uri=uri, title="", language="")
            try:
                document = worker.parse(file.read_bytes(), blank)
            except SourceError:
                continue
            if document.language not in SPACELESS:
                yield document


def _windows(documents: Sequence[Document]) -> list[Window]:
    """At least LARGEST windows, by the largest stride that gives so many; all of a document in
    reading order."""
    words = [_words(document.text) for document in documents]
    stride = max(1, sum(max(0, len(w) - WORDS) for w in words) // LARGEST)
    found = []
    for document, spans in zip(documents, words, strict=True):
        for first in range(0, max(1, len(spans) - WORDS), stride):
            part = spans[first : first + WORDS]
            found.append(Window(document, part[0][0], part[-1][1]))
    say(
        f"{len(documents)} pages, {sum(map(len, words)):,} words, stride {stride}: {len(found):,} windows"
    )
    if (
        len(found) < LARGEST
    ):  # without the shared handbooks the text is short: the same windows stand for more pages
        found = (found * (1 + LARGEST // len(found)))[:LARGEST]
    return found


def _words(text: str) -> list[tuple[int, int]]:
    spans, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        spans.append((at, at + len(word)))
        at += len(word)
    return spans


def _vectors(windows: Sequence[Window], embedder: Embedder, kept: Path) -> Vector:
    stored: Vector | None = np.load(kept) if kept.is_file() else None
    if stored is not None and len(stored) == len(windows):
        return stored
    real = np.linspace(0, len(windows) - 1, min(EMBEDDED, len(windows))).astype(int)
    say(f"embedding {len(real):,} windows")
    texts = [searchable(_chunk(windows[at], 0, int(at)), IndexSettings()) for at in real]
    base = embedder.embed(texts)
    nearest = np.clip(np.searchsorted(real, np.arange(len(windows))), 0, len(real) - 1)
    noise = (
        np.random.default_rng(0).normal(0, NOISE, (len(windows), base.shape[1])).astype(np.float32)
    )
    noise[real] = 0
    vectors: Vector = base[nearest] + noise
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.save(kept, vectors)
    return vectors


def _row(window: Window, number: int, at: int, vector: Vector) -> Row:
    chunk = _chunk(window, number, at)
    # Reading, unpacking and comparing take as long for any tokens; embedding 100,000 windows takes
    # half an hour.
    packed = np.random.default_rng(at).bytes(TOKENS * (2 + late.DIMENSION))
    return Row(chunk, "bench", terms(chunk, IndexSettings()), vector[None], packed)


def _chunk(window: Window, number: int, at: int) -> Chunk:
    page = window.document
    identity = sha256(f"{page.id} {number}".encode()).hexdigest()[:16]
    return Chunk(
        id=f"{identity}-{at:012d}",
        document_id=identity,
        title=page.title,
        uri=page.uri,
        trail=(page.title,),
        text=page.text[window.start : window.end],
        start=window.start,
        end=window.end,
        language=page.language,
        digest=page.id,
        **_facts(identity),
    )


def _facts(identity: str) -> dict[str, Any]:
    dice = int(identity[:12], 16)
    country, reader, dates = COUNTRIES[dice % 10], dice // 10 % 12, dice // 120 % 9
    audience = {0: {"roles": ("manager",)}, 1: {"grades": ("G6", "G7")}}.get(reader, {})
    begins = {0: date(2024, 1, 1), 1: date(2025, 4, 6), 2: date(2023, 1, 1)}.get(dates)
    return {
        "countries": (country,) if country else (),
        "audience": audience,
        "effective_from": begins,
        "effective_to": date(2024, 12, 31) if dates == 2 else None,
        "status": "draft" if dice // 1080 % 25 == 0 else "published",
    }
