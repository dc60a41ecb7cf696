"""The audit's chain on every database: nothing changes unseen, nothing forks, and erasing by right
breaks nothing."""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from ombud.errors import NotFound
from ombud.store import (
    Broken,
    Store,
    add_turn,
    erase_quotes,
    erase_rows,
    last_messages,
    list_answers,
    new_conversation,
    open_store,
    read_answer,
    read_head,
    read_links,
    read_stored_answer,
    seal,
    select_conversation,
    select_expired,
    select_of_person,
    verify_chain,
)
from ombud.store.audit.forgetting import mark_of
from ombud.types import Action, Answer, Citation, Claim, Message, Person, Question
from store.places import database

SETUP = '{"version":"1"}'
WORDS = "Where do I find the golden spanner of the north gate?"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with database(request.param) as address:
        yield address


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(url, tmp_path)
    yield opened
    opened.close()


def answer(
    identity: str, talk: str | None = None, said: str = "Yes.", action: Action = "none"
) -> Answer:
    return Answer(id=identity, conversation_id=talk, outcome="full", text=said, action=action)


def turns(store: Store, who: str, count: int = 2, action: Action = "none", name: str = "") -> str:
    """A conversation of `who` with so many turns; answers are called `who.n`, or by another
    name."""
    talk = new_conversation(store, Person(id=who))
    for number in range(count):
        asked = Question(text=f"{WORDS} {who} {number}", asker=Person(id=who))
        add_turn(
            store,
            asked,
            answer(f"{name or who}.{number}", talk, f"In the shed, {number}.", action),
            SETUP,
        )
    seal(store)
    return talk


def run(store: Store, statement: str, **values: Any) -> None:
    with store.write() as db:
        db.execute(text(statement), values)


def fault(store: Store, head: str = "") -> Broken:
    broken = verify_chain(store, head).broken
    assert broken, "nothing was found"
    return broken


def numbered(store: Store) -> list[Any]:
    seal(store)
    with store.read() as db:
        return list(
            db.execute(text("SELECT number, record, hash FROM audit ORDER BY number")).all()
        )


def remade(store: Store, number: int, **changed: Any) -> None:
    """Change a record as someone would who knows how hashes are made."""
    (row,) = [row for row in numbered(store) if row.number == number]
    record = json.dumps(json.loads(row.record) | changed, sort_keys=True, separators=(",", ":"))
    made = hashlib.sha256(record.encode()).hexdigest()
    run(
        store,
        "UPDATE audit SET record = :record, hash = :made WHERE number = :n",
        record=record,
        made=made,
        n=number,
    )


# What the chain is --------------------------------------------------------------------------------


def test_a_new_store_has_a_first_record_and_verifies(store: Store) -> None:
    found = verify_chain(store)
    assert (found.records, found.broken, found.rows) == (
        1,
        None,
        {"answer": 0, "conversation": 0, "event": 0, "message": 0},
    )
    (row,) = numbered(store)
    record = json.loads(row.record)
    assert (record["kind"], record["previous"]) == ("genesis", "0" * 64)
    assert hashlib.sha256(row.record.encode()).hexdigest() == row.hash == found.head


def test_every_record_holds_the_hash_of_the_one_before_and_no_words(store: Store) -> None:
    turns(store, "ann")
    rows = numbered(store)
    assert [json.loads(row.record)["kind"] for row in rows] == [
        "genesis",
        "conversation",
        "answer",
        "answer",
    ]
    for before, row in pairwise(rows):
        assert json.loads(row.record)["previous"] == before.hash
    whole = "".join(row.record for row in rows)
    assert not any(word in whole for word in ("spanner", "shed", '"ann"', "handoff"))
    found = verify_chain(store)
    assert (found.records, found.rows) == (
        4,
        {"answer": 2, "conversation": 1, "event": 4, "message": 0},
    )


def test_a_record_names_model_prompts_index_and_set_up(store: Store) -> None:
    given = answer("a")
    trace = given.trace.model_copy(
        update={"model": "openai:x", "index_version": "7", "prompts": {"compose/x": "12ab"}}
    )
    add_turn(store, Question(text="q"), given.model_copy(update={"trace": trace}), SETUP)
    head = read_head(store)
    assert head
    made = hashlib.sha256(SETUP.encode()).hexdigest()
    assert head.facts == {
        "model": "openai:x",
        "index_version": "7",
        "prompts": {"compose/x": "12ab"},
        "setup": made,
    }
    kept = read_stored_answer(store, "a")
    assert (kept.record, kept.erased, kept.sensitive) == (2, None, False)


