"""Drafts as they would be in force: what each replaces, where it goes, and its bytes there."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from posixpath import dirname
from typing import Any, NamedTuple

from ombud.app.publishing.editing import MARKDOWN, with_front_matter, with_sidecar_entry
from ombud.app.publishing.titles import title_of
from ombud.app.sources import configured_sources
from ombud.app.workspace import Workspace
from ombud.documents import front_matter, kinds
from ombud.errors import BadRequest
from ombud.sources import SIDECAR, FolderSource, Ref, Source, normalise_metadata
from ombud.store import list_documents
from ombud.types import Document

INHERITED = {
    "countries": "country",
    "audience": "audience",
    "mandatory": "mandatory",
    "topic": "topic",
    "owner": "owner",
}
"""Field of a document -> metadata key. A draft that lacks it inherits the value of the document
that it replaces, so that no rule of one country applies to all after a rewrite."""


class FileEdit(NamedTuple):
    """A change of one file."""

    path: Path
    before: bytes | None
    """None if there was no file."""
    after: bytes


class PolicyDraft(NamedTuple):
    """A draft with its place and metadata."""

    path: Path
    uri: str
    """Uri of the document once it is in force."""
    source: str
    data: bytes
    """Its bytes in its source."""
    facts: Mapping[str, Any]
    """The metadata that its source will report."""
    metadata: Mapping[str, Any]
    """All metadata with the front matter: fields of `Document`."""
    begins: date
    replaces: Document | None = None
    edits: tuple[FileEdit, ...] = ()
    """Files to write when publishing; empty if its source takes no files."""
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return sha256(self.uri.encode()).hexdigest()[:16]

    @property
    def countries(self) -> tuple[str, ...]:
        """Return its countries; empty = everywhere."""
        return tuple(self.metadata.get("countries", ()))


class DraftChoices(NamedTuple):
    """A policy owner's choices for the drafts."""

    on: date | None = None
    """First day in force of all drafts; None: each draft's own, else today."""
    replaces: tuple[str, ...] = ()
    """`URI` for a single draft, else `FILE=URI`; `FILE=` replaces nothing."""
    into: str = ""
    """Folder for new documents: name of the source, and a path below it."""


class PolicyDraftSource:
    """The drafts of one source, as it would list and read them once they are in force."""

    def __init__(self, name: str, drafts: Sequence[PolicyDraft]) -> None:
        self.name = name
        self._drafts = {draft.uri: draft for draft in drafts if draft.source == name}

    def list(self) -> list[Ref]:
        refs: list[Ref] = []
        for uri, draft in self._drafts.items():
            refs.append(
                Ref(uri=uri, place=str(draft.path), size=len(draft.data), facts=draft.facts)
            )
        return refs

    def read(self, ref: Ref) -> bytes:
        return self._drafts[ref.uri].data


class DraftPlace(NamedTuple):
    """The place where a draft goes."""

    source: str
    relative: str
    folder: FolderSource | None
    is_there: bool = False
    """True if it already is in its place."""

    @property
    def uri(self) -> str:
        return f"{self.source}/{self.relative}"

    @property
    def path(self) -> Path | None:
        return self.folder.path / self.relative if self.folder else None


def read_drafts(
    workspace: Workspace, paths: Sequence[Path], choices: DraftChoices
) -> tuple[PolicyDraft, ...]:
    """Read the drafts. Raises BadRequest for an invalid draft or an ambiguous replacement,
    SourceError for one that cannot be parsed."""
    return tuple(DraftReader(workspace, paths, choices).drafts())


