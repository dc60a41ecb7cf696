"""What every database must do for the store."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text, update

from ombud.errors import Busy, NotFound, StoreError
from ombud.store import (
    DocumentEntry,
    RecordedSource,
    Store,
    acquire_lease,
    add_source,
    add_turn,
    bury_documents,
    document_ends,
    document_entries,
    document_ids,
    find_document,
    forget_document,
    last_messages,
    list_documents,
    list_sources,
    new_conversation,
    open_store,
    read_answer,
    save_document,
    save_end,
    save_facts,
    text_of,
    tombstones,
    written_for,
)
from ombud.store.lease import renew_all
from ombud.store.tables import lease as leases
from ombud.store.tables import metadata
from ombud.types import Answer, Block, Citation, Person, Question
from store.places import database, document, kept


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with database(request.param) as address:
        yield address


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(url, tmp_path)
    yield opened
    opened.close()


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run work(0), work(1)… at once; the first error is raised here."""
    failed: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def start(url: str, folder: Path, code: str) -> subprocess.Popen[str]:
    """Another process with `store` open."""
    head = "import os, sys\nfrom pathlib import Path\nfrom ombud.store import *\n"
    head += "store = open_store(sys.argv[1], Path(sys.argv[2]))\n"
    command = [sys.executable, "-c", head + code, url, str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    said, failed = process.communicate(timeout=120)
    assert process.returncode == 0, failed
    return said


def answer(identity: str, conversation: str | None = None, said: str = "Yes.") -> Answer:
    return Answer(id=identity, conversation_id=conversation, outcome="full", text=said)


# Shape --------------------------------------------------------------------------------------------


def test_migrations_lead_to_the_tables(store: Store) -> None:
    with store.read() as db:
        assert compare_metadata(MigrationContext.configure(db), metadata) == []


def test_opening_again_keeps_everything(store: Store, url: str, tmp_path: Path) -> None:
    save_document(store, document("a", "text"), kept())
    again = open_store(url, tmp_path)
    assert find_document(again, "a").text == "text"
    again.close()


def test_many_that_open_a_new_database_at_once_all_can(url: str, tmp_path: Path) -> None:
    def work(number: int) -> None:
        opened = open_store(url, tmp_path)
        add_source(opened, RecordedSource(f"s{number}", "/", ""))
        opened.close()

    in_threads(6, work)
    processes = [
        start(url, tmp_path, f"add_source(store, RecordedSource('p{n}', '/', ''))")
        for n in range(3)
    ]
    for process in processes:
        finish(process)
    opened = open_store(url, tmp_path)
    assert [s.name for s in list_sources(opened)] == [
        "p0",
        "p1",
        "p2",
        "s0",
        "s1",
        "s2",
        "s3",
        "s4",
        "s5",
    ]
    opened.close()


def test_processes_that_open_a_new_database_at_once_all_can(url: str, tmp_path: Path) -> None:
    processes = [start(url, tmp_path, "print(len(list_sources(store)))") for _ in range(4)]
    assert [finish(process).strip() for process in processes] == ["0"] * 4


def test_a_database_of_a_newer_version_is_left_alone(
    store: Store, url: str, tmp_path: Path
) -> None:
    with store.write() as db:
        db.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="newer ombud") as wrong:
        open_store(url, tmp_path)
    assert "Install that version" in wrong.value.hint


def test_a_failed_transaction_leaves_nothing(store: Store) -> None:
    def fail() -> None:
        with store.write() as db:
            db.execute(text("INSERT INTO source (name, path, country) VALUES ('a', '/', '')"))
            db.execute(text("SELECT * FROM no_such_table"))

    with pytest.raises(StoreError) as wrong:
        fail()
    assert "no_such_table" in wrong.value.detail
    assert wrong.value.hint
    assert list_sources(store) == []


# Readers and writers -----------------------------------------------------------------------------

PATIENCE = 20
"""Seconds after which whoever should not wait is taken to wait for ever."""


def elsewhere(work: Callable[[], object]) -> threading.Event:
    """Do `work` in a thread of its own; the event is set when it is done."""
    done = threading.Event()

    def run() -> None:
        work()
        done.set()

    threading.Thread(target=run, daemon=True).start()
    return done


