"""Every setting: `ombud.toml` of the workspace, `OMBUD_*` variables over it, flags over both."""

from ombud.settings.channels import TeamsSettings
from ombud.settings.flags import FLAGS, Flags
from ombud.settings.handoff import (
    AdvisorSettings,
    HandoffSettings,
    MailSettings,
    MatrixSettings,
    SalesforceSettings,
    WebhookSettings,
    opening_times,
)
from ombud.settings.identity import IdentitySettings
from ombud.settings.loading import FILE, Settings, find_home, index_for, load, rows
from ombud.settings.places import (
    PLACES,
    Arxiv,
    Confluence,
    Folder,
    PluginSource,
    SharePoint,
    SourceSettings,
    Web,
    Wikipedia,
)
from ombud.settings.plans import merge_plan, nearest
from ombud.settings.removed import REMOVED_SETTINGS
from ombud.settings.sections import (
    DocumentSettings,
    Experiment,
    GeneralSettings,
    IndexSettings,
    ModelRole,
    ModelSettings,
    PlanOverlay,
    PublishSettings,
    Section,
    SensitivePolicy,
)
from ombud.settings.variants import Planned, check_plans, plan_for

__all__ = [
    "FILE",
    "FLAGS",
    "PLACES",
    "REMOVED_SETTINGS",
    "AdvisorSettings",
    "Arxiv",
    "Confluence",
    "DocumentSettings",
    "Experiment",
    "Flags",
    "Folder",
    "GeneralSettings",
    "HandoffSettings",
    "IdentitySettings",
    "IndexSettings",
    "MailSettings",
    "MatrixSettings",
    "ModelRole",
    "ModelSettings",
    "PlanOverlay",
    "Planned",
    "PluginSource",
    "PublishSettings",
    "SalesforceSettings",
    "Section",
    "SensitivePolicy",
    "Settings",
    "SharePoint",
    "SourceSettings",
    "TeamsSettings",
    "Web",
    "WebhookSettings",
    "Wikipedia",
    "check_plans",
    "find_home",
    "index_for",
    "load",
    "merge_plan",
    "nearest",
    "opening_times",
    "plan_for",
    "rows",
]
