"""Experiments and what differs by country, written into `ombud.toml`: comments stay, a running
server follows it, and what would be wrong is not written."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from ombud.app.admin.jobs import note_action
from ombud.app.admin.settings_file import rewrite_settings
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest
from ombud.settings import FILE
from ombud.text import read_country

_NAME = re.compile("[a-z0-9][a-z0-9_-]{0,39}")


def set_experiment(
    workspace: Workspace, name: str, fields: Mapping[str, Any], plan: str, by: str
) -> None:
    """fields: share, countries, off. plan: lines of TOML such as `k = 4`. Raises BadRequest."""
    if not _NAME.fullmatch(name):
        raise BadRequest("An experiment is named by small letters, digits, - and _.")
    wanted = {**fields, "plan": _plan(plan)}

    def change(document: Any) -> None:
        document.setdefault("experiment", _table())[name] = wanted

    rewrite_settings(workspace, change)
    note_action(workspace, "experiment", by, share=str(fields["share"]), off=fields["off"])


def remove_experiment(workspace: Workspace, name: str, by: str) -> None:
    """Raises BadRequest where the file does not hold it."""

    def change(document: Any) -> None:
        if name not in document.get("experiment", {}):
            raise BadRequest(f"{FILE} has no experiment `{name[:40]}`.")
        del document["experiment"][name]

    rewrite_settings(workspace, change)
    note_action(workspace, "experiment removed", by)


def set_country(workspace: Workspace, code: str, plan: str, by: str) -> None:
    """code: or the country's name. plan: lines of TOML; empty = nothing differs there.

    Raises BadRequest."""
    code = read_country(code)
    if not code:
        raise BadRequest("No country is named.", hint="Such as Great Britain, or GB.")
    wanted = _plan(plan)

    def change(document: Any) -> None:
        countries = document.setdefault("country", _table())
        known = next((one for one in countries if one.upper() == code), code)
        if wanted:
            countries.setdefault(known, _table())["plan"] = wanted
        elif known in countries:
            countries[known].pop("plan", None)
            if not countries[known]:
                del countries[known]

    rewrite_settings(workspace, change)
    note_action(workspace, "country flags", by, country=code)


def plan_lines(plan: Mapping[str, Any]) -> str:
    """As `_plan` reads it."""
    import tomlkit

    return tomlkit.dumps(dict(plan)).strip()


def _plan(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise BadRequest(
            f"The plan cannot be read: {wrong}.", hint='Lines such as k = 4 or mode = "sparse".'
        ) from wrong


def _table() -> Any:
    import tomlkit

    return tomlkit.table(is_super_table=True)
