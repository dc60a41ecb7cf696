"""`/documents`: what one may read, found by title and text; a document; its versions and what
changed between them."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi import Path as FromPath
from fastapi.responses import HTMLResponse

from ombud.app import Workspace, asking, callers, library
from ombud.documents import describe_loss
from ombud.messages import format_day, message
from ombud.types import Document, Hit, Person
from ombud.web.api import CurrentWorkspace, Reader
from ombud.web.documents.comparing import changes
from ombud.web.documents.passage import View, outline, ranks, view
from ombud.web.layout import in_force, page
from ombud.web.live.secrets import Asking

MOST_HITS = 8
"""Passages shown under the titles."""
LONGEST_HIT = 240
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
    readable = library.documents(workspace, person, workspace.today())
    audiences = library.known_audiences(workspace)
    on_topic = [one for one in readable if one.topic == topic or not topic]
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
        topics=sorted({one.topic for one in readable if one.topic}),
        groups=_groups(one for one in on_topic if is_called(one, words)),
        hits=await _hits(workspace, q, person) if words else [],
    )


class PassageHit(NamedTuple):
    document_id: str
    version: str
    title: str
    start: int
    end: int
    text: str


async def _hits(workspace: Workspace, q: str, person: Person) -> list[PassageHit]:
    evidence, _ = await asking.search(workspace, q, person, k=MOST_HITS, as_of=workspace.today())
    return list(map(_passage_hit, evidence.hits))


def _passage_hit(hit: Hit) -> PassageHit:
    chunk = hit.chunk
    text = " ".join(chunk.text.split())
    short = text if len(text) <= LONGEST_HIT else f"{text[:LONGEST_HIT].rpartition(' ')[0]} …"
    return PassageHit(
        document_id=chunk.document_id,
        version=chunk.version,
        title=chunk.title,
        start=chunk.start,
        end=chunk.end,
        text=short,
    )


def is_called(document: Document, words: Sequence[str]) -> bool:
    called = f"{document.title} {document.topic} {document.uri}".casefold()
    return all(word.casefold() in called for word in words)


def _groups(documents: Iterable[Document]) -> list[tuple[tuple[str, ...], list[Document]]]:
    """Group documents by country, sorted by title, the global ones last."""
    by_country: dict[tuple[str, ...], list[Document]] = {}
    for one in sorted(documents, key=lambda one: one.title.casefold()):
        by_country.setdefault(one.countries, []).append(one)
    return sorted(by_country.items(), key=lambda group: (not group[0], group[0]))


def _query(person: Person, caller: callers.Caller) -> str:
    """Return the query string that describes the reader; empty for a signed-in one."""
    if caller.account is not None and not caller.may_choose:
        return ""
    named = {"country": person.country, "grade": person.grade, "contract": person.contract}
    pairs = [(name, value) for name, value in named.items() if value]
    pairs += [("role", role) for role in person.roles]
    return urlencode(pairs)


class _Cited(NamedTuple):
    """The parameters of a link to a document."""

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
    """Return the links to the previous and next citation; None if the answer cites one place."""
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
    """Return the address of this page with another passage marked."""
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
    stored = library.document(workspace, document_id, person, cited.version)
    current = stored
    if cited.version:
        current = library.newest(workspace, stored, person)
    newer = ""
    if current.version != stored.version:
        newer = str(request.url.remove_query_params(["digest", "start", "end"]))
    query = _query(person, callers.caller_of(request.scope))
    views = view(stored, cited.start, cited.end)
    skipped = ""
    # The first heading is nearly always the title once more.
    if views and views[0].words.strip() == stored.title.strip():
        skipped = views[0].anchor
    return page(
        "document.html",
        workspace.settings,
        document=stored,
        loss=describe_loss(stored.loss),
        views=views,
        outline=outline(views),
        ranks=ranks([block for block in views if block.anchor != skipped]),
        skipped=skipped,
        newer=newer,
        hop=_hop(request, cited),
        pages=_pages(workspace, stored, query),
        printed=_printed(workspace, stored, cited, views, query),
        versions=list_versions(workspace, stored, person, query),
        shelf=f"/documents?{query}",
    )


# Versions -----------------------------------------------------------------------------------------


class VersionLine(NamedTuple):
    """A version in the list of a document's page."""

    document: Document
    said: str
    href: str
    compare: str
    """Address of what changed since the one before; empty for the oldest."""
    is_shown: bool


