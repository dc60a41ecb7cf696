"""Opens the desk that `handoff.desk` of the settings names."""

from typing import cast

from ombud.handoff.desks.desk import Desk
from ombud.registry import names, open_part
from ombud.settings import HandoffSettings

BUILT_IN = "desk"
"""Our own page. Its advisors read and write the conversation itself, so nothing is sent."""
NONE = "none"
"""No desk: answers name a contact instead."""


def open_desk(settings: HandoffSettings) -> Desk | None:
    """Open the desk of the settings; None for the built-in desk and for none. Raises UnknownName,
    MissingExtra, or BadSetting for unusable settings."""
    if settings.desk in {BUILT_IN, NONE}:
        return None
    opened = open_part("desk", settings.desk, DESKS, settings, needs=("line", "close"))
    return cast(Desk, opened)


def desk_names() -> tuple[str, ...]:
    """List the names of all desks, including those of plugins."""
    return tuple(sorted({BUILT_IN, NONE, *names("desk", DESKS)}))


DESKS: dict[str, str] = {
    "salesforce": "ombud.handoff.desks.salesforce:open_salesforce",
    "webhook": "ombud.handoff.desks.webhook:open_webhook",
}
"""Name -> `(HandoffSettings) -> Desk`. A plugin registers under `ombud.desk`, as
`plugins/ombud-matrix` does; its own settings are in `HandoffSettings.options`."""
