"""One file, `ombud.toml`; `OMBUD_SECTION__KEY` in the environment overrides it; a flag overrides
both.

A misspelt key or variable is an error that names the nearest one. API keys of model providers stay
in the environment variables those providers define; they are never settings."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import (
    BaseModel,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from ombud.errors import BadSetting, OmbudError
from ombud.masking import mask_values
from ombud.proxies import bypass_proxies_of
from ombud.settings.azure import AzureSettings, read_remote, read_vault
from ombud.settings.channels import TeamsSettings
from ombud.settings.handoff import HandoffSettings, MailSettings
from ombud.settings.identity import IdentitySettings
from ombud.settings.places import UNKNOWN_KIND, Source, kind_of, kinds, place_of
from ombud.settings.plans import NOT_SERVED, choices_of, nearest, path_of
from ombud.settings.removed import replacement_of, without_removed
from ombud.settings.secret_files import read_secret_files
from ombud.settings.sections import (
    AnswerSettings,
    AuditSettings,
    DocumentSettings,
    Experiment,
    GeneralSettings,
    IndexSettings,
    LabSettings,
    ModelSettings,
    PlanOverlay,
    PublishSettings,
    StoreSettings,
    SyncSettings,
    by_country,
    by_name,
)
from ombud.settings.server import ServerSettings
from ombud.types import Plan

FILE = "ombud.toml"
RESERVED = {"OMBUD_HOME"}
ORIGINS = {
    "flag": "the command",
    "env": "the environment",
    "azure": "App Configuration",
    "file": FILE,
    "default": FILE,
}


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="OMBUD_",
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        validate_default=True,
    )
    general: GeneralSettings = GeneralSettings()
    server: ServerSettings = ServerSettings()
    identity: IdentitySettings = IdentitySettings()
    store: StoreSettings = StoreSettings()
    index: IndexSettings = IndexSettings()
    documents: DocumentSettings = DocumentSettings()
    models: ModelSettings = ModelSettings()
    answer: AnswerSettings = AnswerSettings()
    sync: SyncSettings = SyncSettings()
    audit: AuditSettings = AuditSettings()
    lab: LabSettings = LabSettings()
    publish: PublishSettings = PublishSettings()
    handoff: HandoffSettings = HandoffSettings()
    mail: MailSettings = MailSettings()
    teams: TeamsSettings = TeamsSettings()
    azure: AzureSettings = AzureSettings()
    plan: Plan = Plan()
    country: dict[str, PlanOverlay] = Field(
        {}, description="Plan changes per country: [country.GB.plan]."
    )
    persona: dict[str, PlanOverlay] = Field(
        {}, description="Plan changes per persona: [persona.NAME.plan]."
    )
    experiment: dict[str, Experiment] = Field(
        {},
        description="Plan changes for a share of people: [experiment.NAME], in the order of the "
        "file.",
    )
    source: tuple[Source, ...] = Field((), description="Where documents come from: [[source]].")
    _file: Path | None = PrivateAttr(None)
    _remote: Mapping[str, Any] = PrivateAttr({})

    _codes = field_validator("country", mode="before")(by_country)
    _names = field_validator("experiment", mode="before")(by_name)

    @property
    def remote(self) -> Mapping[str, Any]:
        """What of it App Configuration has said."""
        return self._remote

    @model_validator(mode="after")
    def _distinct_sources(self) -> "Settings":
        names = [s.name for s in self.source]
        if len(set(names)) < len(names):
            raise ValueError("two [[source]] entries have the same name")
        return self

    @field_validator("plan")
    @classmethod
    def _searched(cls, plan: Plan) -> Plan:
        if plan.k == 0:
            raise ValueError(NOT_SERVED)
        return plan

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        trees = _trees(_layers.get())
        origins = (InitSettingsSource(settings_cls, dict(tree)) for tree in trees.values())
        return (init_settings, *origins)


class _Layers(NamedTuple):
    """What settings are made of beside the environment."""

    flags: Mapping[str, Any]
    path: Path | None
    remote: Mapping[str, Any]
    """Of App Configuration."""


_layers: ContextVar[_Layers] = ContextVar("_layers", default=_Layers({}, None, {}))  # noqa: B039


def load(
    home: Path | None = None,
    flags: Mapping[str, Any] | None = None,
    remote: Mapping[str, Any] | None = None,
) -> Settings:
    """Read the settings of the workspace `home`; raises BadSetting with a hint for anything not
    understood.

    flags: nested values that win over everything, such as {"server": {"port": 9000}}. remote: what
    App Configuration holds, where that was read already.
    """
    read_secret_files(os.environ)
    path = home / FILE if home and (home / FILE).is_file() else None
    if path:
        _check_readable(path)
    azure = _azure_of(path)
    read_vault(azure, os.environ)
    _check_variables()
    layers = _Layers(flags or {}, path, read_remote(azure) if remote is None else remote)
    token = _layers.set(layers)
    try:
        settings = Settings()
        settings._file, settings._remote = path, layers.remote
        bypass_proxies_of(settings.model_dump())
        return settings
    except ValidationError as wrong:
        raise _explain(wrong, _trees(layers)) from wrong
    except OmbudError:  # a plugin that does not load
        raise
    except Exception as wrong:  # pydantic-settings wraps bad JSON in variables in its own error
        raise BadSetting(
            f"The settings cannot be read: {wrong}", hint="Lists in OMBUD_* variables are JSON."
        ) from wrong
    finally:
        _layers.reset(token)


def _azure_of(path: Path | None) -> AzureSettings:
    """That section alone, which says where others come from. What is wrong with it is said with
    all the others."""
    said: dict[str, Any] = {}
    for source in (TomlConfigSettingsSource(Settings, path), EnvSettingsSource(Settings)):
        try:
            held = source().get("azure")
        except Exception:  # noqa: BLE001 - as above
            held = None
        if isinstance(held, Mapping):
            said |= without_removed(held, FILE, ["azure"])
    try:
        return AzureSettings(**said)
    except ValidationError:
        return AzureSettings()


def find_home(given: Path | None = None) -> Path | None:
    """The workspace: what was given, OMBUD_HOME, or the nearest parent folder with ombud.toml; None
    if none."""
    if given:
        return given.expanduser().resolve()
    if named := os.environ.get("OMBUD_HOME"):
        return Path(named).expanduser().resolve()
    here = Path.cwd().resolve()
    for folder in (here, *here.parents):
        if (folder / FILE).is_file():
            return folder
    return None


def index_for(settings: Settings, source: str) -> IndexSettings:
    """How the documents of a source are cut: [index], with the source's own chunker where it has
    one."""
    for place in settings.source:
        if place.name == source and place.chunker:
            return settings.index.model_copy(update={"chunker": place.chunker})
    return settings.index


def rows(
    settings: Settings, flags: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, Any, str]]:
    """(key, value, origin) of every setting, passwords masked; origin is flag, env, azure, file
    or default."""
    trees = _trees(_Layers(flags or {}, settings._file, settings._remote))
    for section in Settings.model_fields:
        value = getattr(settings, section)
        if not isinstance(value, BaseModel):
            yield section, _shown(value), _origin((section,), trees)
            continue
        for key in type(value).model_fields:
            shown = _shown(getattr(value, key))
            yield f"{section}.{key}", shown, _origin((section, key), trees)


def _shown(value: Any) -> Any:
    return mask_values(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, tuple):
        return list(map(_plain, value))
    if not isinstance(value, dict):
        return value
    return {key: _plain(inner) for key, inner in value.items()}


Trees = Mapping[str, Mapping[str, Any]]
"""Origin -> what it sets, strongest first."""


def _trees(layers: _Layers) -> Trees:
    """Return what each origin sets, without settings that were removed."""
    trees: dict[str, Mapping[str, Any]] = {
        "flag": layers.flags,
        "env": EnvSettingsSource(Settings)(),
        "azure": layers.remote,
        "file": TomlConfigSettingsSource(Settings, layers.path)(),
    }
    return {name: without_removed(tree, ORIGINS[name]) for name, tree in trees.items()}


def _origin(keys: Sequence[int | str], trees: Trees) -> str:
    for name, tree in trees.items():
        if _holds(tree, keys):
            return name
    return "default"


def _held(trees: Trees, keys: Sequence[int | str]) -> Any:
    """What the strongest tree that holds these keys has there; None where none does."""
    for tree in trees.values():
        if _holds(tree, keys):
            return _at(tree, keys)
    return None


def _holds(tree: Any, keys: Sequence[int | str]) -> bool:
    return _at(tree, keys) is not _ABSENT


def _at(tree: Any, keys: Sequence[int | str]) -> Any:
    for key in keys:
        if isinstance(tree, list) and isinstance(key, int):
            tree = dict(enumerate(tree))
        if not isinstance(tree, Mapping) or key not in tree:
            return _ABSENT
        tree = tree[key]
    return tree


_ABSENT = object()


def _check_readable(path: Path) -> None:
    import tomllib

    try:
        tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as wrong:
        raise BadSetting(
            f"{path} is not valid TOML: {wrong}.", hint="Look at the line it names."
        ) from wrong
    except OSError as wrong:
        raise BadSetting(
            f"{path} cannot be read: {wrong.strerror}.", hint="Check the file's permissions."
        ) from wrong


def _check_variables() -> None:
    for name in sorted(os.environ):
        if name.upper().startswith("OMBUD_") and name.upper() not in RESERVED:
            _check_variable(name)


def _check_variable(name: str) -> None:
    """Raise BadSetting for a variable that names no setting, now or formerly."""
    model: Any = Settings
    parts = name.lower().removeprefix("ombud_").split("__")
    for depth, part in enumerate(parts, start=1):
        fields = model.model_fields
        if replacement_of(parts[:depth]):
            return
        if part not in fields:
            wanted = {n.upper() for n in fields}
            raise BadSetting(
                f"The variable `{name}` is not a setting.", hint=nearest(part.upper(), wanted)
            )
        model = fields[part].annotation
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            return


def _explain(wrong: ValidationError, trees: Trees) -> BadSetting:
    # A misspelt key also leaves the right one missing: say the first.
    first = min(wrong.errors(), key=lambda error: error["type"] != "extra_forbidden")
    loc = first["loc"]
    where = path_of(loc)
    if first["type"] == UNKNOWN_KIND:
        kind = kind_of(first["input"])
        return BadSetting(
            f"{where}.type = {kind!r} is no kind of source.", hint=nearest(kind, kinds())
        )
    if first["type"] == "extra_forbidden":
        place = ORIGINS[_origin(loc, trees)]
        known = _known_keys(loc, trees)
        return BadSetting(
            f"`{where}` in {place} is not a setting.", hint=nearest(str(loc[-1]), known)
        )
    if first["type"] == "missing":
        return BadSetting(f"`{where}` is missing.", hint=choices_of(first))
    problem = first.get("ctx", {}).get("error")
    cause = getattr(problem, "__cause__", None)
    if isinstance(cause, BadSetting):
        return BadSetting(f"{where}: {cause}", hint=cause.hint)
    given = first["input"]
    named = where or "settings"
    if problem:
        place = f"{where} = {given!r}" if isinstance(given, str) else named
        return BadSetting(f"{place}: {problem}.", hint=choices_of(first))
    complaint = first["msg"].lower()
    return BadSetting(f"{named} = {given!r}: {complaint}.", hint=choices_of(first))


def _known_keys(loc: tuple[int | str, ...], trees: Trees) -> list[str]:
    """The keys that may stand where an error is."""
    model: Any = Settings
    parts = loc[:-1]
    if loc[:1] == ("source",) and len(loc) > 2:
        model = place_of(kind_of(_held(trees, loc[:2])))
        parts = loc[2:-1]
    for part in parts:
        fields = getattr(model, "model_fields", {})
        if part in fields:
            model = _model_in(fields[part].annotation)
    return list(getattr(model, "model_fields", {}))


def _model_in(annotation: Any) -> Any:
    """The model that an annotation such as `dict[str, Model]` holds, or the annotation itself."""
    for inner in get_args(annotation):
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            return inner
    return annotation
