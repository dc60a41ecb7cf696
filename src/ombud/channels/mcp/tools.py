"""The MCP tools; imported only where the package `mcp` is installed."""

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
ToolContext = Context[Any, Any]
PART = 8_000
"""Characters of a document in one reply, about 2,000 tokens."""
Country = Annotated[str, Field(description="Two letters, such as GB; empty = global rules alone.")]
Role = Annotated[str, Field(description="Of the person who asks, such as manager; may be empty.")]


class Tools:
    """The three tools. Models read their docstrings."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._stated = Person()
        """The facts that were last given over standard input, where a process is one session."""

    async def ask(
        self,
        context: ToolContext,
        question: Annotated[str, Field(min_length=1, max_length=4_000)],
        country: Country = "",
        role: Role = "",
        as_of: Annotated[str, Field(description="A day, such as 2026-01-31; empty = today.")] = "",
    ) -> PolicyAnswer:
        """Answer a question about the organisation's policies (HR, legal, compliance) from its own
        documents, each sentence proven by a quote. Says so where the documents do not answer."""
        policy_question = Question(
            text=question, asker=self._asker(context, country, role), as_of=parse_day(as_of)
        )
        return policy_answer(await report_errors(asking.ask(self._workspace, policy_question)))

    async def search(
        self,
        context: ToolContext,
        query: Annotated[str, Field(min_length=1, max_length=4_000)],
        country: Country = "",
        role: Role = "",
        k: Annotated[int, Field(ge=1, le=20, description="How many passages.")] = 5,
    ) -> PolicyPassages:
        """Find passages of the organisation's policies for a query, best first, as they stand in
        the documents."""
        asker = self._asker(context, country, role)
        work = asking.search(self._workspace, query, asker, k=k)
        evidence, _ = await report_errors(work)
        return PolicyPassages(passages=list(map(policy_passage, evidence.hits)))

    async def get_document(
        self,
        context: ToolContext,
        document: Annotated[
            str, Field(max_length=2_000, description="Its document_id or uri, as the others say.")
        ],
        part: Annotated[int, Field(ge=1, description="Long documents come in parts.")] = 1,
        country: Country = "",
        role: Role = "",
    ) -> PolicyText:
        """Return one document of the organisation's policies, in parts of about 2,000 tokens."""
        asker = self._asker(context, country, role)
        return await report_errors(self._document(document, part, asker))

    def _asker(self, context: ToolContext, country: str, role: str) -> Person:
        """Return who asks. Over standard input, facts that are left out are those that the session
        gave before; over HTTP each request stands alone, and the account has them."""
        if isinstance(context.request_context.request, Request):
            return asker_of(context, country, role)
        before = self._stated
        country = country or before.country or ""
        role = role or next(iter(before.roles), "")
        self._stated = asker_of(context, country, role)
        return self._stated

    async def _document(self, identity: str, part: int, person: Person) -> PolicyText:
        document = library.document(self._workspace, identity, person)
        parts = max(1, -(-len(document.text) // PART))
        if part > parts:
            raise BadRequest(f"The document has {parts} parts.", hint=f"1 to {parts}.")
        start = (part - 1) * PART
        return PolicyText(
            document_id=document.id,
            title=document.title,
            uri=document.uri,
            text=with_markdown_links(
                document.text[start : start + PART], start, document.annotations
            ),
            part=part,
            parts=parts,
            countries=list(document.countries),
            in_force_from=iso_or_empty(document.effective_from),
            in_force_to=iso_or_empty(document.effective_to),
        )


async def report_errors(work: Awaitable[T]) -> T:
    """Turn errors into messages that a model can act on; unexpected errors reveal nothing."""
    try:
        return await work
    except OmbudError as error:
        raise ToolError(f"{error} {error.hint}".strip()) from error
    except Exception as error:
        raise ToolError("Something went wrong on the server.") from error


def asker_of(context: ToolContext, country: str, role: str) -> Person:
    """Return the signed-in person, or else the facts that the assistant gives. Over standard input
    they are trusted, because whoever started the server may do everything."""
    claimed = Person(country=country.strip().upper()[:2] or None, roles=(role,) if role else ())
    request = context.request_context.request
    if not isinstance(request, Request):
        return claimed
    caller = callers.caller_of(request.scope)
    stated_fields = [name for name in ("country", "roles") if getattr(claimed, name)]
    return caller.person(claimed, stated_fields)


def parse_day(text: str) -> date | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as wrong:
        raise ToolError("as_of is no day: such as 2026-01-31.") from wrong


def iso_or_empty(day: date | None) -> str:
    return day.isoformat() if day else ""


def with_markdown_links(text: str, start: int, annotations: Sequence[Annotation]) -> str:
    """Return a document's text with its links as Markdown."""
    return with_links(text, start, annotations, escape=str)


def policy_answer(answer: Answer) -> PolicyAnswer:
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
        contacts=list(map(contact_line, answer.contacts)),
        suggestions=list(answer.suggestions),
    )


def contact_line(contact: Contact) -> str:
    return ", ".join(part for part in (contact.name, contact.mail, contact.phone) if part)


def policy_passage(hit: Hit) -> PolicyPassage:
    chunk = hit.chunk
    text = with_markdown_links(chunk.text, chunk.start, chunk.annotations)
    return PolicyPassage(
        document_id=chunk.document_id,
        title=chunk.title,
        uri=chunk.uri,
        headings=list(chunk.trail),
        text="\n".join(filter(None, (chunk.header, text))),
        score=round(hit.score, 4),
        in_force_from=iso_or_empty(chunk.effective_from),
        in_force_to=iso_or_empty(chunk.effective_to),
    )
