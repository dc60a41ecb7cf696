"""An answer made again is the same while nothing changed, and what changed is said."""

import asyncio
import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from answer.asking import (
    FILES,
    GB,
    LEAVE,
    NOBODY,
    Script,
    ask,
    claim,
    company,
    draft,
    label,
    with_model,
)
from ingest.shelf import Shelf
from ombud.app import (
    Workspace,
    asking,
    certify_deletion,
    rebuild_workspace,
    replay_answer,
    replayed_json,
)
from ombud.app.audit.replaying import Replayed
from ombud.errors import NotFound
from ombud.index import blocking
from ombud.index.engines import lance
from ombud.store import erase_rows, select_expired
from ombud.types import Question

HOTEL = "What is the hotel cap per night in Paris on a business trip?"


def again(workspace: Workspace, identity: str, *, model: bool = False) -> Replayed:
    return asyncio.run(replay_answer(workspace, identity, model=model))


def states(found: Replayed) -> dict[str, str]:
    return {
        document["uri"].removeprefix("docs/"): document["state"] for document in found.documents
    }


def changed_leave(shelf: Shelf) -> None:
    words, front = FILES["leave-gb.md"]
    shelf.write("leave-gb.md", words.replace("26 days", "27 days"), **front)
    assert shelf.sync().updated == 1


