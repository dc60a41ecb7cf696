"""A deletion with proof: afterwards every place is searched for the document, and what was found is
written down.

Whoever adds a place where a document's words may stand extends `_places`.
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
    erase_quotes,
    find_document,
    graph_rows_of,
    list_runs,
    phrases_held,
    text_of,
)
from ombud.text import forget_passages, split_sentences
from ombud.types import Document

PHRASES = 12
LEAST_CHARACTERS = 30
"""A shorter phrase stands in many texts."""
_PIECE = 1 << 24


class ErasurePlace(NamedTuple):
    name: str
    found: int
    """Traces that are left: 0 where the document is gone."""
    said: str = ""


class Certificate(NamedTuple):
    document: str
    uri: str
    digest: str
    at: str
    places: tuple[ErasurePlace, ...]
    retire: tuple[str, ...]
    """Cases of datasets whose evidence it was: `file: case id`."""
    not_covered: tuple[str, ...]
    """Places that cannot be looked into from here, each with what the operator does."""
    source: str
    """Warning where the source still holds it, so that the next sync would bring it back."""

    @property
    def gone(self) -> bool:
        return not any(place.found for place in self.places)


def certify_deletion(workspace: Workspace, identity: str) -> Certificate:
    """Delete a document everywhere and prove it. Raises NotFound, Busy while a sync runs.

    The index is copied without it, for an engine may keep deleted rows in its files; variants of
    the lab, copies of checks and what publications have saved of it are removed."""
    from ombud.app.publishing.publications import forget_saved
    from ombud.app.publishing.shadow import checks_folder  # .1 s of imports, as below

    document = find_document(workspace.store, identity, removed=True)
    known = _phrases(workspace, document)
    library.delete_document(workspace, document.id)
    drop_originals(workspace.originals, [document.id])  # also where none are kept any more
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
            *_index_places(workspace, document, known, generations),
            *_places(workspace, document, known, erased),
        ),
        retire=tuple(_cases(workspace, document.uri)),
        not_covered=tuple(_not_covered(workspace)),
        source=_still_there(workspace, document),
    )


def forget_in_memory(workspace: Workspace) -> None:
    """This process lets go of what it has of an older index: texts that answers cite, what was read
    in passages, the index in memory, which is made anew, and passages in `index.cache`."""
    workspace.follow_index()
    forget_passages()
    engine = workspace.engine
    if isinstance(engine, HotEngine) and engine.bytes:
        engine.refresh()
    if workspace.cache:
        clear_cache(workspace.cache)


def _index_places(
    workspace: Workspace, document: Document, known: list[str], generations: set[str]
) -> Iterator[ErasurePlace]:
    """generations: those that there were before."""
    rows = blocking(workspace.engine.documents()).get(document.id, 0)
    chunk_ids = blocking(workspace.engine.chunk_ids())
    chunks = [chunk_id for chunk_id in chunk_ids if chunk_id.startswith(document.id)]
    yield ErasurePlace("index: passages and vectors", rows + len(chunks))
    yield ErasurePlace(
        "index: versions",
        blocking(workspace.newest_engine.holds(known)),
        f"each that can still be read, for {len(known)} of its phrases",
    )
    older = (generations | workspace.pointer.others()) - {workspace.pointer.look()}
    yield ErasurePlace(
        "index: older generations",
        sum(map(workspace.pointer.backend.holds, older)),
        "removed as a whole",
    )
    yield ErasurePlace(
        "index: files",
        in_files(workspace.data / "index", known),
        f"searched for {len(known)} of its phrases",
    )
    engine = workspace.engine
    if isinstance(engine, HotEngine):
        yield ErasurePlace(
            "index: in the memory of this process",
            engine.in_memory(known),
            f"searched for {len(known)} of its phrases",
        )
    if workspace.cache:
        yield ErasurePlace(
            "index: passages in index.cache",
            in_files(workspace.cache, known),
            f"emptied, searched for {len(known)} of its phrases",
        )


def _places(
    workspace: Workspace, document: Document, known: list[str], erased: dict[str, int]
) -> Iterator[ErasurePlace]:
    yield ErasurePlace("store: document and texts", _in_store(workspace, document))
    yield ErasurePlace("store: graph of triplets", graph_rows_of(workspace.store, document.id))
    yield ErasurePlace("store: abbreviations", len(abbreviations_of(workspace.store, document.id)))
    kept = len(originals_of(workspace.originals, document.id))
    yield ErasurePlace("originals: files of it", kept)
    held = phrases_held(workspace.store, known)
    yield ErasurePlace(
        "store: answers and conversations",
        held["answers"],
        f"{erased['answers']} answers were blanked",
    )
    yield ErasurePlace(
        "store: runs of the lab", held["lab runs"], f"{erased['lab runs']} cases were blanked"
    )
    yield ErasurePlace(
        "other files of the workspace",
        in_files(workspace.data, known, but="index"),
        "all under .ombud",
    )


def _not_covered(workspace: Workspace) -> Iterator[str]:
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


def _phrases(workspace: Workspace, document: Document) -> list[str]:
    """Sentences of the document that no other document holds, the longest first."""
    sentences: set[str] = set()
    for start, end in split_sentences(document.text, document.language):
        sentence = document.text[start:end]
        if len(sentence) >= LEAST_CHARACTERS and "\n" not in sentence:
            sentences.add(sentence)
    longest_first = sorted(sentences, key=lambda text: (-len(text), text))
    tried = longest_first[: 3 * PHRASES]
    others = phrases_held(workspace.store, tried, but=document.id, each=True)
    own = [text for text in tried if not others.get(text)]
    return own[:PHRASES]


def _in_store(workspace: Workspace, document: Document) -> int:
    try:
        find_document(workspace.store, document.id)
    except NotFound:
        return int(text_of(workspace.store, document.id, document.digest) is not None)
    return 1


def in_files(folder: Path, phrases: list[str], but: str = "") -> int:
    """Files that hold one of the phrases, byte for byte; `but` names a folder that is left out."""
    forms: set[str] = set()
    for phrase in phrases:  # as text, and as it stands in JSON
        forms.add(phrase)
        forms.add(json.dumps(phrase, ensure_ascii=True)[1:-1])
        forms.add(json.dumps(phrase, ensure_ascii=False)[1:-1])
    wanted = [form.encode() for form in sorted(forms)]
    found = 0
    for file in folder.rglob("*"):
        left_out = but and (folder / but) in file.parents
        if file.is_file() and not left_out and _holds(file, wanted):
            found += 1
    return found


def _holds(file: Path, wanted: list[bytes]) -> bool:
    longest = max(map(len, wanted), default=0)
    rest = b""
    with file.open("rb") as stream:
        while piece := stream.read(_PIECE):
            if any(phrase in rest + piece for phrase in wanted):
                return True
            rest = piece[-longest:]
    return False


def _cases(workspace: Workspace, uri: str) -> Iterator[str]:
    """Of the datasets that runs were made of, where they still are."""
    from ombud.lab import read_cases  # .1 s of imports that no other command needs

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


def _still_there(workspace: Workspace, document: Document) -> str:
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
