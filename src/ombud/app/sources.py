"""Which sources a sync runs."""

from collections.abc import Sequence
from pathlib import Path

from ombud.errors import BadRequest, BadSetting, SourceError
from ombud.settings import Folder, Settings, SourceSettings
from ombud.sources import FolderSource, Source, open_source
from ombud.store import RecordedSource, Store, add_source, list_sources


def configured_sources(
    settings: Settings, home: Path, store: Store, names: Sequence[str] = ()
) -> list[Source]:
    """Sources of ombud.toml and recorded ones; only those called `names`, when given."""
    found = [_configured(s, home) for s in settings.source]
    taken = {source.name for source in found}
    found += [_folder(r) for r in list_sources(store) if r.name not in taken]
    unknown = set(names) - {source.name for source in found}
    if unknown:
        known = ", ".join(sorted(source.name for source in found)) or "none yet"
        raise BadRequest(f"No source is called `{min(unknown)}`.", hint=f"Known: {known}.")
    return [source for source in found if not names or source.name in names]


def record_folder(
    settings: Settings, store: Store, path: Path, name: str, country: str, home: Path | None = None
) -> Source:
    """Remember `path` as a source, so that a bare `ombud sync` runs it again.

    home: the workspace; a source of its ombud.toml with this name and this path is that one, not
    another. Raises BadRequest where the folder does not exist or its name is another one's."""
    whole = path.expanduser().resolve()
    if not whole.is_dir():
        what = "is a file" if whole.exists() else "does not exist"
        raise BadRequest(f"{path} {what}.", hint="`ombud sync` takes folders.")
    recorded = RecordedSource(name or whole.name, str(whole), country)
    if not recorded.name or "/" in recorded.name:
        raise BadRequest(
            f"`{recorded.name}` cannot name a source.",
            hint="Name it with --source NAME, without slashes.",
        )
    known = {r.name: r for r in list_sources(store)}
    configured = {s.name: s for s in settings.source}
    same = configured.get(recorded.name)
    if isinstance(same, Folder) and _path(same, home or Path()) == whole and not country:
        return _configured(same, home or Path())
    if same or known.get(recorded.name, recorded).path != recorded.path:
        raise BadRequest(
            f"Another source is called `{recorded.name}` already.",
            hint="Give this one a name with --source NAME.",
        )
    if not country and recorded.name in known:
        recorded = recorded._replace(country=known[recorded.name].country)
    add_source(store, recorded)
    return _folder(recorded)


def _configured(place: SourceSettings, home: Path) -> Source:
    try:
        return open_source(place, home)
    except SourceError as wrong:  # what is wrong stands in ombud.toml
        raise BadSetting(str(wrong), hint=wrong.hint) from wrong


def _path(folder: Folder, home: Path) -> Path:
    return (home / folder.path.expanduser()).resolve()


def _folder(recorded: RecordedSource) -> FolderSource:
    return FolderSource(recorded.name, Path(recorded.path), facts={"country": recorded.country})
