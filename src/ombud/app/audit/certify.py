"""Deletes a document and proves it: every place is searched afterwards, and the findings are
certified.

Whoever adds a place that may contain a document's text extends `search_places`.
"""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ombud.app import library
from ombud.app.purging import LOOK
from ombud.app.sources import configured_sources
from ombud.app.syncing import begin_generation
from ombud.app.workspace import Workspace
from ombud.errors import LabError, NotFound
from ombud.index import HotEngine, blocking, clear_cache
from ombud.ingest import copy_index, drop_originals, originals_of
from ombud.sources import FolderSource
from ombud.store import (
    abbreviations_of,
    count_phrases,
    erase_quotes,
    find_document,
    graph_rows_of,
    list_runs,
    text_of,
)
from ombud.text import forget_passages, split_sentences
from ombud.types import Document

PHRASES = 12
LEAST_CHARACTERS = 30
"""Minimum length of a phrase; shorter ones occur in many texts."""
_PIECE = 1 << 24


class ErasurePlace(NamedTuple):
    """A place that was searched."""

    name: str
    found: int
    """Number of remaining traces; 0 if the document is gone."""
    said: str = ""


class Certificate(NamedTuple):
    """The result of a deletion."""

    document: str
    uri: str
    digest: str
    at: str
    places: tuple[ErasurePlace, ...]
    retire: tuple[str, ...]
    """Cases of datasets whose evidence it was: `file: case id`."""
    not_covered: tuple[str, ...]
    """Places that cannot be searched from here, each with what the operator has to do."""
    source: str
    """Warning that the source still has it, so that the next sync would restore it."""

    @property
    def gone(self) -> bool:
        return not any(place.found for place in self.places)


def certify_deletion(workspace: Workspace, identity: str) -> Certificate:
    """Delete a document everywhere and prove it. Raises NotFound, or Busy while a sync runs.

    The index is rebuilt without it, because an engine may keep deleted rows in its files; the lab's
    variants, copies of checks and saved files of publications are removed.
    """
    from ombud.app.publishing.publications import forget_saved
    from ombud.app.publishing.shadow import checks_folder  # slow to import, as below

    document = find_document(workspace.store, identity, removed=True)
    phrases = distinctive_phrases(workspace, document)
    library.delete_document(workspace, document.id)
    drop_originals(workspace.originals, [document.id])  # even if none are stored any more
    erased = erase_quotes(workspace.store, document.id, document.uri)
    generations = {*workspace.pointer.others(), workspace.pointer.look()}
    copy_index(workspace.ingest, partial(begin_generation, workspace))
    workspace.pointer.keep_only_current()
    forget_in_memory(workspace)
    shutil.rmtree(workspace.data / "variants", ignore_errors=True)
    shutil.rmtree(checks_folder(workspace.data), ignore_errors=True)
    forget_saved(workspace, document.uri)
    workspace.store.settle()
    return Certificate(
        document=document.id,
        uri=document.uri,
        digest=document.digest,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        places=(
            *index_places(workspace, document, phrases, generations),
            *search_places(workspace, document, phrases, erased),
        ),
        retire=tuple(cases_citing(workspace, document.uri)),
        not_covered=tuple(uncovered_places(workspace)),
        source=source_warning(workspace, document),
    )


def forget_in_memory(workspace: Workspace) -> None:
    """Drop this process's caches of an older index: cited texts, sentences, the index in memory,
    which is loaded again, and passages in `index.cache`."""
    workspace.follow_index()
    forget_passages()
    engine = workspace.engine
    if isinstance(engine, HotEngine) and engine.bytes:
        engine.refresh()
    if workspace.cache:
        clear_cache(workspace.cache)


def index_places(
    workspace: Workspace, document: Document, phrases: list[str], generations: set[str]
) -> Iterator[ErasurePlace]:
    """Search the index. generations: those that existed before the deletion."""
    rows = blocking(workspace.engine.documents()).get(document.id, 0)
    chunk_ids = blocking(workspace.engine.chunk_ids())
    chunks = [chunk_id for chunk_id in chunk_ids if chunk_id.startswith(document.id)]
    yield ErasurePlace("index: passages and vectors", rows + len(chunks))
    yield ErasurePlace(
        "index: versions",
        blocking(workspace.newest_engine.holds(phrases)),
        f"each that can still be read, for {len(phrases)} of its phrases",
    )
    older = (generations | workspace.pointer.others()) - {workspace.pointer.look()}
    yield ErasurePlace(
        "index: older generations",
        sum(map(workspace.pointer.backend.holds, older)),
        "removed as a whole",
    )
    yield ErasurePlace(
        "index: files",
        in_files(workspace.data / "index", phrases),
        f"searched for {len(phrases)} of its phrases",
    )
    engine = workspace.engine
    if isinstance(engine, HotEngine):
        yield ErasurePlace(
            "index: in the memory of this process",
            engine.in_memory(phrases),
            f"searched for {len(phrases)} of its phrases",
        )
    if workspace.cache:
        yield ErasurePlace(
            "index: passages in index.cache",
            in_files(workspace.cache, phrases),
            f"emptied, searched for {len(phrases)} of its phrases",
        )


