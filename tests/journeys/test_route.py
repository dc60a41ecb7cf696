"""`ombud route` and `ombud lab train-router` as processes of their own."""

import json
from pathlib import Path

import pytest

from journeys.command import ombud, workspace

ONE, MANY = (
    "How many days of annual leave do I get?",
    "Overview of all travel rules, from booking to reimbursement?",
)


def test_route_needs_no_workspace_and_says_class_probabilities_and_parameters(
    tmp_path: Path,
) -> None:
    done = ombud("route", ONE, cwd=tmp_path)
    assert done.code == 0
    assert done.out.startswith("label 0: one passage\n")
    assert done.out.endswith("k = 3, rewrites = 3, graph_keywords = 3, graph_depth = 1\n")
    assert done.out.count("%") == 3


def test_route_json_in_two_classes(tmp_path: Path) -> None:
    found = ombud("route", MANY, "--classes", 2, "--json", cwd=tmp_path).json
    assert (found["question"], found["label"], found["classes"]) == (MANY, 1, 2)
    assert sum(found["probabilities"]) == pytest.approx(1, abs=0.001)
    assert found["parameters"] == {"k": 10, "rewrites": 5, "graph_keywords": 5, "graph_depth": 3}


def test_route_takes_classes_and_mapping_of_the_workspace(tmp_path: Path) -> None:
    home = workspace(tmp_path, "[plan]\nclasses = 2\nmapping = {k = [4, 12]}\n", {})
    assert ombud("route", MANY, "--json", cwd=home).json["parameters"]["k"] == 12
    assert ombud("route", ONE, "--json", cwd=home).json["parameters"]["k"] == 4


def test_a_batch_keeps_its_order_and_goes_on_after_a_bad_line(tmp_path: Path) -> None:
    file = tmp_path / "asked.jsonl"
    asked = [{"id": "a", "question": ONE}, {"id": "c"}, {"id": "d", "query": MANY}]
    rows = [json.dumps(row) for row in asked]
    rows.insert(1, "no json")
    file.write_text("\n".join(rows), encoding="utf-8")
    done = ombud("route", "--batch", file, cwd=tmp_path)
    assert done.code == 1
    assert [line["id"] for line in done.lines] == ["a", "2", "c", "d"]
    assert [line.get("label") for line in done.lines] == [0, None, None, 2]
    assert done.lines[1]["error"]["type"] == "BadRequest"


@pytest.mark.parametrize(
    "given",
    [[], ["", "--json"], ["a?", "--batch", "f.jsonl"], ["a?", "--classes", "4"], ["a?", "--model"]],
)
def test_what_route_cannot_do_is_said(given: list[str], tmp_path: Path) -> None:
    assert ombud("route", *given, cwd=tmp_path).code == 2


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
    done = ombud("lab", "train-router", "own.jsonl", "--out", "own.json", "--json", cwd=home)
    assert done.code == 0
    assert {(r["set"], r["classes"]) for r in done.json["results"]} == {
        ("cross-validated", 3),
        ("cross-validated", 2),
    }
    assert done.json["results"][0]["questions"] == 36
    first = (tmp_path / "own.json").read_text(encoding="utf-8")
    assert json.loads(first)["provenance"]["questions"] == 36
    ombud("lab", "train-router", "own.jsonl", "--out", "own.json", cwd=home)
    assert (tmp_path / "own.json").read_text(encoding="utf-8") == first
    assert (
        ombud("route", "Everything on the visit, step by step?", "--json", cwd=home).json["label"]
        == 2
    )


def test_training_on_a_file_that_is_none_is_said(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"question": "Why?"}\n', encoding="utf-8")
    done = ombud("lab", "train-router", "bad.jsonl", cwd=tmp_path)
    assert done.code == 2
    assert "bad.jsonl, line 1" in done.err
    assert ombud("lab", "train-router", "--variant", "oracle", cwd=tmp_path).code == 2
