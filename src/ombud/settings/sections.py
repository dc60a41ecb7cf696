"""The sections of `ombud.toml`: typed, few, each with a reason for its default."""

import re
from datetime import date, datetime
from typing import Any, ClassVar, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    field_validator,
    model_validator,
)

from ombud.errors import BadSetting
from ombud.messages import AnyLanguage
from ombud.settings.plans import NOT_SERVED, merge_plan

CHUNK_TOKENS = {
    "structure": (256, 0),
    "sentence": (512, 200),
    "semantic": (256, 0),
    "pattern": (256, 0),
    "fixed": (2048, 512),
}
"""Chunker -> (most tokens of a chunk, tokens shared with its neighbour), where the settings say
nothing."""


ModelRole = Literal["strategy", "rerank", "compose", "verify", "extract", "judge", "synthesise"]
"""What a chat model is asked for: search texts, orders, answers, claims in doubt, triplets,
verdicts and test questions of the lab."""
SensitivePolicy = Literal["never", "redacted", "allowed"]
"""What remote models see of sensitive messages."""


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


def by_country(values: Any) -> Any:
    # A variable such as OMBUD_COUNTRY__GB__PLAN__K arrives in lower case.
    if not isinstance(values, dict):
        return values
    for code in values:
        is_pair = len(str(code)) == 2 and str(code).isascii() and str(code).isalpha()
        if code and not is_pair:
            raise ValueError(f"`{code}` is not a two-letter country code such as GB")
    return {str(code).upper(): value for code, value in values.items()}


def escaped(url: str) -> str:
    """Refuse an unescaped @ in a password: the rest of it would be taken for the host name, which
    errors repeat."""
    authority = url.partition("://")[2].partition("/")[0]
    if authority.count("@") > 1:
        raise ValueError("an @ inside a password is written %40")
    return url


class GeneralSettings(Section):
    name: str = Field("the organisation", description="How answers call your organisation.")
    language: AnyLanguage = Field(
        "en",
        description="Language of pages and notices, where a browser asks for none of ours.",
    )
    timezone: str = Field(
        "UTC", description="Where a day begins, for effective dates; an IANA name."
    )

    leave_year: str = Field(
        "01-01", description="First day of the leave year, month and day, such as 04-01."
    )
    fiscal_year: str = Field(
        "01-01", description="First day of the fiscal year, month and day, such as 04-06."
    )

    @field_validator("leave_year", "fiscal_year")
    @classmethod
    def _day_of_year(cls, day: str) -> str:
        try:
            date.fromisoformat(f"2001-{day}")
        except ValueError as unknown:
            raise ValueError("not a month and a day such as 04-01") from unknown
        return day

    @field_validator("timezone")
    @classmethod
    def _check_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as unknown:
            raise ValueError("not an IANA time zone such as Europe/Berlin") from unknown
        return name


class StoreSettings(Section):
    url: str = Field("", description="SQLAlchemy URL; empty = SQLite in .ombud/.")

    _url = field_validator("url")(escaped)


class IndexSettings(Section):
    engine: str = Field("lance", description="Where chunks live.")
    url: str = Field(
        "",
        description="Place of the index for several machines, such as s3://bucket/ombud, az://… or "
        "gs://…; keys come from the environment. Empty = the folder .ombud/index.",
    )
    fresh_seconds: float = Field(
        5,
        ge=0,
        le=3600,
        description="How old a server's view of an index at index.url may be.",
    )
    cache: str = Field(
        "",
        description="Folder of its own, in the workspace or anywhere, for passages read from "
        "object storage, about 8 kB each, at most 200,000; empty = none.",
    )
    chunker: str = Field(
        "structure",
        description="How documents are cut: structure, sentence, semantic, pattern, fixed.",
    )
    chunk_tokens: int | None = Field(
        None,
        ge=32,
        le=8192,
        description="Most tokens a chunk may have, heading trail included; unset = 256, sentence "
        "512, fixed 2048.",
    )
    overlap_tokens: int | None = Field(
        None,
        ge=0,
        le=4096,
        description="Tokens that neighbouring chunks share; unset = 200 of 512 (sentence), a "
        "quarter (fixed).",
    )
    pattern: str = Field(
        "", description="Regular expression that begins a chunk, for the chunker `pattern`."
    )
    percentile: float = Field(
        90,
        ge=1,
        le=99,
        description="Cosine distances above this percentile part chunks (semantic).",
    )
    window: ClassVar[int] = 3
    """Sentences compared on each side of a border (semantic)."""
    min_sentences: ClassVar[int] = 3
    """Fewest sentences before a cut (semantic)."""
    hot_passages: int = Field(
        200_000,
        ge=0,
        description="The largest index, in passages, that a server keeps in memory for its "
        "searches, about 9 kB each, such as 200000; 0 = never.",
    )
    header: bool = Field(True, description="Index the headings above a passage with it.")
    tables: Literal["markdown", "rows"] = Field(
        "rows",
        description="How tables are indexed: each row with its column names, or as they are.",
    )
    graph: Literal["none", "model"] = Field(
        "none",
        description="Triplets of the documents: none, or read by the chat model (one call for up "
        "to six passages).",
    )

    _url = field_validator("url")(escaped)

    def beside(self) -> dict[str, Any]:
        """Return the settings of an index in a folder of its own, with the same chunking."""
        elsewhere = {"url": "", "engine": "lance"} if self.url else {}
        return self.model_dump() | elsewhere

    @property
    def oldest_view(self) -> float:
        """Return the seconds that a view may be old: 0 for a folder, which is cheap to check."""
        return self.fresh_seconds if self.url else 0.0

    @property
    def size(self) -> int:
        """Return the most tokens of a chunk, as set or suitable for the chunker."""
        return self.chunk_tokens or CHUNK_TOKENS.get(self.chunker, CHUNK_TOKENS["structure"])[0]

    @property
    def overlap(self) -> int:
        """Return the most tokens that neighbours share, as set or the chunker's share of `size`."""
        size, shared = CHUNK_TOKENS.get(self.chunker, CHUNK_TOKENS["structure"])
        return self.size * shared // size if self.overlap_tokens is None else self.overlap_tokens


