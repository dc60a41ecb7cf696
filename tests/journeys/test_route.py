"""`ombud route`, and commands that moved to `research/`."""

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
    home = workspace(tmp_path, "[plan]\nclasses = 2\nadaptive = {k = [4, 12]}\n", {})
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


@pytest.mark.parametrize(
    ("command", "replacement"),
    [
        (("experiment", "wombat", "cases.jsonl"), "python -m research.studies"),
        (
            ("train-router", "--out", "own.json"),
            "python -m research.training.router",
        ),
        (("train-triage", "--no-vectors"), "python -m research.training.triage"),
    ],
)
def test_a_moved_command_names_its_replacement(
    command: tuple[str, ...], replacement: str, tmp_path: Path
) -> None:
    done = ombud("lab", *command, cwd=tmp_path)
    assert done.code == 2
    assert replacement in done.err
