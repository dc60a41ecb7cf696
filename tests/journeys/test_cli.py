"""The commands as people and scripts run them: words, JSON, exit codes."""

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from journeys.command import HANDBOOK, Result, ombud, ombud_process, start, workspace, write
from ombud.types import Answer, Trace

HIT = {
    "chunk_id",
    "document_id",
    "uri",
    "title",
    "trail",
    "page_from",
    "page_to",
    "text",
    "score",
    "found_by",
    "scope",
}
CITATION = {"chunk_id", "uri", "title", "page", "quote", "start", "end"}
COUNTS = {"name", "added", "updated", "moved", "deleted", "unchanged", "failed"}
LEAVE = "How many days of annual leave do employees have?"
PAY = "Where does the pay band of grade G5 end?"
TRAVEL = "Who pays hotel costs on business trips?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An indexed handbook that no test changes."""
    made = workspace(tmp_path_factory.mktemp("home"))
    assert ombud("sync", "docs", cwd=made).code == 0
    return made


def fails(result: Result, code: int, kind: str) -> dict[str, str]:
    """The error of a --json command: alone on stdout, one sentence and a hint."""
    assert result.code == code, result
    told = result.json
    assert told.keys() == {"error"}
    error: dict[str, str] = told["error"]
    assert error.keys() == {"type", "message", "hint"}
    assert error["type"] == kind
    assert error["message"].endswith(".")
    assert error["hint"]
    return error


def said(result: Result, code: int, *words: str) -> None:
    """The error of a command for people: nothing on stdout, a sentence and a hint on stderr."""
    assert result.code == code, result
    assert result.out == ""
    assert result.err.startswith("Error: ")
    assert len(result.err.strip().splitlines()) == 2, result.err
    for word in words:
        assert word in result.err


# Where the workspace is ---------------------------------------------------------------------------


def test_three_commands_from_nothing_to_an_answer(tmp_path: Path) -> None:
    write(tmp_path / "docs", HANDBOOK)
    made = ombud_process("init", "work", cwd=tmp_path)
    assert made.code == 0
    assert (tmp_path / "work" / "ombud.toml").is_file()
    synced = ombud_process("--home", "work", "sync", "docs", cwd=tmp_path)
    assert synced.code == 0
    assert "docs: 5 added" in synced.out
    data = tmp_path / "work" / ".ombud"
    assert files_of_store(data) == ["store.sqlite"]
    answer = ombud_process("ask", LEAVE, "--country", "GB", "--home", "work", cwd=tmp_path)
    assert answer.code == 0
    assert "26 days" in answer.out
    assert "docs/gb/leave.md" in answer.out
    assert files_of_store(data) == ["store.sqlite"]
    assert ombud_process("--home", "work", "search", LEAVE, cwd=tmp_path).code == 0
    assert files_of_store(data) == ["store.sqlite"]


def files_of_store(data: Path) -> list[str]:
    """A process that has ended leaves everything in the database itself, nothing in its log."""
    return sorted(file.name for file in data.glob("store*"))


def test_init_twice_keeps_what_was_written(tmp_path: Path) -> None:
    assert ombud("init", cwd=tmp_path).code == 0
    (tmp_path / "ombud.toml").write_text("[plan]\nk = 3\n")
    said(ombud("init", cwd=tmp_path), 2, "exists already")
    assert (tmp_path / "ombud.toml").read_text() == "[plan]\nk = 3\n"


@pytest.mark.parametrize(
    "arguments", [("--home", "there", "init"), ("init", "--home", "there"), ("init", "there")]
)
def test_init_writes_where_it_is_told(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert ombud(*arguments, cwd=tmp_path).code == 0
    assert [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.toml")] == [
        "there/ombud.toml"
    ]


def test_without_a_workspace(tmp_path: Path) -> None:
    said(ombud("search", "leave", cwd=tmp_path), 2, "no workspace", "ombud init")
    fails(ombud("sync", "--json", cwd=tmp_path), 2, "SetupError")
    fails(ombud("ask", LEAVE, "--home", tmp_path, "--json", cwd=tmp_path), 2, "SetupError")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "place", ["before", "after", "variable", "parent folder", "over the variable"]
)
def test_the_workspace_is_found(home: Path, tmp_path: Path, place: str) -> None:
    below = home / "docs" / "gb"
    found = {
        "before": lambda: ombud("--home", home, "documents", "list", "--json", cwd=tmp_path),
        "after": lambda: ombud("documents", "list", "--json", "--home", home, cwd=tmp_path),
        "variable": lambda: ombud(
            "documents", "list", "--json", cwd=tmp_path, env={"OMBUD_HOME": str(home)}
        ),
        "parent folder": lambda: ombud("documents", "list", "--json", cwd=below),
        "over the variable": lambda: ombud(
            "documents",
            "list",
            "--json",
            "--home",
            home,
            cwd=tmp_path,
            env={"OMBUD_HOME": str(tmp_path)},
        ),
    }[place]()
    assert found.code == 0
    assert len(found.json["documents"]) == 5


