"""`ombud lab` as an engineer and a build server use it: run, read, compare, gate, and what goes
wrong."""

import json
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from journeys.command import Result, ombud, start, workspace
from until import wait_until

FLOORS = [
    "ground",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
]
PAGE = (
    "# The {floor} floor\n\nThe desk on the {floor} floor is booked for {days} days at most. "
    "Its key costs {key} pounds.\n\n## Visitors\n\nVisitors of the {floor} floor wear a badge.\n"
)
PAGES = {
    f"floors/{at}.md": PAGE.format(floor=at, days=n + 2, key=n + 11) for n, at in enumerate(FLOORS)
}


def line(n: int, **fields: Any) -> str:
    floor = FLOORS[n % len(FLOORS)]
    quote = f"The desk on the {floor} floor is booked for {n % len(FLOORS) + 2} days at most."
    case = {
        "id": f"floor-{n}",
        "question": f"How long may I book the desk on the {floor} floor ({n})?",
        "references": [{"text": f"{n % len(FLOORS) + 2} days"}],
        "evidence": [{"document": f"docs/floors/{floor}.md", "quote": quote}],
        "tags": ["desk"],
    }
    return json.dumps(case | fields)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An indexed handbook with two runs: `base`, and `one` with a single passage."""
    made = workspace(tmp_path_factory.mktemp("lab"), files=PAGES)
    denied = [
        line(n, question=f"Who won the chess match of {n}?", evidence=[], expect="deny")
        for n in range(60, 75)
    ]
    (made / "cases.jsonl").write_text(
        "\n".join([line(n) for n in range(40)] + denied), encoding="utf-8"
    )
    assert ombud("sync", "docs", cwd=made).code == 0
    for name, plan in (("base", "k=8"), ("one", "k=1")):
        done = lab(made, "run", "cases.jsonl", "--name", name, "--plan", plan)
        assert done.code == 0, done
    return made


def lab(home: Path, *arguments: object) -> Result:
    return ombud("lab", *arguments, cwd=home)


def refused(result: Result, code: int, message: str, hint: str = "") -> None:
    """One sentence and a hint, on stderr."""
    assert result.code == code, result
    assert result.err.startswith("Error: ")
    assert message in result.err
    assert hint in result.err


def test_a_run_prints_its_figures_what_was_lost_and_what_it_cost(home: Path) -> None:
    said = lab(
        home, "run", "cases.jsonl", "--split", "test", "--metrics", "hit@8,outcome_accuracy,latency"
    )
    assert said.code == 0, said
    assert said.err == ""
    assert "Cost: nothing, no model was called." in said.out
    shown = [row.split(" | ") for row in said.out.splitlines() if row.startswith("| hit@8")]
    # Cases to deny have nothing to find.
    counts = shown[0][-1].rstrip(" |").split("/")
    assert 0 < int(counts[0]) < int(counts[1])
    assert shown[0][1] == "100\N{NO-BREAK SPACE}%"


def test_json_has_every_figure_with_its_coverage(home: Path) -> None:
    shown = lab(home, "show", "base", "--json").json
    assert shown["run"]["name"] == "base"
    overall = {row["metric"]: row for row in shown["metrics"] if row["group"] == "overall"}
    assert overall["outcome_accuracy"]["total"] == shown["run"]["cases"]
    assert overall["mrr"]["valid"] < overall["mrr"]["total"]
    missing = overall["mrr"]["total"] - overall["mrr"]["valid"]
    assert overall["mrr"]["reasons"] == {
        "the case is to be denied: nothing should be found": missing
    }
    assert {row["name"] for row in shown["metrics"] if row["group"] == "tag"} == {"desk"}


def test_one_case_is_shown_whole(home: Path) -> None:
    case = lab(home, "export", "base").lines[0]["case"]["id"]
    told = lab(home, "show", "base", "--case", case)
    for part in (
        "How long may I book",
        "Queries",
        "Ranking global/sparse/standard",
        "Answer (",
        "Claims",
        "Scores",
        "mrr",
    ):
        assert part in told.out
    whole = lab(home, "show", "base", "--case", case, "--json").json
    assert whole["answer"]["trace"]["rankings"][0]["rows"]
    assert {score["metric"] for score in whole["scores"]} >= {"mrr", "latency"}
    refused(lab(home, "show", "base", "--case", "nobody"), 1, "has no case `nobody`", "Such as ")


def test_a_dataset_is_called_by_its_name_wherever_it_lies(home: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    shown = [
        lab(home, "run", home / "cases.jsonl", "--name", "whole path", "--metrics", "hit@8"),
        lab(home, "show"),
        lab(home, "show", "--json"),
        lab(home, "show", "whole path"),
        lab(home, "show", "whole path", "--json"),
        lab(home, "show", "whole path", "--trend", "--metrics", "hit@8", "--json"),
    ]
    assert lab(home, "report", "whole path", "--html", report).code == 0
    assert "43 cases of cases.jsonl (open)" in shown[0].out
    assert shown[4].json["run"]["dataset"] == "cases.jsonl"
    page = report.read_text(encoding="utf-8")
    assert '<h1 dir="auto">cases.jsonl</h1>' in page
    for text in (page, *(result.out + result.err for result in shown)):
        assert str(home) not in text


def test_list_names_the_runs_newest_first(home: Path) -> None:
    names = [run["name"] for run in lab(home, "show", "--json").json["runs"]]
    assert names.index("one") < names.index("base")


def test_compare_says_what_differs_and_the_gate_stops_it(home: Path, tmp_path: Path) -> None:
    same = lab(home, "gate", "--baseline", "base", "--candidate", "base")
    assert same.code == 0
    assert same.out.startswith("PASS")
    worse = lab(home, "run", "cases.jsonl", "--name", "mute", "--plan", "abstain=1", "--json")
    assert worse.code == 0
    told = lab(home, "compare", "base", "mute", "--json").json
    rows = {row["metric"]: row for row in told["metrics"] if row["group"] == "overall"}
    right = rows["outcome_accuracy"]
    assert right["second"] < right["first"]
    assert right["low"] <= right["difference"] <= right["high"] < 0
    stopped = lab(home, "gate", "--baseline", "base", "--junit", tmp_path / "gate.xml")
    assert stopped.code == 1
    assert "outcome_accuracy went from" in stopped.out
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert int(suite.attrib["failures"]) >= 1
    verdict = lab(home, "gate", "--baseline", "base", "--metrics", "mrr", "--json")
    assert (verdict.code, verdict.json["passed"]) == (0, True)


def test_a_report_is_one_file_that_asks_nobody_for_anything(home: Path, tmp_path: Path) -> None:
    said = lab(
        home,
        "report",
        "base",
        "one",
        "--html",
        tmp_path / "r.html",
        "--markdown",
        tmp_path / "r.md",
    )
    assert said.code == 0, said
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "| mrr |" in (tmp_path / "r.md").read_text(encoding="utf-8")
    refused(lab(home, "report", "base"), 2, "Where should the report go?")
    refused(lab(home, "report", "base", "--html", "/proc/nothing/r.html"), 2, "cannot be written")


def test_a_sweep_is_a_table_a_plot_and_is_not_asked_twice(home: Path) -> None:
    sweep = (
        "sweep",
        "cases.jsonl",
        "plan.k=1,3",
        "index.chunk_tokens=64,256",
        "--metrics",
        "mrr,words@8,latency",
    )
    told = lab(home, *sweep, "--json")
    assert told.code == 0, told
    cells = told.json["cells"]
    assert [cell["cell"] for cell in cells] == [
        {"plan.k": k, "index.chunk_tokens": size} for k in (1, 3) for size in (64, 256)
    ]
    assert any(cell["front"] for cell in cells)
    ElementTree.parse(told.json["plot"])
    again = lab(home, *sweep, "--json").json
    assert [cell["run"]["id"] for cell in again["cells"]] == [cell["run"]["id"] for cell in cells]
    refused(
        lab(home, "sweep", "cases.jsonl", "plan.kk=3"), 2, "`kk` is not a field of the plan", "`k`"
    )
    refused(lab(home, "sweep", "cases.jsonl", "k=3"), 1, "`k=3` is not an axis", "plan.k=3,5,7,10")


def test_a_study_runs_a_design_of_ones_own(home: Path) -> None:
    (home / "own.toml").write_text(
        'metrics = ["quote_recall@5"]\naxes = ["plan.k=1,8"]\n[[claim]]\n'
        'said = "More find more."\nbetter = "k=8"\nworse = "k=1"\n',
        encoding="utf-8",
    )
    told = lab(home, "study", "own.toml", "cases.jsonl", "--split", "open")
    assert told.code == 0, told
    for part in ("k=1", "k=8", "95 %", "More find more.", "pairs", "lab report"):
        assert part in told.out
    ElementTree.parse(home / ".ombud/lab/own.svg")
    again = lab(home, "study", "own.toml", "cases.jsonl", "--split", "open", "--json").json
    assert all(row["run"]["id"] in told.out for row in again["rows"])
    assert [claim["said"] for claim in again["claims"]] == ["More find more."]
    refused(lab(home, "study", "none.toml", "cases.jsonl"), 1, "cannot be read", "TOML")


def test_tuning_chooses_on_dev_and_reports_test(home: Path) -> None:
    tune = ("tune", "cases.jsonl", "plan.k=1,4,8", "plan.weights.sparse=0.2,0.8")
    worse = ("--objective", "mrr", "--plan", "mode=sparse", "--plan", "k=1", "--timed", "3")
    told = lab(home, *tune, *worse, "--metrics", "words@8", "--json")
    assert told.code == 0, told
    found = told.json
    assert found["cells"] == 6
    assert found["present"]["cell"] == {}
    assert found["dev_cases"] > found["test_cases"] > 0
    for finalist in found["finalists"]:
        assert [row["metric"] for row in finalist["test"]] == ["mrr", "words@8", "warm_latency"]
    again = lab(home, *tune, *worse, "--metrics", "words@8", "--json").json
    assert [trial["run"] for trial in again["trials"]] == [row["run"] for row in found["trials"]]
    said = lab(home, *tune, "--objective", "mrr", "--objective", "latency", "--trials", "2")
    assert "of 6 settings tried on the dev split" in said.out
    assert "* on the front of mrr and latency. Plot: " in said.out
    ElementTree.parse(home / ".ombud" / "lab" / "tune cases.svg")
    refused(lab(home, "tune", "cases.jsonl", "k=3"), 1, "`k=3` is not an axis")


def test_ablation_shows_what_each_part_is_worth(home: Path) -> None:
    said = lab(home, "ablate", "cases.jsonl", "--over", "plan", "--metrics", "mrr")
    assert said.code == 0, said
    assert "late" in said.out
    told = lab(home, "ablate", "cases.jsonl", "--over", "plan", "--metrics", "mrr", "--json").json
    parts = {row["part"]: row for row in told["parts"]}
    assert parts["late"]["set"] == {"plan.late": 0}
    assert parts["late"]["low"] <= parts["late"]["difference"] <= parts["late"]["high"]
    refused(
        lab(home, "ablate", "cases.jsonl", "--over", "components"), 1, "No chat model is set up"
    )
    refused(lab(home, "ablate", "cases.jsonl", "--over", "walls"), 2, "`walls` cannot be left out")


def test_the_least_confidence_is_chosen_on_dev_and_shows_test(home: Path) -> None:
    told = lab(home, "tune", "cases.jsonl", "--confidence", "--json").json
    assert 0 < told["abstain"] < 1
    assert [row["coverage"] for row in told["test"]] == [n / 10 for n in range(1, 11)]
    ElementTree.parse(told["plot"])


def test_trend_follows_a_dataset(home: Path, tmp_path: Path) -> None:
    plot = tmp_path / "t.svg"
    follow = ("show", "one", "--trend", "--metrics", "mrr", "--plot", plot, "--json")
    told = lab(home, *follow).json
    heads = [step["run"]["name"] for step in told["trend"]["mrr"]]
    assert heads[:2] == ["base", "one"]
    assert told["trend"]["mrr"][0]["since"] is None
    assert told["trend"]["mrr"][1]["since"]["pairs"] > 0
    ElementTree.parse(plot)


def test_synthesis_without_a_model_says_what_to_do(home: Path) -> None:
    refused(lab(home, "synth", "--out", "x.jsonl"), 2, "No model is set up", "--past-questions")


def test_a_run_leaves_for_other_tools_and_can_be_scored_there(home: Path) -> None:
    for form, name in (("trec", "run.txt"), ("qrels", "qrels.txt")):
        assert lab(home, "export", "base", "--format", form, "--out", name).code == 0
    scored = lab(
        home,
        "run",
        "qrels.txt",
        "--rankings",
        "run.txt",
        "--metrics",
        "recall@8,mrr",
        "--json",
    ).json
    assert scored["metrics"]["recall@8"]["mean"] == 1
    records = lab(home, "export", "base", "--format", "ragas").lines
    assert {"user_input", "retrieved_contexts", "response", "reference"} <= records[0].keys()
    refused(lab(home, "export", "base", "--format", "xml"), 2, "No format is called `xml`", "ragas")


def test_stored_answers_are_scored_again_and_runs_forgotten(home: Path) -> None:
    assert (
        lab(
            home, "run", "cases.jsonl", "--name", "brief", "--sample", "0.2", "--metrics", "mrr"
        ).code
        == 0
    )
    assert lab(home, "run", "--rescore", "brief", "--metrics", "recall@3").code == 0
    metrics = {row["metric"] for row in lab(home, "show", "brief", "--json").json["metrics"]}
    assert metrics == {"mrr", "recall@3"}
    assert "Exploratory" in lab(home, "show", "brief").out
    assert lab(home, "show", "brief", "--delete").code == 0
    refused(lab(home, "show", "brief"), 1, "There is no run `brief`")


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_stopped_in_the_middle_the_same_command_goes_on(
    home: Path, tmp_path: Path, how: signal.Signals
) -> None:
    many = tmp_path / "many.jsonl"
    many.write_text("\n".join(line(n) for n in range(500)), encoding="utf-8")
    command = ("lab", "run", str(many), "--name", how.name, "--metrics", "mrr", "--split", "open")
    with start(*command, cwd=home) as process:
        wait_until(process, lambda: _begun(home, how.name))
        assert process.poll() is None
        os.killpg(process.pid, how)
        _, err = process.communicate(timeout=60)
    if how is signal.SIGINT:
        assert process.returncode == 130
        assert err == "Stopped. Nothing is lost; the next run goes on.\n"
    done = lab(home, "show", how.name, "--json").json
    assert done["run"]["state"] == "running"
    ended = ombud(*command, "--json", cwd=home).json
    assert ended["run"]["id"] == done["run"]["id"]
    assert ended["run"]["state"] == "done"
    assert ended["metrics"][0]["valid"] == ended["run"]["cases"]


def _begun(home: Path, name: str) -> bool:
    with closing(
        sqlite3.connect(f"file:{home / '.ombud' / 'store.sqlite'}?mode=ro", uri=True)
    ) as db:
        query = "SELECT COUNT(*) FROM lab_row JOIN lab_run ON lab_run.id = lab_row.run_id WHERE name = ?"
        return bool(db.execute(query, (name,)).fetchone()[0] >= 20)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"id": "a", "question": "x"}\n{"id": "a", "question": "y"}',
            "line 2: id `a` was used before",
        ),
        ('{"id": "a", "question": "x"}\n{"id": ', "line 2: not valid JSON"),
        ('{"id": "a", "qestion": "x"}', "line 1: `qestion` is not a field"),
        ("", "no cases in it"),
    ],
)
def test_a_bad_dataset_names_file_line_and_field(home: Path, content: str, message: str) -> None:
    (home / "bad.jsonl").write_text(content, encoding="utf-8")
    refused(lab(home, "run", "bad.jsonl"), 1, message)


@pytest.mark.parametrize(
    ("arguments", "code", "message", "hint"),
    [
        (
            ("run", "cases.jsonl", "--target", "http://127.0.0.1:9"),
            1,
            "cannot be reached",
            "goes on",
        ),
        (("run", "cases.jsonl", "--target", "ftp://x"), 1, "is not an address", "http://"),
        (
            ("run", "cases.jsonl", "--metrics", "recal@5"),
            2,
            "No metric is called `recal`",
            "`recall`",
        ),
        (("run", "cases.jsonl", "--split", "secret"), 2, "No split is called `secret`", "sealed"),
        (("run", "abc.jsonl", "--split", "open"), 1, "none of its 1 cases is in", "1 in `sealed`"),
        (("run", "cases.jsonl", "--sample", "0"), 2, "cannot be drawn", "0.2"),
        (("run", "cases.jsonl", "--plan", "k=-1"), 2, "plan.k", ""),
        (("gate", "--baseline", "nothing"), 1, "There is no run `nothing`", "The newest: "),
        (
            ("compare", "base", "one", "--metrics", "recall"),
            2,
            "`recall` is not a metric",
            "recall@k",
        ),
    ],
)
def test_a_mistake_is_one_sentence_and_a_hint(
    home: Path, arguments: tuple[str, ...], code: int, message: str, hint: str
) -> None:
    (home / "abc.jsonl").write_text(line(0, id="abc"), encoding="utf-8")
    refused(lab(home, *arguments), code, message, hint)


def test_looks_at_the_sealed_split_are_printed(home: Path) -> None:
    looks = [
        lab(home, "run", "cases.jsonl", "--split", "sealed", "--metrics", "mrr").out
        for _ in range(2)
    ]
    assert ["Look 1 at" in looks[0], "Look 2 at" in looks[1]] == [True, True]


def test_cases_of_one_tag_alone(home: Path, tmp_path: Path) -> None:
    cases = tmp_path / "tagged.jsonl"
    tagged = [line(n, tags=[tag]) for n, tag in enumerate(["desk", "badge", "badge", "key"] * 5)]
    cases.write_text("\n".join(tagged), encoding="utf-8")
    asked = lab(home, "run", cases, "--tag", "badge", "--tag", "key", "--json").json
    tags = {row["name"] for row in asked["metrics"] if row["group"] == "tag"}
    assert tags == {"badge", "key"}
    unknown = lab(home, "run", cases, "--tag", "keys")
    refused(unknown, 1, "No case is tagged `keys`", "badge, desk, key")