class DraftReader:
    def __init__(self, workspace: Workspace, paths: Sequence[Path], choices: DraftChoices) -> None:
        self._workspace = workspace
        self._paths = [path.expanduser().resolve() for path in paths]
        self._choices = choices
        self._documents = {document.uri: document for document in list_documents(workspace.store)}
        self._sources: dict[str, Source] = {}
        for source in configured_sources(workspace.settings, workspace.home, workspace.store):
            self._sources[source.name] = source
        self._replaces = chosen_replacements(choices.replaces, self._paths)
        self._sidecars: dict[Path, bytes] = {}
        """As the drafts before have left them."""
        self._taken: set[str] = set()

    def drafts(self) -> Iterator[PolicyDraft]:
        if not self._paths:
            raise BadRequest("Name a draft.", hint="Name one or more files.")
        if len(set(self._paths)) < len(self._paths):
            raise BadRequest("A draft is named twice.", hint="Name each file once.")
        for path in self._paths:
            yield self._read(path)

    def _read(self, path: Path) -> PolicyDraft:
        data = read_bytes(path)
        own = self._own_place(path)
        stated = normalise_metadata(front_matter(data, path.name), path.name, strict=False)
        notes: list[str] = []
        if own:
            stated = {**self._facts_at(own), **stated}
            self._check_not_in_force(own.uri, stated)
        begins = self._choices.on or stated.get("effective_from") or self._workspace.today()
        replaces = self._replaced(path, data, stated, begins, notes)
        check_order(path, replaces, begins)
        place = own or self._new_place(path, replaces, begins)
        self._taken.add(place.uri)
        facts = self._facts_at(place)
        wanted = in_force_metadata(begins, replaces)
        for field, key in INHERITED.items():
            if replaces and field not in stated:
                wanted[key] = plain_value(getattr(replaces, field))
        present = {**facts, **stated}
        changes = new_values(wanted, present, path.name)
        if ends := present.get("effective_to"):
            check_end(path, begins, ends)
        metadata = present | normalise_metadata(changes, path.name, strict=True)
        draft = PolicyDraft(
            path=path,
            uri=place.uri,
            source=place.source,
            data=data,
            facts=facts,
            metadata=metadata,
            begins=begins,
            replaces=replaces,
            notes=tuple(notes),
        )
        return self._written(draft, place, changes)

    # What it replaces -----------------------------------------------------------------------------

    def _replaced(
        self, path: Path, data: bytes, metadata: Mapping[str, Any], begins: date, notes: list[str]
    ) -> Document | None:
        named = self._replaces.get(path)
        if named is None:
            named = metadata.get("supersedes")
        if named == "":
            return None
        if named is not None:
            return self._document(named)
        title = title_of(self._workspace, path.name, data, metadata)
        alike: list[Document] = []
        for document in self._documents.values():
            if is_called(document, title, metadata) and is_in_force_on(document, begins):
                alike.append(document)
        if len(alike) > 1:
            uris = ", ".join(sorted(document.uri for document in alike))
            raise BadRequest(
                f"{path.name} is called “{title}”, as {len(alike)} documents are: {uris}.",
                hint=f"Say which with --replaces {path.name}=URI.",
            )
        if not alike:
            notes.append("It replaces nothing: no document that is in force then has its title.")
            return None
        notes.append(f"It is called as {alike[0].uri}, so it replaces that.")
        return alike[0]

    def _document(self, uri: str) -> Document:
        if uri in self._documents:
            return self._documents[uri]
        near = get_close_matches(uri, self._documents, n=1)
        hint = f"Did you mean `{near[0]}`?" if near else "`ombud documents list` shows all."
        raise BadRequest(f"There is no document `{uri}` to be replaced.", hint=hint)

    def _check_not_in_force(self, uri: str, metadata: Mapping[str, Any]) -> None:
        indexed = self._documents.get(uri)
        is_draft = metadata.get("status", "published") != "published"
        if is_draft and (indexed is None or indexed.status != "published"):
            return
        raise BadRequest(
            f"{uri} is no draft: it is in its source with the status published.",
            hint="Copy it elsewhere and change the copy, or give it `status: draft`.",
        )

    # Where it goes --------------------------------------------------------------------------------

    def _own_place(self, path: Path) -> DraftPlace | None:
        """Return its place if it already lies in a source."""
        for source in self._sources.values():
            if not isinstance(source, FolderSource) or not path.is_relative_to(source.path):
                continue
            relative = path.relative_to(source.path).as_posix()
            if source.facts_at(relative) is not None:
                return DraftPlace(source.name, relative, source, is_there=True)
        return None

    def _new_place(self, path: Path, replaces: Document | None, begins: date) -> DraftPlace:
        folder = self._choices.into.strip("/")
        if not folder and replaces:
            folder = dirname(replaces.uri)
        name, _, below = (folder or self._only_folder(path)).partition("/")
        if ".." in below.split("/"):
            raise BadRequest(
                f"`{folder}` is outside the source.", hint="Name a folder inside of it."
            )
        source = self._folder_called(name, path, replaces)
        for file_name in (path.name, f"{path.stem}-from-{begins.isoformat()}{path.suffix}"):
            relative = f"{below}/{file_name}" if below else file_name
            place = DraftPlace(name, relative, source)
            if self._is_free(place):
                return place
        raise BadRequest(f"{place.uri} already exists.", hint="Give the draft another file name.")

    def _folder_called(
        self, name: str, path: Path, replaces: Document | None
    ) -> FolderSource | None:
        """Return the folder source; None if the source is none, in which case replacements there
        can still be checked."""
        source = self._sources.get(name)
        if isinstance(source, FolderSource):
            return source
        if source is None:
            folders = ", ".join(sorted(self._sources)) or "none"
            raise BadRequest(f"No source is called `{name}`.", hint=f"Known: {folders}.")
        if replaces is None:
            raise BadRequest(
                f"{path.name} is new, and `{name}` is no folder that it could be put into.",
                hint="Say what it replaces with --replaces, or where it goes with --into.",
            )
        return None

    def _is_free(self, place: DraftPlace) -> bool:
        if place.uri in self._documents or place.uri in self._taken:
            return False
        if place.path is None:
            return True
        if place.path.exists():
            return False
        # An entry of an ombud.yaml also applies to files of that name in subfolders.
        return place.path.suffix.lower() in MARKDOWN or not any(
            place.path.parent.glob(f"**/{place.path.name}")
        )

    def _only_folder(self, path: Path) -> str:
        folders: list[str] = []
        for source in self._sources.values():
            if isinstance(source, FolderSource):
                folders.append(source.name)
        if len(folders) == 1:
            return folders[0]
        raise BadRequest(
            f"Nothing says where {path.name} goes.",
            hint="Name a folder with --into SOURCE/FOLDER, or what it replaces with --replaces.",
        )

    def _facts_at(self, place: DraftPlace) -> dict[str, Any]:
        if place.folder is None:
            return {}
        facts = place.folder.facts_at(place.relative)
        if facts is None:
            raise BadRequest(
                f"The source `{place.source}` would leave {place.relative} out.",
                hint="Look at its include and exclude, or choose another file name.",
            )
        return facts

    # What is written ------------------------------------------------------------------------------

    def _written(
        self, draft: PolicyDraft, place: DraftPlace, changes: Mapping[str, Any]
    ) -> PolicyDraft:
        """Apply the changes, in the draft's own bytes if its format allows it, else in a file
        beside it."""
        edits: list[FileEdit] = []
        before = draft.data if place.is_there else None
        if place.relative.lower().endswith(MARKDOWN):
            data = with_front_matter(draft.data, draft.path.name, changes)
            draft = draft._replace(data=data)
        else:
            noted = normalise_metadata(changes, draft.path.name, strict=True)
            draft = draft._replace(facts={**draft.facts, **noted})
            if place.path:
                edits.append(self._beside(place.path, changes))
        if place.path:
            edits.append(FileEdit(place.path, before, draft.data))
        return draft._replace(edits=tuple(edits))

    def _beside(self, path: Path, changes: Mapping[str, Any]) -> FileEdit:
        sidecar = path.parent / SIDECAR
        before = self._sidecars.get(sidecar)
        if before is None and sidecar.is_file():
            before = read_bytes(sidecar)
        text = (before or b"").decode("utf-8", "strict")
        after = with_sidecar_entry(text, path.name, str(sidecar), changes).encode()
        self._sidecars[sidecar] = after
        return FileEdit(sidecar, before, after)