def test_a_reader_waits_for_no_reader(store: Store) -> None:
    add_source(store, RecordedSource("a", "/", ""))
    with store.read() as db:
        assert db.execute(text("SELECT name FROM source")).scalars().all() == ["a"]
        assert elsewhere(lambda: list_sources(store)).wait(PATIENCE)


def test_a_reader_waits_for_no_writer(store: Store, url: str, tmp_path: Path) -> None:
    add_source(store, RecordedSource("a", "/", ""))
    seen: list[str] = []

    def look() -> None:
        again = open_store(url, tmp_path)
        seen.extend(source.name for source in list_sources(again))
        again.close()

    with store.write() as db:
        db.execute(text("INSERT INTO source (name, path, country) VALUES ('b', '/', '')"))
        assert elsewhere(look).wait(PATIENCE)
    # What was not yet finished was not yet seen.
    assert seen == ["a"]
    assert [source.name for source in list_sources(store)] == ["a", "b"]


def test_a_writer_waits_for_no_reader_who_goes_on_seeing_the_same(store: Store) -> None:
    add_source(store, RecordedSource("a", "/", ""))
    with store.read() as db:
        names = text("SELECT name FROM source ORDER BY name")
        assert db.execute(names).scalars().all() == ["a"]
        assert elsewhere(lambda: add_source(store, RecordedSource("b", "/", ""))).wait(PATIENCE)
        assert db.execute(names).scalars().all() == ["a"]
    assert [source.name for source in list_sources(store)] == ["a", "b"]


def test_writers_take_turns(store: Store) -> None:
    """Each adds to what the one before it has left: with a reader's beginning one of them would fail."""
    add_source(store, RecordedSource("count", "0", ""))
    ready = threading.Barrier(4)

    def work(_number: int) -> None:
        ready.wait(PATIENCE)
        for _ in range(5):
            with store.write() as db:
                lock = " FOR UPDATE" if db.dialect.name == "postgresql" else ""
                count = db.execute(text(f"SELECT path FROM source{lock}")).scalar_one()
                db.execute(text("UPDATE source SET path = :path"), {"path": str(int(count) + 1)})

    in_threads(4, work)
    assert [source.path for source in list_sources(store)] == ["20"]


def test_whoever_only_reads_cannot_write(store: Store) -> None:
    add_source(store, RecordedSource("a", "/", ""))

    def change() -> None:
        with store.read() as db:
            db.execute(text("DELETE FROM source"))

    with pytest.raises(StoreError) as wrong:
        change()
    assert "only" in wrong.value.detail
    assert [source.name for source in list_sources(store)] == ["a"]
    # The same connection writes again when it is used for that.
    add_source(store, RecordedSource("b", "/", ""))
    assert [source.name for source in list_sources(store)] == ["a", "b"]


# Sources and documents ----------------------------------------------------------------------------


def test_a_source_is_recorded_once(store: Store) -> None:
    add_source(store, RecordedSource("b", "/old", ""))
    add_source(store, RecordedSource("a", "/a", "GB"))
    add_source(store, RecordedSource("b", "/new", "FR"))
    assert list_sources(store) == [
        RecordedSource("a", "/a", "GB"),
        RecordedSource("b", "/new", "FR"),
    ]


def test_a_document_comes_back_as_it_was(store: Store) -> None:
    blocks = (
        Block(kind="heading", text="Ferien 🏖️", level=2, page=1),
        Block(kind="table", text="| é | 𝔘 |\n| --- | --- |\n\n| x |", page=2),
        Block(kind="text", text="", page=2),
        Block(kind="list", text="- 年次有給休暇 'quoted' \"twice\" \\ %s :name"),
    )
    whole = document(
        "hr/ü'.md", *(b.text for b in blocks), countries=("GB",), audience={"roles": ("a",)}
    )
    whole = whole.model_copy(update={"blocks": blocks, "effective_from": date(2024, 2, 29)})
    save_document(store, whole, kept(chunks=7))
    assert find_document(store, whole.id) == whole
    assert find_document(store, "hr/ü'.md") == whole
    assert list_documents(store) == [whole.model_copy(update={"blocks": (), "text": ""})]
    found = written_for(store)
    assert (found["countries"], found["roles"]) == ({"GB"}, {"a"})
    assert not found["grades"] | found["contracts"]
    assert document_ids(store) == {whole.id: 7}
    assert document_entries(store, "hr") == {
        whole.id: DocumentEntry(whole.id, whole.uri, "1", "f", "r", 7, "")
    }
    assert document_entries(store, "other") == {}


