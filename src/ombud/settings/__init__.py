"""Every setting: `ombud.toml` of the workspace, `OMBUD_*` variables over it, flags over both."""

from ombud.settings.channels import TeamsSettings
from ombud.settings.flags import FLAGS, Flags
from ombud.settings.handoff import (
    AdvisorSettings,
    HandoffSettings,
    MailSettings,
    SalesforceSettings,
    TicketSettings,
    opening_times,
)
from ombud.settings.identity import IdentitySettings
from ombud.settings.loading import FILE, Settings, find_home, index_for, load, open_settings, rows
from ombud.settings.places import (
    PLACES,
    Arxiv,
    Confluence,
    DriveFolders,
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
    Section,
)
from ombud.settings.target import PublishSettings, TargetSettings
from ombud.settings.variants import Planned, check_plans, plan_for
