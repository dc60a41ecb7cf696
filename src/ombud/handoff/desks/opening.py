"""From `handoff.desk` of the settings to the desk."""

from typing import cast

from ombud.handoff.desks.desk import Desk
from ombud.registry import names, open_part
from ombud.settings import HandoffSettings

BUILT_IN = "desk"
"""Our own page: its advisors read and write the conversation itself, so that nothing is sent."""
NONE = "none"
"""Nobody: answers name a contact."""


def open_desk(settings: HandoffSettings) -> Desk | None:
    """None for the desk that is built in, and for none. Raises UnknownName, MissingExtra, and
    BadSetting for settings that a desk cannot work with."""
    if settings.desk in {BUILT_IN, NONE}:
        return None
    opened = open_part("desk", settings.desk, DESKS, settings, needs=("line", "close"))
    return cast(Desk, opened)


def desk_names() -> tuple[str, ...]:
    """Every desk that can be named, plugins too."""
    return tuple(sorted({BUILT_IN, NONE, *names("desk", DESKS)}))


DESKS: dict[str, str] = {
    "matrix": "ombud.handoff.desks.matrix:open_matrix",
    "salesforce": "ombud.handoff.desks.salesforce:open_salesforce",
    "webhook": "ombud.handoff.desks.webhook:open_webhook",
}
"""Name -> `(HandoffSettings) -> Desk`. A plugin registers under `ombud.desk`; its own settings
stand in `HandoffSettings.options`."""
