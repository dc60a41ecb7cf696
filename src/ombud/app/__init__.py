"""The only place where parts are chosen and joined."""

from ombud.app.auditing import chain_head, listed, shown, verified_json, verify_chain
from ombud.app.certify import Certificate, certificate_json, certify_deletion
from ombud.app.checks import Check, check_all
from ombud.app.forgetting import erase_of, expire, run_expiry
from ombud.app.gaps import Gaps, gaps, gaps_json
from ombud.app.gaps_page import gaps_page
from ombud.app.graph import graph_around, graph_stats
from ombud.app.replay import Replayed, replay, replayed_json
from ombud.app.schedule import every, report_line, run_every, run_schedule
from ombud.app.sources import configured_sources, record_folder
from ombud.app.syncing import index_stats, optimize_index, rebuild_index, run_sync, sync_all, sync_progress, watch
from ombud.app.target import LocalTarget
from ombud.app.workspace import Workspace, create_workspace

__all__ = [
    "Certificate",
    "Check",
    "Gaps",
    "LocalTarget",
    "Replayed",
    "Workspace",
    "certificate_json",
    "certify_deletion",
    "chain_head",
    "check_all",
    "configured_sources",
    "create_workspace",
    "erase_of",
    "every",
    "expire",
    "gaps",
    "gaps_json",
    "gaps_page",
    "graph_around",
    "graph_stats",
    "index_stats",
    "listed",
    "optimize_index",
    "rebuild_index",
    "record_folder",
    "replay",
    "replayed_json",
    "report_line",
    "run_every",
    "run_expiry",
    "run_schedule",
    "run_sync",
    "shown",
    "sync_all",
    "sync_progress",
    "verified_json",
    "verify_chain",
    "watch",
]