def test_offsets_count_code_points(store: Store) -> None:
    whole = document("a", "🏖️ é Urlaub")
    save_document(store, whole, kept())
    kept_text = text_of(store, whole.id, "1")
    assert kept_text is not None
    assert kept_text[kept_text.index("Urlaub") :] == kept_text[5:] == "Urlaub"


def test_older_texts_stay_for_the_citations_into_them(store: Store) -> None:
    first = document("a", "old text")
    second = document("a", "new", "text", digest="2", title="Renamed")
    save_document(store, first, kept())
    save_document(store, second, kept(chunks=2))
    assert find_document(store, first.id).text == "new\n\ntext"
    old = find_document(store, first.id, "1")
    assert (old.text, old.digest, [b.text for b in old.blocks]) == ("old text", "1", ["old text"])
    assert (text_of(store, first.id, "1"), text_of(store, first.id, "2")) == (
        "old text",
        "new\n\ntext",
    )
    assert text_of(store, first.id, "3") is None
    with pytest.raises(NotFound, match="no longer kept"):
        find_document(store, first.id, "3")
    assert document_ids(store) == {first.id: 2}


def test_changed_facts_leave_the_text(store: Store) -> None:
    save_document(store, document("a", "text"), kept())
    save_facts(store, document("a", countries=("FR",)), kept(date(2030, 1, 1), chunks=4))
    found = find_document(store, "a")
    assert (found.countries, found.text) == (("FR",), "text")
    assert document_ids(store) == {found.id: 4}


def test_a_buried_document_is_gone_at_once_and_forgotten_later(store: Store) -> None:
    a, b = document("a", "text"), document("b", "text", source="other")
    save_document(store, a, kept())
    save_document(store, b, kept())
    bury_documents(store, [a.id])
    assert (document_entries(store, "hr"), document_ids(store), tombstones(store)) == (
        {},
        {b.id: 1},
        [a.id],
    )
    assert [d.uri for d in list_documents(store)] == ["b"]
    assert not any(written_for(store).values())
    assert list_documents(store, "hr") == []
    with pytest.raises(NotFound, match="There is no document `a`"):
        find_document(store, "a")
    forget_document(store, [a.id, b.id])  # b is not buried
    assert tombstones(store) == []
    assert text_of(store, a.id, "1") is None
    assert [d.uri for d in list_documents(store)] == ["b"]


def test_a_document_that_returns_loses_its_tombstone(store: Store) -> None:
    a = document("a", "text")
    save_document(store, a, kept())
    bury_documents(store, [a.id])
    save_document(store, a, kept())
    assert tombstones(store) == []
    assert find_document(store, "a").text == "text"


def test_ends_are_those_of_the_chain_until_they_are_saved(store: Store) -> None:
    first = document("v1", effective_from=date(2020, 1, 1))
    second = document("v2", effective_from=date(2022, 1, 1), supersedes="v1")
    third = document("v3", effective_from=date(2024, 3, 1), supersedes="v2", source="other")
    for version in (first, second, third):
        save_document(store, version, kept())
    found = {d.uri: d.effective_to for d in document_ends(store)}
    assert found == {"v1": date(2021, 12, 31), "v2": date(2024, 2, 29)}
    for version in document_ends(store):
        save_end(store, version)
    assert document_ends(store) == []
    assert find_document(store, "v2").effective_to == date(2024, 2, 29)
    bury_documents(store, [third.id])  # without its successor the second is open again
    assert [(d.uri, d.effective_to) for d in document_ends(store)] == [("v2", None)]


