"""The audit as operators run it, and that no log ever holds what somebody asked."""

import json
import re
import signal
import sqlite3
from pathlib import Path
from typing import Any

import httpx

from journeys.command import ombud, start, workspace

MARKER = "zanzibarmarker"
TOUCHED = f"My boss touches me against my will, {MARKER}, what can I do?"
LEAVE = "How many days of annual leave do I have?"


def ready(tmp_path: Path, toml: str = "") -> Path:
    home = workspace(tmp_path / "home", toml)
    assert ombud("sync", home / "docs" / "gb", "--country", "GB", cwd=home).code == 0
    return home


def asked(home: Path, text: str, *options: str) -> Any:
    return ombud("ask", text, "--json", *options, cwd=home).json


def test_verify_list_show_head_and_replay(tmp_path: Path) -> None:
    home = ready(tmp_path)
    given = asked(home, LEAVE, "--country", "GB")
    said = ombud("audit", "verify", cwd=home)
    assert (said.code, said.err) == (0, "")
    assert "The chain holds: 2 records; 1 answers" in said.out
    head = ombud("audit", "head", cwd=home).out.split()
    assert head[0] == "2"
    assert ombud("audit", "verify", "--head", head[1], cwd=home).code == 0
    told = ombud("audit", "verify", "--json", cwd=home).json
    assert (told["ok"], told["broken"], told["head"]) == (True, None, head[1])
    assert given["outcome"] in {"full", "partial"}
    assert given["id"] in ombud("audit", "list", "--outcome", given["outcome"], cwd=home).out
    assert ombud("audit", "list", "--outcome", "denied", cwd=home).out == "No answers.\n"
    shown = ombud("audit", "show", given["id"][:8], cwd=home)
    assert "26 days" in shown.out
    assert "record 2: answer, " in shown.out
    # Which sentence of which page it rests on, so that nobody has to look up an id.
    cited = given["citations"][0]
    assert f"[1] {cited['title']}" in shown.out
    assert " ".join(cited["quote"].split()) in shown.out
    again = ombud("audit", "replay", given["id"], cwd=home)
    assert again.code == 0
    assert "Evidence: the same" in again.out
    assert "Answer: the same." in again.out
    assert ombud("audit", "replay", given["id"], "--json", cwd=home).json["same"]


def test_what_was_changed_is_named_with_exit_code_one(tmp_path: Path) -> None:
    home = ready(tmp_path)
    given = asked(home, LEAVE, "--country", "GB")
    head = ombud("audit", "head", "--json", cwd=home).json
    with sqlite3.connect(home / ".ombud" / "store.sqlite") as db:
        db.execute("UPDATE answer SET answer = replace(answer, '26 days', '36 days')")
    db.close()
    said = ombud("audit", "verify", cwd=home)
    assert said.code == 1
    assert (
        said.out
        == f"BROKEN at record 2: changed.\nThe answer {given['id']} of record 2 was changed.\n"
    )
    with sqlite3.connect(home / ".ombud" / "store.sqlite") as db:
        db.execute("DELETE FROM answer")
        db.execute("DELETE FROM setup")
        db.execute("DELETE FROM audit WHERE number = 2")
    db.close()
    assert ombud("audit", "verify", cwd=home).code == 0
    cut = ombud("audit", "verify", "--head", head["hash"], "--json", cwd=home)
    assert (cut.code, cut.json["broken"]["why"]) == (1, "cut")


def test_wrong_options_say_what_is_right(tmp_path: Path) -> None:
    home = ready(tmp_path)
    for arguments, said in (
        (("verify", "--head", "abc"), "64 hex digits"),
        (("list", "--outcome", "good"), "full, partial or denied"),
        (("list", "--since", "yesterday"), "2026-01-31"),
        (("erase",), "--person ID or --conversation ID"),
        (("erase", "--person", "a", "--conversation", "b"), "--person ID or --conversation ID"),
    ):
        result = ombud("audit", *arguments, cwd=home)
        assert result.code == 2
        assert said in result.err
    assert ombud("audit", "show", "nothing", cwd=home).code == 1
    assert ombud("audit", "erase", "--person", "nobody", cwd=home).code == 1