# Settings -----------------------------------------------------------------------------------------


def test_settings_say_where_each_value_comes_from(tmp_path: Path) -> None:
    (tmp_path / "ombud.toml").write_text("[plan]\nk = 3\n[server]\nport = 9000\n")
    told = ombud("settings", "--json", cwd=tmp_path, env={"OMBUD_SERVER__PORT": "9001"}).json
    assert told["plan.k"] == {"value": 3, "origin": "file"}
    assert told["server.port"] == {"value": 9001, "origin": "env"}
    assert told["models.embedder"] == {"value": "none", "origin": "env"}
    assert told["plan.pool"] == {"value": 30, "origin": "default"}
    assert told["source"] == {"value": [], "origin": "default"}
    lines = ombud("settings", cwd=tmp_path).out.splitlines()
    assert len(lines) == len(told)
    assert any(line.split() == ["plan.k", "3", "(file)"] for line in lines)


SECRETS = """
[store]
url = "sqlite:///file:{folder}/own.sqlite?uri=true&password=s3cret"
[models]
chat = "openai:local"
retries = 0
base_url = "http://ann:s3cret@127.0.0.1:1/v1?api_key=s3cret"
reranker_url = "http://127.0.0.1:1/?token=s3cret"
"""


def test_a_password_inside_an_address_is_never_shown(tmp_path: Path) -> None:
    home = workspace(tmp_path / "home", SECRETS.format(folder=tmp_path))
    shown = [
        ombud("settings", cwd=home),
        ombud("settings", "--json", cwd=home),
        ombud("sync", "docs", cwd=home),
        # The model does not answer, which the trace says.
        ombud("ask", LEAVE, "--json", cwd=home),
        ombud("ask", LEAVE, cwd=home),
        ombud("doctor", cwd=home),
        ombud("doctor", "--ask", "--json", cwd=home),
        ombud("audit", "list", cwd=home),
    ]
    told = shown[1].json
    assert told["models.base_url"]["value"] == "http://***@127.0.0.1:1/v1?api_key=***"
    assert told["store.url"]["value"].endswith("/own.sqlite?uri=true&password=***")
    assert shown[3].json["trace"]["degraded"]
    for result in shown:
        assert "s3cret" not in result.out + result.err, result
    kept = [file for file in tmp_path.rglob("*") if file.is_file() and file.name != "ombud.toml"]
    assert [file for file in kept if b"s3cret" in file.read_bytes()] == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("store.url", "postgresql+psycopg://ann:s3c@ret@db.example/ombud"),
        ("store.url", "nodb://ann:s3cret@db.example/ombud"),
        ("store.url", "postgresql+psycopg://ann:s3cret@db.example:port/ombud"),
        ("store", "postgresql+psycopg://ann:s3cret@db.example/ombud"),
        ("models.base_url", "http://ann:s3c@ret@127.0.0.1:1/v1"),
    ],
)
def test_an_error_repeats_no_password(tmp_path: Path, key: str, value: str) -> None:
    home = workspace(tmp_path, f"{key} = '{value}'\n")
    for result in (ombud("sync", "docs", cwd=home), ombud("doctor", "--json", cwd=home)):
        assert result.code != 0
        for part in ("s3cret", "s3c", "ret@"):
            assert part not in result.out + result.err


def test_settings_without_a_workspace_are_the_defaults(tmp_path: Path) -> None:
    assert ombud("settings", "--json", cwd=tmp_path).json["plan.k"] == {
        "value": 8,
        "origin": "default",
    }


@pytest.mark.parametrize(
    ("toml", "env", "words"),
    [
        ("[plan\n", {}, ("ombud.toml", "not valid TOML", "line 1")),
        ("[plann]\nk = 3\n", {}, ("`plann`", "`plan`")),
        ("[index]\nchunk_token = 3\n", {}, ("`index.chunk_token`", "`chunk_tokens`")),
        ("[plan]\nk = 'many'\n", {}, ("plan.k", "many")),
        ("", {"OMBUD_SERVER__PROT": "1"}, ("`OMBUD_SERVER__PROT`", "`PORT`")),
        ("", {"OMBUD_PLAN__K": "no"}, ("plan.k", "no")),
    ],
)
def test_wrong_settings_are_named(
    tmp_path: Path, toml: str, env: dict[str, str], words: tuple[str, ...]
) -> None:
    workspace(tmp_path, toml or "\n")
    said(ombud("settings", cwd=tmp_path, env=env), 2, *words)
    fails(ombud("settings", "--json", cwd=tmp_path, env=env), 2, "BadSetting")