def forget_versions(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the hour is over for which old versions of the index are kept."""
    monkeypatch.setattr(lance, "KEEP_VERSIONS", timedelta(0))
    with pytest.warns(UserWarning, match="removes every version"):
        blocking(workspace.engine.maintain())


def test_while_nothing_changed_all_is_the_same(tmp_path: Path) -> None:
    shelf = company(tmp_path)
    for question in (LEAVE, HOTEL, "What colour is the moon in June?"):
        given = ask(shelf.workspace, question)
        found = again(shelf.workspace, given.id)
        assert found.same
        assert (found.snapshot, found.compared, found.differences) == (True, True, ())
        assert found.evidence_now == given.trace.evidence
        assert found.quotes == {"stand": len(given.citations), "differ": 0, "erased": 0}
        assert set(states(found).values()) <= {"unchanged"}
        json.dumps(replayed_json(found))


def test_after_a_changed_document_the_index_of_then_is_searched(tmp_path: Path) -> None:
    shelf = company(tmp_path)
    given = ask(shelf.workspace, LEAVE)
    changed_leave(shelf)
    found = again(shelf.workspace, given.id)
    assert found.snapshot
    assert found.same
    assert states(found)["leave-gb.md"] == "changed"
    assert found.index_then != found.index_now


def test_when_the_index_of_then_is_gone_the_present_one_is_searched_and_the_difference_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = company(tmp_path)
    given = ask(shelf.workspace, LEAVE)
    changed_leave(shelf)
    forget_versions(shelf.workspace, monkeypatch)
    found = again(shelf.workspace, given.id)
    assert not found.snapshot
    assert not found.same
    assert [row["uri"] for row in found.came] == ["docs/leave-gb.md"]
    assert [row["uri"] for row in found.went] == ["docs/leave-gb.md"]
    assert {name: state for name, state in states(found).items() if state != "unchanged"} == {
        "leave-gb.md": "changed"
    }
    (words,) = [one for one in found.answers if one.what == "text"]
    assert "26 days" in words.then
    assert "27 days" in words.now
    assert found.quotes["differ"] == found.quotes["erased"] == 0  # the text of then is kept


def test_an_index_that_was_optimised_answers_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = company(tmp_path)
    given = ask(shelf.workspace, LEAVE)
    forget_versions(shelf.workspace, monkeypatch)
    found = again(shelf.workspace, given.id)
    assert found.same
    assert set(states(found).values()) == {"unchanged"}


def test_an_index_made_anew_is_not_taken_for_the_one_of_then(tmp_path: Path) -> None:
    shelf = company(tmp_path)
    given = ask(shelf.workspace, LEAVE)
    shelf.workspace.close()
    shutil.rmtree(tmp_path / ".ombud" / "index")
    shelf = Shelf(tmp_path)
    words, front = FILES["leave-gb.md"]
    shelf.write("leave-gb.md", words.replace("26 days", "27 days"), **front)
    shelf.sync()
    while int(shelf.workspace.engine.version()) < int(given.trace.index_version):
        shelf.write(
            "more.md",
            f"# More\n\nVersion {shelf.workspace.engine.version()} of a rule about lamps.\n",
        )
        shelf.sync()
    found = again(shelf.workspace, given.id)
    assert not found.snapshot
    assert states(found)["leave-gb.md"] == "changed"


def test_after_a_rebuild_the_generation_before_is_searched(tmp_path: Path) -> None:
    shelf = company(tmp_path)
    given = ask(shelf.workspace, LEAVE)
    rebuild_workspace(shelf.workspace)
    later = ask(shelf.workspace, LEAVE)
    assert later.trace.index_version.startswith("g2/")
    first, second = again(shelf.workspace, given.id), again(shelf.workspace, later.id)
    assert first.snapshot
    assert second.snapshot
    assert first.same
    assert second.same
    assert first.index_then == given.trace.index_version != second.index_then


def test_the_day_of_the_answer_counts_and_not_today(tmp_path: Path) -> None:
    shelf = company(tmp_path)
    given = ask(shelf.workspace, "How many days in each week may employees work from home?", NOBODY)
    assert "three days" in given.text
    with shelf.workspace.store.write() as db:  # as if it had been given then; the chain would tell
        db.execute(text("UPDATE answer SET at = '2024-05-01T10:00:00+00:00'"))
    found = again(shelf.workspace, given.id)
    assert found.as_of.isoformat() == "2024-05-01"
    (words,) = [one for one in found.answers if one.what == "text"]
    assert "two days" in words.now


def test_settings_and_prompts_that_changed_are_named(tmp_path: Path) -> None:
    shelf = company(tmp_path)
    given = ask(shelf.workspace, LEAVE)
    (tmp_path / "ombud.toml").write_text(
        '[plan]\nk = 3\n[models]\nchat = ""\ntimeout_seconds = 7\n', "utf-8"
    )
    own = tmp_path / "prompts" / "compose"
    own.mkdir(parents=True)
    shipped = Path("src/ombud/prompts/compose/default.txt").read_text(encoding="utf-8")
    (own / "default.txt").write_text(f"{shipped}\nBe brief.\n", encoding="utf-8")
    later = Workspace(tmp_path, {"models": {"embedder": "none"}})
    found = again(later, given.id)
    told = {one.what: (one.then, one.now) for one in found.differences}
    assert told["settings.plan.k"] == (8, 3)
    assert told["settings.models.timeout_seconds"] == (60, 7)
    assert set(told) == {
        "settings.plan.k",
        "settings.models.timeout_seconds",
        "prompts.compose/default",
    }
    assert found.same  # the plan of then is the one that counts
    later.close()


def test_without_a_model_only_the_evidence_of_a_written_answer_is_compared(tmp_path: Path) -> None:
    shelf = company(tmp_path)
    said = "Employees in Great Britain have 26 days of annual leave a year."
    script = Script(lambda prompt: draft(claim(said, label(prompt, "26 days"))))
    with_model(shelf.workspace, script.chat)
    given = ask(shelf.workspace, LEAVE)
    assert given.trace.model
    found = again(shelf.workspace, given.id)
    assert len(script.prompts) == 1
    assert (found.compared, found.same_evidence, found.answers) == (False, True, ())
    other = Script(
        lambda prompt: draft(
            claim("Employees have 26 days of annual leave.", label(prompt, "26 days"))
        )
    )
    with_model(shelf.workspace, other.chat)
    found = again(shelf.workspace, given.id, model=True)
    assert len(other.prompts) == 1
    assert found.compared
    assert "text" in {one.what for one in found.answers}


def test_an_erased_document_is_said(tmp_path: Path) -> None:
    shelf = company(tmp_path)
    given = ask(shelf.workspace, LEAVE)
    certify_deletion(shelf.workspace, "docs/leave-gb.md")
    found = again(shelf.workspace, given.id)
    assert not found.compared
    assert any("Evidence erased" in note for note in found.notes)
    assert found.quotes["erased"] > 0
    assert "deleted" in {document["state"] for document in found.documents}


def test_an_erased_answer_cannot_be_replayed(tmp_path: Path) -> None:
    shelf = company(tmp_path)
    given = ask(shelf.workspace, LEAVE)
    later = datetime.now(UTC) + timedelta(days=1)
    erase_rows(
        shelf.workspace.store, select_expired(shelf.workspace.store, later, later), "retention"
    )
    with pytest.raises(NotFound, match="was erased") as gone:
        again(shelf.workspace, given.id)
    assert "ombud audit show" in gone.value.hint
    with pytest.raises(NotFound, match="no answer"):
        again(shelf.workspace, "nothing")


def test_words_of_a_sensitive_conversation_are_withheld(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = company(tmp_path)
    workspace = shelf.workspace
    talk = asking.new_conversation(workspace, GB)
    asyncio.run(
        asking.ask(
            workspace,
            Question(text="My boss touches me against my will", asker=GB),
            conversation_id=talk,
        )
    )
    given = asyncio.run(asking.ask(workspace, Question(text=LEAVE, asker=GB), conversation_id=talk))
    changed_leave(shelf)
    forget_versions(workspace, monkeypatch)
    found = again(workspace, given.id)
    assert found.sensitive
    assert "27 days" not in json.dumps(replayed_json(found))
    assert "27 days" in json.dumps(replayed_json(found, sensitive=True))
