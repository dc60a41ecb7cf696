"""`ombud people` and `ombud tokens`: who may come in, and keys of programs."""

import json
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import HOME, JSON, errors_said, open_workspace, print_json
from ombud.cli.printing.help import WholeHelp
from ombud.cli.printing.tables import table
from ombud.errors import BadRequest

if TYPE_CHECKING:
    from ombud.types import Account, ApiToken, Person

people = typer.Typer(cls=WholeHelp, help="Who may sign in, and as what.", no_args_is_help=True)
tokens = typer.Typer(cls=WholeHelp, help="Keys of programs.", no_args_is_help=True)

NAME = typer.Argument(help="The name to sign in with.")
DUTY = typer.Option(
    [], "--duty", help="employee, advisor, policy_owner, engineer or admin; may be repeated."
)
COUNTRY = typer.Option("", "--country", help="Their country, by name or code: GB.")
ROLE = typer.Option([], "--role", help="A role in the organisation; may be repeated.")
GROUP = typer.Option([], "--group", help="A group they are in; may be repeated.")
GRADE = typer.Option("", "--grade", help="Their grade.")
CONTRACT = typer.Option("", "--contract", help="The kind of their contract.")
FILE = typer.Option(None, "--password-file", help="Read the password from this file; for scripts.")


@people.command()
def add(
    name: str = NAME,
    duty: list[str] = DUTY,
    country: str = COUNTRY,
    role: list[str] = ROLE,
    group: list[str] = GROUP,
    grade: str = GRADE,
    contract: str = CONTRACT,
    password_file: Path | None = FILE,
    no_password: bool = typer.Option(
        False, "--no-password", help="Nobody signs in so; only tokens speak for it."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Let somebody in. The password is asked for; it is never an argument, which others would
    see."""
    del home
    with errors_said(as_json):
        from ombud.app import people as service

        workspace = open_workspace()
        person = _person(country, role, group, grade, contract)
        password = "" if no_password else _password(password_file)
        account = service.add_person(workspace, name, person, duty, password=password)
        _tell(account, as_json, "can sign in")


@people.command("list")
def list_(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """List all accounts by name."""
    del home
    with errors_said(as_json):
        from ombud.app import people as service

        accounts = service.list_people(open_workspace())
        if as_json:
            print_json({"people": [account.model_dump(mode="json") for account in accounts]})
            return
        rows: list[list[str]] = []
        for account in accounts:
            state = "disabled" if account.disabled else ""
            country = account.person.country or ""
            rows.append([account.name, " ".join(account.duties), country, state])
        print(table(("name", "duties", "country", ""), rows) if rows else "Nobody yet.")


@people.command()
def roles(
    name: str = NAME, duty: list[str] = DUTY, as_json: bool = JSON, home: Path | None = HOME
) -> None:
    """Replace the duties of an account."""
    del home
    with errors_said(as_json):
        from ombud.app import people as service

        workspace = open_workspace()
        if not duty:
            raise BadRequest("Name at least one --duty.", hint="Such as --duty employee.")
        account = service.find_person(workspace, name)
        _tell(service.give_duties(workspace, account, duty), as_json, "has other duties now")


@people.command()
def describe(
    name: str = NAME,
    country: str = typer.Option("", "--country", help="Their country, by name or code: GB."),
    role: list[str] = ROLE,
    group: list[str] = GROUP,
    grade: str = GRADE,
    contract: str = CONTRACT,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Replace who somebody is in the organisation; it decides which documents they may read."""
    del home
    with errors_said(as_json):
        from ombud.app import people as service

        workspace = open_workspace()
        account = service.find_person(workspace, name)
        person = _person(country, role, group, grade, contract)
        changed = service.describe_person(workspace, account, person)
        _tell(changed, as_json, "is described anew")


@people.command()
def password(
    name: str = NAME,
    password_file: Path | None = FILE,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Give somebody another password; they are signed out everywhere."""
    del home
    with errors_said(as_json):
        from ombud.app import people as service

        workspace = open_workspace()
        account = service.find_person(workspace, name)
        changed = service.set_password(workspace, account, _password(password_file))
        _tell(changed, as_json, "has another password")


@people.command()
def disable(
    name: str = NAME,
    undo: bool = typer.Option(False, "--undo", help="Let them in again."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Keep somebody out, with their tokens; what they asked stays."""
    del home
    with errors_said(as_json):
        from ombud.app import people as service

        workspace = open_workspace()
        account = service.find_person(workspace, name)
        changed = service.disable(workspace, account, disabled=not undo)
        _tell(changed, as_json, "can sign in again" if undo else "is kept out")


@people.command()
def export(
    who: str = typer.Argument(help="A name to sign in with, or a person's id."),
    to: Path | None = typer.Option(
        None, "--to", help="Write it into this new file, which only you may read."
    ),
    home: Path | None = HOME,
) -> None:
    """Print everything that is stored about a person, as JSON; the audit records that it was."""
    del home
    with errors_said():
        from ombud.app import export_of
        from ombud.private_files import make_private_file

        if to is not None and to.exists():
            raise BadRequest(f"{to} exists.", hint="Name a new file.")
        text = json.dumps(export_of(open_workspace(), who), indent=2, ensure_ascii=False)
        if to is None:
            print(text)
            return
        try:
            make_private_file(to)
            to.write_text(f"{text}\n", encoding="utf-8")
        except OSError as failed:
            raise BadRequest(f"{to} cannot be written: {failed.strerror}.") from failed
        print(f"Wrote {to}.")


@tokens.command("add")
def add_token(
    name: str = typer.Argument(help="What it is for, such as open-webui."),
    whose: str = typer.Option(..., "--for", help="Name of whom it speaks for."),
    scope: list[str] = typer.Option(
        ["ask"], "--scope", help="ask, desk, policy, lab or admin; may be repeated."
    ),
    until: str = typer.Option("", "--until", help="Its last day, such as 2027-06-30."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Make a key for a program. It is shown once, and can do no more than whom it speaks for."""
    del home
    with errors_said(as_json):
        from ombud.app import people as service

        workspace = open_workspace()
        account = service.find_person(workspace, whose)
        made, secret = service.make_token(
            workspace, account, name, scope, until=_day(until), by=service.HERE
        )
        if as_json:
            print_json({"token": made.model_dump(mode="json"), "secret": secret})
            return
        print(secret)
        typer.echo(f"Keep it now: it is not shown again. Its id is {made.id}.", err=True)


@tokens.command("list")
def list_tokens(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """List every key, without the key itself."""
    del home
    with errors_said(as_json):
        from ombud.app import people as service

        every = service.every_token(open_workspace())
        if as_json:
            print_json({"tokens": [token.model_dump(mode="json") for token in every]})
            return
        rows = list(map(_row, every))
        head = ("id", "name", "for", "scopes", "until", "last used")
        print(table(head, rows) if rows else "There is none.")


@tokens.command()
def revoke(
    token: str = typer.Argument(help="Its id, as `ombud tokens list` names it."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Revoke a key."""
    del home
    with errors_said(as_json):
        from ombud.app import people as service

        service.revoke_token(open_workspace(), token)
        if as_json:
            print_json({"revoked": token})
            return
        print(f"{token} counts no more.")


def _row(token: "ApiToken") -> list[str]:
    until = token.until.isoformat() if token.until else ""
    used = token.last_used.isoformat() if token.last_used else "never"
    return [token.id, token.name, token.account, " ".join(token.rights), until, used]


def _tell(account: "Account", as_json: bool, message: str) -> None:
    if as_json:
        print_json(account.model_dump(mode="json"))
        return
    print(f"{account.name} {message}: {', '.join(account.duties)}.")


def _person(
    country: str, roles: list[str], groups: list[str], grade: str, contract: str
) -> "Person":
    from ombud.text import read_country
    from ombud.types import Person

    code = read_country(country)
    return Person(
        country=code or None,
        roles=tuple(roles),
        groups=tuple(groups),
        grade=grade or None,
        contract=contract or None,
    )


def _password(file: Path | None) -> str:
    if file is None:
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    try:
        return file.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as failed:
        raise BadRequest(f"{file} cannot be read.", hint="It holds the password alone.") from failed


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as wrong:
        raise BadRequest(f"`{text}` is no day.", hint="Such as 2027-06-30.") from wrong