def test_the_same_words_have_another_digest_each_time(store: Store) -> None:
    for name in ("a", "b"):
        add_turn(store, Question(text="q"), answer(name))
    first, second = (json.loads(row.record)["rows"] for row in numbered(store)[1:])
    assert first["answer/a"] != second["answer/b"]


# Tampering ----------------------------------------------------------------------------------------

FIELDS = {
    "answer": [
        "question",
        "answer",
        "at",
        "sensitive",
        "salt",
        "record",
        "erased",
        "conversation_id",
    ],
    "conversation": ["person", "at", "salt", "record", "erased"],
    "event": ["by", "kind", "content", "place", "at", "salt", "record", "erased", "number"],
}
VALUES: dict[str, Any] = {
    "question": '{"text": "another"}',
    "answer": '{"text": "another", "outcome": "full"}',
    "person": '{"id": "someone"}',
    "sensitive": True,
    "record": 1,
    "erased": 2,
    "number": 999,
    "place": 99,
    "conversation_id": None,
}


@pytest.mark.parametrize(
    ("table", "field"), [(table, field) for table, named in FIELDS.items() for field in named]
)
def test_a_changed_field_is_named(store: Store, table: str, field: str) -> None:
    turns(store, "ann", 1)
    turns(store, "ben", 1)
    with store.read() as db:
        identity = db.execute(text(f"SELECT id FROM {table} ORDER BY record LIMIT 1")).scalar()
    json_field = field in ("question", "answer", "person")
    value = (
        "CAST(:value AS JSON)" if json_field and "postgres" in str(store._engine.url) else ":value"
    )
    run(
        store,
        f"UPDATE {table} SET {field} = {value} WHERE id = :i",
        value=VALUES.get(field, "x"),
        i=identity,
    )
    broken = fault(store)
    assert broken.why == "changed"
    assert f"The {table} {identity} of record {broken.number} was changed." == broken.message
    assert broken.number == (2 if table == "conversation" else 3)


@pytest.mark.parametrize("table", ["answer", "event", "conversation"])
def test_a_row_with_another_id_is_missing_and_put_in(store: Store, table: str) -> None:
    talk = turns(store, "ann", 1)
    if table == "conversation":
        run(store, "DELETE FROM event")
        run(store, "DELETE FROM session")
    only = " WHERE number = (SELECT min(number) FROM event)" if table == "event" else ""
    run(store, f"UPDATE {table} SET id = 'other'{only}")
    broken = fault(store)
    assert (broken.why, broken.number) == ("missing", 2 if table == "conversation" else 3)
    assert talk


@pytest.mark.parametrize("table", ["answer", "event"])
def test_a_row_that_was_deleted_is_missing(store: Store, table: str) -> None:
    turns(store, "ann", 1)
    run(store, f"DELETE FROM {table}")
    broken = fault(store)
    assert (broken.number, broken.why) == (3, "missing")
    assert table in broken.message


def test_a_row_that_nothing_speaks_of_was_put_in(store: Store) -> None:
    turns(store, "ann", 1)
    copied = (
        "SELECT 'forged', NULL, question, answer, at, sensitive, salt, record, erased FROM answer"
    )
    columns = "id, conversation_id, question, answer, at, sensitive, salt, record, erased"
    run(store, f"INSERT INTO answer ({columns}) {copied}")
    assert fault(store) == Broken(
        4, "inserted", "The answer forged was put in: no record speaks of it."
    )


def test_an_erased_answer_that_comes_back_is_seen(store: Store) -> None:
    turns(store, "ann", 1)
    with store.read() as db:
        before = db.execute(text("SELECT CAST(answer AS TEXT), salt FROM answer")).one()
    erase_rows(store, select_of_person(store, "ann"), "person")
    cast = "CAST(:a AS JSON)" if "postgres" in str(store._engine.url) else ":a"
    run(store, f"UPDATE answer SET answer = {cast}, salt = :s", a=before[0], s=before[1])
    assert (fault(store).why, fault(store).number) == ("changed", 4)


def test_a_changed_set_up_is_named(store: Store) -> None:
    turns(store, "ann", 1)
    run(store, "UPDATE setup SET content = '{}'")
    assert (fault(store).why, fault(store).number) == ("changed", 3)
    run(store, "DELETE FROM setup")
    assert (fault(store).why, fault(store).number) == ("missing", 3)


def test_a_changed_record_is_named(store: Store) -> None:
    turns(store, "ann", 4)
    run(store, "UPDATE audit SET record = replace(record, 'answer', 'Answer') WHERE number = 3")
    assert (fault(store).number, fault(store).why) == (3, "changed")


