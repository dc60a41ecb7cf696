"""Drafts put in force and taken back: the new answer from its day on, the old before it, every byte
as it was."""

import json
import os
import re
import signal
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.publishing.conftest import DAY, FLAGS, Write, ask, tree
from journeys.command import ombud
from ombud.app import (
    DraftChoices,
    QuestionChoices,
    Workspace,
    certify_deletion,
    check_drafts,
    list_publications,
    publish_drafts,
    sync_all,
    undo_publication,
)
from ombud.errors import BadRequest, LabError, NotFound
from ombud.messages import message
from ombud.store import find_document, read_head, read_links, verify_chain

TRAVEL = "global/work/travel-2026.md"
MEALS = "meals travel and expenses: how much is reimbursed a day?"
EVE = DAY - timedelta(days=1)
ON = DraftChoices(on=DAY)
NEW = "handbook/global/work/travel-2026-from-2027-01-01.md"


def check(workspace: Workspace, *paths: Path, choices: DraftChoices = ON) -> bool:
    asked = QuestionChoices(made=1, countries=("FR", "GB"))
    return check_drafts(workspace, paths, choices, asked).go


def meals(workspace: Workspace, day: date) -> str:
    (figure,) = set(re.findall(r"EUR 4\d a day", ask(workspace, MEALS, "FR", day).text))
    return str(figure)


@pytest.fixture
def draft(rewrite: Write) -> Path:
    return rewrite(TRAVEL, ("EUR 40 a day", "EUR 45 a day"))


def test_the_new_answer_counts_from_its_day_on_and_undo_restores_every_byte(
    handbook: Workspace, draft: Path
) -> None:
    before = tree(handbook.home / "handbook")
    assert check(handbook, draft)
    done = publish_drafts(handbook, [draft], ON).publication
    assert (done.state, done.go, done.forced) == ("done", True, "")
    assert (meals(handbook, EVE), meals(handbook, DAY)) == ("EUR 40 a day", "EUR 45 a day")
    assert find_document(handbook.store, "handbook/" + TRAVEL).effective_to == EVE
    after = tree(handbook.home / "handbook")
    assert after.keys() - before.keys() == {NEW.removeprefix("handbook/")}
    assert {name: after[name] for name in before} == before

    undone = undo_publication(handbook, done.id[:4]).publication
    assert undone.state == "undone"
    assert tree(handbook.home / "handbook") == before
    assert (meals(handbook, EVE), meals(handbook, DAY)) == ("EUR 40 a day", "EUR 40 a day")
    assert find_document(handbook.store, "handbook/" + TRAVEL).effective_to is None
    assert [report.unchanged for report in sync_all(handbook)] == [23]


def test_the_audit_holds_both_and_no_word(handbook: Workspace, draft: Path) -> None:
    done = publish_drafts(handbook, [draft], ON, force="Board decision of 3 May").publication
    undo_publication(handbook, done.id)
    head = read_head(handbook.store)
    assert head is not None
    first, second = read_links(handbook.store, [head.number - 1, head.number])
    assert (first.kind, second.kind) == ("published", "unpublished")
    assert first.facts["forced"] is True
    assert first.facts["documents"][0]["begins"] == "2027-01-01"
    said = json.dumps([first.facts, second.facts])
    assert "travel" not in said
    assert "Board" not in said
    assert verify_chain(handbook.store).broken is None
    assert list_publications(handbook)[0].forced == "Board decision of 3 May"


def test_nothing_is_published_without_a_check_of_just_these_bytes(
    handbook: Workspace, draft: Path
) -> None:
    before = tree(handbook.home / "handbook")
    with pytest.raises(LabError, match=message("admin.error_check_outdated")):
        publish_drafts(handbook, [draft], ON)
    assert check(handbook, draft)
    other_day = DraftChoices(on=DAY + timedelta(days=1))
    with pytest.raises(LabError, match=message("admin.error_check_outdated")):
        publish_drafts(handbook, [draft], other_day)
    draft.write_text(draft.read_text() + "\nOne more word.\n")
    with pytest.raises(LabError, match=message("admin.error_check_outdated")):
        publish_drafts(handbook, [draft], ON)
    assert tree(handbook.home / "handbook") == before
    assert list_publications(handbook) == []


def test_a_check_holds_no_longer_when_other_documents_have_changed(
    handbook: Workspace, draft: Path
) -> None:
    assert check(handbook, draft)
    page = handbook.home / "handbook" / "gb" / "annual-leave.md"
    page.write_text(page.read_text() + "\nOne more word.\n")
    with pytest.raises(BadRequest, match="changes that no sync has taken in: handbook/gb/annual"):
        publish_drafts(handbook, [draft], ON)
    sync_all(handbook)
    with pytest.raises(LabError, match=message("admin.error_check_outdated")):
        publish_drafts(handbook, [draft], ON)


