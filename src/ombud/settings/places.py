"""Where documents come from: one class for each kind of `[[source]]`.

Passwords and tokens are never settings: `*_env` names the environment variable that holds one.
"""

from abc import abstractmethod
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, SerializeAsAny
from pydantic_core import PydanticCustomError

from ombud.errors import SetupError, UnknownName
from ombud.registry import distribution_of, find, names, unknown_name
from ombud.types import Audience


class SourceSettings(BaseModel):
    """The keys that every kind of source has."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    name: str = Field(description="Short name, the first part of every uri.")
    country: str | tuple[str, ...] = Field("", description="Country of documents that say none.")
    include: tuple[str, ...] = Field(("**/*",), description="Patterns of documents to read.")
    exclude: tuple[str, ...] = Field((), description="Patterns of documents to leave out.")
    audience: Audience = Field({}, description="Audience of documents that say none.")
    patterns: dict[str, dict[str, Any]] = Field(
        {}, description="Metadata by path, such as `uk/**` -> country GB."
    )
    chunker: str = Field(
        "", description="How this source's documents are cut; empty = index.chunker."
    )


class Folder(SourceSettings):
    type: Literal["folder"] = Field("folder", description="Files of a folder and those below it.")
    path: Path = Field(description="Where it is; relative to the workspace.")


class Confluence(SourceSettings):
    type: Literal["confluence"] = Field(
        "confluence", description="Pages and attachments of Confluence spaces."
    )
    url: str = Field(
        description="Address of the site, such as https://example.atlassian.net or a Data Center."
    )
    spaces: tuple[str, ...] = Field(
        (), description="Keys of the spaces; empty = all that the account can see."
    )
    user: str = Field(
        "",
        description="Mail address of the account (Cloud); empty = the token alone (Data Center).",
    )
    token_env: str = Field(
        "CONFLUENCE_TOKEN", description="Environment variable that holds the API token."
    )
    attachments: bool = Field(True, description="Read PDF and Office files attached to pages, too.")
    archived: bool = Field(False, description="Read archived pages, too.")
    labels: dict[str, dict[str, Any]] = Field(
        {}, description="Metadata by page label, such as `uk` -> country GB."
    )
    groups: dict[str, str] = Field(
        {}, description="Group there -> group here, for read restrictions; else the same."
    )


class SharePoint(SourceSettings):
    type: Literal["sharepoint"] = Field(
        "sharepoint", description="Files and pages of a SharePoint site."
    )
    url: str = Field(
        description="Address of the site, such as https://contoso.sharepoint.com/sites/hr."
    )
    tenant: str = Field(description="Id or domain of the tenant (directory) in Entra.")
    client: str = Field(
        description="Id of the application (client) in Entra that may read the site."
    )
    secret_env: str = Field(
        "SHAREPOINT_SECRET",
        description="Environment variable that holds its secret, or certificate and key as PEM.",
    )
    libraries: tuple[str, ...] = Field((), description="Document libraries by name; empty = all.")
    pages: bool = Field(True, description="Read the published pages of the site, too.")
    groups: dict[str, str] = Field(
        {}, description="Group there, by name or id, -> group here; `*` = everybody here."
    )
    links: bool = Field(
        False,
        description="What was shared by a link for the whole organisation, or for anyone, is "
        "everybody's.",
    )
    graph: str = Field(
        "https://graph.microsoft.com", description="Address of Microsoft Graph in your cloud."
    )
    authority: str = Field(
        "https://login.microsoftonline.com", description="Address of the sign-in in your cloud."
    )


class DriveFolders(SourceSettings):
    type: Literal["drive"] = Field(
        "drive", description="Files and documents in folders and shared drives of Google Drive."
    )
    folders: tuple[str, ...] = Field(
        (), description="Ids of folders: the last part of their addresses."
    )
    drives: tuple[str, ...] = Field((), description="Shared drives, by name or id.")
    key_env: str = Field(
        "DRIVE_KEY",
        description="Environment variable with the JSON key of a service account, or JSON with "
        "client_id, client_secret and refresh_token.",
    )
    subject: str = Field(
        "", description="Address of the person for whom a service account reads; empty = itself."
    )
    groups: dict[str, str] = Field(
        {}, description="Group's address or domain there -> group here; `*` = everybody here."
    )
    links: bool = Field(
        False, description="What was shared by a link, with a domain or anyone, counts as shared."
    )
    api: str = Field("https://www.googleapis.com", description="Address of the Drive API.")


class Web(SourceSettings):
    type: Literal["web"] = Field("web", description="Pages of a web site.")
    start: tuple[str, ...] = Field((), description="Addresses to begin with.")
    sitemaps: tuple[str, ...] = Field((), description="Addresses of sitemaps to take pages from.")
    hosts: tuple[str, ...] = Field(
        (), description="Further hosts whose pages are read; those of start always are."
    )
    private_hosts: tuple[str, ...] = Field(
        (), description="Hosts that may have an address inside your network."
    )
    depth: int = Field(3, ge=0, le=50, description="Links followed from a start page.")
    pages: int = Field(1000, ge=1, le=100_000, description="Most pages.")
    rate: float = Field(2.0, gt=0, le=100, description="Most requests a second to one host.")


class Wikipedia(SourceSettings):
    type: Literal["wikipedia"] = Field("wikipedia", description="Pages of any MediaWiki.")
    url: str = Field(
        "https://en.wikipedia.org/w/api.php", description="Address of the wiki's api.php."
    )
    titles: tuple[str, ...] = Field((), description="Pages by title.")
    categories: tuple[str, ...] = Field((), description="All pages of these categories.")
    pages: int = Field(1000, ge=1, le=100_000, description="Most pages.")
    private_hosts: tuple[str, ...] = Field(
        (), description="Hosts that may have an address inside your network."
    )


class Arxiv(SourceSettings):
    type: Literal["arxiv"] = Field("arxiv", description="Papers of arXiv.")
    url: str = Field("https://export.arxiv.org/api/query", description="Address of the query API.")
    query: str = Field("", description="Search, such as cat:cs.CL AND all:retrieval.")
    ids: tuple[str, ...] = Field((), description="Papers by id.")
    papers: int = Field(50, ge=1, le=2000, description="Most papers.")
    pdf: bool = Field(True, description="Read the PDF beside the abstract.")
    private_hosts: tuple[str, ...] = Field(
        (), description="Hosts that may have an address inside your network."
    )


class PluginSource(SourceSettings):
    """The base class of a plugin's source: its keys in `[[source]]`, and how it opens. The entry
    point group is `ombud.source`; the entry's name is the `type`."""

    type: str = Field(description="Name of the kind.")

    @abstractmethod
    def open(self, home: Path) -> Any:
        """Return the `ombud.sources.Source` of this block without reading it. Raises SourceError
        for wrong settings.

        home: the folder that relative paths count from."""


