"""A check of drafts on the sample handbook: what it finds, and that it leaves no trace."""

import asyncio
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from app.publishing.conftest import DAY, FLAGS, Write
from ombud.app import (
    DraftCheck,
    DraftChoices,
    QuestionChoices,
    Workspace,
    asking,
    check_drafts,
    check_html,
    check_json,
    check_markdown,
)
from ombud.errors import BadRequest, SourceError
from ombud.index import blocking
from ombud.messages import message
from ombud.store import document_entries, list_documents
from ombud.types import Case, Passage, Person, Question

TRAVEL = "global/work/travel-2026.md"
LEAVE = "gb/annual-leave.md"
PARENTAL = "us/parental-leave.md"
MEALS = Case(
    id="meals",
    question="meals travel and expenses: how much is reimbursed a day?",
    person=Person(country="FR"),
    evidence=(
        Passage(document="handbook/" + TRAVEL, quote="You are reimbursed what you actually spent"),
    ),
)


def check(
    workspace: Workspace, paths: Sequence[Path], choices: DraftChoices | None = None, **more: Any
) -> DraftCheck:
    questions = QuestionChoices(**{"made": 4, **more})
    return check_drafts(workspace, paths, choices or DraftChoices(on=DAY), questions)


def state(workspace: Workspace) -> tuple[object, ...]:
    """All that serves: the version, the rows, what the store knows."""
    engine = workspace.engine
    rows = blocking(engine.rows(sorted(blocking(engine.documents()))))
    kept = sorted((row.chunk.id, row.chunk.effective_to, row.terms) for row in rows)
    return (
        engine.version(),
        kept,
        list_documents(workspace.store),
        document_entries(workspace.store, "handbook"),
    )


def left_behind(workspace: Workspace) -> list[Path]:
    return list((workspace.data / "lab" / "checks").iterdir())


def test_a_changed_figure_is_found_and_what_serves_stays_as_it_is(
    handbook: Workspace, rewrite: Write
) -> None:
    draft = rewrite(TRAVEL, ("EUR 40 a day", "EUR 45 a day"))
    before = state(handbook)
    made = check(handbook, [draft], cases=[MEALS], made=0)
    (change,) = made.found.answers
    assert change.kind == "figures"
    assert any("45" in figure for figure in change.figures_after)
    assert any("40" in figure for figure in change.figures_before)
    assert made.go
    assert state(handbook) == before
    assert left_behind(handbook) == []
    told = check_json(made)["changes"][0]
    assert "EUR 40 a day" in told["live"]["text"]
    assert "EUR 45 a day" in told["draft"]["text"]
    assert (told["country"], told["as_of"]) == ("FR", "2027-01-01")


def test_a_page_in_the_same_words_changes_no_answer(
    whole_handbook: Workspace, rewrite: Write
) -> None:
    made = check(whole_handbook, [rewrite(TRAVEL)], cases=[MEALS])
    counts = made.counts
    assert (counts["failed"], counts["fell"]) == (0, 0)
    assert counts["unchanged"] == sum(counts.values())
    (meals,) = [change for change in made.found.answers if change.both.asked.case]
    assert meals.kinds == ("unchanged",)


BUYING = Case(
    id="buying",
    question="How many extra days may I buy each January?",
    person=Person(country="GB"),
    evidence=(Passage(document=f"handbook/{LEAVE}", quote="you may buy up to 5 extra days"),),
)


def without_buying(rewrite: Write) -> Path:
    """The page about leave without its section on buying days."""
    draft = rewrite(LEAVE)
    sections = re.split(r"^(?=## )", draft.read_text(encoding="utf-8"), flags=re.MULTILINE)
    kept = [section for section in sections if "Buying leave" not in section.splitlines()[0]]
    assert len(kept) == len(sections) - 1
    draft.write_text("".join(kept), encoding="utf-8")
    return draft


def test_answers_that_are_no_longer_given_say_no(handbook: Workspace, rewrite: Write) -> None:
    made = check(handbook, [without_buying(rewrite)], cases=[BUYING], made=0)
    (change,) = made.found.answers
    assert change.kind == "refused"
    assert made.reasons == (
        message("admin.check_refused", count=1, most=0),
        message("admin.check_fell", count=1),
    )
    assert [case.id for case in made.found.revise] == ["buying"]


def test_rules_of_the_settings_decide(handbook: Workspace, rewrite: Write) -> None:
    strict = Workspace(handbook.home, {**FLAGS, "publish": {"figures": 0}})
    draft = rewrite(TRAVEL, ("EUR 40 a day", "EUR 45 a day"))
    made = check(strict, [draft], cases=[MEALS], made=0)
    strict.close()
    assert made.reasons == (message("admin.check_figures", count=1, most=0),)


def test_rules_can_be_let_go(handbook: Workspace, rewrite: Write) -> None:
    rules = {"gate_fall": False, "refused": -1}
    lenient = Workspace(handbook.home, {**FLAGS, "publish": rules})
    made = check(lenient, [without_buying(rewrite)], cases=[BUYING], made=0)
    lenient.close()
    assert made.found.answers[0].kind == "refused"
    assert made.go