def chosen_replacements(choices: Sequence[str], paths: Sequence[Path]) -> dict[Path, str]:
    """Return draft -> uri that it replaces, as far as it was chosen."""
    named: dict[Path, str] = {}
    for choice in choices:
        file, mark, uri = choice.partition("=")
        if not mark:
            if len(paths) != 1:
                raise BadRequest(
                    f"Nothing says which draft replaces `{choice}`.",
                    hint="With several drafts: --replaces FILE=URI.",
                )
            named[paths[0]] = choice
            continue
        fitting = [path for path in paths if file in (path.name, str(path))]
        fitting = fitting or [path for path in paths if path == Path(file).expanduser().resolve()]
        if len(fitting) != 1:
            raise BadRequest(
                f"`{file}` of --replaces is not one of the drafts.", hint="Name it as the draft is."
            )
        named[fitting[0]] = uri
    return named


def is_called(document: Document, title: str, metadata: Mapping[str, Any]) -> bool:
    if document.status != "published" or document.title.casefold() != title.casefold():
        return False
    countries = metadata.get("countries")
    return countries is None or tuple(countries) == document.countries


def is_in_force_on(document: Document, day: date) -> bool:
    if document.effective_from and document.effective_from > day:
        return False
    return not document.effective_to or day <= document.effective_to


