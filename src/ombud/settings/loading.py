"""One file, `ombud.toml`; `OMBUD_SECTION__KEY` in the environment overrides it; a flag overrides
both.

A misspelt key or variable is an error that names the nearest one. API keys of model providers stay
in the environment variables those providers define; they are never settings."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

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
from ombud.private_files import make_private_folder
from ombud.proxies import bypass_proxies_of, take_proxy, trust_authority
from ombud.settings.azure import AzureSettings, read_remote, read_vault
from ombud.settings.channels import SlackSettings, TeamsSettings
from ombud.settings.handoff import HandoffSettings, MailSettings, TicketSettings
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
    ModelSettings,
    PlanOverlay,
    StoreSettings,
    SyncSettings,
    by_country,
    by_name,
)
from ombud.settings.server import NetworkSettings, ServerSettings
from ombud.settings.target import LabSettings, PublishSettings, TargetSettings
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
    network: NetworkSettings = NetworkSettings()
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
    target: TargetSettings = TargetSettings()
    publish: PublishSettings = PublishSettings()
    handoff: HandoffSettings = HandoffSettings()
    tickets: TicketSettings = TicketSettings()
    mail: MailSettings = MailSettings()
    slack: SlackSettings = SlackSettings()
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
        """Return the part of it from App Configuration."""
        return self._remote

    @property
    def has_desk(self) -> bool:
        """Tell whether people can be handed over, to advisors or as a ticket."""
        return self.handoff.desk != "none" or bool(self.tickets.system)

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
    """The layers of the settings beside the environment."""

    flags: Mapping[str, Any]
    path: Path | None
    remote: Mapping[str, Any]
    """Of App Configuration."""


class FirstSettings(NamedTuple):
    """Settings that the other layers depend on."""

    path: Path | None
    """The settings file of the workspace, if it has one."""
    azure: AzureSettings
    network: NetworkSettings


SectionKind = TypeVar("SectionKind", AzureSettings, NetworkSettings)
_layers: ContextVar[_Layers] = ContextVar("_layers", default=_Layers({}, None, {}))  # noqa: B039


def take_network(network: NetworkSettings, home: Path | None) -> None:
    """Let all clients of this process take the proxy and trust the authority of the settings."""
    take_proxy(network.proxy, network.no_proxy)
    if network.ca_file:
        place = (home or Path()) / ".ombud"
        try:
            make_private_folder(place)
            trust_authority((home or Path()) / network.ca_file, place / "ca.pem")
        except OSError as wrong:
            raise BadSetting(
                f"network.ca_file = `{network.ca_file}` cannot be used: {wrong.strerror or wrong}.",
                hint="It is a PEM file with the certificate of your authority.",
            ) from wrong


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
    return load_all(first_settings(home), flags, remote)


def load_all(
    first: FirstSettings, flags: Mapping[str, Any] | None, remote: Mapping[str, Any] | None
) -> Settings:
    read_vault(first.azure, os.environ)
    check_variables()
    layers = _Layers(
        flags or {}, first.path, read_remote(first.azure) if remote is None else remote
    )
    token = _layers.set(layers)
    try:
        settings = Settings()
        settings._file, settings._remote = first.path, layers.remote
        return settings
    except ValidationError as wrong:
        raise explain_error(wrong, _trees(layers)) from wrong
    except OmbudError:  # a plugin that does not load
        raise
    except Exception as wrong:  # pydantic-settings wraps bad JSON in variables in its own error
        raise BadSetting(
            f"The settings cannot be read: {wrong}", hint="Lists in OMBUD_* variables are JSON."
        ) from wrong
    finally:
        _layers.reset(token)


def open_settings(
    home: Path | None = None,
    flags: Mapping[str, Any] | None = None,
    remote: Mapping[str, Any] | None = None,
) -> Settings:
    """Load the settings that this process works by, its ways out of the network included. Takes and
    raises what `load` does."""
    first = first_settings(home)
    # Key Vault and App Configuration, which hold settings, may be reached only by the proxy, but
    # not what signs this machine in.
    take_network(first.network, home)
    bypass_proxies_of([os.environ.get("IDENTITY_ENDPOINT", ""), first.azure.model_dump()])
    settings = load_all(first, flags, remote)
    if settings.network != first.network:
        take_network(settings.network, home)
    others = settings.model_dump()
    others["network"].pop("proxy")  # the proxy itself is no place to be reached past it
    bypass_proxies_of(others)
    return settings


def first_settings(home: Path | None) -> FirstSettings:
    """Load from file and environment what the other layers depend on. Raises BadSetting for a file
    that is no TOML; other errors are reported with all the others."""
    read_secret_files(os.environ)
    path = home / FILE if home and (home / FILE).is_file() else None
    if path:
        check_readable(path)
    trees: list[Mapping[str, Any]] = []
    for source in (TomlConfigSettingsSource(Settings, path), EnvSettingsSource(Settings)):
        with suppress(Exception):  # reported when all settings are loaded
            trees.append(source())
    azure = section_in(trees, "azure", AzureSettings)
    return FirstSettings(path, azure, section_in(trees, "network", NetworkSettings))


def section_in(
    trees: Iterable[Mapping[str, Any]], name: str, kind: type[SectionKind]
) -> SectionKind:
    merged: dict[str, Any] = {}
    for tree in trees:
        section = tree.get(name)
        if isinstance(section, Mapping):
            merged |= without_removed(section, FILE, [name])
    try:
        return kind(**merged)
    except ValidationError:
        return kind()


def find_home(home: Path | None = None) -> Path | None:
    """Return the workspace: the explicit path, OMBUD_HOME, or the nearest parent folder with
    ombud.toml; None if there is none."""
    if home:
        return home.expanduser().resolve()
    if named := os.environ.get("OMBUD_HOME"):
        return Path(named).expanduser().resolve()
    here = Path.cwd().resolve()
    for folder in (here, *here.parents):
        if (folder / FILE).is_file():
            return folder
    return None


def index_for(settings: Settings, source: str) -> IndexSettings:
    """Return how to chunk the documents of a source: [index], with the source's own chunker if it
    has one."""
    for place in settings.source:
        if place.name == source and place.chunker:
            return settings.index.model_copy(update={"chunker": place.chunker})
    return settings.index


def rows(
    settings: Settings, flags: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, Any, str]]:
    """Yield (key, value, origin) of every setting, passwords masked; origin is flag, env, azure,
    file or default."""
    trees = _trees(_Layers(flags or {}, settings._file, settings._remote))
    for section in Settings.model_fields:
        value = getattr(settings, section)
        if not isinstance(value, BaseModel):
            yield section, mask_setting(value), origin_of((section,), trees)
            continue
        for key in type(value).model_fields:
            masked = mask_setting(getattr(value, key))
            yield f"{section}.{key}", masked, origin_of((section, key), trees)


def mask_setting(value: Any) -> Any:
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


def origin_of(keys: Sequence[int | str], trees: Trees) -> str:
    for name, tree in trees.items():
        if has_keys(tree, keys):
            return name
    return "default"


def strongest_value(trees: Trees, keys: Sequence[int | str]) -> Any:
    """Return the value of the strongest layer with these keys; None if no layer has them."""
    for tree in trees.values():
        if has_keys(tree, keys):
            return _at(tree, keys)
    return None


def has_keys(tree: Any, keys: Sequence[int | str]) -> bool:
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


def check_readable(path: Path) -> None:
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


def check_variables() -> None:
    for name in sorted(os.environ):
        if name.upper().startswith("OMBUD_") and name.upper() not in RESERVED:
            check_variable(name)


def check_variable(name: str) -> None:
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


def explain_error(wrong: ValidationError, trees: Trees) -> BadSetting:
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
        place = ORIGINS[origin_of(loc, trees)]
        allowed = allowed_keys(loc, trees)
        return BadSetting(
            f"`{where}` in {place} is not a setting.", hint=nearest(str(loc[-1]), allowed)
        )
    if first["type"] == "missing":
        return BadSetting(f"`{where}` is missing.", hint=choices_of(first))
    problem = first.get("ctx", {}).get("error")
    cause = getattr(problem, "__cause__", None)
    if isinstance(cause, BadSetting):
        return BadSetting(f"{where}: {cause}", hint=cause.hint)
    value = first["input"]
    named = where or "settings"
    if problem:
        place = f"{where} = {value!r}" if isinstance(value, str) else named
        return BadSetting(f"{place}: {problem}.", hint=choices_of(first))
    complaint = first["msg"].lower()
    return BadSetting(f"{named} = {value!r}: {complaint}.", hint=choices_of(first))


def allowed_keys(loc: tuple[int | str, ...], trees: Trees) -> list[str]:
    """Return the keys that are allowed at the place of an error."""
    model: Any = Settings
    parts = loc[:-1]
    if loc[:1] == ("source",) and len(loc) > 2:
        model = place_of(kind_of(strongest_value(trees, loc[:2])))
        parts = loc[2:-1]
    for part in parts:
        fields = getattr(model, "model_fields", {})
        if part in fields:
            model = model_in(fields[part].annotation)
    return list(getattr(model, "model_fields", {}))


def model_in(annotation: Any) -> Any:
    """Return the model inside an annotation such as `dict[str, Model]`, or the annotation
    itself."""
    for inner in get_args(annotation):
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            return inner
    return annotation