@pytest.mark.parametrize(
    "verb", [("sync", "docs"), ("search", "leave"), ("ask", LEAVE), ("doctor",), ("serve",)]
)
def test_with_wrong_settings_nothing_is_begun(tmp_path: Path, verb: tuple[str, ...]) -> None:
    write(tmp_path, {"ombud.toml": "[plan\n", "docs/leave.md": "# Leave\n"})
    said(ombud(*verb, cwd=tmp_path), 2, "ombud.toml", "line 1")
    assert not (tmp_path / ".ombud").exists()


# Sync ---------------------------------------------------------------------------------------------


def test_sync_prints_one_object_with_json(tmp_path: Path) -> None:
    workspace(tmp_path)
    (tmp_path / "docs" / "empty.pdf").write_bytes(b"")
    first = ombud("sync", "docs", "--country", "gb", "--json", cwd=tmp_path)
    assert first.code == 1
    told = first.json
    assert told.keys() == {"sources", "seconds"}
    assert isinstance(told["seconds"], float)
    (source,) = told["sources"]
    assert source.keys() >= COUNTS
    assert {k: source[k] for k in ("name", "added", "updated", "moved", "deleted", "unchanged")} == {
        "name": "docs", "added": 5, "updated": 0, "moved": 0, "deleted": 0, "unchanged": 0,
    }  # fmt: skip
    (failed,) = source["failed"]
    assert failed.keys() == {"uri", "name", "reason"}
    assert failed["uri"] == "docs/empty.pdf"
    (tmp_path / "docs" / "empty.pdf").unlink()
    again = ombud("sync", "--json", cwd=tmp_path)
    assert again.code == 0
    assert again.json["sources"][0]["unchanged"] == 5
    listed = ombud("documents", "list", "--json", cwd=tmp_path).json["documents"]
    assert {d["uri"]: d["countries"] for d in listed}["docs/travel.md"] == ["GB"]
    assert {d["uri"]: d["countries"] for d in listed}["docs/fr/leave.md"] == ["FR"]


def test_sync_says_what_it_did_and_what_failed(tmp_path: Path) -> None:
    workspace(tmp_path)
    (tmp_path / "docs" / "broken.pdf").write_bytes(b"%PDF-1.7 nothing more")
    (tmp_path / "docs" / "table.zip").write_bytes(b"x")
    result = ombud("sync", "docs", cwd=tmp_path)
    assert result.code == 1
    assert "docs: 5 added" in result.out
    assert "not read: docs/table.zip" in result.out
    assert "docs/broken.pdf" in result.err
    assert "docs/broken.pdf" not in result.out


def test_bare_sync_runs_configured_and_recorded_sources(tmp_path: Path) -> None:
    workspace(tmp_path, '[[source]]\nname = "hr"\npath = "docs/gb"\n')
    assert ombud("sync", "docs/fr", "--source", "law", "--json", cwd=tmp_path).code == 0

    def names(*arguments: str) -> list[str]:
        told = ombud("sync", *arguments, "--json", cwd=tmp_path).json
        return [source["name"] for source in told["sources"]]

    assert names() == ["hr", "law"]
    assert names("--source", "law") == ["law"]
    assert names("--source", "hr") == ["hr"]
    error = fails(ombud("sync", "--source", "lwa", "--json", cwd=tmp_path), 2, "BadRequest")
    assert "hr, law" in error["hint"]


def test_sync_of_what_is_no_folder_or_not_one_name(tmp_path: Path) -> None:
    workspace(tmp_path)
    write(tmp_path / "other" / "docs", {"a.md": "# A\n\nSome text here.\n"})
    said(ombud("sync", cwd=tmp_path), 2, "nothing to sync")
    said(ombud("sync", "nowhere", cwd=tmp_path), 2, "nowhere", "does not exist")
    said(ombud("sync", "docs/travel.md", cwd=tmp_path), 2, "is a file")
    said(ombud("sync", "docs", "other", "--source", "x", cwd=tmp_path), 2, "--source")
    said(ombud("sync", "docs", "--country", "GBR", cwd=tmp_path), 2, "`GBR`", "GB")
    assert ombud("sync", "docs", "--json", cwd=tmp_path).code == 0
    error = fails(ombud("sync", "other/docs", "--json", cwd=tmp_path), 2, "BadRequest")
    assert "`docs`" in error["message"]
    assert "--source NAME" in error["hint"]
    assert (
        ombud("sync", "other/docs", "--source", "docs2", "--json", cwd=tmp_path).json["sources"][0][
            "added"
        ]
        == 1
    )


