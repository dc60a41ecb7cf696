"""What every database must do for the lab's runs."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from lab.makers import case, gold, hit, says
from ombud.errors import NotFound
from ombud.store import (
    Done,
    Store,
    add_look,
    bury_documents,
    delete_run,
    done_places,
    find_run,
    forget_document,
    list_runs,
    open_store,
    read_observations,
    read_scores,
    save_document,
    save_done,
    save_run,
    save_scores,
    scored_places,
    start_run,
)
from ombud.store.runs import count_looks
from ombud.types import Observation, Query, Run, Score, Trace
from store.places import database, document, kept

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with database(request.param) as address:
        yield address


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(url, tmp_path)
    yield opened
    opened.close()


def begun(store: Store, identity: str = "aa11bb22", minute: int = 0, **fields: Any) -> Run:
    given: dict[str, Any] = {
        "name": "base",
        "dataset": "d.jsonl",
        "dataset_digest": "d1",
        "digest": "c1",
    } | fields
    run = Run(id=identity, started=NOON + timedelta(minutes=minute), **given)
    start_run(store, run)
    return run


def done(
    place: int, *texts: str, metric: str = "mrr", value: float | None = 1.0, **fields: Any
) -> Done:
    hits = tuple(hit(words, start=n * 100, score=1 / (n + 1)) for n, words in enumerate(texts))
    seen = Observation(case=case(gold("26 days"), id=f"c{place}"), hits=hits, **fields)
    reason = "" if value is not None else "nothing was found"
    return Done(
        place, seen, (Score(case_id=f"c{place}", metric=metric, value=value, reason=reason),)
    )


@pytest.mark.parametrize("path", ["/home/ann/cases", "C:\\Users\\ann\\cases"])
def test_a_run_of_a_version_that_stored_paths_is_shown_by_name(store: Store, path: str) -> None:
    run = begun(store)
    old = json.loads(run.model_dump_json()) | {"dataset": path}
    with store.write() as db:
        db.execute(text("UPDATE lab_run SET run = :run"), {"run": json.dumps(old)})
    (found,) = list_runs(store)
    assert found.dataset == "cases"
    # Whoever looks for cases of a deleted document still finds them.
    assert found.dataset_path == path
    save_run(store, found)
    assert find_run(store, run.id) == found


def test_what_was_observed_comes_back_equal_and_in_the_order_of_the_dataset(store: Store) -> None:
    run = begun(store)
    trace = Trace(
        queries=(Query(strategy="standard", text="leave", passage="leave"),),
        seconds={"search": 0.1},
    )
    rows = [
        done(
            2,
            "26 days",
            "27 days",
            answer=says("26 days [1]", trace=trace),
            seconds=0.5,
            lost="not retrieved",
        ),
        done(0, "26 days", trace=trace),
        done(1, error="It said \0 and \ud7ff and 日本語 and 'quotes\"."),
    ]
    save_done(store, run.id, rows[:1])
    save_done(store, run.id, rows[1:])
    assert list(read_observations(store, run.id)) == [
        (row.place, row.observation) for row in (rows[1], rows[2], rows[0])
    ]
    assert list(read_observations(store, run.id, "c2")) == [(2, rows[0].observation)]
    assert done_places(store, run.id) == {0: False, 1: True, 2: False}


def test_hits_that_were_not_searched_are_not_hits_that_were_not_found(store: Store) -> None:
    run = begun(store)
    save_done(
        store,
        run.id,
        [
            Done(0, Observation(case=case()), ()),
            Done(1, Observation(case=case(id="x"), hits=()), ()),
        ],
    )
    assert [seen.hits for _, seen in read_observations(store, run.id)] == [None, ()]


def test_more_rows_than_one_block_come_back(store: Store) -> None:
    run = begun(store)
    save_done(store, run.id, [done(n, f"rule {n % 7}") for n in range(450)])
    assert [place for place, _ in read_observations(store, run.id)] == list(range(450))
    assert [score.case_id for score in read_scores(store, run.id)] == [f"c{n}" for n in range(450)]


def test_a_case_that_failed_is_replaced_by_its_next_try(store: Store) -> None:
    run = begun(store)
    save_done(store, run.id, [done(0, error="down", value=None)])
    save_done(store, run.id, [done(0, "26 days")])
    assert done_places(store, run.id) == {0: False}
    assert [score.value for score in read_scores(store, run.id)] == [1.0]


def test_a_metric_has_one_value_a_case_and_the_last_one_counts(store: Store) -> None:
    run = begun(store)
    save_done(store, run.id, [done(0, "26 days"), done(1, "26 days")])
    rater = Score(case_id="c0", metric="mrr", value=None, reason="unreadable \0", by="anna")
    save_scores(store, run.id, {0: [rater]})
    said = sorted((s.case_id, s.by, s.value, s.reason) for s in read_scores(store, run.id))
    assert said == [("c0", "anna", None, "unreadable "), ("c1", "", 1.0, "")]
    save_scores(store, run.id, {0: [Score(case_id="c0", metric="mrr", value=0.25)]})
    said = sorted((s.case_id, s.by, s.value, s.reason) for s in read_scores(store, run.id))
    assert said == [("c0", "", 0.25, ""), ("c1", "", 1.0, "")]
    assert scored_places(store, run.id) == {0: {"mrr"}, 1: {"mrr"}}


def test_runs_are_found_by_id_beginning_name_and_last(store: Store) -> None:
    begun(store, "aa11bb22")
    begun(store, "cc33dd44", minute=1)
    begun(store, "ee55ff66", minute=2, name="other", study="grid", digest="c2")
    assert [run.id for run in list_runs(store)] == ["ee55ff66", "cc33dd44", "aa11bb22"]
    assert [run.id for run in list_runs(store, study="grid")] == ["ee55ff66"]
    assert [run.id for run in list_runs(store, digest="c1")] == ["cc33dd44", "aa11bb22"]
    names = ("aa11bb22", "aa1", "base", "last", "other")
    assert [find_run(store, name).id for name in names] == [
        "aa11bb22",
        "aa11bb22",
        "cc33dd44",
        "ee55ff66",
        "ee55ff66",
    ]
    with pytest.raises(NotFound, match="`aa`") as missing:
        find_run(store, "aa")
    assert "ee55ff66 (other)" in missing.value.hint


def test_a_finished_run_says_so(store: Store) -> None:
    run = begun(store)
    save_run(store, run.model_copy(update={"state": "done", "ended": NOON}))
    assert (find_run(store, "last").state, find_run(store, "last").ended) == ("done", NOON)


def test_looks_are_counted_by_dataset_and_outlive_their_runs(store: Store) -> None:
    run = begun(store)
    other = begun(store, "cc33dd44", dataset_digest="d2", dataset="another")
    assert [add_look(store, run), add_look(store, run), add_look(store, other)] == [1, 2, 1]
    delete_run(store, run.id)
    assert count_looks(store) == {"d1": 2, "d2": 1}


def test_a_sealed_set_that_drops_a_case_is_no_new_one(store: Store) -> None:
    whole = begun(store)
    fewer = begun(store, "cc33dd44", dataset_digest="d2")
    assert add_look(store, whole, ["a", "b", "c"]) == 1
    assert add_look(store, fewer, ["a", "b"]) == 2
    assert add_look(store, fewer, ["a", "b", "d"]) == 3
    # Of cases that nobody has seen it is the first.
    assert add_look(store, fewer, ["d", "e"]) == 2
    assert add_look(store, fewer, ["f"]) == 1


def test_a_deleted_run_takes_its_rows_and_only_its_own_passages(store: Store) -> None:
    run, other = begun(store), begun(store, "cc33dd44")
    save_done(store, run.id, [done(0, "26 days", "30 days")])
    save_done(store, other.id, [done(0, "26 days")])
    delete_run(store, run.id)
    assert list(read_observations(store, run.id)) == []
    assert read_scores(store, run.id) == []
    ((_, seen),) = read_observations(store, other.id)
    assert [found.chunk.text for found in seen.hits or ()] == ["26 days"]
    with store.read() as db:
        assert db.execute(text("SELECT COUNT(*) FROM lab_passage")).scalar() == 1


def test_a_deleted_document_leaves_no_passage_in_any_run(store: Store) -> None:
    run = begun(store)
    gone = document("hr/leave.md", "26 days", id="hr/leave.md")
    save_document(store, gone, kept())
    save_done(store, run.id, [done(0, "26 days")])
    bury_documents(store, [gone.id])
    forget_document(store, [gone.id])
    ((_, seen),) = read_observations(store, run.id)
    assert seen.hits == ()
