"""`models.sensitive`, on the wire: a server stands for the provider of every model and keeps what it
is sent. Its name is not this machine's, its address is."""

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from models.serving import Server, serving
from ombud.app import Workspace, asking, check_all, configured_sources, record_folder
from ombud.cli.verbs import app
from ombud.ingest import sync_sources
from ombud.models import EXPOSURES
from ombud.retrieve.strategies import making
from ombud.settings import ModelRole
from ombud.store import RecordedSource, list_answers
from ombud.types import Answer, Message, Person, Question
from web.running import HANDBOOK, running

GB = Person(country="GB")
TOLD = (
    "My manager Zebulon Quillfeather keeps touching me in the stationery room, his number is "
    "020 7946 0958. I feel harassed and I told nobody."
)
MARKS = ("quillfeather", "stationery", "7946", "harassed")
"""Words that stand in no document."""
LATER = "How long are records of a photocopier grievance kept?"
LATER_MARK = "photocopier"
ORDINARY = "How many days of annual leave do I have as a trampolinist?"
ORDINARY_MARK = "trampolinist"
WITHOUT_MODEL = {"standard"}
STRATEGIES = tuple(name for name in making.STRATEGIES if name not in WITHOUT_MODEL)
"""Of the product: one that is added is looked at without being named here."""
RERANKERS = ("none", "listwise", "pointwise", "cross-encoder")
PROVIDER = "models.example"
SAID = json.dumps(
    {
        "standalone": ORDINARY,
        "passage": "Annual leave is 26 days.",
        "keywords": ["annual leave"],
        "contexts": 1,
        "triage": "ordinary",
        "label": "ordinary",
        "question": ORDINARY,
        "questions": [ORDINARY],
        "order": [1, 2, 3],
        "relevance": 2,
        "outcome": "full",
        "claims": [],
    }
)
"""What every role understands."""