def test_most_of_a_folder_gone_needs_allow_deletes(tmp_path: Path) -> None:
    workspace(
        tmp_path,
        files={f"{n:02}.md": f"# Rule {n}\n\nThe rule number {n} is kept.\n" for n in range(20)},
    )
    assert ombud("sync", "docs", cwd=tmp_path).code == 0
    for n in range(15):
        (tmp_path / "docs" / f"{n:02}.md").unlink()
    stopped = ombud("sync", cwd=tmp_path)
    assert stopped.code == 1
    assert "15 of 20" in stopped.err
    assert "--allow-deletes" in stopped.err
    refused = ombud("sync", "--json", cwd=tmp_path)
    assert refused.code == 1
    assert refused.json["sources"][0]["deleted"] == 0
    assert len(ombud("documents", "list", "--json", cwd=tmp_path).json["documents"]) == 20
    meant = ombud("sync", "--allow-deletes", "--json", cwd=tmp_path)
    assert meant.code == 0
    assert meant.json["sources"][0]["deleted"] == 15
    assert len(ombud("documents", "list", "--json", cwd=tmp_path).json["documents"]) == 5


def test_a_folder_that_moved_away(tmp_path: Path) -> None:
    workspace(tmp_path)
    assert ombud("sync", "docs", cwd=tmp_path).code == 0
    (tmp_path / "docs").rename(tmp_path / "away")
    result = ombud("sync", cwd=tmp_path)
    assert result.code == 1
    assert "does not exist" in result.err
    assert "26 days" in ombud("search", "annual leave", "--country", "GB", cwd=tmp_path).out


# Search -------------------------------------------------------------------------------------------


def test_search_json_is_the_contract(home: Path) -> None:
    found = ombud("search", "annual leave", "--country", "GB", "-k", 3, "--json", cwd=home)
    assert found.code == 0
    told = found.json
    assert told.keys() == {"hits", "trace"}
    assert 0 < len(told["hits"]) <= 3
    best = told["hits"][0]
    assert best.keys() >= HIT
    assert (best["uri"], best["scope"], best["title"]) == (
        "docs/gb/leave.md",
        "local",
        "Annual leave",
    )
    assert best["found_by"] == ["GB/sparse/standard"]
    assert best["text"] == "Employees in Great Britain have 26 days of annual leave."
    scores = [hit["score"] for hit in told["hits"]]
    assert scores == sorted(scores, reverse=True)
    assert Trace.model_validate(told["trace"]).plan.k == 3
    shared = ombud("search", "hotel costs", "--country", "GB", "--json", cwd=home).json["hits"][0]
    assert (shared["scope"], shared["found_by"]) == ("shared", ["global/sparse/standard"])


def uris(result: Result) -> set[str]:
    assert result.code == 0, result
    return {hit["uri"] for hit in result.json["hits"]}


def test_search_shows_each_person_theirs(home: Path) -> None:
    leave = ("search", "annual leave", "--json")
    assert uris(ombud(*leave, "--country", "gb", cwd=home)) == {"docs/gb/leave.md"}
    assert uris(ombud(*leave, "--country", "FR", cwd=home)) == {"docs/fr/leave.md"}
    assert uris(ombud(*leave, cwd=home)) == set()
    pay = ("search", "pay band of grade G5", "--json")
    assert "docs/pay.md" not in uris(ombud(*pay, "--country", "GB", "--role", "employee", cwd=home))
    assert "docs/pay.md" in uris(ombud(*pay, "--role", "employee", "--role", "manager", cwd=home))
    parking = ("search", "parking in the garage", "--json")
    assert uris(ombud(*parking, cwd=home)) == set()
    assert uris(ombud(*parking, "--as-of", "2020-12-31", cwd=home)) == {"docs/parking.md"}


def test_search_for_people(home: Path) -> None:
    result = ombud("search", "annual leave", "--country", "GB", cwd=home)
    assert result.code == 0
    assert "26 days" in result.out
    assert "[GB]" in result.out
    assert "no embedding model" in result.out
    nothing = ombud("search", "zyzzyva", "--country", "GB", cwd=home)
    assert nothing.code == 0
    assert "Nothing was found" in nothing.out


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        (("search", ""), "BadRequest", "--batch"),
        (("search", "x", "--mode", "lexical"), "BadRequest", "`lexical`"),
        (("search", "x", "--as-of", "yesterday"), "BadRequest", "`yesterday`"),
        (("search", "x", "--country", "Europe"), "BadRequest", "`Europe`"),
        (("ask", "   "), "BadRequest", "question"),
        (("ask", "x", "--plan", "fussion=rrf"), "BadSetting", "`fussion`"),
        (("ask", "x", "--plan", "k"), "BadRequest", "KEY=VALUE"),
        (("ask", "x", "--plan", "k=many"), "BadSetting", "plan.k"),
        (("ask", "x", "--plan", "k=0"), "BadSetting", "plan.k"),
        (("ask", "x", "--plan", "strategies=guess"), "UnknownName", "`guess`"),
        (("ask", "x", "--persona", "hr"), "UnknownName", "`hr`"),
        (("ask", "x", "--plan", "persona=hr"), "UnknownName", "`hr`"),
        (("ask", "x", "--as-of", "2025-02-30"), "BadRequest", "2025-02-30"),
    ],
)
def test_wrong_requests(home: Path, arguments: tuple[str, ...], kind: str, words: str) -> None:
    said(ombud(*arguments, cwd=home), 2, words)
    fails(ombud(*arguments, "--json", cwd=home), 2, kind)