def test_a_changed_hash_is_named(store: Store) -> None:
    turns(store, "ann", 4)
    run(store, "UPDATE audit SET hash = :h WHERE number = 3", h="1" * 64)
    assert (fault(store).number, fault(store).why) == (3, "changed")


@pytest.mark.parametrize("field", ["at", "kind", "rows", "facts", "v", "previous"])
def test_a_record_that_was_given_a_new_hash_is_named(store: Store, field: str) -> None:
    turns(store, "ann", 4)
    new: dict[str, Any] = {"rows": {}, "facts": {}, "v": 2, "previous": "1" * 64}
    remade(store, 3, **{field: new.get(field, "x")})
    assert (fault(store).number, fault(store).why) == (3, "changed")


def test_a_missing_record_is_named_also_when_the_gap_was_closed(store: Store) -> None:
    turns(store, "ann", 5)
    run(store, "DELETE FROM audit WHERE number = 4")
    assert (fault(store).number, fault(store).why) == (4, "missing")
    for number in (5, 6, 7):
        run(store, "UPDATE audit SET number = :n - 1 WHERE number = :n", n=number)
    assert (fault(store).number, fault(store).why) == (4, "missing")


def test_without_any_record_the_first_is_missing(store: Store) -> None:
    run(store, "DELETE FROM audit")
    assert (fault(store).number, fault(store).why) == (1, "missing")


@pytest.mark.parametrize("proper", [True, False])
def test_an_inserted_record_is_named(store: Store, proper: bool) -> None:
    turns(store, "ann", 5)
    rows = {row.number: row for row in numbered(store)}
    for number in sorted(rows, reverse=True):
        if number >= 4:
            run(store, "UPDATE audit SET number = :n + 1 WHERE number = :n", n=number)
    forged = {
        "v": 1,
        "number": 4,
        "at": "x",
        "kind": "answer",
        "previous": rows[3].hash,
        "rows": {},
        "facts": {},
    }
    record = json.dumps(forged, sort_keys=True, separators=(",", ":"))
    made = hashlib.sha256(record.encode()).hexdigest() if proper else "2" * 64
    run(store, "INSERT INTO audit (number, record, hash) VALUES (4, :r, :h)", r=record, h=made)
    assert (fault(store).number, fault(store).why) == (4, "inserted")


@pytest.mark.parametrize(("one", "other"), [(3, 4), (3, 6), (6, 7)])
def test_reordered_records_are_named(store: Store, one: int, other: int) -> None:
    turns(store, "ann", 5)
    for before, after in ((one, 100), (other, one), (100, other)):
        run(
            store,
            "UPDATE audit SET number = :after WHERE number = :before",
            before=before,
            after=after,
        )
    assert (fault(store).number, fault(store).why) == (one, "reordered")


def test_a_tail_that_was_cut_off_is_seen_with_the_head_that_was_noted(store: Store) -> None:
    turns(store, "ann", 3)
    head = read_head(store)
    assert head
    turns(store, "ben", 1)
    assert verify_chain(store, head.hash).broken is None  # it has only grown since
    for table in ("event", "answer", "conversation"):
        run(store, f"DELETE FROM {table} WHERE record >= 5")
    run(store, "DELETE FROM audit WHERE number >= 5")
    assert verify_chain(store).broken is None  # the chain alone cannot know
    assert (fault(store, head.hash).why, fault(store, head.hash).number) == ("cut", 5)


# Several at once, and kills -----------------------------------------------------------------------

IMPORTS = """
import os, signal, sys
from pathlib import Path
from ombud.store import *
from ombud.types import *
"""
OPENED = """
store = open_store(sys.argv[1], Path(sys.argv[2]))
def turn(name, talk=None):
    add_turn(store, Question(text="q " + name), Answer(id=name, conversation_id=talk, outcome="full", text="t"), "{}")
"""
HEAD = IMPORTS + OPENED
FORKED = """
for line in sys.stdin:
    child = os.fork()
    if not child:
        exec(sys.argv[3], {**globals(), "told": line.strip()})
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""For each line that it reads a process of its own that has imported everything already."""


