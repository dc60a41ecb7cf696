"""RAGLite as a target of the lab: the same questions, the same embedder, its own search."""

import asyncio
import json
import os
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from corpora import BENCH
from record import say

from ombud.errors import LabError
from ombud.index import Vector
from ombud.models import Embedder
from ombud.types import Answer, Chunk, Document, Hit, Question, Trace

CHILD = Path(__file__).parent / "raglite_child.py"
EVERYWHERE = "global"
READ = "SELECT value FROM vector WHERE text = ?"
SIZE = 2048
"""RAGLite's own longest chunk, in characters."""


class Own(NamedTuple):
    """A chunk of ours, as our own index has it."""

    chunk: Chunk
    text: str
    """What is searched: the heading trail and the text."""
    vectors: Vector | None
    """None where the embedder does not read the language."""


class Vectors:
    """The embedder's, kept, so that indexing that was stopped does not begin again."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        BENCH.mkdir(exist_ok=True)
        # Requests come from one thread after the other.
        self._file = sqlite3.connect(
            BENCH / f"vectors-{embedder.fingerprint[:12]}.db", check_same_thread=False
        )
        self._file.execute("CREATE TABLE IF NOT EXISTS vector (text BLOB PRIMARY KEY, value BLOB)")

    def of(self, texts: Sequence[str]) -> list[list[float]]:
        keys = [sha256(text.encode()).digest() for text in texts]
        known = {key: row[0] for key in keys for row in self._file.execute(READ, (key,))}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            made = self._embedder.embed(list(new.values())).astype(np.float32)
            known |= {key: vector.tobytes() for key, vector in zip(new, made, strict=True)}
            self._file.executemany(
                "INSERT OR IGNORE INTO vector VALUES (?, ?)", [(key, known[key]) for key in new]
            )
            self._file.commit()
        return [np.frombuffer(known[key], np.float32).tolist() for key in keys]


class Raglite:
    """A process that answers from one database; close it when done.

    own: ombud's chunks, given their own vectors; without them RAGLite cuts the `documents` (of
    `files`) itself."""

    name = "raglite"

    def __init__(
        self,
        python: Path,
        embedder: Embedder,
        own: Sequence[Own] = (),
        files: Mapping[str, Path] | None = None,
        documents: Sequence[Document] = (),
        size: int = SIZE,
    ) -> None:
        self._vectors, self._lock = Vectors(embedder), asyncio.Lock()
        stated = [[one.chunk.id, one.text, one.chunk.countries] for one in own]
        stated += [[d.uri, d.digest, d.countries] for d in documents]
        whole = json.dumps([embedder.fingerprint, size, stated, CHILD.read_text(encoding="utf-8")])
        self.digest = sha256(whole.encode()).hexdigest()[:12]
        folder = BENCH / "raglite" / self.digest
        home = BENCH / "raglite" / "home"
        home.mkdir(parents=True, exist_ok=True)
        self._process = subprocess.Popen(
            [python, CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(BENCH / "raglite" / "said.log").open("w", encoding="utf-8"),
            env={**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home)},
            text=True,
            encoding="utf-8",
        )
        self.about = self._do("open", database=str(folder / "raglite.db"), chunk_size=size)
        if not (folder / "filled").is_file():
            self._fill(own, files or {}, documents)
            (folder / "filled").touch()
        self._chunks = {one.chunk.id: one.chunk for one in own} or self._cut(documents)

    async def search(
        self, question: Question, plan: Mapping[str, Any]
    ) -> tuple[tuple[Hit, ...], Trace]:
        """With the asker's earlier turns before a follow-up, and only what the asker may see."""
        earlier = [message.content for message in question.history if message.role == "user"]
        countries = [country for country in (question.asker.country,) if country] + [EVERYWHERE]
        text = "\n".join([*earlier, question.text])
        async with self._lock:
            found = await asyncio.to_thread(
                self._do, "search", text=text, countries=countries, k=plan["k"]
            )
        return tuple(Hit(chunk=self._chunks[name], score=score) for name, score in found), Trace()

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        raise LabError("RAGLite is asked for passages only.", hint="Measure retrieval metrics.")

    def describe(self) -> dict[str, Any]:
        return {**self.about, "digest": self.digest}

    def passages(self) -> Iterator[Chunk]:
        yield from self._chunks.values()

    def text_of(self, document_id: str, digest: str) -> str | None:
        return None

    def variant(self, settings: Mapping[str, Any]) -> "Raglite":
        if settings:
            raise LabError("RAGLite has no settings of ombud.", hint="Open another one.")
        return self

    def close(self) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait(60)

    def _fill(
        self, own: Sequence[Own], files: Mapping[str, Path], documents: Sequence[Document]
    ) -> None:
        if own:
            say(f"raglite: {self._do('put', chunks=[_row(one) for one in own])} chunks")
        else:
            rows = [
                {
                    "uri": one.uri,
                    "path": str(files[one.uri]),
                    "countries": one.countries or [EVERYWHERE],
                }
                for one in documents
            ]
            say(f"raglite: {self._do('read', documents=rows)} documents")

    def _cut(self, documents: Sequence[Document]) -> dict[str, Chunk]:
        """What RAGLite made of the documents; its chunks follow each other without a gap."""
        known = {document.uri: document for document in documents}
        found: dict[str, Chunk] = {}
        places: dict[str, int] = {}
        for row in self._do("chunks"):
            page, text = known[row["document"]], row["body"]
            start = places.get(page.uri, 0)
            places[page.uri] = start + len(text)
            found[row["id"]] = Chunk(
                id=row["id"],
                document_id=page.id,
                title=page.title,
                uri=page.uri,
                text=text,
                start=start,
                end=start + len(text),
                countries=page.countries,
                digest="raglite",
            )
        return found

    def _do(self, what: str, **arguments: Any) -> Any:
        """A request and its answer; in between the child may ask for vectors."""
        self._write({"do": what, **arguments})
        while True:
            line = self._process.stdout.readline() if self._process.stdout else ""
            if not line:
                raise LabError(
                    f"RAGLite's process ended at `{what}`.", hint="See .bench/raglite/said.log."
                )
            message = json.loads(line)
            if "embed" not in message:
                return message["done"]
            self._write({"vectors": self._vectors.of(message["embed"])})

    def _write(self, message: Any) -> None:
        if not self._process.stdin:
            raise LabError("RAGLite's process has no input.", hint="Start it anew.")
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()


def _row(one: Own) -> dict[str, Any]:
    """The body is all that we search in, for RAGLite's BM25 sees nothing else of a chunk."""
    return {
        "id": one.chunk.id,
        "document": one.chunk.uri,
        "headings": "",
        "body": one.text,
        "countries": list(one.chunk.countries) or [EVERYWHERE],
        "vectors": [] if one.vectors is None else one.vectors.tolist(),
    }