def test_errors_of_a_batch_are_json_in_any_case(home: Path) -> None:
    missing = fails(ombud("search", "--batch", "nowhere.jsonl", cwd=home), 2, "BadRequest")
    assert "nowhere.jsonl" in missing["message"]
    both = fails(ombud("ask", "leave", "--batch", "nowhere.jsonl", cwd=home), 2, "BadRequest")
    assert "--batch" in both["message"]


def test_a_misspelt_knob_names_the_nearest(home: Path) -> None:
    error = fails(ombud("ask", LEAVE, "--plan", "fussion=rrf", "--json", cwd=home), 2, "BadSetting")
    assert error["hint"] == "Did you mean `fusion`?"


@pytest.mark.parametrize(
    "arguments", [("serach", "x"), ("search", "x", "--contry", "GB"), ("search", "x", "-k", "0")]
)
def test_usage_errors_exit_with_2_and_print_nothing(home: Path, arguments: tuple[str, ...]) -> None:
    result = ombud(*arguments, cwd=home)
    assert (result.code, result.out) == (2, "")
    assert arguments[-2] in result.err or arguments[0] in result.err


# Ask ----------------------------------------------------------------------------------------------


def ask(home: Path, *arguments: object) -> Answer:
    result = ombud("ask", *arguments, "--json", cwd=home)
    assert result.code == 0, result
    told = result.json
    assert all(citation.keys() >= CITATION for citation in told["citations"])
    return Answer.model_validate(told)


def test_ask_json_is_an_answer_with_verbatim_citations(home: Path) -> None:
    answer = ask(home, LEAVE, "--country", "GB", "--persona", "employee")
    assert answer.outcome in ("full", "partial")
    assert answer.action == "none"
    assert "26 days" in answer.text
    assert "[1]" in answer.text
    for claim in answer.claims:
        assert claim.citations
        assert all(0 <= number < len(answer.citations) for number in claim.citations)
    for citation in answer.citations:
        shown = ombud("documents", "show", citation.uri, "--country", "GB", "--json", cwd=home).json
        assert shown["text"][citation.start : citation.end] == citation.quote


def test_ask_shows_each_person_theirs(home: Path) -> None:
    assert "31 days" in ask(home, LEAVE, "--country", "FR").text
    assert "31" not in ask(home, LEAVE, "--country", "GB").text
    assert "61,000" in ask(home, PAY, "--role", "manager").text
    assert "61,000" not in ask(home, PAY, "--country", "GB").model_dump_json()
    assert (
        "3 pounds"
        in ask(home, "What does parking in the garage cost?", "--as-of", "2020-06-01").text
    )


def test_a_denial_is_an_outcome_not_an_error(home: Path) -> None:
    answer = ask(
        home, "Who won the football match between Peru and Chile?", "--plan", "abstain=0.99"
    )
    assert (answer.outcome, answer.citations) == ("denied", ())
    said = ombud("ask", "Who won the football match?", "--plan", "abstain=0.99", cwd=home)
    assert said.code == 0
    assert said.out.strip()


def test_plan_values_of_every_kind_arrive(home: Path) -> None:
    plans = [
        "k=2",
        "mode=sparse",
        "sources=docs,other",
        'weights={"sparse": 1}',
        "abstain=0.1",
        "refine=false",
    ]
    plan = ask(home, TRAVEL, *[word for pair in plans for word in ("--plan", pair)]).trace.plan
    assert (plan.k, plan.mode, plan.sources) == (2, "sparse", ("docs", "other"))
    assert (plan.weights, plan.abstain, plan.refine) == ({"sparse": 1.0}, 0.1, False)


def test_contacts_are_printed(tmp_path: Path) -> None:
    workspace(tmp_path)
    (tmp_path / "contacts.toml").write_text(
        '[[contact]]\ntopic = "general"\nname = "HR desk"\nmail = "hr@example.org"\n'
    )
    ombud("sync", "docs", cwd=tmp_path)
    assert "Contact: HR desk, hr@example.org" in ombud("ask", TRAVEL, cwd=tmp_path).out
    (tmp_path / "contacts.toml").write_text("[[contact]\n")
    said(ombud("ask", TRAVEL, cwd=tmp_path), 2, "contacts.toml")


# Batches ------------------------------------------------------------------------------------------

