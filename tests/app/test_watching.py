"""Cases that are asked again after every change of what answers, and who hears of a fall."""

import json
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from answer.asking import company
from ombud.app import DEVIATIONS, Workspace, production, run_watch, watch_once
from ombud.errors import LabError, NotFound
from ombud.store import list_runs, read_links, read_progress, save_run

QUESTIONS = {
    "leave": "How many days of annual leave do employees have in a year?",
    "days": "How many days of annual leave are there?",
    "year": "How much annual leave do employees have in a year?",
    "annual": "What annual leave do employees have?",
    "staff": "How many days of leave a year?",
    "much": "how much annual leave",
    "holiday": "How many days of annual leave can I take?",
    "total": "annual leave days in total",
}


@pytest.fixture
def shelf(tmp_path: Path) -> Any:
    made = company(tmp_path, models={"embedder": "none"})
    lines: list[str] = []
    for number in range(6):
        for name, question in QUESTIONS.items():
            case = {
                "id": f"{name}-{number}",
                "question": question,
                "expect": "answer",
                "person": {"country": "GB"},
            }
            lines.append(json.dumps(case))
    (tmp_path / "watch.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return made


def opened(shelf: Any, url: str = "", **plan: Any) -> Workspace:
    flags = {"lab": {"every": "watch.jsonl", "owner_url": url}, "models": {"embedder": "none"}}
    if plan:
        flags["plan"] = plan
    return Workspace(shelf.workspace.home, flags)


def test_nothing_is_asked_while_nothing_changes(shelf: Any) -> None:
    workspace = opened(shelf)
    first = watch_once(workspace)
    assert first
    assert first.baseline is None
    assert watch_once(workspace) is None
    assert len(list_runs(workspace.store)) == 1


def test_a_fall_is_told_once_with_its_cases_and_is_no_baseline(shelf: Any) -> None:
    heard: list[dict[str, Any]] = []

    class Owner(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Owner) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/fell"
        first = watch_once(opened(shelf, url, abstain=0.05))
        assert first
        # So certain that nothing is answered any more.
        strict = watch_once(opened(shelf, url, abstain=1.0))
        assert strict
        assert strict.verdict
        assert not strict.verdict.passed
        again = watch_once(opened(shelf, url, abstain=0.99))
        server.shutdown()
    assert again
    assert again.baseline
    assert again.baseline.id == first.run.id
    assert [one["run"] for one in heard] == [strict.run.id, again.run.id]
    (told, _) = heard
    assert told["type"] == "fall"
    assert any(fall["metric"] == "outcome_accuracy" for fall in told["falls"])


def test_a_person_pins_the_baseline_that_later_runs_are_held_against(shelf: Any) -> None:
    first = watch_once(opened(shelf, abstain=0.05))
    strict = watch_once(opened(shelf, abstain=1.0))
    assert first
    assert strict
    workspace = opened(shelf)
    state = read_progress(workspace.store, DEVIATIONS)
    assert (state["run"], state["baseline"]) == (strict.run.id, first.run.id)
    assert state["means"]["outcome_accuracy"]["now"] < 1
    assert any(fall["metric"] == "outcome_accuracy" for fall in state["falls"])
    page = production.show_production(workspace)
    assert not page.is_pinned
    assert {metric for metric, plot in page.charts if plot.svg} >= {"outcome_accuracy"}

    production.pin_baseline(workspace, strict.run.id, "ann")
    page = production.show_production(workspace)
    assert page.baseline
    assert (page.baseline.id, page.is_pinned) == (strict.run.id, True)
    facts = [link.facts for link in read_links(workspace.store, range(99))]
    assert [one["run"] for one in facts if one.get("action") == "lab baseline"] == [strict.run.id]
    again = watch_once(opened(shelf, abstain=0.99))
    assert again
    assert again.baseline
    assert again.baseline.id == strict.run.id
    assert again.verdict
    assert again.verdict.passed
    with pytest.raises(NotFound):
        production.pin_baseline(workspace, "unknown", "ann")


def test_unchanged_cases_are_asked_again_once_a_week_has_passed(shelf: Any) -> None:
    first = watch_once(opened(shelf))
    assert first
    workspace = opened(shelf)
    started = first.run.started - timedelta(days=8) if first.run.started else None
    save_run(workspace.store, first.run.model_copy(update={"started": started}))
    again = watch_once(workspace)
    assert again
    assert again.run.id != first.run.id
    assert again.verdict
    assert again.verdict.passed
    assert watch_once(workspace) is None


def test_an_owner_who_cannot_be_told_loses_no_run(shelf: Any) -> None:
    url = "http://127.0.0.1:1/fell"
    watch_once(opened(shelf, url, abstain=0.05))
    strict = watch_once(opened(shelf, url, abstain=1.0))
    assert strict
    assert any(note.startswith("Fell beyond noise") for note in strict.run.notes)


def test_the_server_says_what_it_found_and_stops_when_told(shelf: Any) -> None:
    stop = threading.Event()
    lines: list[str] = []

    def on_line(line: str) -> None:
        lines.append(line)
        stop.set()

    run_watch(opened(shelf), stop, on_line)
    assert lines[0].startswith("watch: 48 cases asked") or "is the first" in lines[0]
    (shelf.workspace.home / "watch.jsonl").write_text("no case", encoding="utf-8")
    stop.clear()
    lines.clear()
    run_watch(opened(shelf), stop, on_line)
    assert lines[0].startswith("watch failed:")
    with pytest.raises(LabError):
        watch_once(opened(shelf))
