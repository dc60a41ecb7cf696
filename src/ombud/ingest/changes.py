"""What is there against what is stored: the list of things to do."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from hashlib import sha256
from posixpath import splitext
from typing import NamedTuple

from ombud.documents import front_matter, kinds, recipe_of
from ombud.errors import SourceError
from ombud.ingest.report import Failure
from ombud.ingest.rows import form_of
from ombud.settings import Settings, index_for
from ombud.sources import Ref, Source, apply_metadata, normalise_metadata
from ombud.store import DocumentEntry, SyncStamp
from ombud.types import Document

PARSED_BY = "6"
"""Changes when parsers or chunkers give other results from the same bytes: everything is then cut
anew."""


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

    def kept(self, chunks: int) -> SyncStamp:
        return SyncStamp(
            self.facts_digest, self.recipe, self.document.effective_to, chunks, self.stamp
        )


class SyncPlan(NamedTuple):
    changes: list[DocumentChange]
    gone: list[DocumentEntry]
    moved: dict[str, str]
    """New id -> old id, where the same bytes stand under another name."""
    unchanged: int
    failed: list[Failure]
    skipped: dict[str, int]
    documents: list[Document]
    """Everything that was listed and could be read."""
    stamps: dict[str, str]
    """Unchanged documents that had to be read to see it -> what spares that the next time."""


def plan_changes(
    source: Source,
    known: Mapping[str, DocumentEntry],
    documents: Mapping[str, Document],
    indexed: Mapping[str, int],
    settings: Settings,
    tell: Callable[[str, int, int], None],
) -> SyncPlan:
    """Compare; reads what the source does not say is unchanged, keeps none of it in memory.

    known, documents: what is stored of this source, by document id; indexed: chunks in the index.
    Raises SourceError when the source cannot be listed."""
    refs = source.list()
    readable, recipe = kinds(), _digest(*_recipe(settings, source.name))
    skipped = Counter(suffix for ref in refs if (suffix := _suffix(ref)) not in readable)
    plan = SyncPlan([], [], {}, 0, [], dict(skipped), [], {})
    unchanged, seen = 0, set()
    for number, ref in enumerate(refs, start=1):
        tell("compare", number, len(refs))
        identity = document_id(ref.uri)
        if _suffix(ref) not in readable:
            continue
        seen.add(identity)
        entry, stamp = known.get(identity), _stamp(recipe, ref)
        if entry and stamp and (entry.stamp, entry.chunks) == (stamp, indexed.get(identity, 0)):
            plan.documents.append(documents[identity])
            unchanged += 1
            continue
        try:
            change = _compare(source, ref, entry, indexed.get(identity, 0), settings)._replace(
                stamp=stamp
            )
        except SourceError as failed:
            plan.failed.append(failure(ref.uri, failed))
            if (
                entry
                and ref.facts.get("audience", documents[identity].audience)
                != documents[identity].audience
            ):
                plan.changes.append(_narrowed(ref, entry, documents[identity]))
            continue
        plan.documents.append(change.document)
        if change.new or change.content or change.facts_digest != known[identity].facts_digest:
            plan.changes.append(change)
        else:
            plan.stamps[identity] = stamp
            unchanged += 1
    plan.gone.extend(entry for identity, entry in known.items() if identity not in seen)
    moved = dict(_moves(plan.changes, plan.gone))
    return plan._replace(unchanged=unchanged, moved=moved)


def document_id(uri: str) -> str:
    return sha256(uri.encode()).hexdigest()[:16]


def failure(uri: str, error: SourceError) -> Failure:
    return Failure(uri=uri, reason=f"{error} {error.hint}".strip())


def _compare(
    source: Source, ref: Ref, entry: DocumentEntry | None, chunks: int, settings: Settings
) -> DocumentChange:
    limit = settings.documents.size_mb
    if ref.size > limit * 2**20:
        raise SourceError(
            f"The file is larger than {limit} MB.", hint="Raise documents.size_mb to read it."
        )
    data = source.read(ref)
    facts = dict(ref.facts)
    if _suffix(ref) in (".md", ".markdown"):
        facts |= normalise_metadata(front_matter(data, ref.uri), "front matter", strict=False)
    blank = Document(
        id=document_id(ref.uri), source=source.name, uri=ref.uri, title="", language=""
    )
    document = apply_metadata(blank, facts).model_copy(update={"digest": sha256(data).hexdigest()})
    _check_dates(document.effective_from, document.effective_to)
    recipe = _digest(*_recipe(settings, source.name), document.title, document.language)
    same = entry and (entry.digest, entry.recipe, entry.chunks) == (document.digest, recipe, chunks)
    facts_digest = _digest(document.model_dump(mode="json", exclude={"digest", "text", "blocks"}))
    return DocumentChange(ref, document, facts_digest, recipe, content=not same, new=entry is None)


def _recipe(settings: Settings, source: str) -> tuple[object, ...]:
    index = index_for(settings, source)
    return PARSED_BY, *recipe_of(index), *form_of(index)


def _narrowed(ref: Ref, entry: DocumentEntry, document: Document) -> DocumentChange:
    """What cannot be read keeps its text, but not readers that its source no longer grants. Its
    digests are left empty, so that the next sync looks at it again whatever the source says."""
    changed = document.model_copy(update={"audience": ref.facts["audience"]})
    return DocumentChange(
        ref, changed, facts_digest="", recipe=entry.recipe, content=False, new=False
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
    return splitext(ref.uri)[1].lower()


def _digest(*parts: object) -> str:
    return sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
