"""Any RAG system as a target: what it gives is measured, what it does not give has no value."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lab.keeping import home_with, said, told
from lab.makers import case, gold
from lab.misbehaving import Reply, answering
from ombud.errors import LabError
from ombud.lab import Metric, cases_text, parse_metrics, score, split_of
from ombud.lab.runs.systems import is_function, read_reply
from ombud.types import Case, Message, Person

SYSTEMS = """
import dataclasses

def whole(question):
    return {"answer": "26 days.", "contexts": ["All staff have 26 days of leave.", "Pay."],
            "ids": ["leave.md", "pay.md"], "tokens_in": 9, "tokens_out": 3, "price": 0.5}

def text_alone(question):
    return "26 days."

async def waits(question, history, person):
    return f"{question} {len(history)} {person['country']}"

@dataclasses.dataclass
class Found:
    answer: str
    ids: list

def other_names(question):
    return Found("26 days.", ["chunk-7"])

def breaks(question):
    raise KeyError("no index")

def odd(question):
    return {"answer": "x", "context": ["y"]}
"""
QUESTIONS: tuple[Case, ...] = tuple(
    case(
        gold("All staff have 26 days of leave.", "leave.md"),
        id=f"case-{number}",
        references=("26 days.",),
    )
    for number in range(8)
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lab_systems.py").write_text(SYSTEMS, encoding="utf-8")
    (tmp_path / "cases.jsonl").write_text(cases_text(QUESTIONS), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "lab_systems", raising=False)
    return home_with(tmp_path)


def means(run: dict[str, Any]) -> dict[str, float | None]:
    return {line["metric"]: line["mean"] for line in run["metrics"] if line["group"] == "overall"}


def reasons(run: dict[str, Any]) -> dict[str, list[str]]:
    overall = [line for line in run["metrics"] if line["group"] == "overall"]
    return {line["metric"]: list(line["reasons"]) for line in overall}


def test_a_function_is_measured_in_what_it_gives(home: Path) -> None:
    metrics = "recall@5,mrr,token_f1,tokens,price,outcome_accuracy,citation_recall"
    run = told(home, "run", "cases.jsonl", "--target", "lab_systems:whole", "--metrics", metrics)
    assert means(run) == {
        "recall@5": 1.0,
        "mrr": 1.0,
        "token_f1": 1.0,
        "tokens": 12.0,
        "price": 0.5,
        "outcome_accuracy": None,
        "citation_recall": None,
    }
    assert reasons(run)["outcome_accuracy"] == ["not measured: the target gives no outcome"]
    assert run["lost"] == {}


def test_what_a_target_does_not_give_is_never_zero(home: Path) -> None:
    arguments = ("run", "cases.jsonl", "--target", "lab_systems:text_alone")
    run = told(home, *arguments)
    usual = means(run)
    assert usual["token_f1"] == 1.0
    assert (usual["recall@5"], usual["mrr"], usual["context_f1@5"]) == (None, None, None)
    assert run["lost"] == {}
    printed = said(home, *arguments)
    assert "recall@5, mrr: not measured: the target gives no ids." in printed
    assert "Cost" not in printed


def test_stored_answers_of_a_system_are_scored_again_without_asking_it(home: Path) -> None:
    run = told(home, "run", "cases.jsonl", "--target", "lab_systems:whole", "--metrics", "mrr")
    (home.parent / "lab_systems.py").unlink()
    again = told(home, "run", "--rescore", run["run"]["id"], "--metrics", "chrf,quote_recall@5")
    assert means(again)["chrf"] == pytest.approx(1.0)
    assert means(again)["quote_recall@5"] == 1.0


def test_ids_that_no_case_knows_are_pointed_out(home: Path) -> None:
    printed = said(home, "run", "cases.jsonl", "--target", "lab_systems:other_names")
    assert "no id that the target gave (such as `chunk-7`)" in printed
    assert "(such as `leave.md`)" in printed


def test_a_coroutine_is_given_what_it_asks_for(home: Path) -> None:
    turns = (Message(role="user", content="Hello"),)
    one = Case(id="a", question="And in Kiel?", history=turns, person=Person(country="DE"))
    Path("turns.jsonl").write_text(cases_text([one]), encoding="utf-8")
    arguments = ("run", "turns.jsonl", "--metrics", "length", "--target")
    run = told(home, *arguments, "lab_systems:waits")
    assert means(run) == {"length": 5.0}
    refused = said(home, *arguments, "lab_systems:whole", code=1)
    assert "takes no `history`" in refused


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("lab_systems:breaks", "lab_systems:breaks failed: KeyError: 'no index'"),
        ("lab_systems:odd", "`context`: extra inputs are not permitted"),
    ],
)
def test_a_system_that_fails_every_case_is_an_error(home: Path, name: str, why: str) -> None:
    printed = said(home, "run", "cases.jsonl", "--target", name, code=1)
    assert "cases failed" in printed
    assert why in " ".join(printed.split())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("lab_systems:nothing", "has no attribute 'nothing'"),
        ("no_such_module:answer", "No module named 'no_such_module'"),
        ("lab_systems:SYSTEMS", "cannot be loaded"),
        ("rag.toml", "rag.toml cannot be read"),
    ],
)
def test_a_target_that_is_not_there_is_said_before_anything_is_asked(
    home: Path, name: str, why: str
) -> None:
    assert why in said(home, "run", "cases.jsonl", "--target", name, code=2)


def test_plans_are_of_ombud_alone(home: Path) -> None:
    arguments = ("run", "cases.jsonl", "--target", "lab_systems:whole", "--plan", "k=3")
    assert "has no plan to set k in" in said(home, *arguments, code=2)


TABLE = """
[target]
url = "{url}"
path = "/v1/query?country={{country}}"
body = {{ q = "{{question}}", turns = "{{history}}", top = 3 }}
answer = "result.text"
contexts = "result.passages[*].body"
ids = "$.result.passages[*].source"
headers = {{ Authorization = "Bearer $RAG_TOKEN" }}
"""
REPLY = {
    "result": {
        "text": "26 days.",
        "passages": [{"body": "All staff have 26 days of leave.", "source": "leave.md"}],
    }
}


def test_a_service_is_asked_as_its_table_says(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_TOKEN", "s3cret")
    with answering(Reply(REPLY)) as server:
        table = tmp_path / "rag.toml"
        table.write_text(TABLE.format(url=server.url), encoding="utf-8")
        run = told(home, "run", "cases.jsonl", "--target", table, "--metrics", "recall@5,token_f1")
        path, headers, body = server.asked[0]
    assert means(run) == {"recall@5": 1.0, "token_f1": 1.0}
    assert path == "/v1/query?country="
    assert headers["authorization"] == "Bearer s3cret"
    assert body == {"q": QUESTIONS[0].question, "turns": [], "top": 3}
    assert "s3cret" not in json.dumps(run)


def test_the_table_of_the_settings_applies_to_its_address(home: Path) -> None:
    with answering(Reply({"answer": "26 days."})) as server:
        (home / "ombud.toml").write_text(f'[target]\nurl = "{server.url}/"\n', encoding="utf-8")
        run = told(home, "run", "cases.jsonl", "--target", server.url, "--metrics", "token_f1")
        assert {path for path, _, _ in server.asked} == {"/"}
    assert means(run) == {"token_f1": 1.0}


def test_the_names_of_this_machine_are_one_host(home: Path) -> None:
    with answering(Reply({"answer": "26 days."})) as server:
        other = server.url.replace("127.0.0.1", "localhost")
        (home / "ombud.toml").write_text(f'[target]\nurl = "{other}"\n', encoding="utf-8")
        run = told(home, "run", "cases.jsonl", "--target", server.url, "--metrics", "token_f1")
    assert means(run) == {"token_f1": 1.0}


@pytest.mark.parametrize(
    "reply",
    [
        Reply("<html>", 501),
        Reply({"detail": "Not Found"}, 404),
        Reply("<html>Welcome</html>"),
    ],
)
def test_a_service_without_a_table_is_told_of_the_table(home: Path, reply: Reply) -> None:
    with answering(reply) as server:
        printed = said(home, "run", "cases.jsonl", "--target", server.url, code=1)
    assert "table [target] in ombud.toml" in " ".join(printed.split())


def test_without_documents_and_target_nothing_is_measured(home: Path) -> None:
    printed = " ".join(said(home, "run", "cases.jsonl", code=2).split())
    assert "ombud itself is measured, and this workspace has no documents" in printed
    assert "--target module:function" in printed


def test_sealed_cases_are_counted(home: Path) -> None:
    arguments = ("run", "cases.jsonl", "--target", "lab_systems:text_alone", "--metrics", "length")
    sealed = sum(split_of(one.id) == "sealed" for one in QUESTIONS)
    assert f"{sealed} of 8 cases are sealed and left out" in said(home, *arguments)
    assert "left out" not in said(home, *arguments, "--split", "dev")


def test_a_service_that_replies_otherwise_shows_its_reply(home: Path) -> None:
    with answering(Reply({"output": "26 days."})) as server:
        (home / "ombud.toml").write_text(f'[target]\nurl = "{server.url}"\n', encoding="utf-8")
        printed = said(home, "run", "cases.jsonl", "--target", server.url, code=1)
    printed = " ".join(printed.split())
    assert "The reply has nothing at `answer`" in printed
    assert "{'output': '26 days.'}" in printed


def test_a_header_without_its_variable_is_said(home: Path, tmp_path: Path) -> None:
    table = tmp_path / "rag.toml"
    table.write_text(TABLE.format(url="http://127.0.0.1:1"), encoding="utf-8")
    printed = said(home, "run", "cases.jsonl", "--target", table, code=2)
    assert "`Authorization`" in printed


def test_a_misspelt_key_of_a_table_is_named(home: Path, tmp_path: Path) -> None:
    table = tmp_path / "rag.toml"
    table.write_text('[target]\nurl = "http://127.0.0.1:1"\nanwser = "x"\n', encoding="utf-8")
    assert "`target.anwser`" in said(home, "run", "cases.jsonl", "--target", table, code=2)


@pytest.mark.parametrize(
    ("name", "function"),
    [("rag:answer", True), ("my.app:rag.ask", True), ("localhost:8000", False), ("local", False)],
)
def test_functions_and_addresses(name: str, function: bool) -> None:
    assert is_function(name) == function


@pytest.mark.parametrize(
    "given", [7, None, {}, {"contexts": ["a"], "ids": []}, {"answer": 3}, {"outcome": "maybe"}]
)
def test_replies_that_are_none(given: Any) -> None:
    with pytest.raises(LabError):
        read_reply(given)


def test_documents_are_found_by_their_ids_alone_where_no_quote_is_wanted() -> None:
    seen = read_reply({"ids": ["a", "b"]}).observed(case(gold("", "b")), None)
    values = {one.metric: one.value for one in score(seen, parse_metrics("recall@2,mrr"))}
    assert values == {"recall@2": 1.0, "mrr": 0.5}
    quoted = read_reply({"ids": ["a", "b"]}).observed(case(gold("words", "b")), None)
    (recall,) = score(quoted, [Metric("recall", 2)])
    assert (recall.value, recall.reason) == (None, "not measured: the target gives no contexts")
