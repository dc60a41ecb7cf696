"""The tools themselves; imported where the package `mcp` is."""

from collections.abc import Awaitable, Sequence
from datetime import date
from typing import Annotated, Any, TypeVar

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field
from starlette.requests import Request

from ombud.app import Workspace, asking, callers, library
from ombud.channels.mcp.shapes import (
    CitedSentence,
    PolicyAnswer,
    PolicyPassage,
    PolicyPassages,
    PolicyText,
)
from ombud.errors import BadRequest, OmbudError
from ombud.text import with_links
from ombud.types import Annotation, Answer, Contact, Hit, Person, Question

T = TypeVar("T")
Asked = Context[Any, Any]
PART = 8_000
"""Characters of a document that are given at once: about 2,000 tokens."""
Country = Annotated[str, Field(description="Two letters, such as GB; empty = global rules alone.")]
Role = Annotated[str, Field(description="Of the person who asks, such as manager; may be empty.")]


class Tools:
    """The docstrings are what models read."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def ask(
        self,
        context: Asked,
        question: Annotated[str, Field(min_length=1, max_length=4_000)],
        country: Country = "",
        role: Role = "",
        as_of: Annotated[str, Field(description="A day, such as 2026-01-31; empty = today.")] = "",
    ) -> PolicyAnswer:
        """Answer a question about the organisation's policies (HR, legal, compliance) from its own
        documents, each sentence proven by a quote. Says so where the documents do not answer."""
        asked = Question(text=question, asker=_person(context, country, role), as_of=_day(as_of))
        return _answer(await _told(asking.ask(self._workspace, asked)))

    async def search(
        self,
        context: Asked,
        query: Annotated[str, Field(min_length=1, max_length=4_000)],
        country: Country = "",
        role: Role = "",
        k: Annotated[int, Field(ge=1, le=20, description="How many passages.")] = 5,
    ) -> PolicyPassages:
        """Passages of the organisation's policies for a query, best first, as they stand in the
        documents."""
        work = asking.search(self._workspace, query, _person(context, country, role), k=k)
        evidence, _ = await _told(work)
        return PolicyPassages(passages=list(map(_passage, evidence.hits)))

    async def get_document(
        self,
        context: Asked,
        document: Annotated[
            str, Field(max_length=2_000, description="Its document_id or uri, as the others say.")
        ],
        part: Annotated[int, Field(ge=1, description="Long documents come in parts.")] = 1,
        country: Country = "",
        role: Role = "",
    ) -> PolicyText:
        """One document of the organisation's policies, in parts of about 2,000 tokens."""
        return await _told(self._document(document, part, _person(context, country, role)))

    async def _document(self, identity: str, part: int, person: Person) -> PolicyText:
        found = library.document(self._workspace, identity, person)
        parts = max(1, -(-len(found.text) // PART))
        if part > parts:
            raise BadRequest(f"The document has {parts} parts.", hint=f"1 to {parts}.")
        start = (part - 1) * PART
        return PolicyText(
            document_id=found.id,
            title=found.title,
            uri=found.uri,
            text=_linked(found.text[start : start + PART], start, found.annotations),
            part=part,
            parts=parts,
            countries=list(found.countries),
            in_force_from=_iso(found.effective_from),
            in_force_to=_iso(found.effective_to),
        )


async def _told(work: Awaitable[T]) -> T:
    """What goes wrong as a sentence that a model can act on; nothing of what nobody foresaw."""
    try:
        return await work
    except OmbudError as error:
        raise ToolError(f"{error} {error.hint}".strip()) from error
    except Exception as error:
        raise ToolError("Something went wrong on the server.") from error


def _person(context: Asked, country: str, role: str) -> Person:
    """Who has signed in, else as the assistant says; over standard input as it says too, for it
    was started by whoever may do everything here."""
    said = Person(country=country.strip().upper()[:2] or None, roles=(role,) if role else ())
    request = context.request_context.request
    if not isinstance(request, Request):
        return said
    caller = callers.caller_of(request.scope)
    given = [name for name in ("country", "roles") if getattr(said, name)]
    return caller.person(said, given)


def _day(text: str) -> date | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as wrong:
        raise ToolError("as_of is no day: such as 2026-01-31.") from wrong


def _iso(day: date | None) -> str:
    return day.isoformat() if day else ""


def _linked(text: str, start: int, annotations: Sequence[Annotation]) -> str:
    """Words of a document as they stand there, its links as Markdown."""
    return with_links(text, start, annotations, escape=str)


def _answer(answer: Answer) -> PolicyAnswer:
    cited: list[CitedSentence] = []
    for number, one in enumerate(answer.citations, start=1):
        cited.append(
            CitedSentence(
                number=number,
                title=one.title,
                uri=one.uri,
                quote=one.quote,
                document_id=one.document_id,
                page=one.page,
                links=[link.url for link in one.annotations if link.url],
            )
        )
    return PolicyAnswer(
        text=answer.text,
        outcome=answer.outcome,
        action=answer.action,
        citations=cited,
        contacts=list(map(_contact, answer.contacts)),
        suggestions=list(answer.suggestions),
    )


def _contact(contact: Contact) -> str:
    return ", ".join(part for part in (contact.name, contact.mail, contact.phone) if part)


def _passage(hit: Hit) -> PolicyPassage:
    chunk = hit.chunk
    text = _linked(chunk.text, chunk.start, chunk.annotations)
    return PolicyPassage(
        document_id=chunk.document_id,
        title=chunk.title,
        uri=chunk.uri,
        headings=list(chunk.trail),
        text="\n".join(filter(None, (chunk.header, text))),
        score=round(hit.score, 4),
        in_force_from=_iso(chunk.effective_from),
        in_force_to=_iso(chunk.effective_to),
    )
