"""`/documents`: what one may read, found by title and text; a document; its versions and what
changed between them."""

from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi import Path as FromPath
from fastapi.responses import HTMLResponse

from ombud.app import Workspace, asking, callers, library
from ombud.documents import describe_loss
from ombud.types import Document, Hit, Person
from ombud.web.api import CurrentWorkspace, Reader
from ombud.web.documents.comparing import changes
from ombud.web.documents.passage import View, outline, ranks, view
from ombud.web.layout import day, page
from ombud.web.live.secrets import Asking

FOUND = 8
"""Passages shown under the titles."""
SHOWN = 240
"""Characters of one."""

CITES = r"^(\d{1,9}-\d{1,9}(,\d{1,9}-\d{1,9})*)?$"
"""Places in a document, such as `12-40,88-120`."""

router = APIRouter(include_in_schema=False)


@router.get("/documents", response_class=HTMLResponse)
async def index(
    workspace: CurrentWorkspace,
    caller: Asking,
    person: Reader,
    q: Annotated[str, Query(max_length=200)] = "",
    topic: Annotated[str, Query(max_length=100)] = "",
) -> str:
    known = library.documents(workspace, person, workspace.today())
    audiences = library.known_audiences(workspace)
    shown = [one for one in known if one.topic == topic or not topic]
    words = q.split()
    return page(
        "documents.html",
        workspace.settings,
        q=q,
        topic=topic,
        person=person,
        query=_query(person, caller),
        asking=caller,
        countries=audiences.get("countries", []),
        roles=audiences.get("roles", []),
        topics=sorted({one.topic for one in known if one.topic}),
        groups=_groups(one for one in shown if _is_called(one, words)),
        hits=await _hits(workspace, q, person) if words else [],
    )


class FoundPassage(NamedTuple):
    document_id: str
    version: str
    title: str
    start: int
    end: int
    text: str


async def _hits(workspace: Workspace, q: str, person: Person) -> list[FoundPassage]:
    evidence, _ = await asking.search(workspace, q, person, k=FOUND, as_of=workspace.today())
    return list(map(_found, evidence.hits))


def _found(hit: Hit) -> FoundPassage:
    chunk = hit.chunk
    text = " ".join(chunk.text.split())
    short = text if len(text) <= SHOWN else f"{text[:SHOWN].rpartition(' ')[0]} …"
    return FoundPassage(
        document_id=chunk.document_id,
        version=chunk.version,
        title=chunk.title,
        start=chunk.start,
        end=chunk.end,
        text=short,
    )


def _is_called(document: Document, words: Sequence[str]) -> bool:
    called = f"{document.title} {document.topic} {document.uri}".casefold()
    return all(word.casefold() in called for word in words)


def _groups(documents: Iterable[Document]) -> list[tuple[str, list[Document]]]:
    """Country -> its documents by title; those of everybody last."""
    by_country: dict[str, list[Document]] = {}
    for one in sorted(documents, key=lambda one: one.title.casefold()):
        by_country.setdefault(", ".join(one.countries), []).append(one)
    return sorted(by_country.items(), key=lambda group: (not group[0], group[0]))


def _query(person: Person, caller: callers.Caller) -> str:
    """What addresses say of who reads; nothing where they have signed in."""
    if caller.account is not None and not caller.may_choose:
        return ""
    named = {"country": person.country, "grade": person.grade, "contract": person.contract}
    pairs = [(name, value) for name, value in named.items() if value]
    pairs += [("role", role) for role in person.roles]
    return urlencode(pairs)


class _Cited(NamedTuple):
    """What a link to a document asks for."""

    start: int
    end: int
    version: str | None
    """As `Document.version` names it."""
    cites: tuple[tuple[int, int], ...] = ()
    """All places of the same version that the answer cites, first to last."""


def _cited(
    start: Annotated[int, Query(ge=0)] = 0,
    end: Annotated[int, Query(ge=0)] = 0,
    digest: str | None = None,
    cites: Annotated[str, Query(max_length=1_000, pattern=CITES)] = "",
) -> _Cited:
    places = {tuple(map(int, place.split("-"))) for place in cites.split(",") if place}
    ordered = tuple((first, last) for first, last in sorted(places))
    return _Cited(start, end, digest or None, ordered)


class Hop(NamedTuple):
    """From one cited passage to the ones beside it."""

    number: int
    of: int
    before: str
    """Address; empty where there is none."""
    after: str


def _hop(request: Request, cited: _Cited) -> Hop | None:
    """None where the answer cites one place."""
    here = (cited.start, cited.end)
    if here not in cited.cites or len(cited.cites) < 2:
        return None
    number = cited.cites.index(here)
    before = cited.cites[number - 1] if number else None
    after = cited.cites[number + 1] if number + 1 < len(cited.cites) else None
    return Hop(
        number=number + 1,
        of=len(cited.cites),
        before=_at(request, before),
        after=_at(request, after),
    )


def _at(request: Request, place: tuple[int, int] | None) -> str:
    """This page with another passage marked."""
    if place is None:
        return ""
    url = request.url.include_query_params(start=place[0], end=place[1])
    return f"{url.path}?{url.query}#cited"


