"""A running server follows the flags of its `ombud.toml`: nothing is restarted."""

import itertools
import os
from pathlib import Path
from typing import Any

import httpx

from web.running import make_workspace, running


def test_an_edit_changes_the_next_answer_and_the_next_edit_reverts_it(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    file, told = tmp_path / "ombud.toml", list[str]()
    shipped = file.read_text()
    seconds = itertools.count()
    workspace.follow(told.append, clock=lambda: next(seconds))

    def save(text: str, time: int) -> None:
        file.write_text(text, encoding="utf-8")
        os.utime(file, (time, time))

    with running(workspace) as url:

        def asked() -> dict[str, Any]:
            body = {"query": "annual leave", "person": {"id": "anne", "country": "GB"}}
            return httpx.post(f"{url}/api/v1/search", json=body).json()["trace"]  # type: ignore[no-any-return]

        first = asked()
        described = httpx.get(f"{url}/api/v1/describe").json()
        save(shipped + "[experiment.few]\nshare = 1\nplan = { k = 1 }\n", 1_700_000_000)
        second = asked()
        save(shipped + "[experiment.few]\nshare = 1\nplan = { k = 0 }\n", 1_700_000_001)
        third = asked()
        changed = httpx.get(f"{url}/api/v1/describe").json()
        save(shipped, 1_700_000_002)
        last = asked()
        back = httpx.get(f"{url}/api/v1/describe").json()
    seen = [(trace["plan"]["k"], trace["variant"]) for trace in (first, second, third, last)]
    assert seen == [(8, ""), (1, "few"), (1, "few"), (8, "")]
    assert "the old one stays" in told[1]
    assert described == back != changed
