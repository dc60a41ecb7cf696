"""A database made at 09380920, opened with today's code."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, select, text, update

from ombud.errors import StoreError
from ombud.store import (
    Store,
    compare_stores,
    copy_store,
    erase_quotes,
    list_answers,
    list_documents,
    list_feedback,
    list_runs,
    open_store,
    read_answer,
    read_events,
    read_observations,
    read_scores,
    read_session,
    verify_chain,
)
from ombud.store.tables import answer as answers
from ombud.types import RETIRED_FIELDS, Plan, Trace
from recorded import lay_recorded_store
from store.places import database

OLDEST_ANSWER = "answer-before-audit"
HANDED_OVER = "My manager harasses me and touches me"


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[Store]:
    lay_recorded_store(tmp_path)
    store = open_store("", tmp_path)
    yield store
    store.close()


def test_conversations_and_answers_load(recorded: Store) -> None:
    kept = list(list_answers(recorded))
    asked = [one.question.text for one in kept if one.question]
    assert len(asked) == 7
    assert "How many days of annual leave do I get?" in asked
    loaded = {one.id: one.answer for one in kept if one.answer}
    assert loaded[OLDEST_ANSWER].text == "Up to 5 days."
    assert Counter(answer.outcome for answer in loaded.values())["full"] >= 3
    assert {answer.trace.plan.k for answer in loaded.values()} == {8}
    cited = [answer for answer in loaded.values() if answer.citations]
    assert all(answer.trace.evidence for answer in cited)
    (handed,) = [one for one in kept if one.question and one.question.text == HANDED_OVER]
    assert handed.sensitive
    assert read_session(recorded, str(handed.conversation_id)).state == "returned"
    said = [(event.by, event.text) for event in read_events(recorded, str(handed.conversation_id))]
    assert ("advisor", "Yes. I am here, and I will help you.") in said


def test_runs_feedback_and_documents_load(recorded: Store) -> None:
    (run,) = list_runs(recorded)
    assert (run.name, run.state, run.cases) == ("before", "done", 3)
    seen = [observation for _, observation in read_observations(recorded, run.id)]
    assert [observation.case.id for observation in seen] == ["leave", "hotel", "none"]
    assert all(observation.answer for observation in seen)
    assert {score.metric for score in read_scores(recorded, run.id)} >= {"outcome_accuracy"}
    assert Counter(one.thumb for one in list_feedback(recorded)) == {1: 1, -1: 1}
    assert len(list_documents(recorded)) == 4


def test_the_audit_holds_and_notices_a_changed_answer(recorded: Store) -> None:
    found = verify_chain(recorded)
    assert (found.broken, found.adopted) == (None, 1)
    assert found.rows == {"answer": 7, "conversation": 5, "event": 23, "message": 0}
    with recorded.write() as db:
        db.execute(text(f"UPDATE answer SET at = 'x' WHERE id = '{OLDEST_ANSWER}'"))
    broken = verify_chain(recorded).broken
    assert broken is not None
    assert broken.why == "changed"


def test_its_schema_is_that_of_a_new_database(recorded: Store, tmp_path: Path) -> None:
    del recorded
    open_store("", tmp_path / "new").close()
    assert schema_of(tmp_path) == schema_of(tmp_path / "new")


def schema_of(folder: Path) -> dict[str, object]:
    engine = create_engine(f"sqlite:///{folder / 'store.sqlite'}")
    looked = inspect(engine)
    found: dict[str, object] = {}
    for table in looked.get_table_names():
        found[table] = (
            sorted(map(str, looked.get_columns(table))),
            looked.get_pk_constraint(table),
            sorted(map(str, looked.get_foreign_keys(table))),
            sorted(map(str, looked.get_unique_constraints(table))),
            sorted(map(str, looked.get_indexes(table))),
        )
    with engine.connect() as db:
        triggers = db.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
        found["triggers"] = sorted(map(str, triggers))
    engine.dispose()
    return found


def test_it_moves_into_postgresql(recorded: Store, tmp_path: Path) -> None:
    with database("postgresql") as url, closing(open_store(url, tmp_path)) as other:
        copy_store(recorded, other)
        assert compare_stores(recorded, other) == {}
        assert verify_chain(other).broken is None


def test_an_older_database_is_left_alone_with_the_way_to_upgrade(tmp_path: Path) -> None:
    lay_recorded_store(tmp_path)
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as db, db:
        db.execute("UPDATE alembic_version SET version_num = '0012'")
    with pytest.raises(StoreError, match="too old") as wrong:
        open_store("", tmp_path)
    assert "09380920" in wrong.value.hint
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM answer").fetchone() == (7,)


def change_plan(store: Store, identity: str, **fields: object) -> None:
    """Give the plan in the trace of a stored answer these fields."""
    with store.write() as db:
        row = db.execute(select(answers.c.answer).where(answers.c.id == identity)).scalar_one()
        row["trace"]["plan"] |= fields
        db.execute(update(answers).where(answers.c.id == identity).values(answer=row))


def test_a_stored_plan_with_what_was_removed_loads(recorded: Store) -> None:
    identity = next(one.id for one in list_answers(recorded) if one.answer and one.answer.citations)
    change_plan(recorded, identity, fusion="combmnz", mapping={"k": [2, 4, 8]}, pinned=["k"])
    plan = read_answer(recorded, identity).trace.plan
    assert (plan.fusion, plan.adaptive) == ("combsum", False)


def test_stored_plans_and_traces_load_without_retired_fields(
    recorded: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = next(one.id for one in list_answers(recorded) if one.answer and one.answer.citations)
    change_plan(recorded, identity, bygone={"a": 1}, fusion="bygone-fusion")
    with pytest.raises(StoreError, match="it was changed"):
        read_answer(recorded, identity)
    fields = {Plan: {*RETIRED_FIELDS[Plan], "bygone"}, Trace: {"calls"}}
    monkeypatch.setattr("ombud.types.retired.RETIRED_FIELDS", fields)
    values = {Plan: {"fusion": {"bygone-fusion": "rrf"}}}
    monkeypatch.setattr("ombud.types.retired.RETIRED_VALUES", values)
    loaded = read_answer(recorded, identity)
    assert (loaded.trace.plan.fusion, loaded.trace.plan.pool) == ("rrf", 30)
    cited = loaded.citations[0]
    assert erase_quotes(recorded, cited.document_id, cited.uri)["answers"] >= 1
