"""Who asks what, and every knob of one answer."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Literal

from pydantic import Field

from ombud.types.records import Record

Mode = Literal["hybrid", "sparse", "dense"]

Role = Literal["user", "assistant", "advisor", "system"]
MOST_MESSAGES = 500
"""Earlier messages that a request may hold: clients send the whole conversation with every turn."""
LONGEST_MESSAGE = 20_000
"""Characters of one of them."""
RECENT_MESSAGES = 20
RECENT_TOKENS = 2_000
CHARACTERS_PER_TOKEN = 4
LARGEST_SHARE = 0.25
"""Of the tokens that one message may use, so that a pasted text leaves room for the turns around
it."""


class Person(Record):
    id: str = ""
    country: str | None = None
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    grade: str | None = None
    contract: str | None = None
    language: str = "en"
    persona: str = "employee"


class Message(Record):
    id: str = ""
    role: Role
    content: str
    at: datetime | None = None


class Question(Record):
    text: str
    asker: Person = Person()
    history: tuple[Message, ...] = ()
    as_of: date | None = None
    """The day whose rules are asked for; None is today."""
    began: tuple[date | None, date | None] | None = None
    """First and last day on which the asker may have begun to work here; None: not known."""
    facts: str = ""
    """What the asker says of their service, which is not searched for but may name a row."""


class Correction(Record):
    """A mistyped word of a question, and the word that it was taken for."""

    typed: str
    meant: str


class ResolvedQuestion(Record):
    """A question as everything after it reads it: made once, before triage, and never rewritten."""

    typed: str
    text: str
    """As typed, with spelling corrected."""
    corrections: tuple[Correction, ...] = ()
    language: str = "en"
    standalone: str
    """What is searched for: with the subject of the turn that it follows."""
    follows: str = ""
    """The earlier question whose subject it continues; empty where it opens a subject."""
    earlier: tuple[str, ...] = ()
    """What the asker wrote since that subject was opened, oldest first."""
    asker: Person = Person()
    """With the country that applies to the question."""
    countries: tuple[str, ...] = ()
    """ISO codes of the countries whose documents are searched beside the global ones."""
    as_of: date
    """The day whose rules apply."""
    period: tuple[date | None, date | None] | None = None
    """First and last day of what the question names in words; None where it names no day."""
    asked_on: date
    """Today, in the organisation's time zone."""
    began: tuple[date | None, date | None] | None = None
    """First and last day on which the asker may have begun to work here, as they say."""
    facts: str = ""
    """The clauses in which they say so; `standalone` is without them."""
    is_private: bool = False
    """The conversation is known to hold something sensitive."""

    def for_search(self) -> Question:
        """Return the question that stands alone; its history serves prompts only."""
        return Question(
            text=self.standalone,
            asker=self.asker,
            history=self._earlier_turns(),
            as_of=self.as_of,
            began=self.began,
            facts=self.facts,
        )

    def _earlier_turns(self) -> tuple[Message, ...]:
        return tuple(Message(role="user", content=text) for text in self.earlier)


Parameter = Literal["k", "rewrites", "graph_keywords", "graph_depth"]
"""What adaptation may set."""

Preset = Literal["", "fixed", "pa", "pa+rerank", "hypa", "hypa+rerank"]


ReaderUse = Literal["never", "unsure", "always"]