def list_versions(
    workspace: Workspace, current: Document, person: Person, query: str
) -> list[VersionLine]:
    """Return the versions, newest first; none if there is only one. query: the reader, for the
    addresses."""
    versions = library.versions(workspace, current, person)
    if len(versions) < 2:
        return []
    lines: list[VersionLine] = []
    for place, version in enumerate(versions):
        own = version.document
        before = versions[place + 1].document if place + 1 < len(versions) else None
        old = f"before={before.id}&before_digest={before.version}" if before else ""
        lines.append(
            VersionLine(
                document=own,
                said=_validity(version),
                href=f"/documents/{own.id}?digest={own.version}&{query}",
                compare=f"/documents/{own.id}/changes?digest={own.version}&{old}&{query}"
                if before
                else "",
                is_shown=(own.id, own.digest) == (current.id, current.digest),
            )
        )
    return lines


def _validity(version: library.DocumentVersion) -> str:
    parts = [in_force(version.document)]
    if version.read:
        read = format_day(date.fromisoformat(version.read[:10]))
        parts.append(message("documents.read_on", day=read))
    return ", ".join(filter(None, parts))


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
    """Return a page of the original as a picture with the cited words marked."""
    place = library.Cited(cited.start, cited.end, cited.version or "")
    picture = library.draw_original(workspace, document_id, person, page=number, cited=place)
    return Response(picture, media_type="image/png")


def _pages(workspace: Workspace, stored: Document, query: str) -> str:
    """Return the address of the original's pages up to the number; empty if no original is
    stored."""
    if not library.has_original(workspace, stored):
        return ""
    return f"/documents/{stored.id}/pages/{{}}?{urlencode({'digest': stored.version})}&{query}"


def _printed(
    workspace: Workspace, stored: Document, cited: _Cited, views: Sequence[View], query: str
) -> str:
    """Return the address of the original page where the cited passage begins, else the first; empty
    if no original is stored."""
    if not library.has_original(workspace, stored):
        return ""
    number = 1
    for block in views:
        number = block.page or number
        if any(run.marked for run in block.every_run):
            break
    else:
        number = 1
    place = urlencode({"start": cited.start, "end": cited.end, "digest": stored.version})
    return f"/documents/{stored.id}/pages/{number}?{place}&{query}"


@router.get("/documents/{document_id}/changes", response_class=HTMLResponse)
def what_changed(
    document_id: str,
    workspace: CurrentWorkspace,
    caller: Asking,
    person: Reader,
    pair: Annotated[_Pair, Depends(_pair)],
) -> str:
    """Show the changes of one version since another, of the same document or one that it
    replaces."""
    new = library.document(workspace, document_id, person, pair.digest)
    old = library.document(workspace, pair.before, person, pair.before_digest)
    names: dict[tuple[str, str], str] = {}
    for version in library.versions(workspace, new, person):
        names[version.document.id, version.document.digest] = _validity(version)
    query = _query(person, caller)
    return page(
        "changes.html",
        workspace.settings,
        old=old,
        new=new,
        old_said=names.get((old.id, old.digest), ""),
        new_said=names.get((new.id, new.digest), ""),
        old_link=f"/documents/{old.id}?digest={old.version}&{query}",
        new_link=f"/documents/{new.id}?digest={new.version}&{query}",
        blocks=changes(old, new),
    )
