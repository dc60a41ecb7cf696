"""Opens the ticket system that `[tickets]` names."""

from collections.abc import Mapping
from typing import cast

from ombud.handoff.tickets.line import TicketDesk
from ombud.handoff.tickets.system import TicketSystem
from ombud.registry import find, names
from ombud.settings import TicketSettings


def open_tickets(settings: TicketSettings, public_url: str) -> TicketDesk | None:
    """Open the desk of the settings; None if they name no system. public_url: address of our own
    pages, for links to sources. Raises UnknownName, or BadSetting for unusable settings."""
    if not settings.system:
        return None
    return TicketDesk(ticket_system(settings.system)(settings), settings, public_url)


def ticket_system(name: str) -> type[TicketSystem]:
    """Return the class of a ticket system. Raises UnknownName."""
    return cast(type[TicketSystem], find("tickets", name, SYSTEMS))


def ticket_systems() -> tuple[str, ...]:
    """List the names of all ticket systems, including those of plugins."""
    return tuple(names("tickets", SYSTEMS))


SYSTEMS: Mapping[str, str] = {
    "jira": "ombud.handoff.tickets.jira:JiraServiceManagement",
    "servicenow": "ombud.handoff.tickets.servicenow:ServiceNow",
    "zendesk": "ombud.handoff.tickets.zendesk:Zendesk",
}
"""Name -> class of a `TicketSystem` that is made from `TicketSettings`."""