def test_an_own_earlier_end_stays_and_a_later_one_comes_back(store: Store) -> None:
    early, late = date(2021, 5, 31), date(2030, 12, 31)
    save_document(store, document("v1", effective_to=early), kept(early))
    save_document(store, document("w1", effective_to=late), kept(late))
    for uri in ("v", "w"):
        new = document(f"{uri}2", effective_from=date(2022, 1, 1), supersedes=f"{uri}1")
        save_document(store, new, kept())
    assert [(d.uri, d.effective_to) for d in document_ends(store)] == [("w1", date(2021, 12, 31))]
    save_end(store, document_ends(store)[0])
    bury_documents(store, [find_document(store, "w2").id])
    assert [(d.uri, d.effective_to) for d in document_ends(store)] == [("w1", late)]


# Conversations ------------------------------------------------------------------------------------


def test_a_conversation_is_its_turns_in_order(store: Store) -> None:
    talk, other = (new_conversation(store, Person(id="p", country="GB")) for _ in range(2))
    for number in range(3):
        add_turn(store, Question(text=f"q{number}"), answer(f"a{number}", talk, said=f"s{number}"))
    add_turn(store, Question(text="alone"), answer("alone"))
    said = last_messages(store, talk)
    assert [(m.role, m.content) for m in said] == [
        (role, f"{letter}{n}")
        for n in range(3)
        for role, letter in (("user", "q"), ("assistant", "s"))
    ]
    assert [m.content for m in last_messages(store, talk, 2)] == ["q1", "s1", "q2", "s2"]
    assert last_messages(store, talk, 0) == last_messages(store, other) == []
    assert len({m.id for m in said}) == 6
    assert all(m.at and m.at.tzinfo for m in said)


def test_an_answer_comes_back_with_its_citations(store: Store) -> None:
    cited = Citation(
        chunk_id="c", document_id="d", title="é", uri="u", quote="🏖", start=1, end=2, digest="x"
    )
    whole = answer("a").model_copy(update={"citations": (cited,)})
    add_turn(store, Question(text="q", as_of=date(2024, 1, 1)), whole)
    assert read_answer(store, "a") == whole


def test_what_is_not_there_is_said(store: Store) -> None:
    with pytest.raises(NotFound, match="no conversation `x`"):
        last_messages(store, "x")
    with pytest.raises(NotFound, match="no answer `x`"):
        read_answer(store, "x")


def test_a_turn_of_an_unknown_conversation_leaves_no_half(store: Store) -> None:
    with pytest.raises(NotFound):
        add_turn(store, Question(text="q"), answer("a", "no-such-conversation"))
    with pytest.raises(NotFound):
        read_answer(store, "a")


def test_a_zero_character_in_a_question_harms_nothing(store: Store) -> None:
    talk = new_conversation(store, Person())
    add_turn(store, Question(text="le\0ave?"), answer("a", talk, "Ye\0s."))
    assert [m.content for m in last_messages(store, talk)] == ["leave?", "Yes."]


def test_many_writers_lose_nothing(store: Store) -> None:
    talk = new_conversation(store, Person())

    def work(number: int) -> None:
        for turn in range(5):
            add_turn(store, Question(text=f"{number}.{turn}"), answer(f"{number}.{turn}", talk))

    in_threads(8, work)
    asked = [m.content for m in last_messages(store, talk) if m.role == "user"]
    assert sorted(asked) == sorted(f"{n}.{t}" for n in range(8) for t in range(5))


# Leases -------------------------------------------------------------------------------------------


def change(store: Store, **values: Any) -> None:
    with store.write() as db:
        db.execute(update(leases).values(**values))


def test_a_second_owner_hears_who_holds_it(store: Store) -> None:
    import os
    import socket

    with (
        acquire_lease(store, "sync"),
        acquire_lease(store, "other"),
        pytest.raises(Busy) as busy,
        acquire_lease(store, "sync"),
    ):
        pass
    assert (
        str(busy.value)
        == f"A sync is already running (process {os.getpid()} on {socket.gethostname()})."
    )
    assert "30 seconds" in busy.value.hint


