"""The files under `deploy/` that monitoring systems load, against what a server says of itself."""

import json
import re
from contextlib import closing
from pathlib import Path

import httpx
import pytest
import yaml

from ombud.app import Workspace
from web.running import make_workspace, running

DEPLOY = Path(__file__).parent.parent / "deploy"
RULES = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text(encoding="utf-8"))
DASHBOARD = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the metrics, with the endings that queries use."""
    home = tmp_path_factory.mktemp("home")
    make_workspace(home).close()
    with closing(Workspace(home)) as own, running(own) as url:
        text = httpx.get(f"{url}/metrics", timeout=30).text
    names: set[str] = set()
    for name, kind in re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE):
        endings = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
        names.update(f"{name}{ending}" for ending in endings)
    return names


def used(expression: str) -> set[str]:
    return set(re.findall(r"\bombud_\w+", expression))


@pytest.mark.parametrize("rule", RULES["groups"][0]["rules"], ids=lambda rule: rule["alert"])
def test_each_alert_reads_metrics_that_exist(families: set[str], rule: dict[str, str]) -> None:
    assert used(rule["expr"])
    assert used(rule["expr"]) <= families


def test_the_dashboard_reads_metrics_that_exist(families: set[str]) -> None:
    expressions = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    read = set().union(*map(used, expressions))
    assert read <= families
    missing = {
        name for name in families if not name.endswith(("_created", "_sum", "_count"))
    } - read
    assert not missing
