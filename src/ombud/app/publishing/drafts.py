"""Drafts as they would be in force: what each replaces, where it goes, which bytes stand there."""

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
"""Field of a document -> key: what a draft that does not say it has from the document that it
replaces, so that no rule of one country becomes one of all by being rewritten."""


class FileEdit(NamedTuple):
    path: Path
    before: bytes | None
    """None: there was no file."""
    after: bytes


class PolicyDraft(NamedTuple):
    path: Path
    uri: str
    """Of the document once it is in force."""
    source: str
    data: bytes
    """As it will stand in its source."""
    facts: Mapping[str, Any]
    """What its source will say of it."""
    metadata: Mapping[str, Any]
    """All of it, front matter as well: fields of `Document`."""
    begins: date
    replaces: Document | None = None
    edits: tuple[FileEdit, ...] = ()
    """What publishing writes; empty where its source takes no files."""
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return sha256(self.uri.encode()).hexdigest()[:16]

    @property
    def countries(self) -> tuple[str, ...]:
        """Empty = everywhere."""
        return tuple(self.metadata.get("countries", ()))


class DraftChoices(NamedTuple):
    """What a policy owner says beside the drafts."""

    on: date | None = None
    """First day in force of all of them; None: what each says, else today."""
    replaces: tuple[str, ...] = ()
    """`URI` with one draft, else `FILE=URI`; `FILE=` replaces nothing."""
    into: str = ""
    """Folder for new documents: name of the source, and a path below it."""


class PolicyDraftSource:
    """The drafts of one source, as that would list and read them once they are in force."""

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


class _Place(NamedTuple):
    """Where a draft goes."""

    source: str
    relative: str
    folder: FolderSource | None
    is_there: bool = False
    """It is written in its place already."""

    @property
    def uri(self) -> str:
        return f"{self.source}/{self.relative}"

    @property
    def path(self) -> Path | None:
        return self.folder.path / self.relative if self.folder else None


def read_drafts(
    workspace: Workspace, paths: Sequence[Path], choices: DraftChoices
) -> tuple[PolicyDraft, ...]:
    """Raises BadRequest for what is no draft, or cannot be told which document it replaces;
    SourceError for one that cannot be read."""
    return tuple(_Reader(workspace, paths, choices).drafts())


class _Reader:
    def __init__(self, workspace: Workspace, paths: Sequence[Path], choices: DraftChoices) -> None:
        self._workspace = workspace
        self._paths = [path.expanduser().resolve() for path in paths]
        self._choices = choices
        self._documents = {document.uri: document for document in list_documents(workspace.store)}
        self._sources: dict[str, Source] = {}
        for source in configured_sources(workspace.settings, workspace.home, workspace.store):
            self._sources[source.name] = source
        self._replaces = _named(choices.replaces, self._paths)
        self._sidecars: dict[Path, bytes] = {}
        """As the drafts before have left them."""
        self._taken: set[str] = set()

    def drafts(self) -> Iterator[PolicyDraft]:
        if not self._paths:
            raise BadRequest("No draft is named.", hint="Name one or more files.")
        if len(set(self._paths)) < len(self._paths):
            raise BadRequest("A draft is named twice.", hint="Name each file once.")
        for path in self._paths:
            yield self._read(path)

    def _read(self, path: Path) -> PolicyDraft:
        data = _bytes_of(path)
        own = self._own_place(path)
        said = normalise_metadata(_head(data, path), path.name, strict=False)
        notes: list[str] = []
        if own:
            said = {**self._facts_at(own), **said}
            self._check_not_in_force(own.uri, said)
        begins = self._choices.on or said.get("effective_from") or self._workspace.today()
        replaces = self._replaced(path, data, said, begins, notes)
        _check_order(path, replaces, begins)
        place = own or self._new_place(path, replaces, begins)
        self._taken.add(place.uri)
        facts = self._facts_at(place)
        wanted = _in_force(begins, replaces)
        for field, key in INHERITED.items():
            if replaces and field not in said:
                wanted[key] = _plain(getattr(replaces, field))
        known = {**facts, **said}
        changes = _news(wanted, known, path.name)
        if ends := known.get("effective_to"):
            _check_end(path, begins, ends)
        metadata = known | normalise_metadata(changes, path.name, strict=True)
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
        self, path: Path, data: bytes, said: Mapping[str, Any], begins: date, notes: list[str]
    ) -> Document | None:
        named = self._replaces.get(path)
        if named is None:
            named = said.get("supersedes")
        if named == "":
            return None
        if named is not None:
            return self._document(named)
        title = title_of(self._workspace, path.name, data, said)
        alike: list[Document] = []
        for document in self._documents.values():
            if _is_called(document, title, said) and _in_force_on(document, begins):
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

    def _check_not_in_force(self, uri: str, said: Mapping[str, Any]) -> None:
        indexed = self._documents.get(uri)
        is_draft = said.get("status", "published") != "published"
        if is_draft and (indexed is None or indexed.status != "published"):
            return
        raise BadRequest(
            f"{uri} is no draft: it stands in its source and its status is published.",
            hint="Copy it elsewhere and change the copy, or give it `status: draft`.",
        )

    # Where it goes --------------------------------------------------------------------------------

    def _own_place(self, path: Path) -> _Place | None:
        """Where it stands already, when that is inside of a source."""
        for source in self._sources.values():
            if not isinstance(source, FolderSource) or not path.is_relative_to(source.path):
                continue
            relative = path.relative_to(source.path).as_posix()
            if source.facts_at(relative) is not None:
                return _Place(source.name, relative, source, is_there=True)
        return None

    def _new_place(self, path: Path, replaces: Document | None, begins: date) -> _Place:
        folder = self._choices.into.strip("/")
        if not folder and replaces:
            folder = dirname(replaces.uri)
        name, _, below = (folder or self._only_folder(path)).partition("/")
        if ".." in below.split("/"):
            raise BadRequest(f"`{folder}` leaves the source.", hint="Name a folder inside of it.")
        source = self._folder_called(name, path, replaces)
        for file_name in (path.name, f"{path.stem}-from-{begins.isoformat()}{path.suffix}"):
            relative = f"{below}/{file_name}" if below else file_name
            place = _Place(name, relative, source)
            if self._is_free(place):
                return place
        raise BadRequest(f"{place.uri} is there already.", hint="Give the draft another file name.")

    def _folder_called(
        self, name: str, path: Path, replaces: Document | None
    ) -> FolderSource | None:
        """None where the source is no folder; a draft that is to replace something there can be
        checked all the same."""
        source = self._sources.get(name)
        if isinstance(source, FolderSource):
            return source
        if source is None:
            known = ", ".join(sorted(self._sources)) or "none"
            raise BadRequest(f"No source is called `{name}`.", hint=f"Known: {known}.")
        if replaces is None:
            raise BadRequest(
                f"{path.name} is new, and `{name}` is no folder that it could be put into.",
                hint="Say what it replaces with --replaces, or where it goes with --into.",
            )
        return None

    def _is_free(self, place: _Place) -> bool:
        if place.uri in self._documents or place.uri in self._taken:
            return False
        if place.path is None:
            return True
        if place.path.exists():
            return False
        # An entry of an ombud.yaml counts for files of that name in folders below, too.
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
            f"It is not said where {path.name} goes.",
            hint="Name a folder with --into SOURCE/FOLDER, or what it replaces with --replaces.",
        )

    def _facts_at(self, place: _Place) -> dict[str, Any]:
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
        self, draft: PolicyDraft, place: _Place, changes: Mapping[str, Any]
    ) -> PolicyDraft:
        """With the changes in its bytes where its kind has a place for them, else beside it."""
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
            before = _bytes_of(sidecar)
        text = (before or b"").decode("utf-8", "strict")
        after = with_sidecar_entry(text, path.name, str(sidecar), changes).encode()
        self._sidecars[sidecar] = after
        return FileEdit(sidecar, before, after)


