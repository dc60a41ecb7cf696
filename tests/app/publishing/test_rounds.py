"""Publishing that waits for people: past questions answered as if the drafts were in force."""

from pathlib import Path

import pytest

from app.publishing.conftest import DAY, Write
from lab.keeping import said, told
from lab.makers import case
from ombud.app import DraftChoices, QuestionChoices, Workspace, check_drafts, publish_drafts
from ombud.errors import LabError
from ombud.lab import cases_text, criteria_set, read_run
from ombud.lab.people.ratings import read_sheet, sheet_text
from ombud.types import Person

ON = DraftChoices(on=DAY)
TOML = '[models]\nembedder = "none"\n\n[publish]\nround = true\n'
NATWEST = criteria_set("natwest").criteria


@pytest.fixture
def draft(rewrite: Write) -> Path:
    return rewrite("global/work/travel-2026.md", ("EUR 40 a day", "EUR 45 a day"))


@pytest.fixture
def waiting(handbook: Workspace) -> Workspace:
    """The same, with rounds required."""
    path = handbook.home / "ombud.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text}\n{TOML}", encoding="utf-8")
    asked = "Meals travel and expenses: how much is reimbursed a day, question"
    past = [
        case(id=f"c{n}", question=f"{asked} {n}?", person=Person(country="FR")) for n in range(30)
    ]
    (handbook.home / "past.jsonl").write_text(cases_text(past), encoding="utf-8")
    return Workspace(handbook.home)


def rated(folder: Path, value: str) -> None:
    for rater in ("ann", "bob"):
        path = folder / f"annotation.{rater}.csv"
        rows = [dict(row.cells) for row in read_sheet(path, ("item",))]
        for row in rows:
            row.update(dict.fromkeys(NATWEST, value))
        path.write_text(sheet_text(tuple(rows[0]), rows), encoding="utf-8")


def test_drafts_are_published_once_people_said_go(
    waiting: Workspace, draft: Path, tmp_path: Path
) -> None:
    home, folder = waiting.home, tmp_path / "round"
    assert check_drafts(waiting, [draft], ON, QuestionChoices(made=1, countries=("FR",))).go
    with pytest.raises(LabError, match="was not held on these drafts"):
        publish_drafts(waiting, [draft], ON)
    words = ("round", folder, "--topic", "meals", "--sample", "20", "--from", home / "past.jsonl")
    run = told(home, *words, "--raters", "ann,bob", "--draft", draft, "--on", str(DAY))["run"]
    answers = [
        seen.answer.text for seen in read_run(waiting.store, run).observations if seen.answer
    ]
    assert len(answers) == 20
    assert sum("EUR 45 a day" in text for text in answers) >= 10
    assert not any("EUR 40 a day" in text for text in answers)

    rated(folder, "2")
    assert "No-go" in said(home, "round", folder, "--read", code=1)
    with pytest.raises(LabError, match="it said no-go"):
        publish_drafts(waiting, [draft], ON)

    rated(folder, "5")
    assert told(home, "round", folder, "--read")["decision"] == "go"
    changed = draft.read_text(encoding="utf-8").replace("EUR 45 a day", "EUR 46 a day")
    other = tmp_path / "other" / draft.name
    other.parent.mkdir()
    other.write_text(changed, encoding="utf-8")
    check_drafts(waiting, [other], ON, QuestionChoices(made=1, countries=("FR",)))
    with pytest.raises(LabError, match="was not held on these drafts"):
        publish_drafts(waiting, [other], ON)
    assert publish_drafts(waiting, [draft], ON).publication.state == "done"