def start(url: str, folder: Path, code: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HEAD + code, url, str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_processes_that_append_at_once_never_fork_the_chain(
    store: Store, url: str, tmp_path: Path
) -> None:
    code = "talk = new_conversation(store, Person())\nfor n in range(30): turn(f'%s.{n}', talk)"
    running = [start(url, tmp_path, code % name) for name in ("a", "b", "c")]
    for _ in range(5):
        assert verify_chain(store).broken is None  # also while it grows
    for process in running:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    found = verify_chain(store)
    assert (found.records, found.broken) == (1 + 3 * 31, None)
    assert found.rows == {"answer": 90, "conversation": 3, "event": 180, "message": 0}


@pytest.mark.slow
def test_killed_between_any_two_statements_the_chain_is_whole(
    store: Store, url: str, tmp_path: Path
) -> None:
    talk = new_conversation(store, Person())
    code = (
        "from sqlalchemy import event\n"
        "left = int(told)\n"
        "def count(*_):\n"
        "    global left\n"
        "    left -= 1\n"
        "    if left < 0: os.kill(os.getpid(), signal.SIGKILL)\n"
        "for name in ('before_cursor_execute', 'commit'): event.listen(store._engine, name, count)\n"
        f"turn('killed ' + told, {talk!r})\n"
    )
    command = [sys.executable, "-c", IMPORTS + FORKED, url, str(tmp_path), OPENED + code]
    outcomes = []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        for steps in range(40):
            print(steps, file=process.stdin, flush=True)
            outcomes.append(int(process.stdout.readline()))
            found = verify_chain(store)
            assert found.broken is None, (steps, found.broken)
            if outcomes[-1] == 0:
                break
            # Once it is kept, the chain takes it in, now or later.
            assert found.rows["event"] == 2 * found.rows["answer"]
        process.stdin.close()
    assert outcomes[-1] == 0
    assert set(outcomes[:-1]) == {-signal.SIGKILL}
    assert len(outcomes) > 6
    found = verify_chain(store)
    assert found.rows["answer"] >= 1
    assert len(list(list_answers(store))) == found.rows["answer"]


@pytest.mark.slow
def test_killed_at_any_time_the_chain_is_whole(store: Store, url: str, tmp_path: Path) -> None:
    random.seed(5)
    for number in range(3):
        process = start(
            url,
            tmp_path,
            f"print('on', flush=True)\nfor n in range(10000): turn(f'{number}.{{n}}')",
        )
        assert process.stdout
        process.stdout.readline()
        time.sleep(random.uniform(0.05, 0.3))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        found = verify_chain(store)
        assert found.broken is None
        assert found.rows["answer"] == found.records - 1


# Erasing by right ---------------------------------------------------------------------------------


def test_what_a_person_asked_goes_and_the_chain_verifies(store: Store) -> None:
    gone, stays = turns(store, "ann", 3), turns(store, "anna", 1)
    add_turn(store, Question(text=f"{WORDS} alone", asker=Person(id="ann")), answer("alone"))
    held = select_of_person(store, "ann")
    assert (held.conversations, held.answers) == ((gone,), ("alone",))
    done = erase_rows(store, held, "person", "ann")
    assert (done.conversations, done.answers, done.messages) == (1, 4, 6)
    found = verify_chain(store)
    assert (found.broken, found.erased) == (None, {"person": 4})
    assert found.rows == {"answer": 5, "conversation": 2, "event": 8, "message": 0}
    for identity in ("ann.0", "ann.2", "alone"):
        with pytest.raises(NotFound, match="was erased"):
            read_answer(store, identity)
        assert read_stored_answer(store, identity).question is None
    with pytest.raises(NotFound, match="was erased"):
        last_messages(store, gone)
    assert [m.role for m in last_messages(store, stays)] == ["user", "assistant"]
    with pytest.raises(NotFound):
        select_of_person(store, "ann")


def test_nothing_of_it_is_left_in_any_table(store: Store) -> None:
    talk = turns(store, "ann-4711", 2, "handoff", "a")
    done = erase_rows(store, select_of_person(store, "ann-4711"), "person", "ann-4711")
    with store.read() as db:
        for table in ("answer", "conversation", "event", "audit", "setup"):
            said = " ".join(str(row) for row in db.execute(text(f"SELECT * FROM {table}")))
            assert not any(word in said for word in ("spanner", "ann-4711", "handoff", "shed")), (
                table
            )
    # Who holds the certificate can still show which record speaks of whom.
    (link,) = read_links(store, done.records)
    assert link.facts == {"reason": "person", "of": mark_of(done.salt, "ann-4711")}
    assert f"conversation/{talk}" in link.rows


def test_an_erased_conversation_takes_nothing_more(store: Store) -> None:
    talk = turns(store, "ann", 1)
    erase_rows(store, select_conversation(store, talk), "person", talk)
    with pytest.raises(NotFound, match="was erased"):
        add_turn(store, Question(text="more"), answer("more", talk))
    assert [kept.id for kept in list_answers(store)] == ["ann.0"]
    assert verify_chain(store).broken is None
    with pytest.raises(NotFound):
        select_conversation(store, talk)


@pytest.mark.parametrize("who", ['a"b', "a%", "a_b", "ä\\n", "O'Neil", ""])
def test_ids_are_compared_letter_by_letter(store: Store, who: str) -> None:
    if not who:
        turns(store, "")
        assert select_of_person(
            store, ""
        ).conversations  # nobody in particular: the command asks for an id
        return
    mine = turns(store, who, 1)
    turns(store, "axb", 1)
    assert select_of_person(store, who) == ((mine,), ())


@pytest.mark.slow
def test_killed_while_erasing_the_next_run_finishes(store: Store, url: str, tmp_path: Path) -> None:
    for number in range(120):
        add_turn(
            store, Question(text=f"{WORDS} {number}", asker=Person(id="ann")), answer(f"n{number}")
        )
    seal(store)  # else the child would seal first, as long as nobody else has
    code = (
        "from sqlalchemy import event\n"
        "seen = []\n"
        "def count(*_):\n"
        "    seen.append(1)\n"
        "    if len(seen) == 4: os.kill(os.getpid(), signal.SIGKILL)\n"
        "event.listen(store._engine, 'commit', count)\n"
        "erase_rows(store, select_of_person(store, 'ann'), 'person', 'ann')\n"
    )
    process = start(url, tmp_path, code)
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    found = verify_chain(store)
    assert found.broken is None
    assert 0 < found.erased["person"] < 120
    erase_rows(store, select_of_person(store, "ann"), "person", "ann")
    assert verify_chain(store).erased == {"person": 120}


def test_a_document_that_is_erased_leaves_a_chain_that_verifies(store: Store) -> None:
    talk = new_conversation(store, Person(id="ann"))
    cited = Citation(
        chunk_id="d1-1",
        document_id="d1",
        title="T",
        uri="u",
        quote="secret rule",
        start=0,
        end=1,
        digest="",
    )
    first = answer("first", talk, "The secret rule [1].")
    whole = first.model_copy(
        update={"citations": (cited,), "claims": (Claim(text="The secret rule", citations=(0,)),)}
    )
    add_turn(store, Question(text="q"), whole)
    told = (
        Message(role="user", content="q"),
        Message(role="assistant", content="The secret rule [1]."),
    )
    add_turn(store, Question(text="and then?", history=told), answer("second", talk, "No."))
    assert erase_quotes(store, "d1", "u")["answers"] == 1
    found = verify_chain(store)
    assert (found.broken, found.erased) == (None, {"document": 2})
    assert "secret" not in read_answer(store, "first").model_dump_json()
    later = read_stored_answer(store, "second").question
    assert later
    assert [turn.content for turn in later.history] == ["q", "[evidence erased]"]
    assert [m.content for m in last_messages(store, talk)] == [
        "q",
        "[evidence erased]",
        "and then?",
        "No.",
    ]


# Retention ----------------------------------------------------------------------------------------


def days(count: float) -> datetime:
    return datetime.now(UTC) + timedelta(days=count)


def test_what_is_sensitive_goes_first_with_its_whole_conversation(store: Store) -> None:
    plain, delicate = turns(store, "ann", 2), turns(store, "ben", 2)
    add_turn(store, Question(text="told"), answer("told", delicate, action="handoff"))
    add_turn(store, Question(text="after"), answer("after", delicate))
    add_turn(store, Question(text="alone"), answer("alone", action="handoff"))
    add_turn(store, Question(text="fine"), answer("fine"))
    assert [kept.sensitive for kept in list_answers(store)] == [False] * 2 + [True] * 5 + [False]
    assert select_expired(store, days(-1), days(-1)) == ((), ())
    assert select_expired(store, None, None) == ((), ())
    assert select_expired(store, days(-1), days(1)) == ((delicate,), ("alone",))
    assert select_expired(store, days(1), None) == ((plain,), ("fine",))
    erase_rows(store, select_expired(store, days(-1), days(1)), "retention")
    found = verify_chain(store)
    assert (found.broken, found.erased) == (None, {"retention": 5})
    assert select_expired(store, days(-1), days(1)) == ((), ())
    erase_rows(store, select_expired(store, days(1), days(1)), "retention")
    assert verify_chain(store).erased == {"retention": 8}


def test_a_conversation_counts_by_its_last_message(store: Store) -> None:
    old, empty = turns(store, "ann", 1), new_conversation(store, Person())
    between = datetime.now(UTC)
    add_turn(store, Question(text="again"), answer("again", old))
    assert select_expired(store, between, between) == ((empty,), ())
    assert set(select_expired(store, days(1), days(1)).conversations) == {old, empty}
