"""`ombud audit`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import typer

from ombud.cli.console import (
    HOME,
    JSON,
    day,
    errors_said,
    open_workspace,
    print_json,
    progress,
    write_file,
)
from ombud.cli.printing.help import WholeHelp
from ombud.errors import BadRequest

if TYPE_CHECKING:
    from ombud.store import Verified

app = typer.Typer(
    cls=WholeHelp,
    help="Proof of what was answered, and what may be kept of it.",
    no_args_is_help=True,
)

SINCE = typer.Option("", "--since", help="Only from this day on, such as 2026-01-31.")
DRY = typer.Option(False, "--dry-run", help="Only say what would be erased.")


@app.command()
def verify(
    head: str = typer.Option("", "--head", help="A hash noted before, from `ombud audit head`."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Walk the chain of records and every answer, conversation and message; exit code 1 where one
    does not hold."""
    del home
    with errors_said(as_json):
        from ombud.app import verified_json, verify_audit

        if head and not is_hash(head):
            raise BadRequest(
                f"`{head}` is no hash.", hint="64 hex digits, as `ombud audit head` prints them."
            )
        with progress(not as_json) as on_progress:
            verified = verify_audit(open_workspace(), head, on_progress)
        if as_json:
            print_json(verified_json(verified))
        else:
            _say(verified)
        if verified.broken:
            raise typer.Exit(1)


def is_hash(text: str) -> bool:
    return len(text.strip()) == 64 and not set(text.strip().lower()) - set("0123456789abcdef")


def _say(verified: "Verified") -> None:
    if broken := verified.broken:
        print(f"BROKEN at record {broken.number}: {broken.why}.\n{broken.message}")
        return
    rows = ", ".join(f"{count:,} {name}s" for name, count in verified.rows.items())
    print(f"The chain holds: {verified.records:,} records; {rows} stand as they were recorded.")
    for reason, count in sorted(verified.erased.items()):
        print(f"  {count:,} answers lost content lawfully: {reason}")
    if verified.adopted:
        proof = "it proves them from its first day on"
        print(f"  {verified.adopted:,} answers are older than the chain; {proof}")
    print(f"  head {verified.head}")