def test_a_check_that_said_no_is_told_with_its_reasons(handbook: Workspace, rewrite: Write) -> None:
    strict = Workspace(handbook.home, {**FLAGS, "publish": {"figures": 0}})
    draft = rewrite("us/parental-leave.md", ("12 weeks", "10 weeks"))
    check_drafts(strict, [draft], ON, QuestionChoices(made=2))
    with pytest.raises(LabError, match=r"0 allowed \(publish.figures\)"):
        publish_drafts(strict, [draft], ON)
    strict.close()


def test_what_a_draft_does_not_say_it_has_from_what_it_replaces(
    handbook: Workspace, tmp_path: Path
) -> None:
    """A rule of Great Britain does not become one of all countries by being rewritten."""
    draft = tmp_path / "leave.md"
    draft.write_text("# Leave\n\nEverybody in Britain has 27 days of annual leave.\n")
    choices = DraftChoices(on=DAY, replaces=("handbook/gb/annual-leave.md",))
    publish_drafts(handbook, [draft], choices, force="test")
    new = find_document(handbook.store, "handbook/gb/leave.md")
    old = find_document(handbook.store, "handbook/gb/annual-leave.md")
    assert (new.countries, new.topic, new.owner) == (("GB",), old.topic, old.owner)
    assert (new.status, new.effective_from, new.supersedes) == ("published", DAY, old.uri)


def test_a_draft_that_waits_in_its_source_is_published_in_its_place(handbook: Workspace) -> None:
    page = handbook.home / "handbook" / "gb" / "pets.md"
    page.write_text("---\nstatus: draft\ncountry: GB\n---\n# Pets\n\nTwo dogs a room.\n")
    sync_all(handbook)
    before = tree(handbook.home / "handbook")
    assert check(handbook, page)
    done = publish_drafts(handbook, [page], ON).publication
    assert "status: published" in page.read_text()
    assert find_document(handbook.store, "handbook/gb/pets.md").status == "published"
    undo_publication(handbook, done.id)
    assert tree(handbook.home / "handbook") == before
    assert find_document(handbook.store, "handbook/gb/pets.md").status == "draft"


def test_a_file_without_a_head_has_its_dates_beside_it(handbook: Workspace, tmp_path: Path) -> None:
    sidecar = handbook.home / "handbook" / "gb" / "ombud.yaml"
    sidecar.write_text("# ours\ndefaults: {country: GB}\n")
    sync_all(handbook)
    before = tree(handbook.home / "handbook")
    first, second = tmp_path / "dogs.txt", tmp_path / "cats.txt"
    first.write_text("Dogs\n\nTwo dogs a room.\n")
    second.write_text("Cats\n\nThree cats a room.\n")
    choices = DraftChoices(on=DAY, into="handbook/gb")
    assert check(handbook, first, second, choices=choices)
    done = publish_drafts(handbook, [first, second], choices).publication
    for name in ("dogs.txt", "cats.txt"):
        document = find_document(handbook.store, f"handbook/gb/{name}")
        assert (document.countries, document.effective_from) == (("GB",), DAY)
    assert sidecar.read_text().startswith("# ours\ndefaults: {country: GB}\n")
    undo_publication(handbook, done.id)
    assert tree(handbook.home / "handbook") == before


def test_what_was_changed_since_is_not_put_back(handbook: Workspace, draft: Path) -> None:
    done = publish_drafts(handbook, [draft], ON, force="test").publication
    (written,) = [Path(file.path) for file in done.files]
    written.write_text(written.read_text() + "\nMended by hand.\n")
    with pytest.raises(BadRequest, match="was changed since"):
        undo_publication(handbook, done.id)
    assert written.exists()
    with pytest.raises(NotFound):
        undo_publication(handbook, "nothing")


def test_a_page_that_is_in_force_is_no_draft(handbook: Workspace) -> None:
    page = handbook.home / "handbook" / TRAVEL
    with pytest.raises(BadRequest, match="is no draft"):
        check(handbook, page)


def test_which_document_is_replaced_must_be_clear(handbook: Workspace, tmp_path: Path) -> None:
    draft = tmp_path / "new.md"
    draft.write_text("# Annual leave\n")
    with pytest.raises(BadRequest, match="There is no document `handbook/gb/anual") as no:
        check(handbook, draft, choices=DraftChoices(replaces=("handbook/gb/anual-leave.md",)))
    assert "handbook/gb/annual-leave.md" in no.value.hint
    late = DraftChoices(on=date(2025, 1, 1), replaces=(f"handbook/{TRAVEL}",))
    with pytest.raises(BadRequest, match="itself begins on 2026-01-01"):
        check(handbook, draft, choices=late)


