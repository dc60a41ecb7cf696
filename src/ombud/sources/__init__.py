"""Sources: list the documents of a folder, wiki or site with permissions and dates, and read their
bytes."""

from ombud.sources.folder import SIDECAR, FolderSource
from ombud.sources.matching import matching_of, why_unreadable
from ombud.sources.metadata import apply_metadata, normalise_metadata, read_yaml
from ombud.sources.opening import open_source
from ombud.sources.source import LeftOut, Ref, Source
