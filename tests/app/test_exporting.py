"""Everything that is stored about a person, compared with everything that erasure takes away."""

import asyncio
import json
import stat
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from answer.asking import LEAVE, company
from journeys.command import ombud
from ombud.app import Workspace, asking, erase_personal_data, export_of, people, verify_audit
from ombud.app.handoff import advising, conversing
from ombud.errors import NotFound
from ombud.store import Store, keep_login, last_messages, rate_answer, seal
from ombud.store.tables import metadata
from ombud.types import Account, Person, Question

SECRETS = "I have told my manager of my illness in confidence."
ALL = Iterator[tuple[Workspace, Account, Account]]


@pytest.fixture
def two(tmp_path: Path) -> ALL:
    """Ann, with something in every place that holds people, and Ben."""
    workspace = company(tmp_path).workspace
    accounts: list[Account] = []
    for name in ("ann", "ben"):
        given = Person(country="GB", grade="G5", persona="employee")
        account = people.add_person(workspace, name, given, [], password=f"{name} long enough")
        accounts.append(account)
        people.make_token(workspace, account, f"laptop of {name}", ["ask"])
        keep_login(workspace.store, f"secret of {name}", account.id, now=0.0, until=9e9)
        talk = asking.new_conversation(workspace, account.person)
        answer = put(workspace, f"{LEAVE} asks {name}", account.person, talk)
        put(workspace, f"{SECRETS} says {name}", account.person, talk)
        put(workspace, f"{LEAVE} asks {name} alone", account.person, None)
        rate_answer(workspace.store, answer, account.id, 1, f"thanks from {name}")
        conversing.hand_over(workspace, talk, "asked", "leave")
        advising.note(workspace, talk, advising.EVERYBODY, f"about {name}", str(uuid.uuid4()))
        advising.claim(workspace, talk, advising.EVERYBODY)
        advising.end(workspace, talk, advising.EVERYBODY, reason="solved", note="")
        conversing.rate_person(workspace, talk, 4, f"rated by {name}")
        assert last_messages(workspace.store, talk)
    ann, ben = accounts
    yield workspace, ann, ben
    workspace.close()


def put(workspace: Workspace, text: str, who: Person, talk: str | None) -> str:
    question = Question(text=text, asker=who)
    return asyncio.run(asking.ask(workspace, question, conversation_id=talk)).id


def rows(store: Store) -> dict[tuple[str, str], dict[str, Any]]:
    """(table, primary key) -> row, of everything that is stored."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    with store.read() as db:
        for table in metadata.sorted_tables:
            for row in db.execute(select(table)).mappings():
                key = "/".join(str(row[column.name]) for column in table.primary_key)
                found[table.name, key] = dict(row)
    return found


def test_nothing_that_is_erased_is_missing_from_the_export(
    two: tuple[Workspace, Account, Account],
) -> None:
    workspace, ann, _ = two
    exported = export_of(workspace, "ann")
    text = json.dumps(exported)
    seal(workspace.store)  # as erasure does first, to everybody's rows
    before = rows(workspace.store)
    assert erase_personal_data(workspace, person="ann")["gone"]
    after = rows(workspace.store)
    bookkeeping = {"audit", "unsealed", "lease", "progress", "setup"}
    erased = {key for key, row in before.items() if after.get(key) != row}
    tables = {table for table, _ in erased} - bookkeeping
    assert {"account", "answer", "answer_feedback", "conversation", "event", "login"} <= tables
    assert {"session", "token"} <= tables
    assert tables <= set(exported["stored"])
    for table in tables - {"login"}:  # a sign-in has no name but the digest of its secret
        for key in (key for name, key in erased if name == table):
            assert any(part in text for part in key.split("/")), (table, key)
    counts = {name: len(stored) for name, stored in exported["stored"].items()}
    for table in tables:
        assert counts[table] >= sum(name == table for name, _ in erased)
    assert "thanks from ann" in text
    assert "rated by ann" in text
    assert "laptop of ann" in text
    assert f"{SECRETS} says ann" in text
    assert ann.id in text


def test_no_secret_and_nobody_else_is_in_it(two: tuple[Workspace, Account, Account]) -> None:
    workspace, _, ben = two
    text = json.dumps(export_of(workspace, "ann"))
    for (table, _), row in rows(workspace.store).items():
        if table not in {"account", "answer", "conversation", "event", "login", "session", "token"}:
            continue  # what others call a digest names a document or a setup
        for column in ("password", "digest", "owner", "salt"):
            value = row.get(column)
            assert not value or f'"{value}"' not in text
    for word in (ben.id, "asks ben", "says ben", "thanks from ben", "laptop of ben"):
        assert word not in text


def test_the_audit_records_it_and_still_verifies(two: tuple[Workspace, Account, Account]) -> None:
    workspace, *_ = two
    last = export_of(workspace, "ann")["audit"][-1]
    assert last["facts"]["action"] == "exported"
    assert last["facts"]["account"] == people.mark(two[1].id)
    assert verify_audit(workspace).broken is None
    with pytest.raises(NotFound):
        export_of(workspace, "nobody-here")


def test_the_file_is_for_its_owner_alone(
    two: tuple[Workspace, Account, Account], tmp_path: Path
) -> None:
    (tmp_path / "ombud.toml").touch()
    file = tmp_path / "ann.json"
    arguments = ("people", "export", "ann", "--to", file)
    assert ombud(*arguments, cwd=two[0].home).code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text(encoding="utf-8"))["account"]["name"] == "ann"
    assert ombud(*arguments, cwd=two[0].home).code == 2