class DocumentSettings(Section):
    memory_mb: int = Field(
        4096, ge=256, description="Memory cap of the parser process (RLIMIT_AS)."
    )
    seconds: float = Field(60, gt=0, description="Wall clock cap per document.")
    pages: int = Field(2000, ge=1, description="Most pages per document.")
    size_mb: int = Field(200, ge=1, description="Largest document.")
    originals: bool = Field(
        True, description="Keep PDFs, to show their pages as they were printed."
    )
    processes: int = Field(
        2,
        ge=0,
        le=64,
        description="Parser processes of a sync, each with the caps above. 0 = none: documents you "
        "trust are parsed in the syncing process, where only the caps of pages and size hold.",
    )


class ModelSettings(Section):
    embedder: str = Field(
        "minilm", description="minilm, none, a folder with model.onnx, or `provider:model`."
    )
    embedder_prefixes: tuple[str, str] = Field(
        ("", ""),
        description="Written before questions and before passages for a `provider:model` that was "
        "trained so, such as multilingual-e5: query and passage, each with a colon and a space.",
    )
    chat: str = Field(
        "",
        description="`provider:model` such as openai:gpt-4.1; empty = extractive answers, no "
        "model.",
    )
    roles: dict[ModelRole, tuple[str, ...]] = Field(
        {},
        description="Another model for one role, or several in the order they are asked; `none` = "
        "none there.",
    )
    fallbacks: tuple[str, ...] = Field(
        (), description="Models asked in this order when a role's own have failed."
    )
    sensitive: SensitivePolicy = Field(
        "never",
        description="What models that are not on this machine see of sensitive messages and of "
        "what follows them: nothing, words without names and numbers of people, or all.",
    )
    base_url: str = Field(
        "",
        description="Address of an OpenAI-compatible server, for `openai:`, `ollama:` and `vllm:` "
        "models.",
    )
    timeout_seconds: float = Field(
        60,
        gt=0,
        description="Deadline of a whole answer: search, reranking, writing, checks and repair. "
        "After it people get the passages without a model.",
    )
    search_seconds: float = Field(
        15,
        gt=0,
        description="Deadline of each step of a search that asks a model: search texts, vectors, "
        "reranking; at most a quarter of timeout_seconds.",
    )
    retries: int = Field(
        2, ge=0, le=10, description="Times a busy, broken or unreachable model is asked again."
    )
    concurrency: int = Field(
        16,
        ge=1,
        le=1000,
        description="Calls of one model under way at once; more wait within their deadline.",
    )
    daily_budget: float = Field(
        0,
        ge=0,
        description="US dollars a day, for all processes; 0 = no limit. Unknown prices do not "
        "count.",
    )
    person_budget: float = Field(
        0,
        ge=0,
        description="US dollars a day for the answers of one person; 0 = no limit. Whoever is not "
        "signed in shares one.",
    )
    group_budgets: dict[str, NonNegativeFloat] = Field(
        {},
        description="Group of the directory -> US dollars a day for the answers of all its people "
        "together.",
    )
    prices: dict[str, tuple[NonNegativeFloat, NonNegativeFloat]] = Field(
        {},
        description="Model -> US dollars for a million tokens in and out, where the price list "
        "does not know it or you pay another price.",
    )
    reranker: str = Field(
        "",
        description="folder:PATH, cohere:MODEL, jina:MODEL or tei:MODEL; for plan.reranker = "
        "cross-encoder.",
    )
    reranker_url: str = Field(
        "",
        description="Address of a server that speaks the rerank protocol of Cohere, Jina or TEI; "
        "empty = that of Cohere or Jina themselves.",
    )
    router: str = Field(
        "",
        description="Weights of `python -m research.training.router`, relative to the workspace; "
        "empty = the shipped ones.",
    )
    threads: int = Field(
        0,
        ge=0,
        description="Threads of the embedder, and of a reranker in a folder; 0 = all cores.",
    )

    _urls = field_validator("base_url", "reranker_url")(escaped)

    @property
    def has_budget(self) -> bool:
        """Tell whether any budget limits the models."""
        return bool(self.daily_budget or self.person_budget or self.group_budgets)

    @property
    def step_seconds(self) -> float:
        """Return the deadline of a step before the writing, which leaves it a quarter of the
        time."""
        return min(self.search_seconds, self.timeout_seconds / 4)

    @field_validator("roles", mode="before")
    @classmethod
    def _listed(cls, roles: Any) -> Any:
        """Accept a single model without brackets."""
        if not isinstance(roles, dict):
            return roles
        return {
            role: (named,) if isinstance(named, str) else named for role, named in roles.items()
        }