@app.command()
def head(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """Print number and hash of the last record. Note them elsewhere; `verify --head` then detects a
    truncated chain."""
    del home
    with errors_said(as_json):
        from ombud.app import chain_head

        chain = chain_head(open_workspace())
        if as_json:
            print_json(chain or {"number": 0, "at": None, "hash": None})
        else:
            print(f"{chain['number']} {chain['hash']}" if chain else "There is no record.")


@app.command("list")
def list_all(
    since: str = SINCE,
    outcome: str = typer.Option("", "--outcome", help="Only full, partial or denied."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """List the answers given, oldest first, without any of their text."""
    del home
    with errors_said(as_json):
        from ombud.app import list_records

        if outcome not in ("", "full", "partial", "denied"):
            raise BadRequest(f"`{outcome}` is no outcome.", hint="full, partial or denied.")
        wanted = cast("Literal['full', 'partial', 'denied'] | None", outcome or None)
        rows = list_records(open_workspace(), day(since), wanted)
        if as_json:
            print_json({"answers": list(rows)})
            return
        count = 0
        for count, row in enumerate(rows, start=1):  # noqa: B007 - how many there were
            result = f"{row['outcome']} / {row['action']}" if row["outcome"] else "erased"
            mark = "  sensitive" if row["sensitive"] else ""
            print(f"{row['id']}  {row['at'][:19]}Z  {result}{mark}")
        if not count:
            print("No answers.")


@app.command()
def show(
    answer: str = typer.Argument(help="Id, or enough of its beginning."),
    sensitive: bool = typer.Option(
        False, "--sensitive", help="Show also the words of a sensitive conversation."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Show one answer: its records in the chain, what answered, and question, answer and trace
    while they are stored."""
    del home
    with errors_said(as_json):
        from ombud.app import show_record

        record = show_record(open_workspace(), answer, sensitive=sensitive)
        if as_json:
            print_json(record)
            return
        print(f"{record['id']}  {record['at']}")
        for link in record["records"]:
            reason = f" ({link['facts']['reason']})" if "reason" in link["facts"] else ""
            print(f"  record {link['number']}: {link['kind']}{reason}, {link['at']}")
            print(f"    {link['hash']}")
        if record["withheld"]:
            why = "for the conversation is sensitive; --sensitive shows them"
            print(f"  The words are withheld, {why}.")
        elif "question" in record:
            say_words(record)
        else:
            print("  Its content was erased.")
        for vote in record["feedback"]:
            comment = f": {vote['comment']}" if vote.get("comment") else ""
            print(f"  rated {'helpful' if vote['thumb'] > 0 else 'not helpful'}{comment}")
        if setup := record["setup"]:
            print(f"  answered by ombud {setup['version']}, embedder {setup['embedder']}")


def say_words(record: dict[str, Any]) -> None:
    question, answer = record["question"], record["answer"]
    trace = answer["trace"]
    print(f"  asked: {question['text']}")
    print(f"  outcome: {record['outcome']} / {record['action']}; model {trace['model'] or 'none'}")
    read = len(trace["evidence"])
    print(f"  index version {trace['index_version']}; {read} passages read, by id with --json")
    for note in (*trace["degraded"], *trace["notes"]):
        print(f"  note: {note}")
    print(f"\n{answer['text']}\n")
    for number, citation in enumerate(answer["citations"], start=1):
        section = f", {citation['trail'][-1]}" if citation["trail"] else ""
        print(f"  [{number}] {citation['title']}{section} ({citation['uri']})")
        print(f"      {' '.join(citation['quote'].split())}")


@app.command()
def replay(
    answer: str = typer.Argument(help="Id, or enough of its beginning."),
    model: bool = typer.Option(
        False, "--model", help="Ask the chat models again; without it only what needs none."
    ),
    sensitive: bool = typer.Option(
        False, "--sensitive", help="Show also the words of a sensitive conversation."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Make an answer again, on the index as it was where that is still there, and show what
    differs."""
    del home
    with errors_said(as_json):
        import asyncio

        from ombud.app import replay_answer as run
        from ombud.app import replayed_json

        replayed = replayed_json(
            asyncio.run(run(open_workspace(), answer, model=model)), sensitive=sensitive
        )
        if as_json:
            print_json(replayed)
        else:
            say_replay(replayed)


def say_replay(replayed: dict[str, Any]) -> None:
    print(f"{replayed['id']}, given {replayed['at'][:19]}Z, replayed as of {replayed['as_of']}")
    say_evidence(replayed)
    counts = [f"{replayed['quotes'][name]} {name}" for name in ("stand", "differ", "erased")]
    print(f"Quotes: {', '.join(counts)}.")
    for difference in replayed["differences"]:
        then, now = _short(difference["then"]), _short(difference["now"])
        print(f"  {difference['what']}: {then} -> {now}")
    say_answers(replayed)
    for note in replayed["notes"]:
        print(f"Note: {note}")


def say_evidence(replayed: dict[str, Any]) -> None:
    index = f"version {replayed['index_then']}"
    if replayed["snapshot"]:
        print(f"Index: {index}, as it was.")
    else:
        print(f"Index: {index} is gone; searched the present one, {replayed['index_now']}.")
    same = "the same" if replayed["same_evidence"] else "NOT the same"
    then, now = len(replayed["evidence_then"]), len(replayed["evidence_now"])
    print(f"Evidence: {same}, {then} passages then and {now} now.")
    for mark, rows in (("+", replayed["came"]), ("-", replayed["went"])):
        for row in rows:
            print(f"  {mark} {row['title']} ({row['uri']}) {row['chunk']}")
    for document in replayed["documents"]:
        if document["state"] == "unchanged":
            continue
        since = f" on {document['ended']}" if document["ended"] else ""
        print(f"  {document['uri'] or document['id']}: {document['state']}{since}")


def _short(value: Any) -> str:
    text = "not there" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:79]}…"


def say_answers(replayed: dict[str, Any]) -> None:
    if not replayed["compared"]:
        reason = "a model wrote it (--model asks again), or its evidence was erased"
        print(f"Answer: not compared; {reason}.")
        return
    print(f"Answer: {'NOT the same' if replayed['answers'] else 'the same'}.")
    for difference in replayed["answers"]:
        what, then = difference["what"], difference["then"]
        if what == "text" and then is not None:
            say_difference(then, difference["now"])
        elif what not in ("text", "citations"):
            print(f"  {what}: {then} -> {difference['now']}")
        elif then is None:
            print(f"  {what}: differs; the words are withheld, --sensitive shows them")


def say_difference(then: str, now: str) -> None:
    import difflib

    lines = difflib.unified_diff(then.splitlines(), now.splitlines(), "then", "now", lineterm="")
    for line in lines:
        print(f"  {line}")


@app.command()
def expire(dry_run: bool = DRY, as_json: bool = JSON, home: Path | None = HOME) -> None:
    """Erase what is older than [audit] allows; `ombud serve` does the same once a day."""
    del home
    with errors_said(as_json):
        from ombud.app import expire as run

        done = run(open_workspace(), dry_run=dry_run)
        if as_json:
            print_json(done)
            return
        verb = "Would be erased" if dry_run else "Erased"
        print(f"{verb}: {done['conversations']:,} conversations, {done['answers']:,} answers.")


@app.command()
def erase(
    person: str = typer.Option("", "--person", help="Id of the person whose conversations go."),
    conversation: str = typer.Option(
        "", "--conversation", help="Id of one conversation, where nobody signs in."
    ),
    dry_run: bool = DRY,
    to: Path | None = typer.Option(
        None, "--to", help="Write the certificate into this file, as JSON."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Erase one person's questions and answers everywhere, and certify it; the chain still
    verifies."""
    del home
    with errors_said(as_json):
        from ombud.app import erase_personal_data

        if bool(person) == bool(conversation):
            raise BadRequest("Whose data?", hint="Give --person ID or --conversation ID.")
        made = erase_personal_data(
            open_workspace(), person=person, conversation=conversation, dry_run=dry_run
        )
        if to:
            write_file(to, json.dumps(made, indent=2, ensure_ascii=False) + "\n")
        if as_json:
            print_json(made)
        else:
            say_certificate(made)
        if not made["gone"] and not dry_run:
            raise typer.Exit(1)


def say_certificate(made: dict[str, Any]) -> None:
    verb = "Would be erased" if made["dry_run"] else f"Erased, {made['at']}"
    conversations = f"{made['conversations']:,} conversations"
    answers = f"{made['answers']:,} answers"
    print(f"{verb}: {conversations}, {answers}, {made['messages']:,} messages.")
    for place in made["places"]:
        mark = "STILL THERE" if place["found"] else "gone"
        print(f"  {mark}: {place['name']}" + f" ({place['said']})" * bool(place["said"]))
    for record in made["records"]:
        print(f"  record {record['number']} of the chain: {record['hash']}")
    for remark in made["remarks"]:
        print(f"  {remark}")
