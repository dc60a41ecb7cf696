"""What is there against what is stored: the list of things to do."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from posixpath import splitext
from typing import NamedTuple

from ombud.documents import (
    PARSED_BY,
    AttachedFile,
    front_matter,
    holds_documents,
    is_passing,
    kinds,
    recipe_of,
)
from ombud.errors import SourceError
from ombud.ingest.parts import OnProgress
from ombud.ingest.report import Failure, Skipped
from ombud.ingest.rows import form_of
from ombud.settings import Settings, index_for
from ombud.sources import (
    LeftOut,
    Ref,
    Source,
    apply_metadata,
    normalise_metadata,
    why_unreadable,
)
from ombud.store import DocumentEntry, SyncStamp
from ombud.types import PARSED, Audience, Document


class DocumentChange(NamedTuple):
    ref: Ref
    document: Document
    """Metadata only; `effective_to` is its own, before any successor's cut."""
    facts_digest: str
    recipe: str
    content: bool
    """Parse and embed again, or only take over metadata."""
    new: bool
    stamp: str = ""
    attached: frozenset[str] = frozenset()
    """Ids of the documents that were attached to it before."""

    def kept(self, chunks: int) -> SyncStamp:
        return SyncStamp(
            self.facts_digest, self.recipe, self.document.effective_to, chunks, self.stamp
        )


class KnownDocuments(NamedTuple):
    """What is held of one source, by document id."""

    entries: Mapping[str, DocumentEntry]
    documents: Mapping[str, Document]
    chunks: Mapping[str, int]
    """Chunks in the index."""


@dataclass
class SyncPlan:
    changes: list[DocumentChange] = field(default_factory=list)
    gone: list[DocumentEntry] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    """New id -> old id, where the same bytes stand under another name."""
    copies: list[str] = field(default_factory=list)
    """Ids of indexed documents that are copies of others."""
    unchanged: int = 0
    failed: list[Failure] = field(default_factory=list)
    left_out: list[Skipped] = field(default_factory=list)
    incomplete: set[str] = field(default_factory=set)
    """Ids of the documents that are indexed, but not whole."""
    reread: int = 0
    """Documents whose bytes are the same, but not the parsers that read them."""
    documents: list[Document] = field(default_factory=list)
    """Everything that was listed and could be read."""
    stamps: dict[str, str] = field(default_factory=dict)
    """Unchanged documents that had to be read to see it -> what spares that the next time."""


def plan_changes(
    source: Source, known: KnownDocuments, settings: Settings, on_progress: OnProgress
) -> SyncPlan:
    """Compare; reads what the source does not say is unchanged, keeps none of it in memory. Raises
    SourceError when the source cannot be listed."""
    refs = source.list()
    readable = kinds()
    holders = {ref.uri for ref in refs if holds_documents(ref.uri)}
    attached = _attached_to(holders, known.entries.values())
    comparison = _Comparison(source, known, settings, attached)
    plan = comparison.plan
    listed: set[str] = set()
    for number, ref in enumerate(refs, start=1):
        on_progress("compare", number, len(refs))
        suffix = _suffix(ref)
        if is_passing(ref.uri):
            continue
        if suffix not in readable:
            why = why_unreadable(ref.uri)
            plan.left_out.append(Skipped(uri=ref.uri, name=ref.name, why=why))
            continue
        listed.add(document_id(ref.uri))
        comparison.add(ref)
    comparison.leave_out_copies()
    of_source: Sequence[LeftOut] = getattr(source, "left_out", ())
    plan.left_out += [Skipped(uri=one.uri, why=one.why) for one in of_source]
    listed.update(entry.id for entries in attached.values() for entry in entries)
    for key, entry in known.entries.items():
        if key not in listed:
            plan.gone.append(entry)
    plan.moved = dict(_moves(plan.changes, plan.gone))
    return plan


def _attached_to(
    holders: Set[str], entries: Iterable[DocumentEntry]
) -> dict[str, list[DocumentEntry]]:
    """uri of a listed message -> the documents that are attached to it, at any depth."""
    attached: dict[str, list[DocumentEntry]] = defaultdict(list)
    for entry in entries:
        for slash in re.finditer("/", entry.uri):
            holder = entry.uri[: slash.start()]
            if holder in holders:
                attached[holder].append(entry)
                break
    return attached


