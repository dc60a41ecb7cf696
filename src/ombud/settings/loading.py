"""One file, `ombud.toml`; `OMBUD_SECTION__KEY` in the environment overrides it; a flag overrides both.

A misspelt key or variable is an error that names the nearest one. API keys of model providers stay in the
environment variables those providers define; they are never settings.
"""

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from ombud.errors import BadSetting
from ombud.settings.places import KINDS, PLACES, Source
from ombud.types import Plan

FILE = "ombud.toml"
RESERVED = {"OMBUD_HOME"}
ORIGINS = {"flag": "the command", "env": "the environment", "file": FILE, "default": FILE}


CHUNK_TOKENS = {"structure": (256, 0), "sentence": (512, 200), "semantic": (256, 0), "pattern": (256, 0),
                "fixed": (2048, 512)}  # fmt: skip
"""Chunker -> (most tokens of a chunk, tokens shared with its neighbour), where the settings say nothing."""


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


def _by_country(values: Any) -> Any:
    # A variable such as OMBUD_COUNTRY__GB__PLAN__K arrives in lower case.
    if not isinstance(values, dict):
        return values
    for code in values:
        if code and not re.fullmatch("[A-Za-z]{2}", str(code)):
            raise ValueError(f"`{code}` is not a two-letter country code such as GB")
    return {str(code).upper(): value for code, value in values.items()}


class General(Section):
    name: str = Field("the organisation", description="How answers call your organisation.")
    timezone: str = Field("UTC", description="Where a day begins, for effective dates; an IANA name.")

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as unknown:
            raise ValueError("not an IANA time zone such as Europe/Berlin") from unknown
        return name


class Server(Section):
    host: str = Field("127.0.0.1", description="Address to listen on; only loopback until identity is set up.")
    port: int = Field(8321, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    concurrency: int = Field(8, ge=1, description="Questions answered at the same time; more wait their turn.")


class Store(Section):
    url: str = Field("", description="SQLAlchemy URL; empty = SQLite in .ombud/.")


class Index(Section):
    engine: str = Field("lance", description="Where chunks live.")
    chunker: str = Field(
        "structure", description="How documents are cut: structure, sentence, semantic, pattern, fixed."
    )
    chunk_tokens: int | None = Field(
        None,
        ge=32,
        le=8192,
        description="Most tokens a chunk may have, heading trail included; unset = 256, sentence 512, fixed 2048.",
    )
    overlap_tokens: int | None = Field(
        None,
        ge=0,
        le=4096,
        description="Tokens that neighbouring chunks share; unset = 200 of 512 (sentence), a quarter (fixed).",
    )
    pattern: str = Field("", description="Regular expression that begins a chunk, for the chunker `pattern`.")
    percentile: float = Field(
        90, ge=1, le=99, description="Cosine distances above this percentile part chunks (semantic)."
    )
    window: int = Field(3, ge=1, le=20, description="Sentences compared on each side of a border (semantic).")
    min_sentences: int = Field(3, ge=1, le=100, description="Fewest sentences before a cut (semantic).")

    @property
    def size(self) -> int:
        """Most tokens of a chunk: as set, or what suits the chunker."""
        return self.chunk_tokens or CHUNK_TOKENS.get(self.chunker, CHUNK_TOKENS["structure"])[0]

    @property
    def overlap(self) -> int:
        """Most tokens that neighbours share: as set, or the chunker's own share of `size`."""
        size, shared = CHUNK_TOKENS.get(self.chunker, CHUNK_TOKENS["structure"])
        return self.size * shared // size if self.overlap_tokens is None else self.overlap_tokens


class Documents(Section):
    memory_mb: int = Field(4096, ge=256, description="Memory cap of the parser process (RLIMIT_AS).")
    seconds: float = Field(60, gt=0, description="Wall clock cap per document.")
    pages: int = Field(2000, ge=1, description="Most pages per document.")
    size_mb: int = Field(200, ge=1, description="Largest document.")
    recycle: int = Field(200, ge=1, description="Documents a parser process reads before it is replaced.")
    processes: int = Field(2, ge=1, le=64, description="Parser processes of a sync, each with the caps above.")


class Models(Section):
    embedder: str = Field("minilm", description="minilm, none, a folder with model.onnx, or `provider:model`.")
    chat: str = Field("", description="`provider:model` such as openai:gpt-4.1; empty = extractive answers, no model.")
    base_url: str = Field("", description="Address of an OpenAI-compatible server, for `openai:` models.")
    timeout_seconds: float = Field(60, gt=0, description="Deadline of one answer's model calls, repair included.")
    threads: int = Field(0, ge=0, description="Threads of the embedder; 0 = all cores.")


class Answering(Section):
    sensitive_quotes: bool = Field(True, description="Quote policy passages on sensitive questions.")
    sensitive_terms: str = Field("", description="Your own file of sensitive terms; empty = the shipped list.")
    contacts: str = Field("contacts.toml", description="File of topic contacts, relative to the workspace.")
    glossary: str = Field("glossary.csv", description="File of abbreviations, relative to the workspace.")
    notice: str = Field(
        "Answers come from your organisation's documents. They are not legal advice.",
        description="Shown under every chat.",
    )
    emergency: dict[str, str] = Field(
        {"": "If you or someone else is in danger now, call your local emergency number first."},
        description="Wording shown first when someone may be in danger, per country; key '' for everyone else.",
    )

    _codes = field_validator("emergency", mode="before")(_by_country)


class Sync(Section):
    every: str = Field("", description="Schedule of `ombud serve`: 7d, 12h or a cron line; empty = only by hand.")
    largest_loss: float = Field(0.5, gt=0, le=1, description="A sync that would delete a larger share stops.")


class Overlay(Section):
    plan: dict[str, Any] = Field({}, description="Plan fields to change.")

    @field_validator("plan")
    @classmethod
    def _known_plan(cls, plan: dict[str, Any]) -> dict[str, Any]:
        try:
            merge_plan(plan)
        except BadSetting as wrong:
            raise ValueError(str(wrong)) from wrong
        return plan


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="OMBUD_", env_nested_delimiter="__", extra="forbid", frozen=True, validate_default=True
    )
    general: General = General()
    server: Server = Server()
    store: Store = Store()
    index: Index = Index()
    documents: Documents = Documents()
    models: Models = Models()
    answer: Answering = Answering()
    sync: Sync = Sync()
    plan: Plan = Plan()
    country: dict[str, Overlay] = Field({}, description="Plan changes per country: [country.GB.plan].")
    source: tuple[Source, ...] = Field((), description="Where documents come from: [[source]].")
    _file: Path | None = PrivateAttr(None)

    @field_validator("source", mode="before")
    @classmethod
    def _folders(cls, sources: Any) -> Any:
        """A source that does not say its type is a folder."""
        if not isinstance(sources, list | tuple):
            return sources
        return [{"type": "folder"} | source if isinstance(source, dict) else source for source in sources]

    _codes = field_validator("country", mode="before")(_by_country)

    @model_validator(mode="after")
    def _distinct_sources(self) -> "Settings":
        names = [s.name for s in self.source]
        if len(set(names)) < len(names):
            raise ValueError("two [[source]] entries have the same name")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, _toml.get())


