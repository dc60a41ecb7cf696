"""Sources -> index, again and again, so that what is indexed is what is there."""

from ombud.ingest.parts import Parts
from ombud.ingest.rebuild import Generation, Rebuilt, copy, rebuild
from ombud.ingest.report import Failure, Report
from ombud.ingest.sync import delete_documents, sync

__all__ = ["Failure", "Generation", "Parts", "Rebuilt", "Report", "copy", "delete_documents", "rebuild", "sync"]
