"""The image and the Helm chart: Helm's own renderer, Kubernetes' schemas, and what the pods of the chart must keep to."""

import os
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from ombud.settings import load

ROOT = Path(__file__).parent.parent
CHART = ROOT / "deploy" / "helm" / "ombud"
VALUES = sorted((CHART / "ci").glob("*.yaml"))
Manifest = dict[str, Any]


def rendered(values: Manifest) -> list[Manifest]:
    helm = pytest.importorskip("helm_python", reason="needs `pip install helm-python-sdk`")
    with helm.Chart.load(str(CHART)) as chart:
        texts = chart.render(values, name="policies", namespace="hr")
    return [
        manifest
        for name, text in texts.items()
        if name.endswith(".yaml")
        for manifest in yaml.safe_load_all(text)
        if manifest
    ]


@pytest.fixture(params=VALUES, ids=lambda path: path.stem)
def values(request: pytest.FixtureRequest) -> Manifest:
    return dict(yaml.safe_load(request.param.read_text(encoding="utf-8")))


def pods(manifests: list[Manifest]) -> Iterator[Manifest]:
    for manifest in manifests:
        if "template" in manifest.get("spec", {}):
            yield manifest["spec"]["template"]


def test_helm_finds_nothing_to_say(values: Manifest) -> None:
    helm = pytest.importorskip("helm_python", reason="needs `pip install helm-python-sdk`")
    report = helm.lint(str(CHART), values)
    assert not report["errors"]
    assert not [said for said in report["messages"] if said["severity"] > 1]


def test_every_manifest_follows_the_schemas_of_kubernetes(values: Manifest) -> None:
    schemas = pytest.importorskip(
        "kubernetes_validate", reason="needs `pip install kubernetes-validate`"
    )
    for manifest in rendered(values):
        for version in ("1.29", "1.34"):
            schemas.validate(manifest, version, strict=True)


def test_pods_keep_to_the_restricted_security_standard(values: Manifest) -> None:
    found = list(pods(rendered(values)))
    assert found
    for pod in found:
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"]
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in spec["containers"]:
            limits = container["securityContext"]
            assert limits["allowPrivilegeEscalation"] is False
            assert limits["readOnlyRootFilesystem"] is True
            assert limits["capabilities"] == {"drop": ["ALL"]}


def test_selectors_and_mounts_lead_somewhere(values: Manifest) -> None:
    manifests = rendered(values)
    labels = [pod["metadata"]["labels"] for pod in pods(manifests)]
    for manifest in manifests:
        selector = manifest.get("spec", {}).get("selector") or manifest.get("spec", {}).get(
            "podSelector"
        )
        if selector:
            wanted = selector.get("matchLabels", selector).items()
            assert any(wanted <= of_pod.items() for of_pod in labels), manifest["kind"]
    keys = {
        key for manifest in manifests if manifest["kind"] == "ConfigMap" for key in manifest["data"]
    }
    for pod in pods(manifests):
        volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
        for container in pod["spec"]["containers"]:
            for mount in container["volumeMounts"]:
                assert mount["name"] in volumes
                assert mount.get("subPath", next(iter(keys))) in keys


def test_the_migration_needs_nothing_that_comes_after_it(values: Manifest) -> None:
    (hook,) = [manifest for manifest in rendered(values) if manifest["kind"] == "Job"]
    assert hook["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    spec = hook["spec"]["template"]["spec"]
    assert not [volume for volume in spec["volumes"] if "configMap" in volume]
    accounts = {
        manifest["metadata"]["name"]
        for manifest in rendered(values)
        if manifest["kind"] == "ServiceAccount"
    }
    assert spec["serviceAccountName"] not in accounts


def test_the_migration_job_makes_the_tables(tmp_path: Path) -> None:
    values = yaml.safe_load(VALUES[0].read_text(encoding="utf-8"))
    (job,) = [manifest for manifest in rendered(values) if manifest["kind"] == "Job"]
    (container,) = job["spec"]["template"]["spec"]["containers"]
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    own = {"OMBUD_HOME": str(tmp_path), "PATH": programs}
    subprocess.run(container["args"], env=os.environ | own, check=True)
    with closing(sqlite3.connect(tmp_path / ".ombud" / "store.sqlite")) as store:
        assert store.execute("SELECT count(*) FROM document").fetchone() == (0,)


def test_the_settings_of_each_example_can_be_read(
    values: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ombud.toml").write_text(values["config"], encoding="utf-8")
    monkeypatch.setenv("OMBUD_STORE__URL", "postgresql+psycopg://ombud@db/ombud")
    server, *_ = [pod["spec"] for pod in pods(rendered(values)) if "startupProbe" in str(pod)]
    for variable in server["containers"][0]["env"]:
        if variable["name"].startswith("OMBUD_") and not variable["name"].endswith("_FILE"):
            monkeypatch.setenv(variable["name"], variable["value"])
    settings = load(tmp_path)
    assert settings.server.public_url == values["publicUrl"]
    assert list(settings.server.trusted_proxies) == values.get("server", {}).get(
        "trustedProxies", []
    )


@pytest.mark.parametrize(
    "change",
    [
        {"publicUrl": ""},
        {"database": {"secretName": ""}},
        {"indexUrl": ""},
        {"persistence": {"enabled": True}},
    ],
    ids=["no address", "no database", "no shared index", "one volume for two servers"],
)
def test_a_chart_that_cannot_work_is_not_rendered(change: Manifest) -> None:
    helm = pytest.importorskip("helm_python", reason="needs `pip install helm-python-sdk`")
    values = {
        "publicUrl": "https://ask.example.com",
        "database": {"secretName": "database"},
        "indexUrl": "s3://policies/ombud",
        "server": {"replicas": 2},
    }
    assert rendered(values)
    with pytest.raises(helm.HelmRenderError):
        rendered(values | change)


def test_the_image_has_every_extra_that_a_setting_can_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    extras = set(text.partition('".[')[2].partition("]")[0].split(","))
    assert extras == set(project["optional-dependencies"]) - {"fine-tune", "train"}
