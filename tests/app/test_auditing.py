"""Looking at answers, expiring and erasing them in a workspace, with what the certificate says of
every place."""

import asyncio
import hashlib
import hmac
import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from answer.asking import FILES, GB, LEAVE, company
from ombud.app import (
    Workspace,
    asking,
    certify_deletion,
    chain_head,
    erase_personal_data,
    expire,
    list_records,
    run_expiry,
    show_record,
    verified_json,
    verify_audit,
)
from ombud.errors import BadSetting, NotFound
from ombud.settings import load
from ombud.types import Person, Question

TOUCHED = "My boss Harold touches me against my will, what can I do about the golden spanner?"
SPANNER = "Where is the golden spanner of the north gate kept during the winter months?"
ANN, BEN = Person(id="ann@example.org", country="GB"), Person(id="ben@example.org", country="GB")


def put(workspace: Workspace, text: str, who: Person, talk: str | None = None) -> str:
    return asyncio.run(
        asking.ask(workspace, Question(text=text, asker=who), conversation_id=talk)
    ).id


def holding(home: Path, *words: str) -> set[str]:
    """Files under .ombud that hold one of the words."""
    return {
        file.relative_to(home).as_posix()
        for file in (home / ".ombud").rglob("*")
        if file.is_file() and any(word.encode() in file.read_bytes() for word in words)
    }


def test_an_answer_is_stored_with_what_answered(tmp_path: Path) -> None:
    workspace = company(tmp_path).workspace
    identity = put(workspace, LEAVE, ANN)
    found = show_record(workspace, identity[:8])
    setup = found["setup"]
    assert setup["settings"]["plan"]["k"] == 8
    assert setup["prompts"].keys() >= {"compose/default"}
    assert setup["embedder"] == "none"
    assert (
        setup["files"]["contacts.toml"]
        == hashlib.sha256((tmp_path / "contacts.toml").read_bytes()).hexdigest()
    )
    (record,) = found["records"]
    assert (record["kind"], record["facts"]["index_version"]) == (
        "answer",
        workspace.engine.version(),
    )
    assert found["question"]["text"] == LEAVE
    assert "26 days" in found["answer"]["text"]
    assert verified_json(verify_audit(workspace))["ok"]
    head = chain_head(workspace)
    assert head
    assert head["hash"] == record["hash"]
    json.dumps(found)


def test_a_password_in_an_address_is_not_kept(tmp_path: Path) -> None:
    workspace = company(
        tmp_path,
        models={
            "embedder": "none",
            "base_url": "http://me:s3cret@127.0.0.1:1/v1",
            "reranker_url": "http://127.0.0.1:1?api_key=s3cret",
        },
    ).workspace
    put(workspace, LEAVE, ANN)
    workspace.store.settle()
    assert holding(tmp_path, "s3cret") == set()


def test_the_list_holds_no_words(tmp_path: Path) -> None:
    workspace = company(tmp_path, plan={"abstain": 0.05}).workspace
    put(workspace, LEAVE, ANN)
    put(workspace, TOUCHED, BEN)
    rows = list(list_records(workspace))
    assert (rows[0]["outcome"], rows[0]["sensitive"]) == ("full", False)
    assert rows[1]["sensitive"]
    assert not any(word in json.dumps(rows) for word in ("leave", "touches", "ann@", "Harold"))
    assert list(list_records(workspace, outcome="denied")) == [
        row for row in rows if row["outcome"] == "denied"
    ]
    assert list(list_records(workspace, since=(datetime.now(UTC) + timedelta(days=1)).date())) == []


def test_words_of_a_sensitive_conversation_are_withheld(tmp_path: Path) -> None:
    workspace = company(tmp_path).workspace
    identity = put(workspace, TOUCHED, BEN)
    found = show_record(workspace, identity)
    assert found["withheld"]
    assert "Harold" not in json.dumps(found)
    assert show_record(workspace, identity, sensitive=True)["question"]["text"] == TOUCHED


# Erasing ------------------------------------------------------------------------------------------


def test_one_persons_data_goes_from_every_place_and_the_others_stay(tmp_path: Path) -> None:
    workspace = company(tmp_path).workspace
    talk = asking.new_conversation(workspace, ANN)
    put(workspace, SPANNER, ANN, talk)
    put(workspace, "And in the summer?", ANN, talk)
    alone = put(workspace, TOUCHED, ANN)
    others = put(workspace, LEAVE, BEN)
    workspace.store.settle()
    assert holding(tmp_path, "golden spanner", "ann@example.org")

    planned = erase_personal_data(workspace, person=ANN.id, dry_run=True)
    assert (planned["conversations"], planned["answers"], planned["messages"]) == (1, 3, 4)
    assert asking.stored_answer(workspace, alone)

    made = erase_personal_data(workspace, person=ANN.id)
    assert made["gone"]
    assert (made["conversations"], made["answers"], made["messages"]) == (1, 3, 4)
    assert {place["name"]: place["found"] for place in made["places"]} == {
        "store: conversations, answers and messages": 0,
        "store: rows with the person's id": 0,
        "store: account, browsers and tokens": 0,
        "store: runs of the lab": 0,
        "files of the workspace": 0,
    }
    assert holding(tmp_path, "golden spanner", "north gate", "ann@example.org", "Harold") == set()
    with pytest.raises(NotFound):
        asking.stored_answer(workspace, alone)
    with pytest.raises(NotFound):
        asking.messages(workspace, talk)
    assert "26 days" in asking.stored_answer(workspace, others).text
    found = verify_audit(workspace)
    assert (found.broken, found.erased) == (None, {"person": 3})
    # The certificate can be held against the chain.
    told = show_record(workspace, alone)
    assert [record["number"] for record in told["records"]][1] in [
        record["number"] for record in made["records"]
    ]
    mark = hmac.digest(made["salt"].encode(), ANN.id.encode(), "sha256").hex()
    assert told["records"][1]["facts"] == {"reason": "person", "of": mark}