class AnswerSettings(Section):
    sensitive_quotes: bool = Field(
        True, description="Quote policy passages on sensitive questions."
    )
    vague: Literal["clarify", "deny"] = Field(
        "clarify",
        description="A question too vague to search for: offer choices from the headings, or "
        "refuse.",
    )
    sensitive_terms: str = Field(
        "", description="Your own file of sensitive terms; empty = the shipped list."
    )
    contacts: str = Field(
        "contacts.toml", description="File of topic contacts, relative to the workspace."
    )
    glossary: str = Field(
        "glossary.csv", description="File of abbreviations, relative to the workspace."
    )
    notice: str | None = Field(
        None,
        description="Shown under every chat; unset = that answers come from documents and are not "
        "legal advice, empty = nothing.",
    )
    emergency: dict[str, str] = Field(
        {},
        description="Wording shown first when someone may be in danger, per country, in place of "
        "the public numbers that ship for GB, IE, DE, AT, CH, FR, ES, NL and US; key '' for "
        "countries that have neither.",
    )

    _codes = field_validator("emergency", mode="before")(by_country)


class SyncSettings(Section):
    every: str = Field(
        "", description="Schedule of `ombud serve`: 7d, 12h or a cron line; empty = only by hand."
    )
    largest_loss: float = Field(
        0.5, gt=0, le=1, description="A sync that would delete a larger share stops."
    )
    workers: Literal["local", "queue"] = Field(
        "local",
        description="Who parses and embeds: the syncing process, or processes of `ombud work`, on "
        "any machine that reaches store.url.",
    )


class AuditSettings(Section):
    days: int = Field(
        730, ge=0, description="Days after which answers and conversations are erased; 0 = never."
    )
    sensitive_days: int = Field(
        90,
        ge=0,
        description="The same for conversations in which something was sensitive; 0 = never.",
    )
    delete_own: bool = Field(
        True,
        description="What people delete of their own conversations is erased; false = it only "
        "leaves their list.",
    )
    group_size: int = Field(
        5, ge=1, description="Fewest people behind anything that `ombud report gaps` shows."
    )
    show_words: Literal["none", "shared", "questions"] = Field(
        "none",
        description="What that report shows of questions: nothing, words that enough people used, "
        "or whole questions.",
    )

    @model_validator(mode="after")
    def _sensitive_first(self) -> "AuditSettings":
        if self.days and not 0 < self.sensitive_days <= self.days:
            raise ValueError(
                "sensitive_days must be at least 1 and at most days: what is sensitive goes first"
            )
        return self


class PlanOverlay(Section):
    plan: dict[str, Any] = Field({}, description="Plan fields to change.")

    @field_validator("plan")
    @classmethod
    def _check_plan(cls, plan: dict[str, Any]) -> dict[str, Any]:
        if plan.get("k") == 0:
            raise ValueError(NOT_SERVED)
        try:
            merge_plan(plan)
        except BadSetting as wrong:
            raise ValueError(str(wrong)) from wrong
        return plan


class Experiment(PlanOverlay):
    share: float = Field(ge=0, le=1, description="Share of people, by their id, who get this plan.")
    countries: tuple[str, ...] = Field(
        (), description="Only people of these countries; empty = all."
    )
    off: bool = Field(False, description="Nobody is in it, whatever the share.")
    since: datetime | None = Field(
        None,
        description="Its start: answers before it are not compared. The page that changes an "
        "experiment sets it; empty = the first answer that somebody in it got.",
    )

    @field_validator("countries", mode="after")
    @classmethod
    def _country_codes(cls, codes: tuple[str, ...]) -> tuple[str, ...]:
        if "" in codes:
            raise ValueError("a two-letter country code such as GB is missing")
        return tuple(by_country(dict.fromkeys(codes)))


def by_name(values: Any) -> Any:
    # A trace joins the names of several experiments by `+`, and variables arrive in lower case.
    for name in values if isinstance(values, dict) else ():
        if not re.fullmatch("[a-z0-9][a-z0-9_-]{0,39}", str(name)):
            raise ValueError(f"`{name}` is no name of small letters, digits, - and _, 40 at most")
    return values
