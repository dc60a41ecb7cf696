"""Compare a source with what is stored of it, and plan what a sync has to do."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
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
    """Metadata only; `effective_to` is the document's own, before a successor cuts it."""
    facts_digest: str
    recipe: str
    content: bool
    """True to parse and embed again, false to update metadata only."""
    new: bool
    stamp: str = ""
    attached: frozenset[str] = frozenset()
    """Ids of the documents that were attached to it before."""

    def sync_stamp(self, chunks: int) -> SyncStamp:
        """Make the record by which the next sync sees that the document is unchanged."""
        return SyncStamp(
            self.facts_digest, self.recipe, self.document.effective_to, chunks, self.stamp
        )


class StoredDocuments(NamedTuple):
    """The stored documents of one source, by document id."""

    entries: Mapping[str, DocumentEntry]
    documents: Mapping[str, Document]
    chunks: Mapping[str, int]
    """Chunks in the index."""


@dataclass
class SyncPlan:
    """The work of a sync, and what the comparison left out."""

    changes: list[DocumentChange] = field(default_factory=list)
    gone: list[DocumentEntry] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    """New id -> old id of documents whose bytes are the same under another name."""
    copies: list[str] = field(default_factory=list)
    """Ids of indexed documents that are copies of others."""
    unchanged: int = 0
    failed: list[Failure] = field(default_factory=list)
    left_out: list[Skipped] = field(default_factory=list)
    incomplete: set[str] = field(default_factory=set)
    """Ids of the documents that are indexed in part."""
    reread: int = 0
    """Documents with the same bytes that newer parsers read again."""
    documents: list[Document] = field(default_factory=list)
    """All documents that were listed and could be read."""
    stamps: dict[str, str] = field(default_factory=dict)
    """Document id -> stamp of documents whose bytes had to be read to see that they are unchanged;
    with the stamp, the next sync need not read them."""


def plan_changes(
    source: Source, stored: StoredDocuments, settings: Settings, on_progress: OnProgress
) -> SyncPlan:
    """Plan an incremental sync: compare a source with the stored documents, and read those that it
    does not report as unchanged. Raises SourceError when the source cannot be listed."""
    refs = source.list()
    readable = kinds()
    holders = {ref.uri for ref in refs if holds_documents(ref.uri)}
    attached = attached_entries(holders, stored.entries.values())
    comparison = SourceComparison(source, stored, settings, attached)
    plan = comparison.plan
    listed: set[str] = set()
    for number, ref in enumerate(refs, start=1):
        on_progress("compare", number, len(refs))
        if is_passing(ref.uri):
            continue
        if file_suffix(ref.uri) not in readable:
            why = why_unreadable(ref.uri)
            plan.left_out.append(Skipped(uri=ref.uri, name=ref.name, why=why))
            continue
        listed.add(document_id(ref.uri))
        comparison.add(ref)
    comparison.leave_out_copies()
    source_left_out: Sequence[LeftOut] = getattr(source, "left_out", ())
    plan.left_out += [Skipped(uri=one.uri, why=one.why) for one in source_left_out]
    listed.update(entry.id for entries in attached.values() for entry in entries)
    for key, entry in stored.entries.items():
        if key not in listed:
            plan.gone.append(entry)
    plan.moved = dict(find_moves(plan.changes, plan.gone))
    return plan


def attached_entries(
    holders: Set[str], entries: Iterable[DocumentEntry]
) -> dict[str, list[DocumentEntry]]:
    """Map the uri of each listed message to the documents attached to it, at any depth."""
    attached: dict[str, list[DocumentEntry]] = defaultdict(list)
    for entry in entries:
        for place, sign in enumerate(entry.uri):
            holder = entry.uri[:place] if sign == "/" else ""
            if holder in holders:
                attached[holder].append(entry)
                break
    return attached


class SourceComparison:
    """Compares the documents of a source with the stored ones, one by one."""

    def __init__(
        self,
        source: Source,
        stored: StoredDocuments,
        settings: Settings,
        attached: Mapping[str, Sequence[DocumentEntry]],
    ) -> None:
        incomplete = {key for key, document in stored.documents.items() if document.loss}
        self.plan = SyncPlan(incomplete=incomplete)
        self._attached = attached
        self._source = source
        self._stored = stored
        self._settings = settings
        self._recipe = digest_of(*text_recipe(settings, source.name))
        self._names: dict[str, str] = defaultdict(str)
        """uri -> display name."""

    def add(self, ref: Ref) -> None:
        """Compare one document and add it to the plan."""
        self._names[ref.uri] = ref.name
        key = document_id(ref.uri)
        entry = self._stored.entries.get(key)
        chunks = self._stored.chunks.get(key, 0)
        # Everything that decides a document, its bytes by the source's version of them.
        stamp = digest_of(self._recipe, ref.version, dict(ref.facts)) if ref.version else ""
        attached = self._attached.get(ref.uri, ())
        is_whole = all(self._stored.chunks.get(one.id) == one.chunks for one in attached)
        stamped = entry is not None and (entry.stamp, entry.chunks) == (stamp, chunks)
        if stamp and stamped and is_whole:
            self._add_unchanged(key, attached)
            return
        try:
            change = compare_document(self._source, ref, entry, chunks, self._settings)
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
            # Attached files take their metadata from the message.
            ids = frozenset(one.id for one in attached)
            change = change._replace(content=True, attached=ids)
            self._narrow(attached, change.document.audience)
        self.plan.documents.append(change.document)
        self.plan.changes.append(change)
        self.plan.reread += self._is_reread(change)

    def _add_unchanged(self, key: str, attached: Sequence[DocumentEntry]) -> None:
        for one in (key, *(entry.id for entry in attached)):
            self.plan.documents.append(self._stored.documents[one])
            self.plan.unchanged += 1

    def _narrow(self, entries: Sequence[DocumentEntry], audience: Audience) -> None:
        """Restrict documents to their current readers before their content is read, because reading
        may fail."""
        for entry in entries:
            document = self._stored.documents[entry.id]
            if document.audience != audience:
                self.plan.changes.append(audience_change(entry, document, audience))

    def leave_out_copies(self) -> None:
        """Take copies of other documents out of the plan and the index."""
        copies = find_copies(self.plan.documents, self._stored)
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
        plan.copies = sorted(copies & self._stored.entries.keys())

    def _is_reread(self, change: DocumentChange) -> bool:
        """Tell whether newer parsers read the same bytes again."""
        stored = self._stored.documents.get(change.document.id)
        if stored is None or not change.content:
            return False
        return stored.digest == change.document.digest and stored.parser != PARSED_BY

    def _add_failed(self, ref: Ref, entry: DocumentEntry | None, error: SourceError) -> None:
        self.plan.failed.append(failure(ref, error))
        if entry is None:
            return
        if "audience" in ref.facts:
            attached = self._attached.get(ref.uri, ())
            self._narrow([entry, *attached], ref.facts["audience"])