@router.get("/documents/{document_id}", response_class=HTMLResponse)
def document(
    document_id: str,
    request: Request,
    workspace: CurrentWorkspace,
    person: Reader,
    cited: Annotated[_Cited, Depends(_cited)],
) -> str:
    shown = library.document(workspace, document_id, person, cited.version)
    current = shown
    if cited.version:
        current = library.newest(workspace, shown, person)
    newer = ""
    if current.version != shown.version:
        newer = str(request.url.remove_query_params(["digest", "start", "end"]))
    query = _query(person, callers.caller_of(request.scope))
    views = view(shown, cited.start, cited.end)
    skipped = ""
    # The first heading is nearly always the title once more.
    if views and views[0].words.strip() == shown.title.strip():
        skipped = views[0].anchor
    return page(
        "document.html",
        workspace.settings,
        document=shown,
        loss=describe_loss(shown.loss),
        views=views,
        outline=outline(views),
        ranks=ranks([block for block in views if block.anchor != skipped]),
        skipped=skipped,
        newer=newer,
        hop=_hop(request, cited),
        pages=_pages(workspace, shown, query),
        printed=_printed(workspace, shown, cited, views, query),
        versions=shown_versions(workspace, shown, person, query),
        shelf=f"/documents?{query}",
    )


# Versions -----------------------------------------------------------------------------------------


class ShownVersion(NamedTuple):
    """A version in the list of a document's page."""

    document: Document
    said: str
    href: str
    compare: str
    """Address of what changed since the one before; empty for the oldest."""
    is_shown: bool


def shown_versions(
    workspace: Workspace, shown: Document, person: Person, query: str
) -> list[ShownVersion]:
    """The newest first; none where there is but one. query: who reads, for the addresses."""
    found = library.versions(workspace, shown, person)
    if len(found) < 2:
        return []
    lines: list[ShownVersion] = []
    for place, version in enumerate(found):
        own = version.document
        before = found[place + 1].document if place + 1 < len(found) else None
        old = f"before={before.id}&before_digest={before.version}" if before else ""
        lines.append(
            ShownVersion(
                document=own,
                said=_said(version),
                href=f"/documents/{own.id}?digest={own.version}&{query}",
                compare=f"/documents/{own.id}/changes?digest={own.version}&{old}&{query}"
                if before
                else "",
                is_shown=(own.id, own.digest) == (shown.id, shown.digest),
            )
        )
    return lines


def _said(version: library.DocumentVersion) -> str:
    own = version.document
    parts: list[str] = []
    if own.effective_from:
        parts.append(f"in force from {day(own.effective_from)}")
    if own.effective_to:
        parts.append(f"to {day(own.effective_to)}")
    if version.read:
        parts.append(f"read on {version.read[:10]}")
    return ", ".join(parts)


class _Pair(NamedTuple):
    digest: str
    before: str
    """Id of the document that was before."""
    before_digest: str


def _pair(
    digest: Annotated[str, Query(max_length=100)],
    before: Annotated[str, Query(max_length=64)],
    before_digest: Annotated[str, Query(max_length=100)],
) -> _Pair:
    return _Pair(digest, before, before_digest)


@router.get("/documents/{document_id}/pages/{number}")
def original_page(
    document_id: str,
    number: Annotated[int, FromPath(ge=1, le=100_000)],
    workspace: CurrentWorkspace,
    person: Reader,
    cited: Annotated[_Cited, Depends(_cited)],
) -> Response:
    """A page of the original as a picture, the cited words marked."""
    place = library.Cited(cited.start, cited.end, cited.version or "")
    picture = library.draw_original(workspace, document_id, person, page=number, cited=place)
    return Response(picture, media_type="image/png")


def _pages(workspace: Workspace, shown: Document, query: str) -> str:
    """Address of the pages as they were printed, but for the number; empty where no original is
    kept."""
    if not library.has_original(workspace, shown):
        return ""
    return f"/documents/{shown.id}/pages/{{}}?{urlencode({'digest': shown.version})}&{query}"


def _printed(
    workspace: Workspace, shown: Document, cited: _Cited, views: Sequence[View], query: str
) -> str:
    """Address of the page on which the cited passage begins, else of the first; empty where no
    original is kept."""
    if not library.has_original(workspace, shown):
        return ""
    number = 1
    for block in views:
        number = block.page or number
        if any(run.marked for run in block.every_run):
            break
    else:
        number = 1
    place = urlencode({"start": cited.start, "end": cited.end, "digest": shown.version})
    return f"/documents/{shown.id}/pages/{number}?{place}&{query}"


@router.get("/documents/{document_id}/changes", response_class=HTMLResponse)
def what_changed(
    document_id: str,
    workspace: CurrentWorkspace,
    caller: Asking,
    person: Reader,
    pair: Annotated[_Pair, Depends(_pair)],
) -> str:
    """Of one version since another, of the same document or one it follows."""
    new = library.document(workspace, document_id, person, pair.digest)
    old = library.document(workspace, pair.before, person, pair.before_digest)
    said: dict[tuple[str, str], str] = {}
    for version in library.versions(workspace, new, person):
        said[version.document.id, version.document.digest] = _said(version)
    query = _query(person, caller)
    return page(
        "changes.html",
        workspace.settings,
        old=old,
        new=new,
        old_said=said.get((old.id, old.digest), ""),
        new_said=said.get((new.id, new.digest), ""),
        old_link=f"/documents/{old.id}?digest={old.version}&{query}",
        new_link=f"/documents/{new.id}?digest={new.version}&{query}",
        blocks=changes(old, new),
    )
