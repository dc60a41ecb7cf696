"""A workspace with one folder, a sync of it, and a look at everything that was kept."""

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

from copies import lay_store
from ombud.app import Workspace, asking, library
from ombud.index import blocking
from ombud.ingest import SyncReport, sync_sources
from ombud.sources import FolderSource
from ombud.types import Chunk, Document, Person

Snapshot = dict[str, tuple[str, int]]
"""Chunk id -> (all that is stored of the chunk, its vectors)."""


class Shelf:
    def __init__(self, home: Path, embedder: str = "none", **settings: Any) -> None:
        self.home, self.folder = home, home / "docs"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.options: dict[str, Any] = {}
        lay_store(home)
        self.workspace = Workspace(home, {"models": {"embedder": embedder}} | settings)

    @classmethod
    def at(cls, home: Path) -> "Shelf":
        """Of a workspace with an ombud.toml, whose settings count."""
        shelf = cls.__new__(cls)
        shelf.home, shelf.folder, shelf.options = home, home / "docs", {}
        shelf.workspace = Workspace(home)
        return shelf

    def write(self, name: str, text: str | bytes, **front: Any) -> None:
        """A file below the folder; `front` is its front matter, values as YAML."""
        head = "---\n" + "".join(f"{k}: {v}\n" for k, v in front.items()) + "---\n" if front else ""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else (head + text).encode())

    def remove(self, *names: str) -> None:
        for name in names:
            (self.folder / name).unlink()

    def sync(self, *, allow_deletes: bool = False, **options: Any) -> SyncReport:
        source = FolderSource("docs", self.folder, **(self.options | options))
        (report,) = sync_sources(self.workspace.ingest, [source], allow_deletes=allow_deletes)
        return report

    def document(self, name: str) -> Document:
        return library.document(self.workspace, f"docs/{name}", None)

    def documents(self) -> set[str]:
        return {d.uri.removeprefix("docs/") for d in library.documents(self.workspace, None)}

    def chunks(self) -> list[Chunk]:
        return list(library.passages(self.workspace))

    def indexed(self) -> set[str]:
        return {chunk.uri.removeprefix("docs/") for chunk in self.chunks()}

    def found(
        self, query: str, country: str | None = None, as_of: date | None = None, **person: Any
    ) -> set[str]:
        """Names of the documents that a search shows this person."""
        asker = Person(country=country, **person)
        evidence, _ = asyncio.run(asking.search(self.workspace, query, asker, k=50, as_of=as_of))
        return {hit.chunk.uri.removeprefix("docs/") for hit in evidence.hits}

    def snapshot(self) -> Snapshot:
        chunks = self.chunks()
        vectors = blocking(self.workspace.engine.vectors([c.id for c in chunks]))
        return {c.id: (c.model_dump_json(), len(vectors.get(c.id, ()))) for c in chunks}

    def in_rows(self, document_id: str) -> int:
        """Rows of the index for one document, the deleted and the unowned included."""
        return blocking(self.workspace.engine.documents()).get(document_id, 0)


def counts(report: SyncReport) -> dict[str, int]:
    """What happened, zeros left out."""
    names = ("added", "updated", "moved", "deleted", "unchanged")
    return {name: getattr(report, name) for name in names if getattr(report, name)} | (
        {"failed": len(report.failed)} if report.failed else {}
    )


def long_text(number: int, sections: int) -> str:
    """A Markdown document of at least so many chunks."""
    rule = (
        "Everyone who works here keeps this rule, and whoever is in doubt about it asks the team "
        "that wrote it. " * 6
    )
    parts = [
        f"## Part {part}\n\nRule {part} of document {number}. {rule}" for part in range(sections)
    ]
    return "\n\n".join([f"# Document {number}", *parts]) + "\n"