def place_of(kind: str) -> type[SourceSettings]:
    """Return the settings class of a kind of source, one of PLACES or a plugin's. Raises
    UnknownName, and SetupError for a plugin that does not load or is no PluginSource."""
    package = distribution_of("source", kind)
    if not package:
        return built_in(kind)
    place = find("source", kind, {})
    if isinstance(place, type) and issubclass(place, PluginSource):
        return place
    raise SetupError(
        f"The source `{kind}` of the package `{package}` is no PluginSource.",
        hint="Its entry point names a class derived from `ombud.settings.PluginSource`.",
    )


def built_in(kind: str) -> type[SourceSettings]:
    if kind not in _PLACE_OF:
        raise unknown_name("source", kind, kinds())
    return _PLACE_OF[kind]


def kind_of(table: Any) -> str:
    """Return the `type` of a `[[source]]`, by default a folder."""
    return str(table.get("type", "folder")) if isinstance(table, dict) else "folder"


def read_source(table: Any) -> SourceSettings:
    if isinstance(table, SourceSettings):
        return table
    kind = kind_of(table)
    try:
        place = place_of(kind)
    except UnknownName as unknown:
        raise PydanticCustomError(UNKNOWN_KIND, "no kind of source") from unknown
    values = {"type": kind} | table if isinstance(table, dict) else table
    return place.model_validate(values)


UNKNOWN_KIND = "unknown_kind_of_source"
"""The type of the validation error for a `type` that nobody knows."""
Source = Annotated[SerializeAsAny[SourceSettings], PlainValidator(read_source)]
PLACES: tuple[type[SourceSettings], ...] = (
    Folder,
    Confluence,
    SharePoint,
    DriveFolders,
    Web,
    Wikipedia,
    Arxiv,
)
_PLACE_OF = {str(place.model_fields["type"].default): place for place in PLACES}


def kinds() -> tuple[str, ...]:
    """Return every `type` of a `[[source]]`, those of plugins included."""
    return names("source", _PLACE_OF)
