"""Canned replies of the desk: kept in `handoff.replies`, a file of [[reply]] tables."""

import tomllib

from pydantic import ValidationError

from ombud.app.workspace import Workspace
from ombud.errors import BadSetting
from ombud.types import Record


class CannedReply(Record):
    """A prepared reply."""

    title: str
    text: str
    topics: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()


def canned_replies(workspace: Workspace) -> list[CannedReply]:
    """Read the [[reply]] tables with title, text, topics and countries; a missing file means none.
    Raises BadSetting."""
    path = workspace.home / workspace.settings.handoff.replies
    if not path.is_file():
        return []
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("reply", [])
        return list(map(CannedReply.model_validate, tables))
    except (OSError, ValueError, ValidationError) as wrong:
        raise BadSetting(
            f"{path.name} cannot be read: {wrong}.", hint="It holds [[reply]] tables."
        ) from wrong
