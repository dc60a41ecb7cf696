"""The only place where parts are chosen and joined."""

from ombud.app.certify import Certificate, certificate_json, certify_deletion
from ombud.app.checks import Check, check_all
from ombud.app.graph import graph_around, graph_stats
from ombud.app.schedule import every, report_line, run_every, run_schedule
from ombud.app.sources import configured_sources, record_folder
from ombud.app.syncing import index_stats, optimize_index, rebuild_index, run_sync, sync_all, sync_progress, watch
from ombud.app.target import LocalTarget
from ombud.app.workspace import Workspace, create_workspace

__all__ = [
    "Certificate",
    "Check",
    "LocalTarget",
    "Workspace",
    "certificate_json",
    "certify_deletion",
    "check_all",
    "configured_sources",
    "create_workspace",
    "every",
    "graph_around",
    "graph_stats",
    "index_stats",
    "optimize_index",
    "rebuild_index",
    "record_folder",
    "report_line",
    "run_every",
    "run_schedule",
    "run_sync",
    "sync_all",
    "sync_progress",
    "watch",
]
