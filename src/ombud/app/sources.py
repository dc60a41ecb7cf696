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
    sources: dict[str, Source] = {}
    for configured in settings.source:
        sources[configured.name] = _open_configured(configured, home)
    for recorded in list_sources(store):
        if recorded.name not in sources:
            sources[recorded.name] = _open_recorded(recorded)
    unknown = set(names) - set(sources)
    if unknown:
        known = ", ".join(sorted(sources)) or "none yet"
        raise BadRequest(f"No source is called `{min(unknown)}`.", hint=f"Known: {known}.")
    return [source for name, source in sources.items() if not names or name in names]


def record_folder(
    settings: Settings, store: Store, folder: RecordedSource, home: Path | None = None
) -> Source:
    """Remember a folder as a source, so that a bare `ombud sync` runs it again.

    folder: an empty name stands for the folder's own, an empty country for the one it has already.
    home: the workspace; a source of its ombud.toml with this name and this path is that one, not
    another. One whose folder is gone was moved to here. Raises BadRequest where the folder does not
    exist or its name is another one's.
    """
    home = home or Path()
    recorded = _checked(folder)
    configured = {source.name: source for source in settings.source}
    namesake = configured.get(recorded.name)
    if namesake and not recorded.country and _is_same(namesake, recorded, home):
        return _open_configured(namesake, home)
    known = {source.name: source for source in list_sources(store)}
    before = known.get(recorded.name, recorded)
    has_moved = before.path != recorded.path and not Path(before.path).is_dir()
    if namesake or (before.path != recorded.path and not has_moved):
        raise BadRequest(
            f"Another source is called `{recorded.name}` already.",
            hint="Give this one a name with --source NAME.",
        )
    recorded = recorded._replace(country=recorded.country or before.country)
    add_source(store, recorded)
    return _open_recorded(recorded)


def _checked(folder: RecordedSource) -> RecordedSource:
    """With its whole path and a name. Raises BadRequest where that cannot be."""
    path = Path(folder.path).expanduser().resolve()
    if not path.is_dir():
        problem = "is a file" if path.exists() else "does not exist"
        raise BadRequest(f"{folder.path} {problem}.", hint="`ombud sync` takes folders.")
    name = folder.name or path.name
    if not name or "/" in name:
        raise BadRequest(
            f"`{name}` cannot name a source.",
            hint="Name it with --source NAME, without slashes.",
        )
    return folder._replace(name=name, path=str(path))


def _open_configured(configured: SourceSettings, home: Path) -> Source:
    try:
        return open_source(configured, home)
    except SourceError as wrong:  # what is wrong stands in ombud.toml
        raise BadSetting(str(wrong), hint=wrong.hint) from wrong


def _open_recorded(recorded: RecordedSource) -> FolderSource:
    facts = {"country": recorded.country}
    return FolderSource(recorded.name, Path(recorded.path), facts=facts)


def _is_same(configured: SourceSettings, recorded: RecordedSource, home: Path) -> bool:
    if not isinstance(configured, Folder):
        return False
    path = (home / configured.path.expanduser()).resolve()
    return path == Path(recorded.path)