_toml: ContextVar[Path | None] = ContextVar("_toml", default=None)


def load(home: Path | None = None, flags: Mapping[str, Any] | None = None) -> Settings:
    """Read the settings of the workspace `home`; raises BadSetting with a hint for anything not understood.

    flags: nested values that win over everything, such as {"server": {"port": 9000}}.
    """
    _check_variables()
    path = home / FILE if home and (home / FILE).is_file() else None
    if path:
        _check_readable(path)
    token = _toml.set(path)
    try:
        settings = Settings(**(flags or {}))
        settings._file = path
        return settings
    except ValidationError as wrong:
        raise _explain(wrong, _trees(flags or {}, path)) from wrong
    except Exception as wrong:  # pydantic-settings wraps bad JSON in variables in its own error
        raise BadSetting(
            f"The settings cannot be read: {wrong}", hint="Lists in OMBUD_* variables are JSON."
        ) from wrong
    finally:
        _toml.reset(token)


def find_home(given: Path | None = None) -> Path | None:
    """The workspace: what was given, OMBUD_HOME, or the nearest parent folder with ombud.toml; None if none."""
    if given:
        return given.expanduser().resolve()
    if named := os.environ.get("OMBUD_HOME"):
        return Path(named).expanduser().resolve()
    here = Path.cwd().resolve()
    return next((folder for folder in (here, *here.parents) if (folder / FILE).is_file()), None)


def merge_plan(*overlays: Mapping[str, Any], base: Plan | None = None) -> Plan:
    """Lay plan fields over each other, weakest first; raises BadSetting naming the nearest field."""
    values = (base or Plan()).model_dump()
    for overlay in overlays:
        for key in overlay:
            if key not in values:
                raise BadSetting(f"`{key}` is not a field of the plan.", hint=nearest(key, values))
        values |= overlay
    try:
        return Plan.model_validate(values)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        raise BadSetting(f"plan.{_path(first['loc'])}: {first['msg'].lower()}.", hint=_choices(first)) from wrong


def plan_for(settings: Settings, country: str | None, request: Mapping[str, Any] | None = None) -> Plan:
    """The plan of one question: [plan], then [country.XX.plan], then what the request itself sets."""
    overlay = settings.country.get(country or "", Overlay()).plan
    return merge_plan(overlay, request or {}, base=settings.plan)


def index_for(settings: Settings, source: str) -> Index:
    """How the documents of a source are cut: [index], with the source's own chunker where it has one."""
    own = next((place.chunker for place in settings.source if place.name == source), "")
    return settings.index.model_copy(update={"chunker": own}) if own else settings.index


