"""`ombud lab import`: cases of other tools in one file of ours."""

import json
from pathlib import Path

from lab.keeping import home_with, said, told
from ombud.lab import read_cases


def test_records_of_ragas_become_cases(tmp_path: Path) -> None:
    home = home_with(tmp_path)
    records, out = home / "ragas.jsonl", home / "cases.jsonl"
    record = {"user_input": "How much leave do I have?", "reference": "26 days."}
    records.write_text(json.dumps(record), encoding="utf-8")
    assert told(home, "import", records, "--out", out) == {"cases": 1, "file": str(out)}
    (case,) = read_cases(out)
    assert (case.question, case.references[0].text) == (record["user_input"], "26 days.")


def test_without_a_source_it_asks_for_one(tmp_path: Path) -> None:
    home = home_with(tmp_path)
    assert "Import what, and as what?" in said(
        home, "import", "--out", home / "cases.jsonl", code=2
    )
