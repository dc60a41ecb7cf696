"""Sources -> index, again and again, so that what is indexed is what is there."""

from ombud.ingest.handing_out import run_work
from ombud.ingest.originals import drop_originals, original_path, originals_of
from ombud.ingest.parts import IngestParts
from ombud.ingest.rebuilding import Generation, Rebuilt, copy_index, rebuild_index
from ombud.ingest.report import REREAD, Failure, LossLine, Skipped, SyncReport, called
from ombud.ingest.syncing import add_documents, delete_documents, sync_sources, waiting_changes

__all__ = [
    "REREAD",
    "Failure",
    "Generation",
    "IngestParts",
    "LossLine",
    "Rebuilt",
    "Skipped",
    "SyncReport",
    "add_documents",
    "called",
    "copy_index",
    "delete_documents",
    "drop_originals",
    "original_path",
    "originals_of",
    "rebuild_index",
    "run_work",
    "sync_sources",
    "waiting_changes",
]