def search_places(
    workspace: Workspace, document: Document, phrases: list[str], erased: dict[str, int]
) -> Iterator[ErasurePlace]:
    yield ErasurePlace("store: document and texts", count_rows_in_store(workspace, document))
    yield ErasurePlace("store: graph of triplets", graph_rows_of(workspace.store, document.id))
    yield ErasurePlace("store: abbreviations", len(abbreviations_of(workspace.store, document.id)))
    saved = len(originals_of(workspace.originals, document.id))
    yield ErasurePlace("originals: files of it", saved)
    counts = count_phrases(workspace.store, phrases)
    yield ErasurePlace(
        "store: answers and conversations",
        counts["answers"],
        f"{erased['answers']} answers were blanked",
    )
    yield ErasurePlace(
        "store: runs of the lab", counts["lab runs"], f"{erased['lab runs']} cases were blanked"
    )
    yield ErasurePlace(
        "other files of the workspace",
        in_files(workspace.data, phrases, but="index"),
        "all under .ombud",
    )


def uncovered_places(workspace: Workspace) -> Iterator[str]:
    seconds = LOOK + workspace.settings.index.oldest_view
    yield (
        "Memory of servers that are running, and index.cache of other machines: each lets go "
        f"when it next looks at the index, {seconds:.0f} s later at most, but for single sentences "
        "that were compared last, which go as others come; restart it to be sure."
    )
    if workspace.store.is_server:
        yield (
            "Pages that PostgreSQL has freed (the tables were vacuumed) and not yet written over: "
            "VACUUM FULL makes the files anew."
        )
        yield (
            "PostgreSQL's write-ahead log and its archive: let the archive of before this moment "
            "expire, or delete it after a new base backup."
        )
        yield (
            "Snapshots and backups of the database, replicas that lag: delete those taken before "
            "this moment, or keep them no longer than your retention period."
        )
    if workspace.settings.index.url:
        yield (
            "Versions and snapshots that the storage of index.url keeps by itself: switch bucket "
            "versioning off or let old versions expire by a lifecycle rule."
        )
    if workspace.settings.index.engine == "milvus":
        yield (
            "Segments that Milvus has compacted: they go after its retention "
            "(dataCoord.gc.dropTolerance); backups by milvus-backup are to be deleted."
        )


def distinctive_phrases(workspace: Workspace, document: Document) -> list[str]:
    """Return the document's sentences that no other document contains, longest first."""
    sentences: set[str] = set()
    for start, end in split_sentences(document.text, document.language):
        sentence = document.text[start:end]
        if len(sentence) >= LEAST_CHARACTERS and "\n" not in sentence:
            sentences.add(sentence)
    longest_first = sorted(sentences, key=lambda text: (-len(text), text))
    tried = longest_first[: 3 * PHRASES]
    others = count_phrases(workspace.store, tried, but=document.id, each=True)
    own = [text for text in tried if not others.get(text)]
    return own[:PHRASES]


def count_rows_in_store(workspace: Workspace, document: Document) -> int:
    try:
        find_document(workspace.store, document.id)
    except NotFound:
        return int(text_of(workspace.store, document.id, document.digest) is not None)
    return 1


def in_files(folder: Path, phrases: list[str], but: str = "") -> int:
    """Count the files that contain one of the phrases, byte for byte. but: name of a folder to
    skip."""
    forms: set[str] = set()
    for phrase in phrases:  # as text and as escaped in JSON
        forms.add(phrase)
        forms.add(json.dumps(phrase, ensure_ascii=True)[1:-1])
        forms.add(json.dumps(phrase, ensure_ascii=False)[1:-1])
    wanted = [form.encode() for form in sorted(forms)]
    hits = 0
    for file in folder.rglob("*"):
        left_out = but and (folder / but) in file.parents
        if file.is_file() and not left_out and contains_any(file, wanted):
            hits += 1
    return hits


def contains_any(file: Path, wanted: list[bytes]) -> bool:
    longest = max(map(len, wanted), default=0)
    rest = b""
    with file.open("rb") as stream:
        while piece := stream.read(_PIECE):
            if any(phrase in rest + piece for phrase in wanted):
                return True
            rest = piece[-longest:]
    return False


def cases_citing(workspace: Workspace, uri: str) -> Iterator[str]:
    """Yield cases with this evidence in the datasets of all runs, if their files still exist."""
    from ombud.lab import read_cases  # slow to import, and no other command needs it

    datasets: set[tuple[str, str]] = set()
    for run in list_runs(workspace.store):
        datasets.add((run.dataset, run.dataset_path))
    for name, place in sorted(datasets):
        path = workspace.home / (place or name)
        try:
            cases = read_cases(path) if path.exists() else ()
        except LabError:
            continue
        for case in cases:
            if any(item.document == uri for item in case.evidence):
                yield f"{name}: {case.id}"


def source_warning(workspace: Workspace, document: Document) -> str:
    sources = configured_sources(workspace.settings, workspace.home, workspace.store)
    path = document.uri.partition("/")[2]
    for source in sources:
        if not isinstance(source, FolderSource) or source.name != document.source:
            continue
        if (source.path / path).exists():
            return "The file is still in its folder: the next sync brings it back."
    return ""


def certificate_json(certificate: Certificate) -> dict[str, Any]:
    record = certificate._asdict()
    record["places"] = [place._asdict() for place in certificate.places]
    record["gone"] = certificate.gone
    return record
