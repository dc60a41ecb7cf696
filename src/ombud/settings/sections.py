"""The sections of `ombud.toml`: typed, few, each with a reason for its default."""

import re
from datetime import date
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from ombud.errors import BadSetting
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
        if code and not re.fullmatch("[A-Za-z]{2}", str(code)):
            raise ValueError(f"`{code}` is not a two-letter country code such as GB")
    return {str(code).upper(): value for code, value in values.items()}


def escaped(url: str) -> str:
    """An @ in a password would make the rest of it the host's name, which errors repeat."""
    authority = url.partition("://")[2].partition("/")[0]
    if authority.count("@") > 1:
        raise ValueError("an @ inside a password is written %40")
    return url


class GeneralSettings(Section):
    name: str = Field("the organisation", description="How answers call your organisation.")
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
    def _known_zone(cls, name: str) -> str:
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
    window: int = Field(
        3, ge=1, le=20, description="Sentences compared on each side of a border (semantic)."
    )
    min_sentences: int = Field(
        3, ge=1, le=100, description="Fewest sentences before a cut (semantic)."
    )

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
    vectors: Literal["chunk", "paragraphs"] = Field(
        "chunk",
        description="Vectors of a passage: one of all its text, or also one of each pair of "
        "paragraphs.",
    )

    graph: Literal["none", "rules", "model"] = Field(
        "none",
        description="Triplets of the documents: none, by rules, or by the chat model (one call a "
        "passage).",
    )

    _url = field_validator("url")(escaped)

    def beside(self) -> dict[str, Any]:
        """For an index of its own in a folder, cut in the same way."""
        elsewhere = {"url": "", "engine": "lance"} if self.url else {}
        return self.model_dump() | elsewhere

    @property
    def oldest_view(self) -> float:
        """Seconds: 0 for a folder, where a look costs nothing."""
        return self.fresh_seconds if self.url else 0.0

    @property
    def size(self) -> int:
        """Most tokens of a chunk: as set, or what suits the chunker."""
        return self.chunk_tokens or CHUNK_TOKENS.get(self.chunker, CHUNK_TOKENS["structure"])[0]

    @property
    def overlap(self) -> int:
        """Most tokens that neighbours share: as set, or the chunker's own share of `size`."""
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
    recycle: int = Field(
        1000, ge=1, description="Documents a parser process reads before it is replaced."
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
        60, gt=0, description="Deadline of one answer's model calls, repair included."
    )
    search_seconds: float = Field(
        15, gt=0, description="Deadline of the model calls that prepare one search."
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
    breaker_failures: int = Field(
        3,
        ge=1,
        description="Failed calls in a row after which a model rests; one that used up its time "
        "does at once.",
    )
    breaker_seconds: float = Field(
        30, gt=0, description="How long it rests before one call tries it again."
    )
    daily_budget: float = Field(
        0,
        ge=0,
        description="US dollars a day, for all processes; 0 = no limit. Unknown prices do not "
        "count.",
    )
    cache: bool = Field(
        False, description="The same request at temperature 0 is answered from memory for an hour."
    )
    reranker: str = Field(
        "",
        description="folder:PATH, cohere:MODEL or jina:MODEL; for plan.reranker = cross-encoder.",
    )
    reranker_url: str = Field(
        "",
        description="Address of a server that speaks Cohere's or Jina's rerank protocol; empty = "
        "their own.",
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

    @field_validator("roles", mode="before")
    @classmethod
    def _listed(cls, roles: Any) -> Any:
        """One model may stand without brackets."""
        if not isinstance(roles, dict):
            return roles
        return {
            role: (named,) if isinstance(named, str) else named for role, named in roles.items()
        }


EMERGENCY = "If you or someone else is in danger now, call your local emergency number first."


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
    notice: str = Field(
        "Answers come from your organisation's documents. They are not legal advice.",
        description="Shown under every chat.",
    )
    emergency: dict[str, str] = Field(
        {"": EMERGENCY},
        description="Wording shown first when someone may be in danger, per country, in place of "
        "the public numbers that ship for GB, IE, DE, AT, CH, FR, ES, NL and US; key '' for "
        "countries that have neither.",
    )

    _codes = field_validator("emergency", mode="before")(by_country)

    @field_validator("emergency")
    @classmethod
    def _for_everyone(cls, lines: dict[str, str]) -> dict[str, str]:
        """Whoever sets single countries must not leave all others without a word."""
        return {"": EMERGENCY, **lines}


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


class LabSettings(Section):
    every: str = Field(
        "",
        description="Cases, relative to the workspace, that `ombud serve` asks after every sync "
        "and every change of flags or prompts; empty = none.",
    )
    owner_mail: tuple[str, ...] = Field(
        (), description="Who is told by mail where these answers fell beyond noise."
    )
    owner_url: str = Field(
        "", description="Posted to where they did, signed with the key of handoff.notify."
    )
    harvest: bool = Field(
        False,
        description="States that those who ask have agreed: their questions may be taken, without "
        "who asked, to measure and to train.",
    )
    judge_form: Literal["typed", "line"] = Field(
        "typed",
        description="How judges reply: a typed value, or a marked last line for models that can be "
        "held to no form.",
    )
    judge_repeats: int = Field(
        1, ge=1, le=15, description="Times a judge gives each grade; the most frequent counts."
    )
    judge_window: int = Field(
        32_000,
        ge=500,
        description="Tokens that a judge reads at once; an answer with longer passages gets no "
        "grade, and says why.",
    )
    # What the best published judge reaches on RAGChecker's human labels is .61.
    judge_bar: float = Field(
        0.6,
        ge=0,
        le=1,
        description="Spearman's correlation with people that a judge must have reached on a metric "
        "(`ombud lab align`) before the gate looks at it; 0 = none.",
    )


class PublishSettings(Section):
    refused: int = Field(
        0, ge=-1, description="Most answers that become refusals; -1 = no limit, here and below."
    )
    figures: int = Field(
        -1, ge=-1, description="Most answers whose figures change; they are always listed."
    )
    gate_fall: bool = Field(True, description="No case that was right may become wrong.")
    round: bool = Field(
        False,
        description="People must have rated answers with the drafts in force, and said go "
        "(`ombud lab round --draft`).",
    )


class PlanOverlay(Section):
    plan: dict[str, Any] = Field({}, description="Plan fields to change.")

    @field_validator("plan")
    @classmethod
    def _known_plan(cls, plan: dict[str, Any]) -> dict[str, Any]:
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