def check_order(path: Path, replaces: Document | None, begins: date) -> None:
    if replaces and replaces.effective_from and replaces.effective_from >= begins:
        raise BadRequest(
            f"{replaces.uri} itself begins on {replaces.effective_from}, so {path.name} cannot "
            f"replace it from {begins} on.",
            hint="Choose a later day with --on, or take that publication back.",
        )


def in_force_metadata(begins: date, replaces: Document | None) -> dict[str, Any]:
    wanted: dict[str, Any] = {"status": "published", "effective_from": begins}
    if replaces:
        wanted["supersedes"] = replaces.uri
    return wanted


def new_values(wanted: Mapping[str, Any], present: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the wanted values that differ from the present ones, without defaults that need not be
    written."""
    news: dict[str, Any] = {}
    usual = Document(id="", source="", uri="", title="")
    for key, value in wanted.items():
        ((field, read),) = normalise_metadata({key: value}, where, strict=True).items()
        usual_value = present.get(field, getattr(usual, field))
        is_present = key in ("status", "effective_from") and field not in present
        if is_present or read != usual_value:
            news[key] = value
    return news


def plain_value(value: Any) -> Any:
    """Convert to values that YAML can write: lists for tuples."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return {key: plain_value(inner) for key, inner in value.items()}
    return value


def check_end(path: Path, begins: date, ends: date) -> None:
    if ends < begins:
        raise BadRequest(
            f"{path.name} would end ({ends}) before it begins ({begins}).",
            hint="Change its effective_to, or the day with --on.",
        )


def read_bytes(path: Path) -> bytes:
    if not path.is_file():
        problem = "is no file" if path.exists() else "does not exist"
        raise BadRequest(f"{path} {problem}.", hint="Drafts are files.")
    if path.suffix.lower() not in kinds() and path.name != SIDECAR:
        raise BadRequest(
            f"{path.name} is of no kind that is read.",
            hint=f"Read are {', '.join(sorted(kinds()))}.",
        )
    try:
        return path.read_bytes()
    except OSError as failed:
        raise BadRequest(
            f"{path} cannot be read: {failed.strerror}.", hint="Check its permissions."
        ) from failed