def _named(choices: Sequence[str], paths: Sequence[Path]) -> dict[Path, str]:
    """Draft -> uri that it replaces, as far as that was said."""
    named: dict[Path, str] = {}
    for choice in choices:
        file, mark, uri = choice.partition("=")
        if not mark:
            if len(paths) != 1:
                raise BadRequest(
                    f"It is not said which draft replaces `{choice}`.",
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


def _is_called(document: Document, title: str, said: Mapping[str, Any]) -> bool:
    if document.status != "published" or document.title.casefold() != title.casefold():
        return False
    countries = said.get("countries")
    return countries is None or tuple(countries) == document.countries


def _in_force_on(document: Document, day: date) -> bool:
    if document.effective_from and document.effective_from > day:
        return False
    return not document.effective_to or day <= document.effective_to


def _check_order(path: Path, replaces: Document | None, begins: date) -> None:
    if replaces and replaces.effective_from and replaces.effective_from >= begins:
        raise BadRequest(
            f"{replaces.uri} itself begins on {replaces.effective_from}, so {path.name} cannot "
            f"replace it from {begins} on.",
            hint="Choose a later day with --on, or take that publication back.",
        )


def _in_force(begins: date, replaces: Document | None) -> dict[str, Any]:
    wanted: dict[str, Any] = {"status": "published", "effective_from": begins}
    if replaces:
        wanted["supersedes"] = replaces.uri
    return wanted


def _news(wanted: Mapping[str, Any], known: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Of what is wanted that which is not known already. What a document is called without it, or
    is for everybody without it, is not written."""
    news: dict[str, Any] = {}
    usual = Document(id="", source="", uri="", title="")
    for key, value in wanted.items():
        ((field, read),) = normalise_metadata({key: value}, where, strict=True).items()
        usual_value = known.get(field, getattr(usual, field))
        is_said = key in ("status", "effective_from") and field not in known
        if is_said or read != usual_value:
            news[key] = value
    return news


def _plain(value: Any) -> Any:
    """As YAML takes it: lists for tuples."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return value


def _check_end(path: Path, begins: date, ends: date) -> None:
    if ends < begins:
        raise BadRequest(
            f"{path.name} would end ({ends}) before it begins ({begins}).",
            hint="Change its effective_to, or the day with --on.",
        )


def _bytes_of(path: Path) -> bytes:
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


def _head(data: bytes, path: Path) -> dict[str, Any]:
    return front_matter(data, path.name)