def find_copies(
    documents: Sequence[Document], stored: StoredDocuments
) -> list[tuple[Document, Document]]:
    """Pair each copy with its original: same bytes, same metadata, read by the same parser.

    A document that another supersedes is never a copy. Of equal documents, one that is already
    indexed is the original."""
    superseded = {document.supersedes for document in documents}
    in_order = sorted(
        documents,
        key=lambda one: (one.uri not in superseded, one.id not in stored.entries),
    )
    first: dict[str, Document] = {}
    copies: list[tuple[Document, Document]] = []
    for document in in_order:
        # Titles come from the bytes, if from nowhere else.
        derived = {"id", "uri", "url", "title", "language", "updated", *PARSED}
        facts = document.model_dump(mode="json", exclude=derived)
        original = first.setdefault(digest_of(file_suffix(document.uri), facts), document)
        has_own_title = document.title and original.title and document.title != original.title
        if original is not document and document.uri not in superseded and not has_own_title:
            copies.append((document, original))
    return copies


def document_id(uri: str) -> str:
    return sha256(uri.encode()).hexdigest()[:16]


def failure(ref: Ref, error: SourceError) -> Failure:
    """Report that a document could not be read."""
    return Failure(uri=ref.uri, name=ref.name, reason=f"{error} {error.hint}".strip())


def compare_document(
    source: Source, ref: Ref, entry: DocumentEntry | None, chunks: int, settings: Settings
) -> DocumentChange:
    """Read a document and compare its bytes and metadata with the stored entry. Raises
    SourceError."""
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
    first_day, last_day = document.effective_from, document.effective_to
    if first_day and last_day and last_day < first_day:
        raise SourceError(
            f"It ends ({last_day}) before it begins ({first_day}).",
            hint="Check effective_from and effective_to.",
        )
    recipe = digest_of(*text_recipe(settings, source.name), document.title, document.language)
    is_same = False
    if entry is not None:
        stored = (entry.digest, entry.recipe, entry.chunks)
        is_same = stored == (document.digest, recipe, chunks)
    facts = document.model_dump(mode="json", exclude={"digest", *PARSED})
    return DocumentChange(
        ref=ref,
        document=document,
        facts_digest=digest_of(facts),
        recipe=recipe,
        content=not is_same,
        new=entry is None,
    )


def text_recipe(settings: Settings, source: str) -> tuple[object, ...]:
    """List what decides the chunks and rows of a document besides the document."""
    index = index_for(settings, source)
    return PARSED_BY, *recipe_of(index), *form_of(index)


def audience_change(entry: DocumentEntry, document: Document, audience: Audience) -> DocumentChange:
    """Change only the readers of a document that cannot be read now. Its digest is left empty, so
    that the next sync compares it again whatever version the source reports."""
    return DocumentChange(
        ref=Ref(uri=document.uri, place="", size=0, facts={}),
        document=document.model_copy(update={"audience": audience}),
        facts_digest="",
        recipe=entry.recipe,
        content=False,
        new=False,
    )


def attached_change(holder: DocumentChange, file: AttachedFile) -> DocumentChange:
    """Make the change for a file attached to a document, with the readers and countries of that
    document. Raises SourceError for broken front matter."""
    ref = holder.ref.inside(file.name, len(file.data))
    uri = ref.uri
    own_facts = {
        "id": document_id(uri),
        "uri": uri,
        "title": "",
        "language": "",
        "supersedes": None,
        "digest": sha256(file.data).hexdigest(),
    }
    metadata = normalise_metadata(front_matter(file.data, uri), "front matter", strict=False)
    document = apply_metadata(holder.document.model_copy(update=own_facts), metadata)
    # The file's front matter grants nothing.
    granted = {"audience": holder.document.audience, "countries": holder.document.countries}
    return holder._replace(
        ref=ref,
        document=document.model_copy(update=granted),
        new=own_facts["id"] not in holder.attached,
    )


def find_moves(
    changes: list[DocumentChange], gone: list[DocumentEntry]
) -> Iterator[tuple[str, str]]:
    """Yield (new id, old id) of documents that are gone and new under another name."""
    old_ids = {entry.digest: entry.id for entry in gone}
    for change in changes:
        if change.new and change.document.digest in old_ids:
            yield change.document.id, old_ids.pop(change.document.digest)


def file_suffix(uri: str) -> str:
    return splitext(uri)[1].lower()


def digest_of(*parts: object) -> str:
    return sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
