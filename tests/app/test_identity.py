"""People and tokens: what is kept of them, who may do what, and what the audit says."""

import asyncio
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from ombud.app import Workspace, callers, create_workspace, erase_personal_data, people, signing_in
from ombud.cli.verbs import app
from ombud.errors import BadRequest, NotAllowed, NotFound, NotSignedIn, UnknownName
from ombud.messages import message
from ombud.store import read_links, verify_chain
from ombud.types import Account, Person

PASSWORD = "correct horse battery"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    monkeypatch.setenv("OMBUD_IDENTITY__KIND", "local")
    create_workspace(tmp_path / "home")
    made = Workspace(tmp_path / "home")
    yield made
    made.close()


def sign_in(workspace: Workspace, name: str) -> tuple[Account, str]:
    throttle = signing_in.Throttle()
    return asyncio.run(signing_in.sign_in(workspace, throttle, name, PASSWORD, "127.0.0.1"))


def rows(workspace: Workspace, table: str) -> str:
    with workspace.store.read() as db:
        return str(db.execute(text(f"SELECT * FROM {table}")).all())


def test_a_password_is_kept_as_argon2id_with_the_parameters_of_the_rfc(
    workspace: Workspace,
) -> None:
    """RFC 9106, 4: the second recommended option is t=3, 64 MiB, 4 lanes."""
    people.add_person(workspace, "ann", Person(), [], password=PASSWORD)
    kept = rows(workspace, "account")
    assert "$argon2id$v=19$m=65536,t=3,p=4$" in kept
    assert PASSWORD not in kept


@pytest.mark.parametrize("password", ["short", "x" * 11, "x" * 201])
def test_a_password_of_a_bad_length_is_refused(workspace: Workspace, password: str) -> None:
    with pytest.raises(BadRequest, match="12 to 200"):
        people.add_person(workspace, "ann", Person(), [], password=password)
    assert people.list_people(workspace) == []


@pytest.mark.parametrize("name", ["", " ", "a b/c", "<b>", "x" * 101, "-x", "ann\n"])
def test_a_name_is_one_to_sign_in_with(workspace: Workspace, name: str) -> None:
    if name == "ann\n":  # blanks around it do not count
        assert people.add_person(workspace, name, Person(), []).name == "ann"
        return
    with pytest.raises(BadRequest):
        people.add_person(workspace, name, Person(), [])


def test_a_name_is_taken_once(workspace: Workspace) -> None:
    people.add_person(workspace, "ann", Person(), [])
    with pytest.raises(BadRequest, match="taken"):
        people.add_person(workspace, "ANN", Person(), [])


def test_a_browser_is_known_until_its_hours_are_over(workspace: Workspace) -> None:
    account = people.add_person(workspace, "ann", Person(country="GB"), [], password=PASSWORD)
    _, secret = sign_in(workspace, "ann")
    assert secret not in rows(workspace, "login")
    known = callers.Callers(workspace).of_browser(secret)
    assert known is not None
    assert known.account == account
    assert known.rights == {"ask"}
    import time

    later = time.time() + workspace.settings.identity.hours * 3600 + 1
    assert callers.Callers(workspace, clock=lambda: later).of_browser(secret) is None


def test_another_password_signs_out_everywhere(workspace: Workspace) -> None:
    account = people.add_person(workspace, "ann", Person(), [], password=PASSWORD)
    secret = signing_in.open_browser(workspace, account)
    people.set_password(workspace, account, "another long password")
    assert callers.Callers(workspace).of_browser(secret) is None
    with pytest.raises(NotSignedIn):
        sign_in(workspace, "ann")


def test_a_token_is_kept_as_a_digest_and_can_do_no_more_than_its_account(
    workspace: Workspace,
) -> None:
    account = people.add_person(workspace, "robot", Person(country="GB"), ["engineer"])
    made, secret = people.make_token(workspace, account, "export", ["ask", "lab"])
    assert secret.startswith("ombud_")
    assert secret not in rows(workspace, "token")
    found = callers.Callers(workspace).of_token(secret)
    assert found is not None
    assert found.rights == {"ask", "lab"}
    assert people.every_token(workspace)[0].last_used == workspace.today()
    people.give_duties(workspace, account, ["employee"])
    less = callers.Callers(workspace).of_token(secret)
    assert less is not None
    assert less.rights == {"ask"}
    with pytest.raises(
        BadRequest, match=message("admin.error_token_rights", name="robot", rights="admin")
    ):
        people.make_token(workspace, account, "more", ["admin"])
    people.disable(workspace, account)
    assert callers.Callers(workspace).of_token(secret) is None
    people.revoke_token(workspace, made.id)
    with pytest.raises(NotFound):
        people.revoke_token(workspace, made.id)