def test_a_lease_is_free_after_its_block_also_after_an_error(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), acquire_lease(store, "sync"):
        raise ZeroDivisionError
    with acquire_lease(store, "sync") as lease:
        lease.check()


def test_work_of_this_process_that_could_not_give_back_its_lease_blocks_nobody(
    store: Store,
) -> None:
    with acquire_lease(store, "sync") as lease:
        pass
    # As a full disk leaves it: the block has ended, the row says that it has not.
    change(store, owner=lease.owner, expires=time.time() + 30)
    with acquire_lease(store, "sync") as again:
        assert again.fence == lease.fence + 1


def test_the_fence_grows_with_every_owner(store: Store) -> None:
    fences = []
    for _ in range(3):
        with acquire_lease(store, "sync") as lease:
            fences.append(lease.fence)
    assert fences == [1, 2, 3]


def test_a_lease_given_back_is_no_longer_held(store: Store) -> None:
    with acquire_lease(store, "sync") as lease:
        pass
    with pytest.raises(Busy, match="was lost"):
        lease.check()


def test_only_one_of_many_takes_a_new_name(store: Store) -> None:
    gate, done = threading.Barrier(8), threading.Barrier(8)
    taken: list[int] = []
    refused: list[str] = []

    def work(number: int) -> None:
        gate.wait(60)
        try:
            with acquire_lease(store, "sync"):
                taken.append(number)
                done.wait(60)
        except Busy as busy:
            refused.append(str(busy))
            done.wait(60)

    in_threads(8, work)
    assert (len(taken), len(refused)) == (1, 7)


def test_processes_own_one_after_the_other(store: Store, url: str, tmp_path: Path) -> None:
    count = tmp_path / "count"
    count.write_text("0")
    code = (
        "from ombud.errors import Busy\n"
        f"count, left = Path({str(count)!r}), 5\n"
        "while left:\n"
        "    try:\n"
        "        with acquire_lease(store, 'sync') as lease:\n"
        "            number = int(count.read_text())\n"
        "            count.write_text(str(number + 1))\n"
        "            assert lease.fence == number + 1, (lease.fence, number)\n"
        "            left -= 1\n"
        "    except Busy:\n"
        "        pass\n"
    )
    for process in [start(url, tmp_path, code) for _ in range(3)]:
        finish(process)
    assert count.read_text() == "15"


def test_a_killed_owner_is_followed_at_once(store: Store, url: str, tmp_path: Path) -> None:
    finish(
        start(url, tmp_path, "block = acquire_lease(store, 'sync'); block.__enter__(); os._exit(0)")
    )
    with acquire_lease(store, "sync") as lease:
        assert lease.fence == 2


def test_an_owner_on_another_machine_is_waited_for_until_its_claim_ends(store: Store) -> None:
    with acquire_lease(store, "sync") as first:
        change(store, owner="elsewhere:1:abc")
        with pytest.raises(Busy, match="process 1 on elsewhere"), acquire_lease(store, "sync"):
            pass
        change(store, expires=1.0)
        with acquire_lease(store, "sync") as second:
            assert second.fence == first.fence + 1


def test_who_lost_a_lease_hears_of_it_and_takes_nothing_back(store: Store) -> None:
    with acquire_lease(store, "sync") as second_later:
        change(store, expires=1.0)
        with acquire_lease(store, "sync") as new:
            with pytest.raises(Busy, match="`sync` was lost"):
                second_later.check()
            new.check()
        with pytest.raises(Busy):
            new.check()
    with acquire_lease(store, "sync") as lease:
        assert lease.fence == 3


def test_renewing_puts_the_end_off(store: Store) -> None:
    with acquire_lease(store, "sync"):
        change(store, expires=1.0)
        assert renew_all(store) == 1
        with pytest.raises(Busy), acquire_lease(store, "sync"):
            pass


def test_the_old_owner_leaves_the_new_one_in_place(store: Store) -> None:
    old = acquire_lease(store, "sync")
    old.__enter__()
    change(store, expires=1.0)
    with acquire_lease(store, "sync") as new:
        old.__exit__(None, None, None)
        new.check()
        with pytest.raises(Busy), acquire_lease(store, "sync"):
            pass