TURN = json.dumps({"role": "user", "content": TRAVEL})
LINES = [
    ("1", '{"id": "1", "question": "annual leave", "country": "GB"}', "docs/gb/leave.md"),
    ("2", "not json", "is not JSON"),
    (
        "b",
        '{"id": "b", "query": "annual leave", "person": {"country": "FR", "roles": []}}',
        "docs/fr/leave.md",
    ),
    ("c", '{"id": "c", "question": ""}', "no question"),
    ("5", '["a list"]', "not an object"),
    ("d", '{"id": "d", "question": "x", "contry": "GB"}', "`contry`"),
    ("e", '{"id": "e", "question": "x", "country": "Europe"}', "`Europe`"),
    ("f", '{"id": "f", "question": "x", "roles": "manager"}', "roles"),
    ("g", '{"id": "g", "question": "x", "as_of": "soon"}', "`soon`"),
    ("h", '{"id": "h", "question": "x", "history": [{"role": "boss", "content": "y"}]}', "role"),
    ("i", '{"id": "i", "question": "x", "plan": {"kk": 1}}', "`kk`"),
    ("j", '{"id": "j", "question": "x", "plan": "k=5"}', "plan"),
    ("k", '{"id": "k", "question": "x", "person": {"persona": "hr"}}', "`hr`"),
    ("l", '{"id": "l", "question": "x", "person": ["GB"]}', "person"),
    ("m", '{"id": "m", "question": 5}', "no question"),
    ("n", '{"id": "n", "question": "pay band of grade G5", "roles": ["manager"]}', "docs/pay.md"),
    (
        "o",
        '{"id": "o", "question": "parking in the garage", "as_of": "2020-12-31"}',
        "docs/parking.md",
    ),
    (
        "p",
        f'{{"id": "p", "question": "And up to how much?", "history": [{TURN}]}}',
        "docs/travel.md",
    ),
    ("q", '{"id": "q", "question": "annual \\u2028 leave", "country": "GB"}', "docs/gb/leave.md"),
    ("r", '{"id": "r", "question": "annual \u2028 leave", "country": "GB"}', "docs/gb/leave.md"),
    ("21", '{"id": "s", "question": "half a \\ud83d smile"}', "half a character"),
    ("22", f'{{"question": "{TRAVEL}"}}', "docs/travel.md"),
    ("7", f'{{"id": 7, "question": "{TRAVEL}", "plan": {{"k": 1}}}}', "docs/travel.md"),
]
BAD = {"2", "c", "5", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "21"}


@pytest.mark.parametrize("verb", ["search", "ask"])
@pytest.mark.parametrize("embedder", ["none", "minilm"])
def test_a_batch_keeps_order_and_goes_on_after_bad_lines(
    tmp_path: Path, verb: str, embedder: str
) -> None:
    workspace(tmp_path)
    env = {"OMBUD_MODELS__EMBEDDER": embedder}
    assert ombud("sync", "docs", cwd=tmp_path, env=env).code == 0
    text = "\ufeff" + "\r\n".join(line for _, line, _ in LINES) + "\n\n"
    (tmp_path / "batch.jsonl").write_bytes(text.encode())
    result = ombud(verb, "--batch", "batch.jsonl", cwd=tmp_path, env=env)
    assert result.code == 1
    told = [json.loads(line) for line in result.out.rstrip("\n").split("\n")]
    assert [row["id"] for row in told] == [identity for identity, _, _ in LINES]
    for row, (identity, _, expected) in zip(told, LINES, strict=True):
        if identity in BAD:
            assert row.keys() == {"id", "error"}
            assert row["error"].keys() == {"type", "message", "hint"}
            assert expected in row["error"]["message"], row
        elif verb == "search":
            assert row.keys() == {"id", "hits", "trace"}
            assert row["hits"][0]["uri"] == expected
        else:
            assert row.keys() == {"id", "answer"}
            assert Answer.model_validate(row["answer"]).citations[0].uri == expected


@pytest.mark.parametrize("verb", ["search", "ask"])
def test_a_batch_of_good_lines_exits_with_0(home: Path, tmp_path: Path, verb: str) -> None:
    rows = [
        {"id": str(n), "question": LEAVE, "country": "GB" if n % 2 else "FR"} for n in range(25)
    ]
    file = tmp_path / "b.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = ombud(verb, "--batch", file, cwd=home)
    assert result.code == 0
    assert [row["id"] for row in result.lines] == [row["id"] for row in rows]
    for number, line in enumerate(result.out.splitlines()):
        assert ("26 days" in line, "31 days" in line) == (bool(number % 2), not number % 2)


@pytest.mark.parametrize("verb", ["search", "ask"])
def test_an_empty_batch_is_no_error(home: Path, tmp_path: Path, verb: str) -> None:
    (tmp_path / "b.jsonl").write_text("\n\n")
    assert ombud(verb, "--batch", tmp_path / "b.jsonl", cwd=home) == Result(0, "", "")