class Plan(Record):
    """Every knob of one answer. Tuning, A/B and ablation only ever change this."""

    k: int = Field(
        default=8,
        ge=0,
        le=100,
        description="Chunks that go to the answer, in total; 0, in the lab alone, asks the chat "
        "model without any.",
    )
    pool: int = Field(default=30, ge=1, le=1000, description="Candidates per leg before fusion.")
    strategies: tuple[str, ...] = Field(
        default=(), description="How search texts are made; empty = what suits."
    )
    strategy_mode: Literal["first", "all"] = Field(
        default="first", description="First that works, or all fused."
    )
    own_words: bool = Field(
        default=True,
        description="Search with the question as it was asked beside what a chat model writes.",
    )
    hyde_for: Literal["both", "sparse", "dense"] = Field(
        default="both", description="Legs that `hyde` writes for."
    )
    mode: Mode = Field(
        default="hybrid", description="Legs: sparse (words), dense (vectors) or both."
    )
    weighting: Literal["bm25", "tfidf"] = Field(
        default="bm25", description="How the sparse leg weighs words."
    )
    fusion: Literal["rrf", "combsum", "weighted"] = Field(
        default="combsum", description="Legs to ranking."
    )
    weights: dict[str, float] = Field(
        default={"sparse": 0.4, "dense": 0.6}, description="Weight of each leg."
    )
    late: float = Field(
        default=2.0,
        ge=0,
        description="Weight of late interaction beside the fused score; 0 = none.",
    )
    reader: ReaderUse = Field(
        default="always",
        description="When the small reader reads the likeliest passages, where no chat model "
        "decides: always, where it is unsure whether they answer, or never; of many questions at "
        "once it reads for few. research/results/reader.md says what it gains.",
    )
    reranker: str = Field(default="none", description="What reorders the fused pool.")
    preset: Preset = Field(
        default="", description="Several fields at once, as the HyPA-RAG paper names them."
    )
    adaptive: bool | tuple[Parameter, ...] | dict[Parameter, tuple[int, ...]] = Field(
        default=False,
        description="Fields that complexity sets, or all; as a table, with a value for each class, "
        "such as { k = [3, 5, 7] }.",
    )
    classes: Literal[2, 3] = Field(default=3, description="Complexity classes of the router.")
    rewrites: int = Field(default=3, ge=1, le=20, description="Rewrites that `multi` asks for.")
    graph: bool = Field(
        default=False, description="Add paths of the triplet graph to the evidence."
    )
    graph_keywords: int = Field(
        default=4, ge=0, le=50, description="Keywords looked up in the graph."
    )
    graph_depth: int = Field(
        default=2, ge=0, le=5, description="Longest path in the graph, in triplets."
    )
    sources: tuple[str, ...] = Field(default=(), description="Only these sources; empty means all.")
    abstain: float | None = Field(
        default=None, ge=0, le=1, description="Least confidence to answer; unset: measured."
    )
    persona: str = Field(default="employee", description="Who the answer is written for.")
    temperature: float = Field(
        default=0.0, ge=0, le=2, description="Sampling temperature of the chat model."
    )
    budget_tokens: int = Field(
        default=6000, ge=256, description="Most evidence tokens in a prompt."
    )
    evidence: Literal["section", "chunk"] = Field(
        default="section",
        description="What a chat model reads: passages with the rest of their sections, as far as "
        "the budget allows, or chunks as they were cut.",
    )
    components: tuple[str, ...] = Field(
        default=(), description="Prompt components; empty = the usual ones."
    )
    refine: bool = Field(
        default=True, description="Let the chat model repair claims once that fail their check."
    )


class Query(Record):
    strategy: str
    text: str
    """What the sparse side matches."""
    passage: str
    """What the dense side embeds."""
    hypothetical: bool = False
    """The passage is written like a document, not like a question."""


def recent_history(
    messages: Sequence[Message], *, most: int = RECENT_MESSAGES, tokens: int = RECENT_TOKENS
) -> tuple[Message, ...]:
    """Return the last messages within both limits, oldest first; a long one is cut to its
    beginning."""
    room = tokens * CHARACTERS_PER_TOKEN
    longest = int(room * LARGEST_SHARE)
    recent: list[Message] = []
    for message in reversed(messages[-most:] if most else ()):
        text = message.content[:longest]
        room -= len(text)
        if room < 0:
            break
        recent.append(message.model_copy(update={"content": text}))
    return tuple(reversed(recent))
