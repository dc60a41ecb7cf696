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

        if head and not _is_hash(head):
            raise BadRequest(
                f"`{head}` is no hash.", hint="64 hex digits, as `ombud audit head` prints them."
            )
        with progress(not as_json) as on_progress:
            found = verify_audit(open_workspace(), head, on_progress)
        if as_json:
            print_json(verified_json(found))
        else:
            _say(found)
        if found.broken:
            raise typer.Exit(1)


def _is_hash(text: str) -> bool:
    return len(text.strip()) == 64 and not set(text.strip().lower()) - set("0123456789abcdef")


def _say(found: "Verified") -> None:
    if broken := found.broken:
        print(f"BROKEN at record {broken.number}: {broken.why}.\n{broken.said}")
        return
    rows = ", ".join(f"{count:,} {name}s" for name, count in found.rows.items())
    print(f"The chain holds: {found.records:,} records; {rows} stand as they were recorded.")
    for reason, count in sorted(found.erased.items()):
        print(f"  {count:,} answers lost content lawfully: {reason}")
    if found.adopted:
        proof = "it proves them from its first day on"
        print(f"  {found.adopted:,} answers are older than the chain; {proof}")
    print(f"  head {found.head}")


@app.command()
def head(as_json: bool = JSON, home: Path | None = HOME) -> None:
    """Number and hash of the last record, to be noted elsewhere; `verify --head` then finds what
    was cut off."""
    del home
    with errors_said(as_json):
        from ombud.app import chain_head

        found = chain_head(open_workspace())
        if as_json:
            print_json(found or {"number": 0, "at": None, "hash": None})
        else:
            print(f"{found['number']} {found['hash']}" if found else "There is no record.")


@app.command("list")
def list_all(
    since: str = SINCE,
    outcome: str = typer.Option("", "--outcome", help="Only full, partial or denied."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Answers that were given, oldest first, without a word of what was said."""
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
            said = f"{row['outcome']} / {row['action']}" if row["outcome"] else "erased"
            mark = "  sensitive" if row["sensitive"] else ""
            print(f"{row['id']}  {row['at'][:19]}Z  {said}{mark}")
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
    """One answer: its records in the chain, what answered, and question, answer and trace while
    they are kept."""
    del home
    with errors_said(as_json):
        from ombud.app import show_record

        found = show_record(open_workspace(), answer, sensitive=sensitive)
        if as_json:
            print_json(found)
            return
        print(f"{found['id']}  {found['at']}")
        for link in found["records"]:
            reason = f" ({link['facts']['reason']})" if "reason" in link["facts"] else ""
            print(f"  record {link['number']}: {link['kind']}{reason}, {link['at']}")
            print(f"    {link['hash']}")
        if found["withheld"]:
            why = "for the conversation is sensitive; --sensitive shows them"
            print(f"  The words are withheld, {why}.")
        elif "question" in found:
            _say_words(found)
        else:
            print("  Its content was erased.")
        for said in found["feedback"]:
            comment = f": {said['comment']}" if said.get("comment") else ""
            print(f"  rated {'helpful' if said['thumb'] > 0 else 'not helpful'}{comment}")
        if setup := found["setup"]:
            print(f"  answered by ombud {setup['version']}, embedder {setup['embedder']}")


def _say_words(found: dict[str, Any]) -> None:
    question, answer = found["question"], found["answer"]
    trace = answer["trace"]
    print(f"  asked: {question['text']}")
    print(f"  outcome: {found['outcome']} / {found['action']}; model {trace['model'] or 'none'}")
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

        found = replayed_json(
            asyncio.run(run(open_workspace(), answer, model=model)), sensitive=sensitive
        )
        if as_json:
            print_json(found)
        else:
            _say_replay(found)


def _say_replay(found: dict[str, Any]) -> None:
    print(f"{found['id']}, given {found['at'][:19]}Z, replayed as of {found['as_of']}")
    _say_evidence(found)
    counts = [f"{found['quotes'][name]} {name}" for name in ("stand", "differ", "erased")]
    print(f"Quotes: {', '.join(counts)}.")
    for difference in found["differences"]:
        then, now = _short(difference["then"]), _short(difference["now"])
        print(f"  {difference['what']}: {then} -> {now}")
    _say_answers(found)
    for note in found["notes"]:
        print(f"Note: {note}")


def _say_evidence(found: dict[str, Any]) -> None:
    index = f"version {found['index_then']}"
    if found["snapshot"]:
        print(f"Index: {index}, as it was.")
    else:
        print(f"Index: {index} is gone; searched the present one, {found['index_now']}.")
    same = "the same" if found["same_evidence"] else "NOT the same"
    then, now = len(found["evidence_then"]), len(found["evidence_now"])
    print(f"Evidence: {same}, {then} passages then and {now} now.")
    for mark, rows in (("+", found["came"]), ("-", found["went"])):
        for row in rows:
            print(f"  {mark} {row['title']} ({row['uri']}) {row['chunk']}")
    for document in found["documents"]:
        if document["state"] == "unchanged":
            continue
        since = f" on {document['ended']}" if document["ended"] else ""
        print(f"  {document['uri'] or document['id']}: {document['state']}{since}")


def _short(value: Any) -> str:
    text = "not there" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _say_answers(found: dict[str, Any]) -> None:
    if not found["compared"]:
        reason = "a model wrote it (--model asks again), or its evidence was erased"
        print(f"Answer: not compared; {reason}.")
        return
    print(f"Answer: {'NOT the same' if found['answers'] else 'the same'}.")
    for difference in found["answers"]:
        what, then = difference["what"], difference["then"]
        if what == "text" and then is not None:
            _say_difference(then, difference["now"])
        elif what not in ("text", "citations"):
            print(f"  {what}: {then} -> {difference['now']}")
        elif then is None:
            print(f"  {what}: differs; the words are withheld, --sensitive shows them")


def _say_difference(then: str, now: str) -> None:
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
        said = "Would be erased" if dry_run else "Erased"
        print(f"{said}: {done['conversations']:,} conversations, {done['answers']:,} answers.")


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
    """Erase what one person asked and was told, everywhere, and certify it; the chain still
    verifies."""
    del home
    with errors_said(as_json):
        from ombud.app import erase_of

        if bool(person) == bool(conversation):
            raise BadRequest("Whose data?", hint="Give --person ID or --conversation ID.")
        made = erase_of(open_workspace(), person=person, conversation=conversation, dry_run=dry_run)
        if to:
            write_file(to, json.dumps(made, indent=2, ensure_ascii=False) + "\n")
        if as_json:
            print_json(made)
        else:
            _say_certificate(made)
        if not made["gone"] and not dry_run:
            raise typer.Exit(1)


def _say_certificate(made: dict[str, Any]) -> None:
    said = "Would be erased" if made["dry_run"] else f"Erased, {made['at']}"
    conversations = f"{made['conversations']:,} conversations"
    answers = f"{made['answers']:,} answers"
    print(f"{said}: {conversations}, {answers}, {made['messages']:,} messages.")
    for place in made["places"]:
        mark = "STILL THERE" if place["found"] else "gone"
        print(f"  {mark}: {place['name']}" + f" ({place['said']})" * bool(place["said"]))
    for record in made["records"]:
        print(f"  record {record['number']} of the chain: {record['hash']}")
    for remark in made["remarks"]:
        print(f"  {remark}")
