"""`ombud.toml` as commands and pages change it: comments stay, and what would be wrong is not
written."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ombud.app.flags import check_flags
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, OmbudError
from ombud.settings import FILE, load


def remove_source_entry(workspace: Workspace, name: str) -> None:
    """Take a source out of the file. Raises BadRequest where the file does not hold it."""

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
    """Raises BadRequest, and writes nothing, where the settings would be wrong afterwards."""
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
            raise BadRequest(str(wrong), hint=wrong.hint or "Nothing was changed.") from wrong
    try:
        beside = file.with_name(f".{FILE}.new")
        beside.write_text(text, encoding="utf-8")
        beside.replace(file)
    except OSError as failed:
        raise BadRequest(
            f"{FILE} cannot be written: {failed.strerror}.", hint="Change it by hand."
        ) from failed