def test_the_draft_in_the_words_of_the_case_is_looked_for_in_the_draft(
    handbook: Workspace, rewrite: Write
) -> None:
    made = check(handbook, [rewrite(TRAVEL, ("EUR 160", "EUR 170"))], cases=[MEALS], made=0)
    assert made.found.revise == ()
    assert made.found.answers[0].kinds == ("unchanged",)


def test_drafts_of_one_country_ask_its_people_and_global_ones_everybody(
    handbook: Workspace, rewrite: Write
) -> None:
    local = check(handbook, [rewrite(PARENTAL)])
    assert {change.both.asked.country for change in local.found.answers} == {"US"}
    everywhere = check(handbook, [rewrite(TRAVEL)])
    countries = {change.both.asked.country for change in everywhere.found.answers}
    assert countries == {"DE", "FR", "GB", "US"}
    only = check(handbook, [rewrite(TRAVEL)], countries=("GB",))
    assert {change.both.asked.country for change in only.found.answers} == {"GB"}


def test_past_questions_need_consent_and_lose_names(handbook: Workspace, rewrite: Write) -> None:
    question = Question(
        text="How much for meals a day on a trip? My manager Jonathan Smith did not know.",
        asker=Person(id="employee-7", country="FR"),
    )
    asyncio.run(asking.ask(handbook, question))
    draft = rewrite(TRAVEL, ("EUR 40 a day", "EUR 45 a day"))
    without = check(handbook, [draft], from_log=5, made=1)
    assert any("[lab] harvest = true" in note for note in without.notes)
    assert all(change.both.asked.origin != "log" for change in without.found.answers)
    consented = Workspace(handbook.home, {**FLAGS, "lab": {"harvest": True}})
    made = check(consented, [draft], from_log=5, made=0)
    consented.close()
    (change,) = made.found.answers
    assert "Smith" not in change.both.asked.question.text
    assert change.both.asked.question.asker.id == ""


def test_nothing_to_ask_is_said(handbook: Workspace, rewrite: Write) -> None:
    with pytest.raises(BadRequest, match="nothing to ask"):
        check(handbook, [rewrite(TRAVEL)], made=0)
    assert left_behind(handbook) == []


def test_a_draft_that_cannot_be_read_ends_the_check(handbook: Workspace, tmp_path: Path) -> None:
    broken = tmp_path / "travel.pdf"
    broken.write_bytes(b"%PDF-1.4 nonsense")
    with pytest.raises(SourceError):
        check(handbook, [broken])
    assert not (handbook.data / "lab" / "checks").exists() or left_behind(handbook) == []


def test_reports_escape_what_documents_say(handbook: Workspace, rewrite: Write) -> None:
    evil = "<script>alert(1)</script>"
    draft = rewrite(TRAVEL, ("EUR 40 a day", f"EUR 45 {evil} a day"))
    made = check(handbook, [draft], cases=[MEALS], made=0)
    page = check_html(made, evil)
    assert "alert(1)" in page
    assert evil not in page
    text = check_markdown(made, "x")
    assert evil not in text
    assert "\n> " in text
    json.dumps(check_json(made))


def test_two_checks_at_once_do_not_meet(handbook: Workspace, rewrite: Write) -> None:
    draft = rewrite(TRAVEL, ("EUR 40 a day", "EUR 45 a day"))
    both: list[DraftCheck] = []

    def run() -> None:
        workspace = Workspace(handbook.home, FLAGS)
        both.append(check(workspace, [draft], cases=[MEALS], made=0))
        workspace.close()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [made.counts["figures"] for made in both] == [1, 1]
    assert both[0].digest == both[1].digest
    assert left_behind(handbook) == []


KILLED = """
import os, signal, sys
from datetime import date
from pathlib import Path
from ombud.app import DraftChoices, QuestionChoices, Workspace, check_drafts
workspace = Workspace(Path(sys.argv[1]), {"models": {"embedder": "none"}})
def die(step, done, total):
    if step == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)
check_drafts(workspace, [Path(sys.argv[2])], DraftChoices(on=date(2027, 1, 1)),
             QuestionChoices(made=4), on_progress=die)
"""


@pytest.mark.slow
@pytest.mark.parametrize("step", ["copy", "ask"])
def test_a_killed_check_leaves_nothing_that_the_next_does_not_remove(
    handbook: Workspace, rewrite: Write, step: str
) -> None:
    draft = rewrite(TRAVEL, ("EUR 40 a day", "EUR 45 a day"))
    before = state(handbook)
    command = [sys.executable, "-c", KILLED, str(handbook.home), str(draft), step]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert len(left_behind(handbook)) == 1
    assert state(handbook) == before
    assert check(handbook, [draft], cases=[MEALS], made=0).counts["figures"] == 1
    assert left_behind(handbook) == []