Open = Callable[..., Workspace]


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Reached by a name that is no loopback address."""
    for name in ("OPENAI_API_KEY", "OMBUD_MODELS__EMBEDDER", "COHERE_API_KEY", "CO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    look_up = socket.getaddrinfo

    def resolve(host: Any, *more: Any, **how: Any) -> Any:
        named = host.decode() if isinstance(host, bytes) else host
        return look_up("127.0.0.1" if named == PROVIDER else host, *more, **how)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with serving() as server:
        server.said = SAID
        yield server


@pytest.fixture
def open_home(provider: Server, tmp_path: Path) -> Iterator[Open]:
    """A workspace whose handbook is indexed and whose models are all at the provider."""
    opened: list[Workspace] = []

    def open_it(policy: str = "", host: str = PROVIDER, embedder: str = "openai:emb") -> Workspace:
        for name, text in HANDBOOK.items():
            file = tmp_path / "handbook" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        address = f"http://{host}:{provider.server_port}"
        lines = [
            "[models]",
            'chat = "openai:chat"',
            f'embedder = "{embedder}"',
            f'base_url = "{address}/v1"',
            'reranker = "jina:pairs"',
            f'reranker_url = "{address}"',
            *([f'sensitive = "{policy}"'] if policy else []),
            "[server]\nrequests_per_minute = 0",
        ]
        (tmp_path / "ombud.toml").write_text("\n".join(lines), encoding="utf-8")
        workspace = Workspace(tmp_path)
        opened.append(workspace)
        folder = RecordedSource(name="", path=str(tmp_path / "handbook"))
        record_folder(workspace.settings, workspace.store, folder)
        sources = configured_sources(workspace.settings, tmp_path, workspace.store)
        (report,) = sync_sources(workspace.ingest, sources)
        assert not report.failed
        provider.asked.clear()
        return workspace

    yield open_it
    for workspace in opened:
        workspace.close()


def ask(workspace: Workspace, text: str, history: tuple[Message, ...] = (), **plan: Any) -> Answer:
    question = Question(text=text, asker=GB, history=history)
    return asyncio.run(asking.ask(workspace, question, plan=plan))


def sent(provider: Server) -> str:
    """All that the provider was sent, in small letters."""
    return json.dumps(provider.asked).casefold()


def leaked(provider: Server, marks: tuple[str, ...] = MARKS) -> list[str]:
    return [mark for mark in marks if mark in sent(provider)]


def paths(provider: Server) -> set[str]:
    return {asked["path"].rpartition("/")[2] for asked in provider.asked}


PLANS: list[dict[str, Any]] = [
    *({"strategies": [name]} for name in STRATEGIES),
    *({"reranker": name, "strategies": ["standard"]} for name in RERANKERS),
    {"strategies": list(STRATEGIES), "strategy_mode": "all", "reranker": "listwise"},
]


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_table_names_every_strategy_that_asks_a_model(name: str) -> None:
    assert any(f"`{name}`" in row.used_by for row in EXPOSURES)


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_nothing_of_a_sensitive_message_reaches_a_remote_model(
    open_home: Open, provider: Server, plan: dict[str, Any]
) -> None:
    workspace = open_home()
    answer = ask(workspace, TOLD, **plan)
    assert answer.action == "handoff"
    assert provider.asked == []
    (note,) = [note for note in answer.trace.degraded if note.startswith("privacy: ")]
    assert note.startswith("privacy: kept from openai:chat")
    assert any("searched by words only" in note for note in answer.trace.degraded)


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_an_ordinary_message_reaches_every_role(
    open_home: Open, provider: Server, plan: dict[str, Any]
) -> None:
    answer = ask(open_home(), ORDINARY, **plan)
    assert ORDINARY_MARK in sent(provider)
    assert {"completions", "embeddings"} <= paths(provider)
    assert ("rerank" in paths(provider)) == (plan.get("reranker") == "cross-encoder")
    assert not any(note.startswith("privacy: ") for note in answer.trace.degraded)


def test_later_turns_are_kept_back_too(open_home: Open, provider: Server) -> None:
    workspace = open_home()
    told = Message(role="user", content=TOLD)
    ask(workspace, LATER, (told,))
    assert provider.asked == []
    handed_over = Message(role="assistant", content=ask(workspace, TOLD).text)
    ask(workspace, LATER, (Message(role="user", content="Something happened."), handed_over))
    assert provider.asked == []


def test_a_kept_conversation_stays_private_however_long_it_is(
    open_home: Open, provider: Server
) -> None:
    workspace = open_home()
    conversation = asking.new_conversation(workspace, GB)

    def turn(text: str) -> Answer:
        question = Question(text=text, asker=GB)
        return asyncio.run(asking.ask(workspace, question, conversation_id=conversation))

    turn(TOLD)
    for number in range(asking.TURNS + 1):
        turn(f"{ORDINARY} {number}")
    assert provider.asked == []


def test_a_search_alone_keeps_it_too(open_home: Open, provider: Server) -> None:
    workspace = open_home()
    _, trace = asyncio.run(asking.search(workspace, TOLD, GB))
    assert provider.asked == []
    assert trace.degraded[0].startswith("privacy: kept from ")
    asyncio.run(asking.search(workspace, TOLD, Person()))  # counts what a country hides
    assert provider.asked == []
    asyncio.run(asking.search(workspace, ORDINARY, GB))
    assert ORDINARY_MARK in sent(provider)


def test_without_understand_nobody_is_asked_whether_a_message_is_sensitive(
    open_home: Open, provider: Server
) -> None:
    def verdicts() -> int:
        return sent(provider).count('"danger"')

    ask(open_home(), ORDINARY, strategies=["standard"])
    assert verdicts() == 0
    ask(open_home("allowed"), ORDINARY, strategies=["standard"])
    assert verdicts() > 0


def test_redacted_sends_it_without_names_and_numbers(open_home: Open, provider: Server) -> None:
    workspace = open_home("redacted")
    answer = ask(workspace, TOLD)
    assert leaked(provider) == ["stationery", "harassed"]
    assert "[name]" in sent(provider)
    assert any("without names" in note for note in answer.trace.degraded)
    provider.asked.clear()
    told = Message(role="user", content=TOLD)
    ask(workspace, f"{LATER} Ask Zebulon Quillfeather.", (told,))
    assert LATER_MARK in sent(provider)
    assert leaked(provider) == []


def test_allowed_sends_it_as_it_is(open_home: Open, provider: Server) -> None:
    answer = ask(open_home("allowed"), TOLD)
    assert leaked(provider) == list(MARKS)
    assert not any(note.startswith("privacy: ") for note in answer.trace.degraded)


def test_models_on_this_machine_see_all(open_home: Open, provider: Server) -> None:
    answer = ask(open_home(host="127.0.0.1"), TOLD)
    assert leaked(provider) == list(MARKS)
    assert not any(note.startswith("privacy: ") for note in answer.trace.degraded)


def test_a_stand_in_on_this_machine_takes_over(
    open_home: Open, provider: Server, tmp_path: Path
) -> None:
    open_home().close()
    toml = (tmp_path / "ombud.toml").read_text(encoding="utf-8")
    toml = toml.replace("[models]", '[models]\nfallbacks = ["vllm:own"]')
    (tmp_path / "ombud.toml").write_text(toml, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, serving() as own:
        patch.setenv("VLLM_BASE_URL", own.url)
        patch.setenv("VLLM_API_KEY", "none")
        own.said = SAID
        workspace = Workspace(tmp_path)
        ask(workspace, TOLD)
        assert leaked(own) == list(MARKS)
        workspace.close()
    assert leaked(provider) == []


def test_what_a_model_here_wrote_is_verified_by_none_elsewhere(
    open_home: Open, provider: Server, tmp_path: Path
) -> None:
    open_home(embedder="none").close()
    toml = (tmp_path / "ombud.toml").read_text(encoding="utf-8")
    toml = toml.replace('chat = "openai:chat"', 'chat = "vllm:own"')
    roles = '[models.roles]\nverify = "openai:chat"\n[server]'
    (tmp_path / "ombud.toml").write_text(toml.replace("[server]", roles), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, serving() as own:
        patch.setenv("VLLM_BASE_URL", own.url)
        patch.setenv("VLLM_API_KEY", "none")
        doubtful = {
            "text": "Whoever works here may rest for twenty-six days.",
            "passages": ["L1"],
        }
        own.said = json.dumps(json.loads(SAID) | {"claims": [doubtful]})
        workspace = Workspace(tmp_path)
        ask(workspace, ORDINARY)
        assert "whoever works here" in sent(provider)
        provider.asked.clear()
        ask(workspace, ORDINARY, (Message(role="user", content=TOLD),))
        assert provider.asked == []
        workspace.close()


def test_a_run_of_the_lab_keeps_it(open_home: Open, provider: Server, tmp_path: Path) -> None:
    workspace = open_home()
    cases = tmp_path / "cases.jsonl"
    rows = [
        {"id": "told", "question": TOLD, "expect": "handoff", "type": "sensitive"},
        {
            "id": "later",
            "question": LATER,
            "expect": "deny",
            "history": [{"role": "user", "content": TOLD}],
        },
        {"id": "leave-2", "question": ORDINARY, "expect": "answer"},
    ]
    cases.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    arguments = ["--home", str(workspace.home), "lab", "run", str(cases), "--name", "private"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert ORDINARY_MARK in sent(provider)
    assert leaked(provider, (*MARKS, LATER_MARK)) == []


def test_the_server_keeps_it(open_home: Open, provider: Server) -> None:
    with running(open_home()) as url, httpx.Client(base_url=url, timeout=60) as client:
        made = client.post("/api/v1/conversations", json={"person": {"country": "GB"}}).json()
        for text in (TOLD, LATER):
            body = {"question": text, "conversation_id": made["id"]}
            answer = client.post("/api/v1/ask", json=body).json()
        assert any(note.startswith("privacy: ") for note in answer["trace"]["degraded"])
        events = {"Accept": "text/event-stream"}
        client.post("/api/v1/ask", json={"question": TOLD}, headers=events)
        client.post("/api/v1/search", json={"query": TOLD})
        assert client.get("/api/v1/usage").json()["paths"] == []
        assert provider.asked == []
        client.post("/api/v1/ask", json={"question": ORDINARY})
        paths = client.get("/api/v1/usage").json()["paths"]
    assert ORDINARY_MARK in sent(provider)
    assert "handed over" in [line["path"] for line in paths]


def test_what_follows_is_kept_as_sensitive_too(open_home: Open, provider: Server) -> None:
    workspace = open_home()
    ask(workspace, LATER, (Message(role="user", content=TOLD),))
    ask(workspace, ORDINARY)
    assert [row.sensitive for row in list_answers(workspace.store)] == [True, False]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("never", "sensitive messages are kept from openai:chat, openai:emb, jina:pairs"),
        ("redacted", "jina:pairs: sensitive messages without names and numbers of people"),
        ("allowed", "jina:pairs: also sensitive messages"),
    ],
)
def test_doctor_says_what_goes_where(open_home: Open, policy: str, said: str) -> None:
    checks = {check.name: check for check in check_all(open_home(policy))}
    assert said in checks["privacy"].said


def test_the_table_of_the_guide_has_every_role() -> None:
    named = {exposure.role for exposure in EXPOSURES}
    roles: tuple[str, ...] = ModelRole.__args__  # type: ignore[attr-defined]
    assert named == {*roles, "models.embedder", "models.reranker"}
