"""Two rules that contradict each other are shown as two: in the terminal, in the API and on the
page."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from journeys.browsers import ask
from journeys.test_chat import address
from ombud.app import Workspace
from ombud.cli.verbs import app
from web.running import make_workspace

__all__ = ["address"]

LEAVE = "How many days of paid annual leave do full-time employees have?"
HANDBOOK = {
    "gb/leave.md": "---\ntitle: Leave in Great Britain\ncountry: GB\ntopic: leave\n---\n# Annual leave\n\n"
    "Full-time employees have 18 days of paid annual leave each calendar year.\n",
    "global/leave.md": "---\ntitle: Leave worldwide\ntopic: leave\nmandatory: true\n---\n# Annual leave\n\n"
    "Full-time employees have at least 20 days of paid annual leave each calendar year.\n",
    "global/travel.md": "---\ntitle: Travel\n---\n# Travel\n\nHotel bookings are made in the travel tool.\n",
}
SAID = (
    "“Leave in Great Britain” and “Leave worldwide” differ; the first gives less than the second, "
    "which is mandatory, allows."
)
OPENING = "20 days: the global minimum applies, the local page says 18 days."


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    made = make_workspace(tmp_path_factory.mktemp("workspace"), handbook=HANDBOOK)
    yield made
    made.close()


def test_in_the_terminal(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMBUD_MODELS__EMBEDDER", "none")
    home = ["--home", str(workspace.home)]
    for command in ("ask", "search"):
        said = CliRunner().invoke(app, [*home, command, LEAVE, "--country", "GB"])
        assert f"Note: {SAID}" in said.stdout
        assert SAID not in CliRunner().invoke(app, [*home, command, LEAVE]).stdout


def test_in_the_api(address: str) -> None:
    asked = {"question": LEAVE, "person": {"country": "GB"}}
    answer = httpx.post(f"{address}/api/v1/ask", json=asked, timeout=60).json()
    assert SAID in answer["trace"]["notes"]
    found = httpx.post(
        f"{address}/api/v1/search", json={"query": LEAVE, "person": {"country": "GB"}}, timeout=60
    )
    assert SAID in found.json()["trace"]["notes"]


def test_on_the_page_and_after_a_reload(new_page: Any) -> None:
    page = new_page()
    page.get_by_label("Country").select_option("GB")
    turn = ask(page, LEAVE)
    assert OPENING in turn.inner_text()
    assert "handbook/" not in turn.inner_text()
    page.reload()
    page.locator(".turn .badge").wait_for()
    assert OPENING in page.locator(".turn").first.inner_text()


def test_not_where_only_one_rule_is_read_or_another_thing_is_asked(new_page: Any) -> None:
    page = new_page()
    assert "global minimum" not in ask(page, LEAVE).inner_text()
    page.get_by_label("Country").select_option("GB")
    assert "global minimum" not in ask(page, "Where are hotel bookings made?").inner_text()