def test_a_source_that_is_no_folder_takes_no_drafts(handbook: Workspace, tmp_path: Path) -> None:
    toml = handbook.home / "ombud.toml"
    wiki = '\n[[source]]\nname = "wiki"\ntype = "wikipedia"\ntitles = ["Leave"]\n'
    toml.write_text(toml.read_text() + wiki)
    workspace = Workspace(handbook.home, FLAGS)
    draft = tmp_path / "new.md"
    draft.write_text("# Something new\n\nOf which nobody knows.\n")
    with pytest.raises(BadRequest, match="`wiki` is no folder"):
        publish_drafts(workspace, [draft], DraftChoices(into="wiki"), force="test")
    workspace.close()


KILLED = """
import os, signal, sys
from datetime import date
from pathlib import Path
from ombud.app import DraftChoices, Workspace, publish_drafts, undo_publication
workspace = Workspace(Path(sys.argv[1]), {"models": {"embedder": "none"}})
def die(step, done, total):
    if step == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[4:]:
    undo_publication(workspace, sys.argv[4], on_progress=die)
else:
    publish_drafts(workspace, [Path(sys.argv[2])], DraftChoices(on=date(2027, 1, 1)), force="now",
                   on_progress=die)
"""


def killed(*arguments: object) -> None:
    command = [sys.executable, "-c", KILLED, *map(str, arguments)]
    variables = {**os.environ, "OMBUD_DOCUMENTS__PROCESSES": "0"}
    assert subprocess.run(command, check=False, env=variables).returncode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("step", ["compare", "optimise"])
def test_a_publication_that_was_killed_is_taken_back_by_the_next_command(
    handbook: Workspace, draft: Path, step: str
) -> None:
    """Before the sync has read anything, and after it has taken all in."""
    before = tree(handbook.home / "handbook")
    killed(handbook.home, draft, step)
    assert tree(handbook.home / "handbook") != before
    with pytest.raises(LabError, match=message("admin.error_check_outdated")):
        publish_drafts(handbook, [draft], ON)
    assert tree(handbook.home / "handbook") == before
    assert [found.state for found in list_publications(handbook)] == ["undone"]
    assert meals(handbook, DAY) == "EUR 40 a day"
    done = publish_drafts(handbook, [draft], ON, force="again").publication
    assert meals(handbook, DAY) == "EUR 45 a day"
    assert done.state == "done"


@pytest.mark.slow
def test_taking_back_that_was_killed_is_finished_by_the_next_command(
    handbook: Workspace, draft: Path
) -> None:
    before = tree(handbook.home / "handbook")
    done = publish_drafts(handbook, [draft], ON, force="test").publication
    killed(handbook.home, draft, "compare", done.id)
    undone = undo_publication(handbook, done.id)
    assert undone.publication.state == "undone"
    assert tree(handbook.home / "handbook") == before
    assert meals(handbook, DAY) == "EUR 40 a day"


def test_a_document_that_is_deleted_for_good_leaves_no_copy_of_its_draft(
    handbook: Workspace,
) -> None:
    page = handbook.home / "handbook" / "gb" / "pets.md"
    words = "Whoever brings a golden spaniel tells the porter of the north gate beforehand."
    page.write_text(f"---\nstatus: draft\n---\n# Pets\n\n{words}\n")
    sync_all(handbook)
    publish_drafts(handbook, [page], ON, force="test")
    assert certify_deletion(handbook, "handbook/gb/pets.md").gone


def run(home: Path, *words: object) -> Any:
    return ombud("--home", home, *words, cwd=home)


def test_the_commands(handbook: Workspace, draft: Path, tmp_path: Path) -> None:
    home = handbook.home
    refused = run(home, "publish", draft, "--on", DAY)
    assert refused.code == 1
    assert "ombud publish --check" in refused.err
    html, text = tmp_path / "check.html", tmp_path / "check.md"
    options = ("--on", DAY, "--made", 2, "--country", "FR")
    done = run(home, "publish", "--check", draft, *options, "--html", html, "--markdown", text)
    assert done.code == 0, done.err
    assert "in place of handbook/global/work/travel-2026.md" in done.out
    assert done.out.rstrip().endswith("Go.")
    assert html.read_text().startswith("<!doctype html>")
    assert text.read_text().startswith("# Go")
    told = run(home, "publish", "--check", draft, *options, "--json").json
    assert told["go"] is True
    assert told["questions"] == sum(told["counts"].values())
    published = run(home, "publish", draft, "--on", DAY, "--json").json
    assert published["documents"][0]["uri"] == NEW
    assert published["id"] in run(home, "publish", "--list").out
    assert "taken back" in run(home, "publish", "--undo", published["id"]).out
    assert run(home, "publish").code == 2


def test_a_check_that_says_no_exits_with_1(handbook: Workspace, rewrite: Write) -> None:
    file = handbook.home / "ombud.toml"
    file.write_text(file.read_text(encoding="utf-8") + "\n[publish]\nfigures = 0\n")
    draft = rewrite("us/parental-leave.md", ("12 weeks", "10 weeks"))
    said = run(handbook.home, "publish", "--check", draft, "--on", DAY, "--made", 2)
    assert said.code == 1
    assert "0 allowed (publish.figures)" in said.out
