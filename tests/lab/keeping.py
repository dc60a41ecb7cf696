"""A workspace that holds runs, and the commands of the lab in it."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from copies import open_copy
from ombud.cli.verbs import app
from ombud.lab import RecordedRun
from ombud.store import Done, save_done, start_run


def home_with(folder: Path, *runs: RecordedRun, settings: str = "") -> Path:
    home = folder / "home"
    (home / ".ombud").mkdir(parents=True)
    (home / "ombud.toml").write_text(settings, encoding="utf-8")
    with closing(open_copy(home / ".ombud")) as store:
        for recorded in runs:
            start_run(store, recorded.run)
            for place, seen in enumerate(recorded.observations):
                own = tuple(one for one in recorded.scores if one.case_id == seen.case.id)
                save_done(store, recorded.run.id, [Done(place, seen, own)])
    return home


def said(home: Path, *words: str | Path, code: int = 0, keys: str | None = None) -> str:
    arguments = ["--home", str(home), "lab", *map(str, words)]
    result = CliRunner().invoke(app, arguments, input=keys)
    assert isinstance(result.exception, SystemExit | None), result.exc_info
    assert result.exit_code == code, result.output
    return result.output


def told(home: Path, *words: str | Path) -> dict[str, Any]:
    return dict(json.loads(said(home, *words, "--json")))
