"""The nouns of the house. Frozen, JSON round-trippable, importing nothing of ours.

Offsets are Unicode code points into `Document.text`, end exclusive. Pages count from 1. Dates are days.
"""

from datetime import date, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Noun(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


Audience = dict[str, tuple[str, ...]]
"""roles | grades | groups | contracts -> list. Inside a key any, between keys all, empty = everyone."""
Status = Literal["draft", "published", "withdrawn"]
Mode = Literal["hybrid", "sparse", "dense"]
Scope = Literal["local", "shared"]
Outcome = Literal["full", "partial", "denied"]
Action = Literal["none", "clarify", "handoff", "contact"]
Role = Literal["user", "assistant", "advisor", "system"]


# Knowledge ----------------------------------------------------------------------------------------
class Block(Noun):
    kind: Literal["heading", "text", "list", "table", "code"]
    text: str
    level: int = 0
    """Depth of a heading, 1 outermost; 0 for everything else."""
    page: int | None = None
    bbox: tuple[float, float, float, float] | None = None
    """x0, top, x1, bottom in points from the page's upper left corner."""


class Document(Noun):
    id: str
    """First 16 hex digits of sha256(uri)."""
    source: str
    uri: str
    title: str
    url: str = ""
    """Where people open the original; empty for files."""
    blocks: tuple[Block, ...] = ()
    text: str = ""
    """The block texts joined by a blank line, NFC; tables as Markdown."""
    language: str = "en"
    countries: tuple[str, ...] = ()
    """ISO 3166 alpha-2; empty means everywhere."""
    audience: Audience = {}
    effective_from: date | None = None
    effective_to: date | None = None
    supersedes: str | None = None
    """uri of the document that this one replaces."""
    status: Status = "published"
    mandatory: bool = False
    """A global floor that local rules may only raise."""
    topic: str = ""
    owner: str = ""
    digest: str = ""
    """sha256 of the bytes, hex."""
    updated: datetime | None = None


class Chunk(Noun):
    id: str
    """document_id + "-" + first 12 hex digits of sha256(digest, chunker settings, start, end)."""
    document_id: str
    title: str
    uri: str
    trail: tuple[str, ...] = ()
    """Headings above this text, outermost first."""
    header: str = ""
    """A table's repeated header; no part of `text`, not counted in offsets."""
    text: str
    page_from: int | None = None
    page_to: int | None = None
    start: int
    end: int
    countries: tuple[str, ...] = ()
    audience: Audience = {}
    effective_from: date | None = None
    effective_to: date | None = None
    status: Status = "published"
    mandatory: bool = False
    topic: str = ""
    language: str = "en"
    digest: str = ""


class Triplet(Noun):
    subject: str
    predicate: str
    object: str
    chunk_id: str


# Asking -------------------------------------------------------------------------------------------
class Person(Noun):
    id: str = ""
    country: str | None = None
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    grade: str | None = None
    contract: str | None = None
    language: str = "en"
    persona: str = "employee"


class Message(Noun):
    id: str = ""
    role: Role
    content: str
    at: datetime | None = None


class Question(Noun):
    text: str
    asker: Person = Person()
    history: tuple[Message, ...] = ()
    as_of: date | None = None
    """The day whose rules are asked for; None is today."""


Parameter = Literal["k", "rewrites", "graph_keywords", "graph_depth"]
"""What adaptation may set."""
Preset = Literal["", "fixed", "pa", "pa+rerank", "hypa", "hypa+rerank"]


class Plan(Noun):
    """Every knob of one answer. Tuning, A/B and ablation only ever change this."""

    k: int = Field(default=8, ge=1, le=100, description="Chunks that go to the answer, in total.")
    pool: int = Field(default=30, ge=1, le=1000, description="Candidates per leg before fusion.")
    strategies: tuple[str, ...] = Field(default=(), description="How search texts are made; empty = what suits.")
    strategy_mode: Literal["first", "all"] = Field(default="first", description="First that works, or all fused.")
    hyde_for: Literal["both", "sparse", "dense"] = Field(default="both", description="Legs that `hyde` writes for.")
    stepback_with_question: bool = Field(default=True, description="The question stands beside the broader one.")
    glossary: bool = Field(default=True, description="Spell abbreviations out, and policy words for plain ones.")
    mode: Mode = Field(default="hybrid", description="Legs: sparse (words), dense (vectors) or both.")
    weighting: Literal["bm25", "tfidf"] = Field(default="bm25", description="How the sparse leg weighs words.")
    fusion: Literal["rrf", "combsum", "combmnz", "weighted"] = Field(default="combsum", description="Legs to ranking.")
    weights: dict[str, float] = Field(default={"sparse": 0.4, "dense": 0.6}, description="Weight of each leg.")
    rrf_k: int = Field(default=60, ge=1, description="Damping of reciprocal rank fusion.")
    late: float = Field(default=2.0, ge=0, description="Weight of late interaction beside the fused score; 0 = none.")
    reranker: str = Field(default="none", description="What reorders the fused pool.")
    rerank_pool: int = Field(default=25, ge=1, le=200, description="Best fused hits that are put in order anew.")
    preset: Preset = Field(default="", description="Several fields at once, as the HyPA-RAG paper names them.")
    adaptive: bool | tuple[Parameter, ...] = Field(default=False, description="Fields that complexity sets, or all.")
    classes: Literal[2, 3] = Field(default=3, description="Complexity classes of the router.")
    mapping: dict[Parameter, tuple[int, ...]] = Field(default={}, description="Adaptive field -> value per class.")
    pinned: tuple[str, ...] = Field(default=(), description="Fields that the request set; adaptation leaves them.")
    rewrites: int = Field(default=3, ge=1, le=20, description="Rewrites that `multi` asks for.")
    graph: bool = Field(default=False, description="Add paths of the triplet graph to the evidence.")
    graph_keywords: int = Field(default=4, ge=0, le=50, description="Keywords looked up in the graph.")
    graph_depth: int = Field(default=2, ge=0, le=5, description="Longest path in the graph, in triplets.")
    sources: tuple[str, ...] = Field(default=(), description="Only these sources; empty means all.")
    abstain: float | None = Field(default=None, ge=0, le=1, description="Least confidence to answer; unset: measured.")
    persona: str = Field(default="employee", description="Who the answer is written for.")
    temperature: float = Field(default=0.0, ge=0, le=2, description="Sampling temperature of the chat model.")
    budget_tokens: int = Field(default=6000, ge=256, description="Most evidence tokens in a prompt.")
    components: tuple[str, ...] = Field(default=(), description="Prompt components; empty = the usual ones.")
    refine: bool = Field(default=True, description="Let the chat model repair claims once that fail their check.")


class Query(Noun):
    strategy: str
    text: str
    """What the sparse side matches."""
    passage: str
    """What the dense side embeds."""


class Hit(Noun):
    chunk: Chunk
    score: float
    """Higher is better."""
    found_by: tuple[str, ...] = ()
    """Rankings that held it, such as `GB/sparse/standard`."""


class Contradiction(Noun):
    """Two passages that give different figures for one thing."""

    first: str
    """Chunk id; the local passage where one of the two is."""
    second: str
    first_says: str
    """The sentence, or the row of a table."""
    second_says: str
    about: str
    """The terms that both share."""
    kind: Literal["conflict", "override", "below_floor"]
    """override: a country's rule before a global one; below_floor: it gives less than a mandatory global one."""


class Evidence(Noun):
    local: tuple[Hit, ...] = ()
    shared: tuple[Hit, ...] = ()
    triplets: tuple[Triplet, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()

    @property
    def hits(self) -> tuple[Hit, ...]:
        """Both scopes as one ranking: score descending, ties local first, then chunk id."""
        order = [(-h.score, scope, h.chunk.id, h) for scope, s in enumerate((self.local, self.shared)) for h in s]
        return tuple(row[3] for row in sorted(order, key=lambda row: row[:3]))


class Citation(Noun):
    chunk_id: str
    document_id: str
    title: str
    uri: str
    page: int | None = None
    quote: str
    start: int
    end: int
    digest: str
    """Digest of the document version that the offsets count in."""
    trail: tuple[str, ...] = ()
    scope: Scope = "shared"
    effective_from: date | None = None
    effective_to: date | None = None
    """Last day in force; a day in the past marks an earlier version of a rule."""


class Claim(Noun):
    text: str
    citations: tuple[int, ...] = ()
    """0-based positions in `Answer.citations`."""
    verdict: Literal["supported", "unconfirmed"] = "supported"


class Source(Noun):
    """A cited document; most relevant first. covers: one short line. citations: positions in `Answer.citations`."""

    title: str
    uri: str
    covers: str = ""
    citations: tuple[int, ...] = ()


class Contact(Noun):
    topic: str = ""
    name: str
    mail: str = ""
    phone: str = ""
    country: str | None = None


class Ranking(Noun):
    """One leg of one search: what it returned, best first."""

    leg: str
    """Such as `GB/sparse/standard`."""
    rows: tuple[tuple[str, int, float], ...] = ()
    """(chunk id, rank from 1, score)."""


class Trace(Noun):
    """The only record of how an answer came about. Never holds chunk or prompt text."""

    plan: Plan = Plan()
    queries: tuple[Query, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    evidence: tuple[str, ...] = ()
    """Chunk ids that stood in front of the composer, best first."""
    signals: dict[str, float] = {}
    """What triage measured, such as `confidence`."""
    prompts: dict[str, str] = {}
    """Prompt file -> digest."""
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    price: float | None = None
    """US dollars; None when the price of the model is not known."""
    seconds: dict[str, float] = {}
    """Step -> seconds."""
    index_version: str = ""
    variant: str = ""
    degraded: tuple[str, ...] = ()
    """Steps that failed and were done without, such as `model`."""
    notes: tuple[str, ...] = ()


class Answer(Noun):
    id: str = ""
    question_id: str = ""
    conversation_id: str | None = None
    outcome: Outcome
    action: Action = "none"
    text: str
    """Markdown with markers [1], [2]… that count citations from 1."""
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    sources: tuple[Source, ...] = ()
    contacts: tuple[Contact, ...] = ()
    suggestions: tuple[str, ...] = ()
    trace: Trace = Trace()


# People -------------------------------------------------------------------------------------------
class Ticket(Noun):
    desk: str
    id: str
    """The advisor system's own id."""


class Session(Noun):
    id: str
    asker: Person
    state: Literal["bot", "queued", "live", "returned", "closed"] = "bot"
    reason: str = ""
    ticket: Ticket | None = None


# Measuring ----------------------------------------------------------------------------------------
class Reference(Noun):
    text: str
    persona: str | None = None


class Passage(Noun):
    """Evidence of a case: survives re-chunking because it is text, not a chunk id."""

    document: str
    quote: str
    grade: Literal[1, 2] = 2
    page: int | None = None


CaseType = Literal[
    "simple", "complex", "distracting", "situational", "double", "conversational", "complex_situational",
    "off_topic", "unanswerable", "vague", "comparative", "rule_conclusion", "sensitive", "incoherent",
]  # fmt: skip


class Case(Noun):
    id: str
    question: str
    type: CaseType = "simple"
    person: Person = Person()
    history: tuple[Message, ...] = ()
    as_of: date | None = None
    expect: Literal["answer", "deny", "clarify", "handoff"] = "answer"
    references: tuple[Reference, ...] = ()
    evidence: tuple[Passage, ...] = ()
    tags: tuple[str, ...] = ()


class Score(Noun):
    case_id: str
    metric: str
    value: float | None
    """None: it could not be computed, and `reason` says why. Never NaN, never silently dropped."""
    reason: str = ""
    by: str = ""
    """Model or person who gave it; empty for arithmetic."""


class Observation(Noun):
    """One case and what a target did with it: all that a metric may look at, kept until it is scored anew."""

    case: Case
    hits: tuple[Hit, ...] | None = None
    """Best first; None when nothing was searched, empty when nothing was found."""
    answer: Answer | None = None
    seconds: float | None = None
    """Until the whole answer, or, where nothing was asked, until the hits were there."""
    error: str = ""
    """What the target said when it failed; then no metric has a value."""
    trace: Trace | None = None
    """Of the search, where nothing was answered."""
    lost: str = ""
    """Where the evidence was lost on its way into the answer, such as `not retrieved`; empty when it was not."""


class Run(Noun):
    """One pass of a dataset through a target; its observations and scores are read by its id."""

    id: str
    name: str
    dataset: str
    dataset_digest: str = ""
    """Of the cases asked, in their order."""
    split: str = ""
    target: str = "local"
    config: dict[str, Any] = {}
    """What the target says of itself, and the plan fields and index settings that this run changed."""
    digest: str = ""
    """Of dataset, target and config: runs with the same digest did the same."""
    study: str = ""
    """The sweep it belongs to."""
    cases: int = 0
    state: Literal["running", "done"] = "running"
    started: datetime | None = None
    ended: datetime | None = None
    notes: tuple[str, ...] = ()
