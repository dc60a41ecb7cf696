"""What goes over the wire, where it differs from the nouns. The OpenAPI description is made from
these."""

import re
from datetime import date, datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from fastapi import Query
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    WithJsonSchema,
    model_validator,
)

from ombud.errors import BadRequest, BadSetting
from ombud.settings import merge_plan
from ombud.text import read_country
from ombud.types import (
    LONGEST_MESSAGE,
    MOST_MESSAGES,
    Annotation,
    Audience,
    Chunk,
    Document,
    Evidence,
    Hit,
    Loss,
    Message,
    Mode,
    Person,
    Role,
    Scope,
    Status,
    Trace,
)

LONGEST_QUESTION = 4000
"""Characters."""
LONGEST_COMMENT = 2000


def _country(written: str) -> str | None:
    try:
        return read_country(written) or None
    except BadRequest as unknown:
        raise ValueError(f"{unknown} {unknown.hint}") from unknown


def iso_day(value: Any) -> Any:
    if isinstance(value, date) or (
        isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value)
    ):
        return value
    raise ValueError("a day is written like 2026-04-06")


def _uuid(value: str) -> str:
    return str(UUID(value))


def _words(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text


def check_fields(plan: dict[str, Any]) -> dict[str, Any]:
    try:
        merge_plan(plan)
    except BadSetting as wrong:  # in a request it is the client's mistake, not one of the set-up
        raise ValueError(f"{wrong} {wrong.hint}".strip()) from wrong
    return plan


Country = Annotated[str, Field(max_length=80), AfterValidator(_country)]
"""ISO 3166 alpha-2, in either case, or the name in whichever language; empty is none."""
PlanFields = Annotated[dict[str, Any], AfterValidator(check_fields)] | None
Key = Annotated[str, AfterValidator(_uuid), WithJsonSchema({"type": "string", "format": "uuid"})]
"""UUID of the sender."""
Day = Annotated[date, BeforeValidator(iso_day)]
QuestionText = Annotated[
    str, Field(min_length=1, max_length=LONGEST_QUESTION), AfterValidator(_words)
]
Name = Annotated[str, Field(max_length=200)]
Annotations = Annotated[tuple[Annotation, ...], Field(max_length=1000)]
Names = Annotated[list[Name], Field(max_length=50)]


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PersonIn(Shape):
    id: Name = ""
    """Who it is, wherever that counts: experiments are dealt by it."""
    country: Country | None = None
    roles: Names = []
    groups: Names = []
    grade: Name | None = None
    contract: Name | None = None
    language: Annotated[str, Field(pattern="^[a-z]{2,3}$")] = "en"
    persona: Name = "employee"

    def noun(self) -> Person:
        return Person.model_validate(self.model_dump())


class Turn(Shape):
    role: Role
    content: Annotated[str, Field(max_length=LONGEST_MESSAGE)]

    def noun(self) -> Message:
        return Message(role=self.role, content=self.content)


class SearchIn(Shape):
    query: QuestionText
    person: PersonIn = PersonIn()
    k: Annotated[StrictInt, Field(ge=1, le=100)] | None = None
    mode: Mode | None = None
    as_of: Day | None = None
    plan: PlanFields = None
    """Fields of Plan to set for this search; `k` and `mode` beside it win."""
    history: Annotated[list[Turn], Field(max_length=MOST_MESSAGES)] | None = None


class EvidenceIn(Shape):
    """A passage to answer from: a hit of `/api/v1/search` as it is, or no more than a text."""

    text: Annotated[str, Field(min_length=1, max_length=20_000)]
    chunk_id: Name = ""
    document_id: Name = ""
    uri: Annotated[str, Field(max_length=2000)] = ""
    title: Annotated[str, Field(max_length=1000)] = ""
    trail: tuple[str, ...] = ()
    header: Annotated[str, Field(max_length=20_000)] = ""
    page_from: int | None = None
    page_to: int | None = None
    start: Annotated[StrictInt, Field(ge=0, le=100_000_000)] = 0
    end: int | None = None
    score: float | None = None
    found_by: tuple[str, ...] = ()
    scope: Scope | None = None
    countries: tuple[str, ...] = ()
    effective_from: date | None = None
    effective_to: date | None = None
    digest: Name = ""
    parser: Name = ""
    annotations: Annotations = ()

    def noun(self, rank: int) -> Hit:
        """Convert to a hit. rank: from 1; it is the score if there is none."""
        name = self.chunk_id or f"supplied-{rank}"
        fields = self.model_dump(include=set(Chunk.model_fields))
        fields |= {
            "id": name,
            "document_id": self.document_id or name,
            "uri": self.uri or name,
            "title": self.title or name,
            "end": self.start + len(self.text),
        }
        score = 1 / rank if self.score is None else self.score
        return Hit(chunk=Chunk.model_validate(fields), score=score, found_by=self.found_by)


class AskIn(Shape):
    question: QuestionText
    person: PersonIn = PersonIn()
    plan: PlanFields = None
    """Fields of Plan to set for this answer."""
    as_of: Day | None = None
    conversation_id: Name | None = None
    message_id: Key | None = None
    """UUID of the sender: the same again in a conversation is the same question."""
    history: Annotated[list[Turn], Field(max_length=MOST_MESSAGES)] | None = None
    evidence: Annotated[list[EvidenceIn], Field(max_length=100)] | None = None
    """Passages to answer from, in place of a search; for measuring. Such an answer is not kept, so
    it stands in no conversation."""
    triage: bool = True
    """With evidence: whether the message is first looked at as any other is."""

    @model_validator(mode="after")
    def _evidence_stands_alone(self) -> Self:
        if self.evidence is not None and self.conversation_id:
            raise ValueError("an answer from supplied evidence stands in no conversation")
        if self.evidence is None and not self.triage:
            raise ValueError("triage can be left out with supplied evidence only")
        return self

    def hits(self) -> tuple[Hit, ...]:
        """Return the supplied passages, best first."""
        supplied = self.evidence or ()
        return tuple(passage.noun(rank) for rank, passage in enumerate(supplied, start=1))


class FeedbackIn(Shape):
    thumb: Literal[1, -1]
    """Helpful or not."""
    comment: Annotated[str, Field(max_length=LONGEST_COMMENT)] = ""


class HitOut(Shape):
    chunk_id: str
    document_id: str
    uri: str
    title: str
    trail: tuple[str, ...]
    header: str
    page_from: int | None
    page_to: int | None
    start: int
    end: int
    text: str
    score: float
    found_by: tuple[str, ...]
    scope: Scope
    countries: tuple[str, ...]
    effective_from: date | None
    effective_to: date | None
    digest: str
    """Of the document version that the offsets count in."""
    parser: str
    """Version of the parsers that made that text."""
    annotations: tuple[Annotation, ...]
    """Links and footnote marks of the text; their offsets count in the document."""


class SearchOut(Shape):
    hits: list[HitOut]
    trace: Trace

    @classmethod
    def of(cls, evidence: Evidence, trace: Trace) -> Self:
        local = {hit.chunk.id for hit in evidence.local}
        hits = []
        for hit in evidence.hits:
            fields = hit.chunk.model_dump(include=set(HitOut.model_fields))
            scope: Scope = "local" if hit.chunk.id in local else "shared"
            hits.append(
                HitOut(
                    chunk_id=hit.chunk.id,
                    score=hit.score,
                    found_by=hit.found_by,
                    scope=scope,
                    **fields,
                )
            )
        return cls(hits=hits, trace=trace)


class PathCostOut(Shape):
    """Means of a question of one path."""

    path: str
    """As in a trace, `all`, or `not recorded`."""
    questions: int
    calls: float
    tokens_in: float
    tokens_cached: float
    """Of `tokens_in`, those that a provider had read before."""
    tokens_out: float
    price: float | None
    """US dollars; null where one is not known."""


class UsageOut(Shape):
    since: date
    until: date
    paths: list[PathCostOut]
    """Empty where no model was asked."""


class DocumentLine(Shape):
    """A document without its text."""

    id: str
    source: str
    uri: str
    title: str
    language: str
    countries: tuple[str, ...]
    audience: Audience
    effective_from: date | None
    effective_to: date | None
    supersedes: str | None
    status: Status
    mandatory: bool
    topic: str
    owner: str
    digest: str
    parser: str
    loss: Loss
    updated: datetime | None

    @classmethod
    def of(cls, document: Document) -> Self:
        return cls.model_validate(document.model_dump(include=set(cls.model_fields)))


class DocumentsOut(Shape):
    documents: list[DocumentLine]


class ConversationIn(Shape):
    person: PersonIn = PersonIn()


class ConversationOut(Shape):
    id: str


class MessagesOut(Shape):
    id: str
    messages: list[Message]


class SyncOut(Shape):
    state: Literal["idle", "running", "done", "failed", "killed"]
    kind: Literal["sync", "rebuild", "removal"] = "sync"
    step: str = ""
    done: int = 0
    total: int = 0
    per_second: float = 0.0
    seconds_left: float | None = None
    """Of this step; nothing when that cannot be told."""
    seconds: float | None = None
    """How long it took, once it is done."""
    started: datetime | None = None
    at: float = 0.0
    """When this was said, in seconds since 1970."""
    failed: list[dict[str, str]] = []
    """Documents that could not be read: uri, name where the uri does not say it, and reason."""
    left_out: list[dict[str, str]] = []
    """What else the sources hold and is not read: uri, name and why."""
    notes: list[str] = []
    counts: dict[str, int] = {}
    """Documents added, updated, moved, deleted and unchanged, once it is done."""


class Health(Shape):
    status: str


def reader(
    country: Country | None = None,
    role: Annotated[Names, Query()] = [],  # noqa: B006 - never changed, and FastAPI copies it
    group: Annotated[Names, Query()] = [],  # noqa: B006
    grade: Name | None = None,
    contract: Name | None = None,
) -> Person:
    """Return the person that the query of an address describes."""
    return PersonIn(
        country=country, roles=role, groups=group, grade=grade, contract=contract
    ).noun()
