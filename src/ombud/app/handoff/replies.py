"""Canned replies of the desk: kept in `handoff.replies`, a file of [[reply]] tables."""

import tomllib
from typing import Any

from pydantic import ValidationError

from ombud.app.admin.jobs import note_action, write_file
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, BadSetting
from ombud.messages import message
from ombud.store import LONGEST_MESSAGE
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


def save_reply(workspace: Workspace, title: str, text: str, by: str, *, before: str = "") -> None:
    """Add a reply, or change the one whose title was `before`. Raises BadRequest if a part is
    missing or too long, another reply has the title, or there is none of that title any more."""
    title, text = " ".join(title.split()), text.replace("\r\n", "\n").strip()
    if not title or not text:
        raise BadRequest(message("admin.error_reply_empty"))
    if len(text) > LONGEST_MESSAGE:
        raise BadRequest(message("admin.error_reply_long", count=LONGEST_MESSAGE))
    if title != before and title in [one.title for one in canned_replies(workspace)]:
        raise BadRequest(message("admin.error_reply_twice", title=title))
    document = parse_file(workspace)
    if before:
        find_table(document, before).update({"title": title, "text": text})
    else:
        import tomlkit

        table = tomlkit.table()
        table.update({"title": title, "text": text})
        document.setdefault("reply", tomlkit.aot()).append(table)
    write_replies(workspace, document)
    note_action(workspace, "reply saved", by, reply=title)


def remove_reply(workspace: Workspace, title: str, by: str) -> None:
    """Remove a reply. Raises BadRequest if there is none of that title."""
    document = parse_file(workspace)
    document["reply"].remove(find_table(document, title))
    write_replies(workspace, document)
    note_action(workspace, "reply removed", by, reply=title)


def parse_file(workspace: Workspace) -> Any:
    """Parse the file with its comments; empty if there is none."""
    import tomlkit

    canned_replies(workspace)  # raises BadSetting
    path = workspace.home / workspace.settings.handoff.replies
    return tomlkit.parse(path.read_text(encoding="utf-8") if path.is_file() else "")


def find_table(document: Any, title: str) -> Any:
    for table in document.get("reply", []):
        if table["title"].strip() == title.strip():
            return table
    raise BadRequest(message("admin.error_reply_unknown", title=title))


def write_replies(workspace: Workspace, document: Any) -> None:
    path = workspace.home / workspace.settings.handoff.replies
    try:
        write_file(path, document.as_string().encode())
    except OSError as failed:
        raise BadRequest(
            message("admin.error_replies_write", name=path.name, reason=failed.strerror)
        ) from failed
