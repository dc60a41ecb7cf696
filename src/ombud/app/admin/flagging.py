"""Writes experiments and settings by country into `ombud.toml`: comments stay, a running server
picks changes up, and invalid settings are not written."""

import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ombud.app.admin.jobs import PLAIN_NAME, note_action
from ombud.app.admin.settings_file import rewrite_settings
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest
from ombud.messages import message
from ombud.text import read_country


def set_experiment(
    workspace: Workspace, name: str, fields: Mapping[str, Any], plan: str, by: str
) -> None:
    """Write an experiment. fields: share, countries, off; plan: lines of TOML such as `k = 4`.
    Raises BadRequest."""
    if not PLAIN_NAME.fullmatch(name):
        raise BadRequest(message("admin.error_experiment_name"))
    wanted = {**fields, "plan": parse_plan(plan)}

    def change(document: Any) -> None:
        experiments = document.setdefault("experiment", new_table())
        before = dict(experiments.get(name, {}))
        since = before.pop("since", None)
        # What is changed begins anew: answers before it were given under other conditions.
        if since is None or before != wanted:
            since = datetime.now(UTC).replace(microsecond=0)
        experiments[name] = {**wanted, "since": since}

    rewrite_settings(workspace, change)
    note_action(workspace, "experiment", by, share=str(fields["share"]), off=fields["off"])


def remove_experiment(workspace: Workspace, name: str, by: str) -> None:
    """Remove an experiment. Raises BadRequest if the file does not contain it."""

    def change(document: Any) -> None:
        if name not in document.get("experiment", {}):
            raise BadRequest(message("admin.error_experiment_unknown", name=name[:40]))
        del document["experiment"][name]

    rewrite_settings(workspace, change)
    note_action(workspace, "experiment removed", by)


def set_country(workspace: Workspace, code: str, plan: str, by: str) -> None:
    """Write the plan of a country. code: its code or name; plan: lines of TOML, empty to remove it.
    Raises BadRequest."""
    code = read_country(code)
    if not code:
        raise BadRequest(
            message("admin.error_country_missing"), hint=message("admin.error_country_hint")
        )
    wanted = parse_plan(plan)

    def change(document: Any) -> None:
        countries = document.setdefault("country", new_table())
        present = next((one for one in countries if one.upper() == code), code)
        if wanted:
            countries.setdefault(present, new_table())["plan"] = wanted
        elif present in countries:
            countries[present].pop("plan", None)
            if not countries[present]:
                del countries[present]

    rewrite_settings(workspace, change)
    note_action(workspace, "country flags", by, country=code)


def plan_lines(plan: Mapping[str, Any]) -> str:
    """Format a plan as the lines that `parse_plan` parses."""
    import tomlkit

    return tomlkit.dumps(dict(plan)).strip()


def parse_plan(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise BadRequest(
            message("admin.error_plan", reason=wrong), hint=message("admin.error_plan_hint")
        ) from wrong


def new_table() -> Any:
    import tomlkit

    return tomlkit.table(is_super_table=True)
