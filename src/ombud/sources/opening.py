"""From a `[[source]]` of the settings to the source."""

from pathlib import Path
from typing import Any, cast

from ombud.registry import find
from ombud.settings import PluginSource, SourceSettings
from ombud.sources.source import Source


def open_source(place: SourceSettings, home: Path) -> Source:
    """The source that a block of the settings describes; nothing is read or asked yet.

    home: what relative paths count from. Raises SourceError for settings that cannot be right,
    MissingExtra."""
    if isinstance(place, PluginSource):
        opened: Source = place.open(home)
        return opened
    kind = str(cast(Any, place).type)
    source: Source = find("source", kind, SOURCES)(place, home)
    return source


SOURCES: dict[str, str] = {
    "arxiv": "ombud.sources.arxiv:open_arxiv",
    "confluence": "ombud.sources.confluence.source:open_confluence",
    "folder": "ombud.sources.folder:open_folder",
    "sharepoint": "ombud.sources.sharepoint.source:open_sharepoint",
    "web": "ombud.sources.web.source:open_web",
    "wikipedia": "ombud.sources.wikipedia:open_wikipedia",
}
"""Kind -> `(settings, home) -> Source`. A plugin's kind opens itself: `PluginSource.open`."""
