"""A place -> bytes with identity, permissions and dates."""

from ombud.sources.folder import FolderSource
from ombud.sources.metadata import METADATA_KEYS, apply, normalise
from ombud.sources.opening import open_source
from ombud.sources.source import Ref, Source

__all__ = ["METADATA_KEYS", "FolderSource", "Ref", "Source", "apply", "normalise", "open_source"]