def rows(settings: Settings, flags: Mapping[str, Any] | None = None) -> Iterator[tuple[str, Any, str]]:
    """(key, value, origin) of every setting; origin is flag, env, file or default."""
    trees = _trees(flags or {}, settings._file)
    for section in Settings.model_fields:
        value = getattr(settings, section)
        if not isinstance(value, BaseModel):
            yield section, _plain(value), _origin((section,), trees)
            continue
        for key in type(value).model_fields:
            yield f"{section}.{key}", _plain(getattr(value, key)), _origin((section, key), trees)


def nearest(word: str, known: Any) -> str:
    """A hint: the nearest known name, or all of them."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"Did you mean `{near[0]}`?" if near else f"Known: {', '.join(sorted(known))}."


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return {k: _plain(v) for k, v in value.items()} if isinstance(value, dict) else value


Trees = Mapping[str, Mapping[str, Any]]
"""Origin -> what it sets, strongest first."""


def _trees(flags: Mapping[str, Any], path: Path | None) -> Trees:
    return {"flag": flags, "env": EnvSettingsSource(Settings)(), "file": TomlConfigSettingsSource(Settings, path)()}


def _origin(keys: Sequence[int | str], trees: Trees) -> str:
    return next((name for name, tree in trees.items() if _holds(tree, keys)), "default")


def _holds(tree: Any, keys: Sequence[int | str]) -> bool:
    for key in keys:
        if isinstance(tree, list) and isinstance(key, int):
            tree = dict(enumerate(tree))
        if not isinstance(tree, Mapping) or key not in tree:
            return False
        tree = tree[key]
    return True


def _check_readable(path: Path) -> None:
    import tomllib

    try:
        tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        raise BadSetting(f"{path} is not valid TOML: {wrong}.", hint="Look at the line it names.") from wrong
    except OSError as wrong:
        raise BadSetting(f"{path} cannot be read: {wrong.strerror}.", hint="Check the file's permissions.") from wrong


def _check_variables() -> None:
    for name in sorted(os.environ):
        if not name.upper().startswith("OMBUD_") or name.upper() in RESERVED:
            continue
        model: Any = Settings
        for part in name.upper().removeprefix("OMBUD_").split("__"):
            fields = model.model_fields
            if part.lower() not in fields:
                wanted = {n.upper() for n in fields}
                raise BadSetting(f"The variable `{name}` is not a setting.", hint=nearest(part, wanted))
            model = fields[part.lower()].annotation
            if not (isinstance(model, type) and issubclass(model, BaseModel)):
                break


def _explain(wrong: ValidationError, trees: Trees) -> BadSetting:
    # A misspelt key also leaves the right one missing: say the first.
    first = min(wrong.errors(), key=lambda error: error["type"] != "extra_forbidden")
    loc, known = _located(first["loc"])
    where, place = _path(loc), ORIGINS[_origin(loc, trees)]
    if first["type"] == "union_tag_invalid":
        kind = str(first["input"].get("type"))
        return BadSetting(f"{where}.type = {kind!r} is no kind of source.", hint=nearest(kind, KINDS))
    if first["type"] == "extra_forbidden":
        return BadSetting(f"`{where}` in {place} is not a setting.", hint=nearest(str(loc[-1]), known))
    if first["type"] == "missing":
        return BadSetting(f"`{where}` is missing.", hint=_choices(first))
    said = first.get("ctx", {}).get("error")
    cause = getattr(said, "__cause__", None)
    if isinstance(cause, BadSetting):
        return BadSetting(f"{where}: {cause}", hint=cause.hint)
    if said:
        place = f"{where} = {first['input']!r}" if isinstance(first["input"], str) else where or "settings"
        return BadSetting(f"{place}: {said}.", hint=_choices(first))
    return BadSetting(f"{where or 'settings'} = {first['input']!r}: {first['msg'].lower()}.", hint=_choices(first))


def _located(loc: tuple[int | str, ...]) -> tuple[tuple[int | str, ...], list[str]]:
    """The place of an error as it stands in the file, and the keys that are known there."""
    if loc[:1] == ("source",) and len(loc) > 2 and loc[2] in KINDS:  # the kind is no key of its own
        return (*loc[:2], *loc[3:]), list(PLACES[KINDS.index(str(loc[2]))].model_fields)
    model: Any = Settings
    for part in loc[:-1]:
        if isinstance(part, str) and hasattr(model, "model_fields") and part in model.model_fields:
            annotation = model.model_fields[part].annotation
            inner = [a for a in get_args(annotation) if isinstance(a, type) and issubclass(a, BaseModel)]
            model = inner[0] if inner else annotation
    return loc, list(getattr(model, "model_fields", {}))


def _path(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in loc)


def _choices(error: Any) -> str:
    return (
        f"It takes {error['ctx']['expected']}." if "expected" in error.get("ctx", {}) else "`ombud settings` lists all."
    )