def test_a_token_counts_on_its_last_day_and_not_after(workspace: Workspace) -> None:
    account = people.add_person(workspace, "robot", Person(), [])
    today = workspace.today()
    _, secret = people.make_token(workspace, account, "x", ["ask"], until=today)
    assert callers.Callers(workspace).of_token(secret) is not None
    with pytest.raises(BadRequest):
        people.make_token(workspace, account, "x", ["ask"], until=today - timedelta(days=1))


def test_the_last_admin_stays_on_the_web_and_goes_on_the_machine(workspace: Workspace) -> None:
    root = people.add_person(workspace, "root", Person(), ["admin"], password=PASSWORD)
    with pytest.raises(NotAllowed):
        people.give_duties(workspace, root, ["employee"], by=root.id)
    with pytest.raises(NotAllowed):
        people.disable(workspace, root, by=root.id)
    people.add_person(workspace, "second", Person(), ["admin"], password=PASSWORD)
    assert people.disable(workspace, root, by=root.id).disabled
    second = people.find_person(workspace, "second")
    assert people.give_duties(workspace, second, ["employee"]).duties == ("employee",)


def test_a_duty_that_is_none_names_the_nearest(workspace: Workspace) -> None:
    with pytest.raises(UnknownName) as wrong:
        people.add_person(workspace, "ann", Person(), ["adviser"])
    assert "advisor" in wrong.value.hint


def test_every_change_is_in_the_chain_without_names(workspace: Workspace) -> None:
    ann = people.add_person(workspace, "ann", Person(), [], password=PASSWORD)
    people.give_duties(workspace, ann, ["advisor"], by="somebody")
    made, _ = people.make_token(workspace, ann, "export", ["ask"])
    people.revoke_token(workspace, made.id)
    people.disable(workspace, ann)
    links = [
        link for link in read_links(workspace.store, list(range(1, 9))) if link.kind == "people"
    ]
    actions = [link.facts["action"] for link in links]
    assert actions == ["person added", "duties", "token made", "token revoked", "disabled"]
    assert links[1].facts["by"] == people.mark("somebody")
    assert ann.id not in json.dumps([dict(link.facts) for link in links])
    assert "ann" not in json.dumps([dict(link.facts) for link in links])
    assert verify_chain(workspace.store).broken is None


def test_erasing_somebody_takes_the_account_and_its_keys(workspace: Workspace) -> None:
    ann = people.add_person(workspace, "ann", Person(), [], password=PASSWORD)
    people.make_token(workspace, ann, "export", ["ask"])
    signing_in.open_browser(workspace, ann)
    done = erase_personal_data(workspace, person="ann")
    assert done["gone"]
    places = {place["name"]: place["found"] for place in done["places"]}
    assert places["store: account, browsers and tokens"] == 0
    for table in ("account", "login", "token"):
        assert rows(workspace, table) == "[]"


def test_the_commands_let_people_in_and_keep_them_out(workspace: Workspace, tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text(PASSWORD + "\n")
    home = ["--home", str(workspace.home)]
    given = ["--password-file", str(secret)]
    run = CliRunner().invoke
    added = run(
        app,
        [*home, "people", "add", "ann", "--country", "gb", "--duty", "advisor", *given],
    )
    assert added.output == "ann can sign in: advisor.\n"
    assert people.find_person(workspace, "ann").person.country == "GB"
    made = run(app, [*home, "tokens", "add", "script", "--for", "ann", "--json"])
    token = json.loads(made.stdout)
    assert callers.Callers(workspace).of_token(token["secret"]) is not None
    listed = run(app, [*home, "tokens", "list"])
    assert token["token"]["id"] in listed.output
    assert token["secret"] not in listed.output
    assert run(app, [*home, "people", "disable", "ann"]).exit_code == 0
    assert callers.Callers(workspace).of_token(token["secret"]) is None
    wrong = run(app, [*home, "people", "add", "bob", "--country", "EU", "--no-password"])
    assert wrong.exit_code == 2


def test_a_disabled_account_is_no_longer_active(workspace: Workspace) -> None:
    ann = people.add_person(workspace, "ann", Person(country="GB"), [])
    assert callers.is_active(workspace, ann.person)
    people.disable(workspace, ann)
    assert not callers.is_active(workspace, ann.person)
    assert not callers.is_active(workspace, Person(id="somebody else"))
