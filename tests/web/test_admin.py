"""The pages of those who look after it, driven as their forms do."""

import base64
import csv
import hashlib
import html
import io
import json
import re
import tomllib
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from ombud.app import (
    Workspace,
    advising,
    conversing,
    library,
    overview,
    people,
    replies,
    sync_progress,
)
from ombud.cli.verbs import app
from ombud.lab import read_cases
from ombud.messages import message
from ombud.prompts import load
from ombud.store import verify_chain
from ombud.types import Person
from ombud.web.layout import ticked
from web.running import LEAVE_GB, make_workspace, running

PAGES = (
    "",
    "/sources",
    "/documents",
    "/drafts",
    "/prompts",
    "/flags",
    "/people",
    "/groups",
    "/audit",
    "/desk",
    "/replies",
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    made = make_workspace(tmp_path_factory.mktemp("admin"))
    made.follow(lambda _: None, clock=lambda: 0.0)
    yield made
    made.close()


@pytest.fixture(scope="module")
def client(workspace: Workspace) -> Iterator[httpx.Client]:
    with (
        running(workspace) as url,
        httpx.Client(base_url=url, follow_redirects=True, timeout=60) as made,
    ):
        yield made


def wait_for_sync(client: httpx.Client) -> dict[str, object]:
    """Until it has ended; a second request in the meantime is refused."""
    for _ in range(600):
        said: dict[str, object] = client.get("/api/v1/sync").json()
        if said["state"] not in ("running", "idle"):
            return said
    raise AssertionError(said)


def test_a_document_is_read_as_those_for_whom_it_is(client: httpx.Client) -> None:
    listed = client.get("/admin/documents").text
    for title, text in (("Annual leave in Germany", "30 days"), ("Pay bands for managers", "G5")):
        (where,) = re.findall(rf'href="(/admin/documents/\w+)">{title}', listed)
        shown = client.get(where).text
        links = re.findall(r'href="(/documents/[^"]+)"', shown)
        assert len(links) >= 2
        for link in links:
            assert text in client.get(link.replace("&amp;", "&")).text


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_there_and_small(client: httpx.Client, path: str) -> None:
    page = client.get(f"/admin{path}")
    assert page.status_code == 200, page.text
    assert page.text.count("<h1>") == 1
    assert page.text.count('aria-current="page"') == 1
    sizes = [len(client.get(f"/admin{path}").content)]
    for name in ("ombud.css", "panel.css", "panel.js", "theme.js"):
        sizes.append(len(client.get(f"/static/x/{name}").content))
    assert sum(sizes) < 120_000  # before compression; half of it on the wire


def test_a_file_that_is_handed_in_is_read_and_answered_from(
    client: httpx.Client, workspace: Workspace
) -> None:
    text = "---\ntitle: Parking\n---\n# Parking\n\nParking at the site costs 3 pounds a day.\n"
    files = {"files": ("../..\\evil/Parking rules.md", text)}
    page = client.post("/admin/sources/upload", files=files, data={"country": "gb"})
    assert page.status_code == 200, page.text
    wait_for_sync(client)
    assert (workspace.home / "uploads/gb/Parking rules.md").read_text() == text
    (found,) = [one for one in library.documents(workspace, None) if one.title == "Parking"]
    assert found.countries == ("GB",)
    asked = {"question": "What does parking cost?", "person": {"country": "GB"}}
    assert "3 pounds" in client.post("/api/v1/ask", json=asked).json()["text"]
    assert "Parking" in client.get("/admin/documents?q=parking").text
    page = client.get(f"/admin/documents/{found.id}")
    assert "Parking at the site costs 3 pounds a day." in page.text


def test_what_ends_soon_is_listed_with_its_owner(
    client: httpx.Client, workspace: Workspace, tmp_path: Path
) -> None:
    today = workspace.today()
    for name, days in (("Masks", 5), ("Lifts", -1), ("Doors", 400)):
        head = f"---\nowner: facilities\nexpiryDate: {today + timedelta(days=days)}\n---\n"
        text = f"{head}# {name}\n\n{name} are cleaned every day.\n"
        client.post("/admin/sources/upload", files={"files": (f"{name}.md", text)})
        wait_for_sync(client)
    ending = library.ending_soon(workspace, days=30)
    assert [(one.title, one.owner) for one in ending] == [("Masks", "facilities")]
    page = client.get("/admin/documents?q=nothing").text
    assert message("admin.documents_ending") in page
    assert [name for name in ("Masks", "facilities", "Doors", "Lifts") if name in page] == [
        "Masks",
        "facilities",
    ]


@pytest.mark.parametrize("name", ["virus.exe", "noending", ".htaccess", "a.md.sh"])
def test_what_cannot_be_read_is_not_kept(
    client: httpx.Client, workspace: Workspace, name: str
) -> None:
    page = client.post("/admin/sources/upload", files={"files": (name, "x")})
    assert page.status_code == 422
    kinds = message("admin.error_file_type_hint", endings="")
    assert kinds.strip() in page.text
    assert not list((workspace.home).rglob(name))


def test_a_folder_becomes_a_source_and_is_read_now(
    client: httpx.Client, workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "rules.md").write_text("# Bikes\n\nThe company leases bikes to everybody.\n")
    sent = {"path": str(tmp_path), "name": "bikes"}
    added = client.post("/admin/sources/folder", data=sent)
    assert added.status_code == 200
    assert wait_for_sync(client)["state"] == "done"
    page = client.get("/admin/sources").text
    assert ">bikes<" in page
    assert message("admin.sync_added", count=1) in page
    asked = {"question": "Does the company lease bikes?", "person": {}}
    assert "leases bikes" in client.post("/api/v1/ask", json=asked).json()["text"]

    again = client.post("/admin/sources/folder", data={**sent, "country": "Germany"})
    assert again.status_code == 422
    assert again.json()["detail"] == message("admin.error_source_taken", name="bikes")
    assert client.post("/admin/sources/run", data={"name": "bikes"}).status_code == 200
    assert wait_for_sync(client)["state"] == "done"

    assert client.post("/admin/sources/remove", data={"name": "unheard"}).status_code == 422
    assert client.post("/admin/sources/remove", data={"name": "bikes"}).status_code == 200
    page = client.get("/admin/sources").text
    assert message("admin.source_removed", name="bikes") in page
    assert message("admin.sync_deleted", count=1) in page
    assert ">bikes<" not in page
    assert "leases bikes" not in client.post("/api/v1/ask", json=asked).json()["text"]
    assert (tmp_path / "rules.md").exists()
    wrong = client.post("/admin/sources/folder", data={"path": "/nowhere/at/all"})
    assert wrong.status_code == 422
    assert message("admin.error_path_missing", path="/nowhere/at/all") in wrong.text


def test_a_prompt_is_written_compared_activated_and_reverted(
    client: httpx.Client, workspace: Workspace
) -> None:
    name = "/admin/prompts/compose/default"
    before = load("compose", override=workspace.prompts)
    page = client.get(name)
    assert message("admin.prompt_uses_default") in page.text
    changed = before.text + "\nBe brief."
    page = client.post(name, data={"text": changed.replace("\n", "\r\n")})
    assert message("admin.prompt_not_in_use", number=1) in page.text
    assert "+Be brief." in page.text
    assert load("compose", override=workspace.prompts).digest == before.digest
    page = client.post(name, data={"do": "activate", "version": "1"})
    assert message("admin.prompt_uses_version", number=1) in page.text
    assert load("compose", override=workspace.prompts).text == changed
    page = client.post(name, data={"do": "activate", "version": "0"})
    assert message("admin.prompt_uses_default") in page.text
    assert load("compose", override=workspace.prompts).digest == before.digest
    unset = ticked(message("admin.no_chat_model"))
    assert unset in page.text
    assert unset in client.get("/admin/prompts").text


def test_there_is_one_way_back_to_what_ships(client: httpx.Client) -> None:
    name = "/admin/prompts/repair/default"
    shipped = client.get(name).text.partition("<textarea")[2].partition(">")[2].partition("</")[0]
    client.post(name, data={"text": html.unescape(shipped) + "\nBe brief."})
    client.post(name, data={"do": "activate", "version": "1"})
    page = client.get(f"{name}?version=0").text
    assert message("admin.prompt_revert") in page
    assert message("admin.prompt_use") not in page
    client.post(name, data={"do": "activate", "version": "0"})


def test_words_that_cannot_be_filled_in_are_not_saved(
    client: httpx.Client, workspace: Workspace
) -> None:
    page = client.post("/admin/prompts/hyde/default", data={"text": "Write of $nonsense"})
    assert page.status_code == 422
    assert "no placeholder $nonsense" in page.text
    assert client.get("/admin/prompts/hyde/..%2f..%2fx").status_code == 404
    assert client.get("/admin/prompts/unknown/default").status_code == 404
    assert client.get("/admin/prompts/hyde/default?version=9").status_code == 404


def test_a_prompt_of_somebodys_hand_is_kept_before_another_counts(
    client: httpx.Client, workspace: Workspace
) -> None:
    shipped = load("stepback").text
    file = workspace.prompts / "stepback/default.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(shipped + "\nBy hand.")
    client.post("/admin/prompts/stepback/default", data={"do": "activate", "version": "0"})
    assert not file.exists()
    page = client.post("/admin/prompts/stepback/default", data={"do": "activate", "version": "1"})
    assert page.status_code == 200
    assert file.read_text() == shipped + "\nBy hand."
    client.post("/admin/prompts/stepback/default", data={"do": "activate", "version": "0"})


def test_flags_are_written_with_the_comments_of_the_file(
    client: httpx.Client, workspace: Workspace
) -> None:
    file = workspace.home / "ombud.toml"
    file.write_text("# Ours alone.\n" + file.read_text())
    fields = {"name": "wide", "share": "25", "countries": "gb, de", "plan": "k = 12"}
    assert client.post("/admin/flags/experiment", data=fields).status_code == 200
    assert client.post("/admin/flags/country", data={"code": "fr", "plan": "k = 4"}).is_success
    read = tomllib.loads(file.read_text())
    assert file.read_text().startswith("# Ours alone.\n")
    assert read["experiment"]["wide"] == {
        "share": 0.25,
        "countries": ["GB", "DE"],
        "off": False,
        "plan": {"k": 12},
        "since": read["experiment"]["wide"]["since"],
    }
    assert read["experiment"]["wide"]["since"].tzinfo
    client.post("/admin/flags/experiment", data=fields)
    assert tomllib.loads(file.read_text()) == read
    assert read["country"]["FR"]["plan"] == {"k": 4}
    written = file.read_text()
    for fields in (
        {"name": "wide", "share": "25", "plan": "kk = 12"},
        {"name": "wide", "share": "250", "plan": ""},
        {"name": "wide", "share": "25", "plan": "k = "},
        {"name": "wide", "share": "25", "plan": 'reranker = "unheard-of"'},
        {"name": "../x", "share": "25", "plan": ""},
    ):
        assert client.post("/admin/flags/experiment", data=fields).status_code == 422, fields
    assert file.read_text() == written
    client.post("/admin/flags/experiment", data={"name": "wide", "do": "remove"})
    client.post("/admin/flags/country", data={"code": "FR", "plan": ""})
    read = tomllib.loads(file.read_text())
    assert not read.get("experiment")
    assert not read.get("country")


def test_people_and_tokens_are_given_and_taken(client: httpx.Client, workspace: Workspace) -> None:
    said = {"name": "Ann@example.org", "password": "correct horse battery", "country": "gb"}
    assert client.post("/admin/people", data={**said, "duty": ["employee", "advisor"]}).is_success
    ann = people.find_person(workspace, "ann@example.org")
    assert ann.duties == ("employee", "advisor")
    base = "/admin/people/ann@example.org"
    assert client.post(f"{base}/duties", data={"duty": ["policy_owner"]}).is_success
    assert client.post(f"{base}/describe", data={"country": "DE", "roles": "a b"}).is_success
    ann = people.find_person(workspace, "ann@example.org")
    assert (ann.duties, ann.person.country, ann.person.roles) == (
        ("policy_owner",),
        "DE",
        ("a", "b"),
    )
    made = client.post(
        "/admin/tokens", data={"name": "script", "for": ann.name, "right": ["ask", "policy"]}
    )
    secret = made.text.split('<pre class="secret">')[1].split("<")[0]
    assert secret.startswith("ombud_")
    assert secret not in client.get("/admin/people").text
    (token,) = people.every_token(workspace)
    assert client.post(f"/admin/tokens/{token.id}/revoke", data={}).is_success
    assert people.every_token(workspace) == []
    assert client.post(f"{base}/disable", data={}).is_success
    assert people.find_person(workspace, ann.name).disabled
    assert client.post(f"{base}/fly", data={}).status_code == 422


def test_a_draft_is_checked_and_put_in_force_and_taken_back(
    client: httpx.Client, workspace: Workspace
) -> None:
    text = (workspace.home / "handbook/gb/leave.md").read_text().replace("26 days", "28 days")
    assert client.post("/admin/drafts/upload", files={"files": ("leave.md", text)}).is_success
    from ombud.app import drafting

    ((identity, names),) = drafting.list_sets(workspace)
    assert names == ["leave.md"]
    assert client.post(f"/admin/drafts/{identity}/publish", data={}).status_code >= 400
    assert client.post(f"/admin/drafts/{identity}/check", data={}).is_success
    for _ in range(2000):
        page = client.get("/admin/drafts").text
        if 'data-state="running"' not in page:
            break
    state = drafting.check_state(workspace)
    assert state["state"] == "done", state
    assert "28 days" in client.get(f"/admin/drafts/{identity}/report").text
    forced = {} if state["go"] else {"force": "agreed with the works council"}
    published = client.post(f"/admin/drafts/{identity}/publish", data=forced)
    assert published.status_code == 200, published.text
    asked = {"question": "How many days of annual leave?", "person": {"country": "GB"}}
    assert "28 days" in client.post("/api/v1/ask", json=asked).json()["text"]
    assert drafting.list_sets(workspace) == []
    from ombud.app import list_publications

    (publication,) = list_publications(workspace)
    assert client.post(f"/admin/drafts/{publication.id}/undo", data={}).is_success
    assert LEAVE_GB in client.post("/api/v1/ask", json=asked).json()["text"]


def test_the_week_counts_what_was_asked(client: httpx.Client, workspace: Workspace) -> None:
    before = overview.find_weeks(workspace)[-1]
    asked = {"question": "How many days of annual leave?", "person": {"country": "GB"}}
    answer = client.post("/api/v1/ask", json=asked).json()
    client.post(f"/api/v1/answers/{answer['id']}/feedback", json={"thumb": 1})
    after = overview.find_weeks(workspace)[-1]
    assert after.questions == before.questions + 1
    assert after.full == before.full + (answer["outcome"] == "full")
    assert after.liked == before.liked + 1
    assert after.monday.weekday() == 0
    assert len(overview.find_weeks(workspace)) == 12


def test_the_audit_names_what_was_done_and_holds(
    client: httpx.Client, workspace: Workspace
) -> None:
    client.post("/admin/prompts/hyde/default", data={"do": "activate", "version": "0"})
    page = client.post("/admin/audit", data={})
    assert message("admin.audit_ok") in page.text
    assert message("admin.audit_action_prompt_activated") in page.text
    asked = {"question": "How many days of annual leave?", "person": {"country": "GB"}}
    answer = client.post("/api/v1/ask", json=asked).json()["id"]
    records = client.get("/admin/audit").text
    assert answer in records
    assert message("admin.audit_quoted") in records
    german = client.get("/admin/audit", headers={"accept-language": "de"}).text
    assert message("admin.audit_action_prompt_activated", "de") in german
    assert verify_chain(workspace.store).broken is None
    wrong = client.post("/admin/audit", data={"head": "0" * 64})
    assert message("admin.audit_broken") in wrong.text


@pytest.mark.parametrize("path", ["/admin/people", "/admin/flags/country", "/admin/sources/run"])
def test_a_body_that_is_no_form_is_refused(client: httpx.Client, path: str) -> None:
    assert client.post(path, json={"name": "x"}).status_code == 422
    origin = {"origin": "https://evil.example"}
    assert client.post(path, data={"name": "x"}, headers=origin).status_code == 403


def test_an_upload_may_be_as_large_as_a_document_and_no_larger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMBUD_DOCUMENTS__SIZE_MB", "2")
    made = make_workspace(tmp_path)
    with running(made) as url:
        fits = {"files": ("a.txt", "word " * 300_000)}
        assert httpx.post(f"{url}/admin/sources/upload", files=fits, timeout=60).status_code == 303
        large = {"files": ("b.txt", "x" * 2_100_000)}
        assert httpx.post(f"{url}/admin/sources/upload", files=large).status_code == 413
        while sync_progress(made.store)["state"] == "running":
            httpx.get(f"{url}/healthz")
    made.close()


def test_runs_are_listed_with_their_figures_and_compared(
    client: httpx.Client, workspace: Workspace
) -> None:
    case = {
        "id": "leave-1",
        "question": "How many days of annual leave?",
        "type": "simple",
        "person": {"country": "GB"},
        "expect": "answer",
        "references": [{"text": "26 days"}],
        "evidence": [{"document": "handbook/gb/leave.md", "quote": "26 days of paid annual leave"}],
    }
    cases = workspace.home / "cases.jsonl"
    cases.write_text(json.dumps(case) + "\n")
    home = ["--home", str(workspace.home), "lab", "run", str(cases)]
    for mode in ("sparse", "hybrid"):
        done = CliRunner().invoke(app, [*home, "--name", mode, "--plan", f"mode={mode}"])
        assert done.exit_code == 0, done.output
    page = client.get("/lab")
    assert page.text.count('name="run"') == 2
    assert "Right passage found, first 5 <b>100 %</b>" in re.sub(r"\s+", " ", page.text)
    ids = re.findall(r'name="run" value="([^"]+)"', page.text)
    report = client.get("/lab/report", params={"run": ids})
    assert report.status_code == 200
    policy = report.headers["content-security-policy"]
    assert "script-src" not in policy
    assert "default-src 'none'" in policy
    style = report.text.split("<style>")[1].split("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy
    ways = re.findall(r'href="(/lab[^"]*)"', report.text)
    assert ways[0] == "/lab"
    assert [client.get(way).status_code for way in ways] == [200] * 3
    check_cases(client, ids[0])
    check_rating(client, workspace, ids)
    for mode in ("sparse", "hybrid"):
        done = CliRunner().invoke(app, [*home, "--name", "watch", "--plan", f"mode={mode}"])
        assert done.exit_code == 0, done.output
    check_production(client)
    assert client.get("/lab/report?run=unknown").status_code == 404
    assert client.get("/lab/report").status_code == 422


def test_cases_are_edited_as_versions_with_author_and_reason(
    client: httpx.Client, workspace: Workspace
) -> None:
    line = json.dumps({"id": "leave-1", "question": "How much leave?", "expect": "answer"})
    files = {"file": ("cases.jsonl", line.encode())}
    form = {"name": "leave", "why": "from the round of May"}
    page = client.post("/lab/datasets", data=form, files=files)
    assert "leave, version 1" in page.text
    edit = {"version": "1", "case": "leave-1", "question": "How much annual leave?"}
    edit |= {"expect": "answer", "reference": "26 days", "tags": "leave", "why": "it was vague"}
    assert client.post("/lab/datasets/leave", data=edit | {"why": ""}).status_code == 422
    page = client.post("/lab/datasets/leave", data=edit)
    assert "leave, version 2" in page.text
    assert "it was vague" in page.text
    assert "leave-1: question, references, tags" in page.text
    assert "How much annual leave?" in page.text
    # Somebody who edits what is not the newest any more overwrites nothing.
    late = client.post("/lab/datasets/leave", data=edit | {"question": "How long?"})
    assert late.status_code == 409
    old = client.get("/lab/datasets/leave?version=1").text
    assert "How much leave?" in old
    assert "it was vague" in old
    cases = workspace.data / "lab" / "datasets" / "leave" / "0002.jsonl"
    assert [one.references[0].text for one in read_cases(cases)] == ["26 days"]
    assert client.get("/lab/datasets/leave?version=3").status_code == 404
    assert "from the round of May" not in client.get("/lab/datasets").text


def check_production(client: httpx.Client) -> None:
    page = client.get("/lab/production")
    assert message("evaluation.production_not_pinned") in page.text
    newest, oldest = re.findall(r'name="run" value="([^"]+)"', page.text)
    page = client.post("/lab/production/baseline", data={"run": oldest})
    assert page.status_code == 200
    assert f'value="{oldest}" checked' in page.text
    assert message("evaluation.production_pinned") in page.text
    assert (
        f'{message("evaluation.production_no_fall")} <a href="/lab/report?run={oldest}&amp;run={newest}'
        in (page.text)
    )
    assert page.text.count("data:image/svg+xml") > 2
    assert client.post("/lab/production/baseline", data={"run": "none"}).status_code == 404
    metrics = client.get("/metrics").text
    assert "ombud_lab_deviations 0.0" in metrics
    assert 'ombud_lab_mean{metric="outcome_accuracy",run="baseline"} 1.0' in metrics


def test_a_question_is_routed_as_the_plan_says(client: httpx.Client) -> None:
    body = {"question": "How many days of annual leave do I get?", "plan": {"classes": 2}}
    found = client.post("/playground/route", json=body).json()
    assert found["classes"] == 2
    assert len(found["probabilities"]) == 2
    assert sum(found["probabilities"]) == pytest.approx(1, abs=0.01)
    assert set(found["parameters"]) == {"k", "rewrites", "graph_keywords", "graph_depth"}
    wrong = client.post("/playground/route", json={"question": "x", "plan": {"kk": 1}})
    assert wrong.status_code == 422
    assert client.post("/playground/route", json={"question": " "}).status_code == 422


def check_cases(client: httpx.Client, run: str) -> None:
    """From the run to its case, and in it to every stage of the search."""
    listed = client.get("/lab/cases", params={"run": run})
    (link,) = re.findall(r'href="(/lab/case\?[^"]+)"', listed.text)
    case = client.get(link.replace("&amp;", "&")).text
    shown = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", case))
    assert "How many days of annual leave?" in shown
    assert "26 days" in shown
    assert "holds the evidence cited" in shown
    assert re.search(r"GB/(sparse|dense)/\w+ 1 \d+\.\d{4}", shown)
    assert "Right passage found, first 5 100 %" in shown
    nothing = client.get("/lab/cases", params={"run": run, "only": "wrong"})
    assert message("evaluation.cases_none") in nothing.text
    assert client.get("/lab/case", params={"run": run, "case": "none"}).status_code == 404
    assert client.get("/lab/cases?run=unknown").status_code == 404


def check_rating(client: httpx.Client, workspace: Workspace, ids: list[str]) -> None:
    """Both answers are rated, blind, into a sheet that the commands read."""
    page = client.post("/lab/annotate", data={"run": ids, "criteria": "hypa"})
    assert page.status_code == 200, page.text
    where = page.url.path
    criteria = re.findall(r"<fieldset><legend><b>([^<]+)", page.text)
    assert len(criteria) == 6
    for number in range(2):
        page = client.get(where)
        assert message("evaluation.rate_progress", done=number, total=2) in page.text
        assert not any(run in page.text for run in (*ids, "sparse", "hybrid"))
        item = page.text.split('name="item" value="')[1].split('"')[0]
        names = set(re.findall(r'type="radio" name="([^"]+)"', page.text))
        assert client.post(where, data={"item": item}).status_code == 422
        assert client.post(where, data={"item": "none", **dict.fromkeys(names, "1")}).is_error
        values = dict.fromkeys(names, "1")
        assert client.post(where, data={"item": item, "comment": "=1+1", **values}).is_success
    assert message("evaluation.rate_done") in client.get(where).text
    assert client.get(f"{where}/agreement").text.count("<tr><th>") == 7
    assert client.get("/lab/annotate/none").status_code == 404
    (sheet,) = (workspace.home / ".ombud/annotations").glob("*/sheet.demo.csv")
    assert len(sheet.read_text().splitlines()) == 3


def test_the_desk_report_shows_figures_with_enough_people_behind_them(
    workspace: Workspace, client: httpx.Client
) -> None:
    for number in range(workspace.settings.audit.group_size):
        country = "GB" if number else "DE"
        talk = conversing.begin(workspace, Person(country=country), f"secret {number}")
        conversing.hand_over(workspace, talk, "asked", "=pay" if number else "leave")
        advising.claim(workspace, talk, advising.EVERYBODY)
        advising.reply(workspace, talk, advising.EVERYBODY, "Good morning", str(uuid.uuid4()))
        advising.end(workspace, talk, advising.EVERYBODY, reason="solved", note="")
        if number == 1:
            before = rows_of(client)["all", ""]
        conversing.rate_person(workspace, talk, 4 if number else 2, "no word of this")
    after = rows_of(client)
    everybody = after["all", ""]
    assert before["wait"] == before["rating"] == ""
    assert int(everybody["handed_over"]) == int(everybody["taken"]) == 5
    assert (everybody["ratings"], float(everybody["rating"])) == ("5", 3.6)
    times = [float(everybody[name]) for name in ("wait", "first_response", "resolution")]
    assert times == sorted(times)
    assert all(group not in {"topic", "country"} for group, _ in after)
    page = client.get("/admin/desk").text
    assert message("admin.desk_rating_of", number="3.6", count=5) in page
    talk = conversing.begin(workspace, Person(country="GB"), "one more")
    conversing.hand_over(workspace, talk, "asked", "=pay")
    later = rows_of(client)
    assert {name for name in later if name[0] in {"topic", "country"}} == {
        ("topic", "'=pay"),
        ("country", "GB"),
    }
    assert later["country", "GB"]["rating"] == ""
    conversing.take_back(workspace, talk)


def test_canned_replies_are_added_changed_and_removed_with_a_record_in_the_audit(
    workspace: Workspace, client: httpx.Client
) -> None:
    file = workspace.home / "replies.toml"
    kept = '# Ours\n[[reply]]\ntitle = "Thanks"\ntext = "Thank you."\ntopics = ["pay"]\n'
    file.write_text(kept, encoding="utf-8")
    new = {"title": " Good  bye ", "text": 'Line one\r\n"two" & three'}
    assert client.post("/admin/replies", data=new).is_success
    added = replies.canned_replies(workspace)[-1]
    assert (added.title, added.text) == ("Good bye", 'Line one\n"two" & three')
    refused = [
        {**new, "before": ""},
        {**new, "before": "Thanks"},
        {**new, "before": "gone", "title": "Else"},
        {"title": "Empty", "text": " "},
        {"before": "gone", "do": "remove"},
    ]
    for fields in refused:
        page = client.post("/admin/replies", data=fields, headers={"accept": "text/html"})
        assert page.status_code == 422
        assert 'role="alert"' in page.text
    changed = {"before": "Thanks", "title": "Thanks a lot", "text": "Thank you very much."}
    assert client.post("/admin/replies", data=changed).is_success
    assert client.get("/api/v1/desk").json()["replies"][0] == {
        "title": "Thanks a lot",
        "text": "Thank you very much.",
        "topics": ["pay"],
        "countries": [],
    }
    client.post("/admin/replies", data={"before": "Good bye", "do": "remove"})
    assert [one.title for one in replies.canned_replies(workspace)] == ["Thanks a lot"]
    assert file.read_text(encoding="utf-8").startswith("# Ours")
    records = html.unescape(client.get("/admin/audit").text)
    for key, title in (("saved", "Thanks a lot"), ("removed", "Good bye")):
        assert message(f"admin.audit_action_reply_{key}") in records
        assert message("admin.audit_fact_reply", value=title) in records


def rows_of(client: httpx.Client) -> dict[tuple[str, str], dict[str, str]]:
    """(group, label) -> row of the desk report's CSV."""
    found = client.get("/admin/desk.csv")
    assert found.headers["content-type"].startswith("text/csv")
    assert "no word of this" not in found.text
    return {(row["group"], row["label"]): row for row in csv.DictReader(io.StringIO(found.text))}
