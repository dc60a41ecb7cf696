"""Synchronise sources with the index, so that the index holds what the sources hold."""

from ombud.ingest.handing_out import run_work
from ombud.ingest.originals import drop_originals, original_path, originals_of
from ombud.ingest.parts import IngestParts
from ombud.ingest.rebuilding import Generation, Rebuilt, copy_index, rebuild_index
from ombud.ingest.report import REREAD, Failure, LossLine, Skipped, SyncReport, called
from ombud.ingest.syncing import add_documents, delete_documents, sync_sources, waiting_changes
