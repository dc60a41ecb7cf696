"""Edits `ombud.toml` for commands and pages: comments stay, and invalid settings are not
written."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ombud.app.flags import check_flags
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, OmbudError
from ombud.messages import message
from ombud.settings import FILE, load


def remove_source_entry(workspace: Workspace, name: str) -> None:
    """Remove a source from the file. Raises BadRequest if the file does not contain it."""

    def change(document: Any) -> None:
        sources = document.get("source", [])
        names = [source.get("name") for source in sources]
        if name not in names:
            raise BadRequest(
                f"`{name}` is not set up in {FILE}.",
                hint="Remove it where it is set up, such as in the environment.",
            )
        del sources[names.index(name)]
        if not sources:
            del document["source"]

    rewrite_settings(workspace, change)


def rewrite_settings(workspace: Workspace, change: Callable[[Any], None]) -> None:
    """Change the file. Raises BadRequest, writing nothing, if the settings would be invalid."""
    import tomlkit

    file = workspace.home / FILE
    document = tomlkit.parse(file.read_text(encoding="utf-8"))
    change(document)
    text = tomlkit.dumps(document)
    with TemporaryDirectory() as folder:
        (Path(folder) / FILE).write_text(text, encoding="utf-8")
        try:
            settings = load(Path(folder), workspace.flags)
            check_flags(settings, workspace.personas, workspace.prompts)
        except OmbudError as wrong:
            raise BadRequest(str(wrong), hint=wrong.hint) from wrong
    try:
        beside = file.with_name(f".{FILE}.new")
        beside.write_text(text, encoding="utf-8")
        beside.replace(file)
    except OSError as failed:
        raise BadRequest(
            message("admin.error_settings_write", reason=failed.strerror),
            hint=message("admin.error_settings_write_hint"),
        ) from failed
