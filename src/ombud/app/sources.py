"""The sources of a sync."""

from collections.abc import Sequence
from pathlib import Path

from ombud.errors import BadRequest, BadSetting, SourceError
from ombud.messages import message
from ombud.settings import Folder, Settings, SourceSettings
from ombud.sources import FolderSource, Source, open_source
from ombud.store import RecordedSource, Store, add_source, list_sources


def configured_sources(
    settings: Settings, home: Path, store: Store, names: Sequence[str] = ()
) -> list[Source]:
    """Return the sources of ombud.toml and recorded ones; only those in `names`, if any are
    given."""
    sources: dict[str, Source] = {}
    for configured in settings.source:
        sources[configured.name] = open_configured(configured, home)
    for recorded in list_sources(store):
        if recorded.name not in sources:
            sources[recorded.name] = open_recorded(recorded)
    unknown = set(names) - set(sources)
    if unknown:
        choices = ", ".join(sorted(sources)) or "–"
        raise BadRequest(
            message("admin.error_source_unknown", name=min(unknown)),
            hint=message("admin.error_source_known", names=choices),
        )
    return [source for name, source in sources.items() if not names or name in names]


def record_folder(
    settings: Settings, store: Store, folder: RecordedSource, home: Path | None = None
) -> Source:
    """Record a folder as a source, so that a bare `ombud sync` syncs it again. Raises BadRequest if
    the folder does not exist or another source has its name.

    folder: an empty name means the folder's own, an empty country the present one. home: the
    workspace; a source of its ombud.toml with this name and path is the same source. If the
    recorded folder is gone, it has moved here.
    """
    home = home or Path()
    recorded = checked_folder(folder)
    configured = {source.name: source for source in settings.source}
    namesake = configured.get(recorded.name)
    if namesake and not recorded.country and is_same_source(namesake, recorded, home):
        return open_configured(namesake, home)
    earlier = {source.name: source for source in list_sources(store)}
    before = earlier.get(recorded.name, recorded)
    has_moved = before.path != recorded.path and not Path(before.path).is_dir()
    if namesake or (before.path != recorded.path and not has_moved):
        raise BadRequest(
            message("admin.error_source_taken", name=recorded.name),
            hint="Give this one a name with --source NAME.",
        )
    recorded = recorded._replace(country=recorded.country or before.country)
    add_source(store, recorded)
    return open_recorded(recorded)


def checked_folder(folder: RecordedSource) -> RecordedSource:
    """Complete the path and the name. Raises BadRequest if that is impossible."""
    path = Path(folder.path).expanduser().resolve()
    if not path.is_dir():
        problem = "admin.error_path_file" if path.exists() else "admin.error_path_missing"
        raise BadRequest(message(problem, path=folder.path), hint=message("admin.error_path_hint"))
    name = folder.name or path.name
    if not name or "/" in name:
        raise BadRequest(
            f"`{name}` cannot name a source.",
            hint="Name it with --source NAME, without slashes.",
        )
    return folder._replace(name=name, path=str(path))


def open_configured(configured: SourceSettings, home: Path) -> Source:
    try:
        return open_source(configured, home)
    except SourceError as wrong:  # the fault is in ombud.toml
        raise BadSetting(str(wrong), hint=wrong.hint) from wrong


def open_recorded(recorded: RecordedSource) -> FolderSource:
    facts = {"country": recorded.country}
    return FolderSource(recorded.name, Path(recorded.path), facts=facts)


def is_same_source(configured: SourceSettings, recorded: RecordedSource, home: Path) -> bool:
    if not isinstance(configured, Folder):
        return False
    path = (home / configured.path.expanduser()).resolve()
    return path == Path(recorded.path)
