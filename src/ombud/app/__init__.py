"""The only place where parts are chosen and joined."""

from ombud.app.checks import Check, check_all
from ombud.app.schedule import every, run_schedule
from ombud.app.sources import configured_sources, record_folder
from ombud.app.target import LocalTarget
from ombud.app.workspace import Workspace, create_workspace

__all__ = [
    "Check",
    "LocalTarget",
    "Workspace",
    "check_all",
    "configured_sources",
    "create_workspace",
    "every",
    "record_folder",
    "run_schedule",
]