class _Comparison:
    """Documents of a source against what is held of them, one by one."""

    def __init__(
        self,
        source: Source,
        known: KnownDocuments,
        settings: Settings,
        attached: Mapping[str, Sequence[DocumentEntry]],
    ) -> None:
        incomplete = {key for key, document in known.documents.items() if document.loss}
        self.plan = SyncPlan(incomplete=incomplete)
        self._attached = attached
        self._source = source
        self._known = known
        self._settings = settings
        self._recipe = _digest(*_recipe(settings, source.name))
        self._names: dict[str, str] = defaultdict(str)
        """uri -> what people call it."""

    def add(self, ref: Ref) -> None:
        self._names[ref.uri] = ref.name
        key = document_id(ref.uri)
        entry = self._known.entries.get(key)
        chunks = self._known.chunks.get(key, 0)
        stamp = _stamp(self._recipe, ref)
        attached = self._attached.get(ref.uri, ())
        is_whole = all(self._known.chunks.get(one.id) == one.chunks for one in attached)
        stamped = entry is not None and (entry.stamp, entry.chunks) == (stamp, chunks)
        if stamp and stamped and is_whole:
            self._add_unchanged(key, attached)
            return
        try:
            change = _compare(self._source, ref, entry, chunks, self._settings)
        except SourceError as failed:
            self._add_failed(ref, entry, failed)
            return
        change = change._replace(stamp=stamp)
        is_same = entry is not None and change.facts_digest == entry.facts_digest
        if is_same and is_whole and not change.content:
            self.plan.stamps[key] = stamp
            self._add_unchanged(key, attached)
        else:
            self._add_change(change, attached)

    def _add_change(self, change: DocumentChange, attached: Sequence[DocumentEntry]) -> None:
        if attached:
            # What is attached has the facts of its message.
            ids = frozenset(one.id for one in attached)
            change = change._replace(content=True, attached=ids)
            self._narrow(attached, change.document.audience)
        self.plan.documents.append(change.document)
        self.plan.changes.append(change)
        self.plan.reread += self._is_reread(change)

    def _add_unchanged(self, key: str, attached: Sequence[DocumentEntry]) -> None:
        for one in (key, *(entry.id for entry in attached)):
            self.plan.documents.append(self._known.documents[one])
            self.plan.unchanged += 1

    def _narrow(self, entries: Sequence[DocumentEntry], audience: Audience) -> None:
        """Give documents the readers of today before anything is read, which may fail."""
        for entry in entries:
            document = self._known.documents[entry.id]
            if document.audience != audience:
                self.plan.changes.append(_narrowed(entry, document, audience))

    def leave_out_copies(self) -> None:
        """Take copies of other documents out of the plan and the index."""
        copies = _copies(self.plan.documents, self._known)
        self._leave_out({copy.id for copy, _ in copies})
        for copy, original in copies:
            name, of = self._names[copy.uri], self._names[original.uri] or original.uri
            why = f"it is a copy of {of}"
            self.plan.left_out.append(Skipped(uri=copy.uri, name=name, why=why))

    def _leave_out(self, copies: Set[str]) -> None:
        plan = self.plan
        changed = {change.document.id for change in plan.changes}
        plan.unchanged -= len(copies - changed)
        plan.changes = [one for one in plan.changes if one.document.id not in copies]
        plan.documents = [one for one in plan.documents if one.id not in copies]
        plan.stamps = {key: stamp for key, stamp in plan.stamps.items() if key not in copies}
        plan.copies = sorted(copies & self._known.entries.keys())

    def _is_reread(self, change: DocumentChange) -> bool:
        """Tell whether the same bytes are read by newer parsers."""
        known = self._known.documents.get(change.document.id)
        if known is None or not change.content:
            return False
        return known.digest == change.document.digest and known.parser != PARSED_BY

    def _add_failed(self, ref: Ref, entry: DocumentEntry | None, error: SourceError) -> None:
        self.plan.failed.append(failure(ref, error))
        if entry is None:
            return
        if "audience" in ref.facts:
            attached = self._attached.get(ref.uri, ())
            self._narrow([entry, *attached], ref.facts["audience"])


def _copies(
    documents: Sequence[Document], known: KnownDocuments
) -> list[tuple[Document, Document]]:
    """Documents with the same bytes and the same metadata as another, each with that one.

    One that another supersedes by its name is never taken for a copy, and those that are indexed
    already come first."""
    superseded = {document.supersedes for document in documents}
    in_order = sorted(
        documents, key=lambda one: (one.uri not in superseded, one.id not in known.entries)
    )
    first: dict[str, Document] = {}
    copies: list[tuple[Document, Document]] = []
    for document in in_order:
        original = first.setdefault(_identity(document), document)
        has_own_title = document.title and original.title and document.title != original.title
        if original is not document and document.uri not in superseded and not has_own_title:
            copies.append((document, original))
    return copies


