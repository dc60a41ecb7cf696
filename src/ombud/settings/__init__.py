"""Every setting: `ombud.toml` of the workspace, `OMBUD_*` variables over it, flags over both."""

from ombud.settings.flags import FLAGS, Flags
from ombud.settings.loading import FILE, Settings, find_home, index_for, load, rows
from ombud.settings.places import PLACES, Arxiv, Confluence, Folder, Place, SharePoint, Source, Web, Wikipedia
from ombud.settings.plans import merge_plan, nearest
from ombud.settings.sections import (
    Answering,
    Audit,
    Documents,
    Experiment,
    General,
    Index,
    ModelRole,
    Models,
    Overlay,
    Server,
    Store,
    Sync,
)
from ombud.settings.variants import Planned, check_plans, plan_for

__all__ = [
    "FILE",
    "FLAGS",
    "PLACES",
    "Answering",
    "Arxiv",
    "Audit",
    "Confluence",
    "Documents",
    "Experiment",
    "Flags",
    "Folder",
    "General",
    "Index",
    "ModelRole",
    "Models",
    "Overlay",
    "Place",
    "Planned",
    "Server",
    "Settings",
    "SharePoint",
    "Source",
    "Store",
    "Sync",
    "Web",
    "Wikipedia",
    "check_plans",
    "find_home",
    "index_for",
    "load",
    "merge_plan",
    "nearest",
    "plan_for",
    "rows",
]