def test_what_is_left_somewhere_is_said(tmp_path: Path) -> None:
    workspace = company(tmp_path).workspace
    put(workspace, SPANNER, ANN)
    (tmp_path / ".ombud" / "export.txt").write_text(f"asked: {SPANNER}", encoding="utf-8")
    made = erase_personal_data(workspace, person=ANN.id)
    assert not made["gone"]
    assert [place["name"] for place in made["places"] if place["found"]] == [
        "files of the workspace"
    ]


def test_the_same_question_of_another_stays_and_is_no_trace(tmp_path: Path) -> None:
    workspace = company(tmp_path).workspace
    put(workspace, SPANNER, ANN)
    other = put(workspace, SPANNER, BEN)
    made = erase_personal_data(workspace, person=ANN.id)
    assert made["gone"]
    assert asking.stored_answer(workspace, other)


def test_nothing_kept_is_said(tmp_path: Path) -> None:
    workspace = company(tmp_path).workspace
    for options in ({"person": "nobody@example.org"}, {"conversation": "nothing"}):
        with pytest.raises(NotFound):
            erase_personal_data(workspace, **options)  # type: ignore[arg-type]


# Retention ----------------------------------------------------------------------------------------


def test_sensitive_conversations_expire_first(tmp_path: Path) -> None:
    workspace = company(tmp_path, audit={"days": 100, "sensitive_days": 10}).workspace
    plain, delicate = put(workspace, LEAVE, ANN), put(workspace, TOUCHED, BEN)
    now = datetime.now(UTC)
    assert expire(workspace, now=now + timedelta(days=9))["answers"] == 0
    assert expire(workspace, now=now + timedelta(days=11), dry_run=True)["answers"] == 1
    assert asking.stored_answer(workspace, delicate)
    assert expire(workspace, now=now + timedelta(days=11))["answers"] == 1
    assert asking.stored_answer(workspace, plain)
    with pytest.raises(NotFound, match="was erased"):
        asking.stored_answer(workspace, delicate)
    assert holding(tmp_path, "Harold") == set()
    assert expire(workspace, now=now + timedelta(days=101))["answers"] == 1
    assert verify_audit(workspace).erased == {"retention": 2}
    assert verify_audit(workspace).broken is None


def test_zero_days_keep_for_ever(tmp_path: Path) -> None:
    workspace = company(tmp_path, audit={"days": 0, "sensitive_days": 0}).workspace
    put(workspace, TOUCHED, ANN)
    assert expire(workspace, now=datetime.now(UTC) + timedelta(days=10000))["answers"] == 0


@pytest.mark.parametrize("days", [(10, 20), (10, 0)])
def test_what_is_sensitive_may_not_be_kept_longer(days: tuple[int, int]) -> None:
    with pytest.raises(BadSetting, match="what is sensitive goes first"):
        load(None, {"audit": {"days": days[0], "sensitive_days": days[1]}})


def test_a_server_expires_by_itself(tmp_path: Path) -> None:
    workspace = company(tmp_path, audit={"days": 1, "sensitive_days": 1}).workspace
    identity = put(workspace, LEAVE, ANN)
    said: list[str] = []
    stop = threading.Event()
    stop.set()
    run_expiry(workspace, stop, said.append)
    assert said == []
    with workspace.store.write() as db:
        db.execute(text("UPDATE answer SET at = '2020-01-01T00:00:00+00:00'"))
    run_expiry(workspace, stop, said.append)
    assert said == ["audit: erased 0 conversations and 1 answers by age"]
    with pytest.raises(NotFound):
        asking.stored_answer(workspace, identity)


def test_a_document_that_is_purged_goes_from_later_questions_too(tmp_path: Path) -> None:
    workspace = company(tmp_path).workspace
    talk = asking.new_conversation(workspace, GB)
    put(workspace, LEAVE, GB, talk)
    put(workspace, "And what is the hotel cap per night in Paris?", GB, talk)
    made = certify_deletion(workspace, "docs/leave-gb.md")
    assert made.gone, [place for place in made.places if place.found]
    assert holding(tmp_path, FILES["leave-gb.md"][0].splitlines()[-1]) == set()
    found = verify_audit(workspace)
    assert found.broken is None
    assert found.erased == {"document": 2}