def _identity(document: Document) -> str:
    """What two copies have in common, read by the same parser. Their titles come from their bytes,
    if from nowhere else."""
    elsewhere = {"id", "uri", "url", "title", "language", "updated", *PARSED}
    facts = document.model_dump(mode="json", exclude=elsewhere)
    return _digest(_suffix_of(document.uri), facts)


def document_id(uri: str) -> str:
    return sha256(uri.encode()).hexdigest()[:16]


def failure(ref: Ref, error: SourceError) -> Failure:
    return Failure(uri=ref.uri, name=ref.name, reason=f"{error} {error.hint}".strip())


def _compare(
    source: Source, ref: Ref, entry: DocumentEntry | None, chunks: int, settings: Settings
) -> DocumentChange:
    limit = settings.documents.size_mb
    if ref.size > limit * 2**20:
        raise SourceError(
            f"The file is larger than {limit} MB.", hint="Raise documents.size_mb to read it."
        )
    data = source.read(ref)
    metadata = normalise_metadata(front_matter(data, ref.uri), "front matter", strict=False)
    final = {key: ref.facts[key] for key in ref.final if key in ref.facts}
    facts = dict(ref.facts) | metadata | final
    blank = Document(
        id=document_id(ref.uri), source=source.name, uri=ref.uri, title="", language=""
    )
    document = apply_metadata(blank, facts).model_copy(update={"digest": sha256(data).hexdigest()})
    _check_dates(document.effective_from, document.effective_to)
    recipe = _digest(*_recipe(settings, source.name), document.title, document.language)
    is_same = False
    if entry is not None:
        stored = (entry.digest, entry.recipe, entry.chunks)
        is_same = stored == (document.digest, recipe, chunks)
    facts = document.model_dump(mode="json", exclude={"digest", *PARSED})
    return DocumentChange(
        ref=ref,
        document=document,
        facts_digest=_digest(facts),
        recipe=recipe,
        content=not is_same,
        new=entry is None,
    )


def _recipe(settings: Settings, source: str) -> tuple[object, ...]:
    index = index_for(settings, source)
    return PARSED_BY, *recipe_of(index), *form_of(index)


def _narrowed(entry: DocumentEntry, document: Document, audience: Audience) -> DocumentChange:
    """What cannot be read keeps its text, but not readers that its source no longer grants. Its
    digests are left empty, so that the next sync looks at it again whatever the source says."""
    return DocumentChange(
        ref=Ref(uri=document.uri, place="", size=0, facts={}),
        document=document.model_copy(update={"audience": audience}),
        facts_digest="",
        recipe=entry.recipe,
        content=False,
        new=False,
    )


def attached_change(holder: DocumentChange, file: AttachedFile) -> DocumentChange:
    """A file attached to a document, which has the readers and the countries of that one.

    Raises SourceError where its front matter is broken."""
    ref = holder.ref.inside(file.name, len(file.data))
    uri = ref.uri
    of_its_own = {
        "id": document_id(uri),
        "uri": uri,
        "title": "",
        "language": "",
        "supersedes": None,
        "digest": sha256(file.data).hexdigest(),
    }
    metadata = normalise_metadata(front_matter(file.data, uri), "front matter", strict=False)
    document = apply_metadata(holder.document.model_copy(update=of_its_own), metadata)
    granted = {"audience": holder.document.audience, "countries": holder.document.countries}
    return holder._replace(
        ref=ref,
        document=document.model_copy(update=granted),
        new=of_its_own["id"] not in holder.attached,
    )


def _stamp(recipe: str, ref: Ref) -> str:
    """What decides a document besides its bytes, and the source's word for these; empty where it
    has none."""
    return _digest(recipe, ref.version, dict(ref.facts)) if ref.version else ""


def _check_dates(first: date | None, last: date | None) -> None:
    if first and last and last < first:
        raise SourceError(
            f"It ends ({last}) before it begins ({first}).",
            hint="Check effective_from and effective_to.",
        )


def _moves(changes: list[DocumentChange], gone: list[DocumentEntry]) -> Iterator[tuple[str, str]]:
    left = {entry.digest: entry.id for entry in gone}
    for change in changes:
        if change.new and change.document.digest in left:
            yield change.document.id, left.pop(change.document.digest)


def _suffix(ref: Ref) -> str:
    return _suffix_of(ref.uri)


def _suffix_of(uri: str) -> str:
    return splitext(uri)[1].lower()


def _digest(*parts: object) -> str:
    return sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