def test_erase_and_expire(tmp_path: Path) -> None:
    home = ready(tmp_path)
    given = asked(home, TOUCHED)
    hidden = ombud("audit", "show", given["id"], cwd=home).out
    assert MARKER not in hidden
    assert "withheld" in hidden
    assert MARKER in ombud("audit", "show", given["id"], "--sensitive", cwd=home).out
    assert ombud("audit", "expire", "--dry-run", "--json", cwd=home).json["answers"] == 0
    with sqlite3.connect(home / ".ombud" / "store.sqlite") as db:
        db.execute("UPDATE answer SET at = '2020-01-01T00:00:00+00:00'")
    db.close()
    assert ombud("audit", "expire", cwd=home).out == "Erased: 0 conversations, 1 answers.\n"
    assert "retention" in ombud("audit", "show", given["id"], cwd=home).out
    assert "was erased" in ombud("audit", "replay", given["id"], cwd=home).err


def test_the_gap_report_as_a_file(tmp_path: Path) -> None:
    home = ready(
        tmp_path, "[plan]\nabstain = 0.05\n[audit]\ngroup_size = 1\nshow_words = 'questions'\n"
    )
    asked(home, "May I bring a giraffe to the canteen?")
    asked(home, TOUCHED)
    said = ombud("report", "gaps", "--html", tmp_path / "gaps.html", cwd=home)
    assert said.code == 0
    assert "giraffe" in said.out
    page = (tmp_path / "gaps.html").read_text(encoding="utf-8")
    assert "giraffe" in page
    assert MARKER not in page + said.out
    told = ombud("report", "gaps", "--json", cwd=home).json
    assert (told["questions"], told["sensitive"]) == (1, 1)


def test_no_log_holds_what_was_asked(tmp_path: Path) -> None:
    home = ready(tmp_path)
    # A model that cannot be reached, a store that fails in the middle, and requests that are wrong
    # in every way.
    env = {
        "OMBUD_MODELS__CHAT": "openai:local",
        "OMBUD_MODELS__BASE_URL": "http://127.0.0.1:9/v1",
        "OPENAI_API_KEY": "x",
    }
    server = start("serve", "--port", 0, cwd=home, env=env)
    assert server.stdout
    url = re.search(r"http://\S+", server.stdout.readline())
    assert url
    with httpx.Client(base_url=url[0], timeout=60) as client:
        talk = client.post("/api/v1/conversations", json={}).json()["id"]
        for text in (f"How many days of annual leave do I have, {MARKER}?", TOUCHED):
            for body in ({"question": text}, {"question": text, "conversation_id": talk}):
                assert client.post("/api/v1/ask", json=body).status_code == 200
        stream = {"accept": "text/event-stream"}
        assert (
            MARKER
            not in client.post("/api/v1/ask", json={"question": f"{MARKER}?"}, headers=stream).text[
                :0
            ]
        )
        for body in (
            {"question": MARKER, "conversation_id": MARKER},
            {"question": MARKER, "nonsense": MARKER},
            {"question": MARKER, "plan": {"k": MARKER}},
            {"question": MARKER, "as_of": MARKER},
        ):
            assert client.post("/api/v1/ask", json=body).status_code in (404, 422)
        assert client.post("/api/v1/ask", content=f'{{"question": "{MARKER}').status_code in (
            400,
            422,
        )
        assert client.post("/api/v1/search", json={"query": MARKER}).status_code == 200
        with sqlite3.connect(home / ".ombud" / "store.sqlite") as db:
            db.execute(
                "CREATE TRIGGER no BEFORE INSERT ON answer BEGIN SELECT RAISE(ABORT, 'not today'); END"
            )
        db.close()
        assert client.post("/api/v1/ask", json={"question": f"{MARKER} leave?"}).status_code == 503
        assert (
            "error"
            in client.post(
                "/api/v1/ask", json={"question": f"{MARKER} leave?"}, headers=stream
            ).text
        )
        with sqlite3.connect(home / ".ombud" / "store.sqlite") as db:
            db.execute("DROP TRIGGER no")
            db.execute('UPDATE answer SET answer = \'{"id": 5, "text": "\' || id || \'"}\'')
        db.close()
    server.send_signal(signal.SIGINT)
    out, err = server.communicate(timeout=60)
    assert "not today" in err  # it is a log: what failed stands there
    assert MARKER not in out + err
    broken = ombud("report", "gaps", cwd=home)
    assert broken.code == 1
    assert MARKER not in broken.err
    lines = json.dumps({"id": "1", "question": MARKER, "as_of": "x"})
    (tmp_path / "batch.jsonl").write_text(lines + "\n", encoding="utf-8")
    assert MARKER not in ombud("ask", "--batch", tmp_path / "batch.jsonl", cwd=home).err
    files = [
        file for file in home.rglob("*") if file.is_file() and MARKER.encode() in file.read_bytes()
    ]
    assert {file.name.partition("-")[0] for file in files} <= {"store.sqlite"}
