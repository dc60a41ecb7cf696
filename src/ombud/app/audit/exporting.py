"""Everything that is stored about a person, for whoever asks what is (GDPR, article 15)."""

from datetime import UTC, datetime
from typing import Any

from ombud.app.audit.forgetting import account_of, select_content
from ombud.app.identity.people import HERE, mark
from ombud.app.workspace import Workspace
from ombud.store import note_in_chain, read_of_person


def export_of(workspace: Workspace, person: str, by: str = HERE) -> dict[str, Any]:
    """Return the content that `erase_personal_data` would erase, with the account, its
    sign-ins, its tokens by name, and the audit's records; the export itself is recorded. Raises
    NotFound if nothing is stored.

    person: a name to sign in with, or an id."""
    store = workspace.store
    account = account_of(store, person)
    identity = account.id if account else person
    selection = select_content(store, identity, "", has_account=account is not None)
    facts = {"action": "exported", "account": mark(identity), "by": mark(by)}
    note_in_chain(store, "people", facts)  # before it is read: an export is never unrecorded
    stored, records = read_of_person(store, selection, identity, mark(identity))
    return {
        "person": identity,
        "account": account.model_dump(mode="json") if account else None,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "stored": stored,
        "audit": records,
    }
