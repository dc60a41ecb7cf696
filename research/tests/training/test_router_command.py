"""`python -m research.training.router`, and the product with the weights that it makes."""

import json
from pathlib import Path

import pytest

from journeys.command import ombud, workspace
from research.tests.command import research

pytestmark = pytest.mark.slow


def test_a_router_of_ones_own_is_trained_and_used(tmp_path: Path) -> None:
    home = workspace(tmp_path, '[models]\nrouter = "own.json"\n', {})
    kinds = (
        "How long is the %s?",
        "How long is the %s and who signs?",
        "Everything on the %s, step by step?",
    )
    things = "notice leave hearing visit trial loan course trip grant lease break bond".split()  # noqa: SIM905
    rows = [
        {"question": kind % thing, "label": label, "template": f"{label}-{n % 6}"}
        for label, kind in enumerate(kinds)
        for n, thing in enumerate(things)
    ]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = research("training.router", "own.jsonl", "--out", "own.json", "--json", cwd=home)
    assert done.code == 0
    assert {(r["set"], r["classes"]) for r in done.json["results"]} == {
        ("cross-validated", 3),
        ("cross-validated", 2),
    }
    assert done.json["results"][0]["questions"] == 36
    first = (tmp_path / "own.json").read_text(encoding="utf-8")
    assert json.loads(first)["provenance"]["questions"] == 36
    research("training.router", "own.jsonl", "--out", "own.json", cwd=home)
    assert (tmp_path / "own.json").read_text(encoding="utf-8") == first
    assert (
        ombud("route", "Everything on the visit, step by step?", "--json", cwd=home).json["label"]
        == 2
    )


def test_training_on_a_file_that_is_none_is_said(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"question": "Why?"}\n', encoding="utf-8")
    done = research("training.router", "bad.jsonl", cwd=tmp_path)
    assert done.code == 2
    assert "bad.jsonl, line 1" in done.err
    assert research("training.router", "--variant", "oracle", cwd=tmp_path).code == 2