@pytest.mark.parametrize("verb", ["search", "ask"])
def test_a_batch_file_that_is_no_text(home: Path, tmp_path: Path, verb: str) -> None:
    (tmp_path / "b.jsonl").write_bytes(b"\xff\xfe\x00")
    assert (
        "UTF-8"
        in fails(ombud(verb, "--batch", tmp_path / "b.jsonl", cwd=home), 2, "BadRequest")["hint"]
    )


def test_flags_win_over_the_plan_of_a_line(home: Path, tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text(
        '{"id": "1", "question": "leave", "plan": {"k": 3, "pool": 40}}\n'
    )
    (searched,) = ombud("search", "--batch", tmp_path / "b.jsonl", "-k", 2, cwd=home).lines
    assert (searched["trace"]["plan"]["k"], searched["trace"]["plan"]["pool"]) == (2, 40)
    (asked,) = ombud("ask", "--batch", tmp_path / "b.jsonl", "--plan", "k=2", cwd=home).lines
    assert (asked["answer"]["trace"]["plan"]["k"], asked["answer"]["trace"]["plan"]["pool"]) == (
        2,
        40,
    )


# Documents ----------------------------------------------------------------------------------------


def test_documents_list_like_a_person_or_like_the_operator(home: Path) -> None:
    def listed(*arguments: str) -> set[str]:
        rows = ombud("documents", "list", *arguments, "--json", cwd=home).json["documents"]
        assert all("text" not in row and row["id"] and row["title"] for row in rows)
        return {row["uri"] for row in rows}

    assert listed() == {f"docs/{name}" for name in HANDBOOK}
    assert listed("--country", "GB") == {"docs/gb/leave.md", "docs/travel.md"}
    assert listed("--role", "manager") == {"docs/pay.md", "docs/travel.md"}
    lines = ombud("documents", "list", cwd=home).out.splitlines()
    assert len(lines) == 1 + len(HANDBOOK)
    assert any("docs/parking.md" in line and "2020-12-31" in line for line in lines)
    assert "Pay" not in ombud("documents", "list", "--country", "GB", cwd=home).out


def test_documents_show_by_id_and_uri(home: Path) -> None:
    by_uri = ombud("documents", "show", "docs/travel.md", "--json", cwd=home).json
    assert by_uri == ombud("documents", "show", by_uri["id"], "--json", cwd=home).json
    assert "220 euros" in by_uri["text"]
    shown = ombud("documents", "show", "docs/travel.md", cwd=home).out
    assert shown.startswith("Travel\n")
    assert "220 euros" in shown


def test_documents_of_others_are_not_there(home: Path) -> None:
    outsiders: list[tuple[str, ...]] = [("--country", "GB"), ("--role", "employee")]
    for reader in outsiders:
        hidden = fails(
            ombud("documents", "show", "docs/pay.md", *reader, "--json", cwd=home), 1, "NotFound"
        )
        absent = fails(
            ombud("documents", "show", "docs/no.md", *reader, "--json", cwd=home), 1, "NotFound"
        )
        assert hidden["message"].replace("pay", "no") == absent["message"]
    assert ombud("documents", "show", "docs/pay.md", "--role", "manager", cwd=home).code == 0
    assert ombud("documents", "show", "docs/fr/leave.md", "--country", "GB", cwd=home).code == 1


def test_documents_delete_and_come_back(tmp_path: Path) -> None:
    workspace(tmp_path)
    assert "No documents" in ombud("documents", "list", cwd=tmp_path).out
    ombud("sync", "docs", cwd=tmp_path)
    gone = ombud("documents", "delete", "docs/travel.md", "--json", cwd=tmp_path)
    assert gone.json["uri"] == "docs/travel.md"
    assert "hotel" not in ombud("search", "hotel costs", cwd=tmp_path).out.lower()
    said(ombud("documents", "delete", "docs/travel.md", cwd=tmp_path), 1, "docs/travel.md")
    assert ombud("sync", "--json", cwd=tmp_path).json["sources"][0]["added"] == 1
    assert (
        ombud("documents", "delete", "docs/travel.md", cwd=tmp_path).out
        == "Deleted docs/travel.md.\n"
    )


# Doctor -------------------------------------------------------------------------------------------


def test_doctor_is_content_or_says_what_to_do(home: Path, tmp_path: Path) -> None:
    well = ombud("doctor", cwd=home)
    assert well.code == 0
    assert "FAIL" not in well.out
    workspace(tmp_path)
    ill = ombud("doctor", cwd=tmp_path)
    assert ill.code == 1
    assert "FAIL index" in ill.out
    told = ombud("doctor", "--json", cwd=tmp_path)
    assert told.code == 1
    checks = {check["name"]: check for check in told.json["checks"]}
    assert all(check.keys() == {"name", "ok", "said", "hint"} for check in checks.values())
    assert {name for name, check in checks.items() if not check["ok"]} == {"index", "sources"}
    assert "ombud sync" in checks["index"]["hint"]


# Help, pipes, the real model ----------------------------------------------------------------------


def test_help_names_every_verb_and_loads_nothing_heavy(tmp_path: Path) -> None:
    result = ombud_process("--help", cwd=tmp_path)
    assert result.code == 0
    for verb in ("init", "sync", "search", "ask", "serve", "doctor", "settings", "documents"):
        assert verb in result.out
    heavy = (
        "{'lancedb', 'numpy', 'onnxruntime', 'sqlalchemy', 'pydantic', 'fastapi', 'pydantic_ai'}"
    )
    code = f"import sys, ombud.cli; sys.exit(' '.join({heavy} & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0


def test_a_reader_that_goes_away_is_no_error(home: Path, tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text('{"question": "leave"}\n' * 300)
    with start("search", "--batch", tmp_path / "b.jsonl", cwd=home) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline()
        process.stdout.close()
        told = process.stderr.read()
        assert (process.wait(60), told) == (0, "")


def test_the_real_model_finds_a_paraphrase(tmp_path: Path) -> None:
    workspace(tmp_path)
    env = {"OMBUD_MODELS__EMBEDDER": "minilm"}
    assert ombud("sync", "docs", cwd=tmp_path, env=env).code == 0
    ask = ("search", "accommodation while abroad for work", "--mode", "dense", "--json")
    found = ombud(*ask, cwd=tmp_path, env=env).json
    assert found["hits"][0]["uri"] == "docs/travel.md"
    assert found["trace"]["degraded"] == []
    refused = fails(ombud(*ask, cwd=tmp_path), 1, "EngineError")
    assert "embedder" in refused["message"]


# Serve --------------------------------------------------------------------------------------------


def test_serve_on_a_port_that_is_taken(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said(ombud("serve", "--port", port, cwd=home), 2, str(port), "--port")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.1", "example.org"])
def test_serve_beyond_this_machine_is_refused(home: Path, host: str) -> None:
    said(ombud("serve", "--host", host, "--port", "0", cwd=home), 2, host, "127.0.0.1")


def test_serve_with_a_misspelt_period_says_so_at_once(home: Path) -> None:
    result = ombud("serve", "--port", "0", cwd=home, env={"OMBUD_SYNC__EVERY": "7 days"})
    said(result, 2, "sync.every", "7d")


def test_serve_answers_until_it_is_interrupted(home: Path) -> None:
    with start("serve", "--port", "0", cwd=home, env={"OMBUD_SYNC__EVERY": "1h"}) as process:
        try:
            assert process.stdout
            line = process.stdout.readline()
            url = line.split()[-1]
            with urllib.request.urlopen(f"{url}/readyz", timeout=30) as answer:
                assert answer.status == 200
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert err.strip().splitlines()[-1].startswith("Stopped.")


def test_serve_says_where_nobody_could_open_the_pages_of_admins(home: Path) -> None:
    with start("serve", "--port", "0", cwd=home, env={"OMBUD_IDENTITY__KIND": "local"}) as process:
        try:
            assert process.stdout
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert "ombud people add NAME --duty admin" in err


def test_a_port_that_is_not_given_is_the_one_of_the_settings(home: Path) -> None:
    told = " ".join(ombud("serve", "--help", cwd=home).out.split())
    assert "the one of the settings" in told
    assert "-1" not in told


def test_a_country_may_be_named_and_is_never_guessed(home: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("correct horse battery")
    add = ("people", "add", "ann", "--password-file", tmp_path / "secret", "--json")
    refused = fails(ombud(*add, "--country", "EN", cwd=home), 2, "BadRequest")
    assert "EN" in refused["message"]
    assert ombud(*add, "--country", "England", cwd=home).json["person"]["country"] == "GB"


def test_a_question_of_a_batch_is_answered_as_if_it_were_asked_alone(tmp_path: Path) -> None:
    workspace(tmp_path)
    env = {"OMBUD_MODELS__EMBEDDER": "minilm"}
    assert ombud("sync", "docs", cwd=tmp_path, env=env).code == 0
    asked = ["what may a hotel cost", "who pays for hotels", "is a hotel reimbursed"]
    lines = [json.dumps({"id": text, "question": text}) for text in asked]
    (tmp_path / "batch.jsonl").write_text("\n".join(lines), encoding="utf-8")
    told = ombud("ask", "--batch", "batch.jsonl", cwd=tmp_path, env=env)
    for row in told.lines:
        alone = ombud("ask", row["id"], "--json", cwd=tmp_path, env=env).json
        for key in ("text", "outcome"):
            assert row["answer"][key] == alone[key]
        signals = row["answer"]["trace"]["signals"]
        assert signals == alone["trace"]["signals"]
