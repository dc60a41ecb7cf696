"""What is found, what is said, what it cites, and the record of how it came about."""

from datetime import date
from typing import Literal

from ombud.types.asking import Plan, Query
from ombud.types.documents import Annotation, Chunk, Triplet, text_version
from ombud.types.people import HandoffReason
from ombud.types.records import Record

Scope = Literal["local", "shared"]

Outcome = Literal["full", "partial", "denied"]

AnswerPath = Literal[
    "", "no model", "not composed", "composed", "repaired", "quotes after failure", "handed over"
]
"""How an answer came about, as far as it costs something: no call at all; calls that only read the
question; one that wrote the answer; another that repaired it; passages in place of what a model
could not write or prove; a person. Empty where it was not recorded."""

Action = Literal["none", "clarify", "handoff", "contact"]


PRIVACY = "privacy: "
"""How the note in `Trace.degraded` begins where a sensitive message was kept from models."""


class Copy(Record):
    """Another document in which the text of a passage stands as well."""

    title: str
    uri: str
    document_id: str
    chunk_id: str


class Hit(Record):
    chunk: Chunk
    score: float
    """Higher is better."""
    found_by: tuple[str, ...] = ()
    """Rankings that held it, such as `GB/sparse/standard`."""
    copies: tuple[Copy, ...] = ()
    """Where else it stands; these take no place of their own among the hits."""


class Evidence(Record):
    local: tuple[Hit, ...] = ()
    shared: tuple[Hit, ...] = ()
    triplets: tuple[Triplet, ...] = ()

    @property
    def hits(self) -> tuple[Hit, ...]:
        """Both scopes as one ranking: score descending, ties local first, then chunk id."""
        order = [
            (-h.score, scope, h.chunk.id, h)
            for scope, s in enumerate((self.local, self.shared))
            for h in s
        ]
        return tuple(row[3] for row in sorted(order, key=lambda row: row[:3]))


class Citation(Record):
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
    parser: str = ""
    """Version of the parsers that made the text that the offsets count in."""
    annotations: tuple[Annotation, ...] = ()
    """Links and footnote marks of the quote; their offsets count in the document."""
    trail: tuple[str, ...] = ()
    scope: Scope = "shared"
    effective_from: date | None = None
    effective_to: date | None = None
    """Last day in force; a day in the past marks an earlier version of a rule."""

    @property
    def version(self) -> str:
        """Names the text of the document that the offsets count in."""
        return text_version(self.digest, self.parser)


class Claim(Record):
    text: str
    citations: tuple[int, ...] = ()
    """0-based positions in `Answer.citations`."""
    verdict: Literal["supported", "derived", "unconfirmed"] = "supported"
    """derived: a rule applied to the asker's own figures, with arithmetic that was checked."""


class AnswerCondition(Record):
    """A fact on which an answer depends."""

    text: str
    state: Literal["met", "not_met", "unknown"]
    """By what the asker said or is known of them; never guessed."""
    citation: Citation
    question: str = ""
    """What to ask where the state is unknown."""
    choices: tuple[str, ...] = ()
    """Replies to choose from."""


class CitedDocument(Record):
    """A cited document; most relevant first. covers: one short line. citations: positions in
    `Answer.citations`. also_in: documents that say the same there."""

    title: str
    uri: str
    covers: str = ""
    citations: tuple[int, ...] = ()
    also_in: tuple[Copy, ...] = ()


class Contact(Record):
    topic: str = ""
    name: str
    mail: str = ""
    phone: str = ""
    country: str | None = None
    anonymous: bool = False
    """Takes reports without a name."""


class Ranking(Record):
    """Ranked results of one leg of a search, best first."""

    leg: str
    """Such as `GB/sparse/standard`."""
    rows: tuple[tuple[str, int, float], ...] = ()
    """(chunk id, rank from 1, score)."""


class Trace(Record):
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
    tokens_cached: int = 0
    """Of `tokens_in`, those that a provider had read before, and asks less for."""
    calls: int = 0
    """Requests to chat models and rerankers, those that failed included."""
    path: AnswerPath = ""
    seconds: dict[str, float] = {}
    """Step -> seconds."""
    index_version: str = ""
    variant: str = ""
    degraded: tuple[str, ...] = ()
    """Steps that failed and were done without, such as `model`."""
    notes: tuple[str, ...] = ()


class Answer(Record):
    id: str = ""
    question_id: str = ""
    conversation_id: str | None = None
    outcome: Outcome
    action: Action = "none"
    text: str
    """Markdown with markers [1], [2]… that count citations from 1."""
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    missing: tuple[str, ...] = ()
    """What was asked and the documents do not say, as sentences."""
    conditions: tuple[AnswerCondition, ...] = ()
    sources: tuple[CitedDocument, ...] = ()
    contacts: tuple[Contact, ...] = ()
    suggestions: tuple[str, ...] = ()
    offer: HandoffReason | None = None
    """Why the asker is offered a person; None where nobody is offered."""
    topic: str = ""
    """Of the matter or the documents; advisors are found by it."""
    trace: Trace = Trace()

    @property
    def is_answered(self) -> bool:
        """True where the documents answer at least part of the question and nothing else is to be
        done."""
        return self.outcome != "denied" and self.action == "none"
