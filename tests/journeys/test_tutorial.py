"""The tutorial's files and commands, used as the page says; test_handover does its fifth section."""

import re
import shlex
from pathlib import Path

from journeys.command import Result, ombud

PAGE = Path(__file__).parents[2] / "docs/guides/tutorial.md"
STEPS = re.compile(r"ave as `([^`]+)`|^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def follow(folder: Path) -> list[Result]:
    """Save each file and run each command in the order of the page; `serve` is left out, because it
    would not end."""
    results: list[Result] = []
    name = ""
    for saved_as, kind, text in STEPS.findall(PAGE.read_text(encoding="utf-8")):
        if saved_as:
            name = saved_as
        elif kind in {"markdown", "jsonl"}:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        elif kind == "toml":
            with (folder / "my-policies/ombud.toml").open("a", encoding="utf-8") as settings:
                settings.write(text)
        elif kind == "sh":
            for line in text.splitlines():
                words = shlex.split(line)[1:]
                if words[-1] != "serve":
                    results.append(
                        ombud(*words, cwd=folder, env={"OMBUD_MODELS__EMBEDDER": "minilm"})
                    )
    return results


def test_the_tutorial_goes_as_it_says(tmp_path: Path) -> None:
    results = follow(tmp_path)
    assert [result.code for result in results] == [0] * 12, results
    _, synced, british, anywhere, unknown, again, known, german, *measured = [
        result.out for result in results
    ]
    assert "3 added" in synced
    assert "26 days" in british
    assert "handbook/gb/leave.md" in british
    assert "26 days" not in anywhere
    assert "Fridays" not in unknown
    assert "1 added, 3 unchanged" in again
    assert "Fridays" in known
    assert "30 days" in german
    assert "usual" in measured[2]
    assert "tutorial-" in (tmp_path / "report.html").read_text(encoding="utf-8")
