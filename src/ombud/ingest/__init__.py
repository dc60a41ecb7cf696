"""Sources -> index, again and again, so that what is indexed is what is there."""

from ombud.ingest.parts import IngestParts
from ombud.ingest.rebuilding import Generation, Rebuilt, copy_index, rebuild_index
from ombud.ingest.report import SyncReport
from ombud.ingest.syncing import delete_documents, sync_sources

__all__ = [
    "Generation",
    "IngestParts",
    "Rebuilt",
    "SyncReport",
    "copy_index",
    "delete_documents",
    "rebuild_index",
    "sync_sources",
]
