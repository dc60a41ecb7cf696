import asyncio
from collections.abc import Iterator
from contextlib import closing
from datetime import date

import pytest

from lab.makers import hit
from lab.misbehaving import LEAVE, Reply, answering, ask, done
from ombud.app import LocalTarget, Workspace, configured_sources
from ombud.errors import LabError
from ombud.ingest import sync_sources
from ombud.lab import RemoteTarget
from ombud.types import Message, Person, Question
from web.running import LEAVE_DE, LEAVE_GB, make_workspace, running

ANSWER = {"outcome": "full", "text": "26 days"}

# JSON leaves these as they are, and some readers of lines take them for ends of lines.
ODD = "A passage of the glossary\u2028goes on\x85and on\u2029with words of its own."


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    made = make_workspace(tmp_path_factory.mktemp("remote"))
    (made.home / "handbook" / "global" / "odd.md").write_text(
        f"# Glossary\n\n```\n{ODD}\n```\n", encoding="utf-8"
    )
    sync_sources(made.ingest, configured_sources(made.settings, made.home, made.store))
    with closing(made):
        yield made


@pytest.fixture(scope="module")
def targets(workspace: Workspace) -> Iterator[tuple[LocalTarget, RemoteTarget]]:
    with running(workspace) as url:
        yield LocalTarget(workspace), RemoteTarget(url)


Both = tuple[LocalTarget, RemoteTarget]


@pytest.mark.parametrize(
    "question",
    [
        LEAVE,
        Question(text="How many days of annual leave do I have?", asker=Person(country="DE")),
        Question(text="What is the pay band of grade G5?", asker=Person(roles=("manager",))),
        Question(text="What is the pay band of grade G5?"),
        Question(text="Cap for a hotel night in Paris?", as_of=date(2023, 12, 31)),
        Question(
            text="And in Lyon?",
            history=(Message(role="user", content="Cap for a hotel night in Paris?"),),
        ),
        Question(text="May I work from home 🏡?", asker=Person(id="not sent", language="en")),
    ],
    ids=["gb", "de", "manager", "anyone", "as of", "history", "emoji"],
)
def test_over_http_everything_is_as_in_the_workspace(targets: Both, question: Question) -> None:
    local, remote = targets
    here, _ = asyncio.run(local.search(question, {"k": 4}))
    there, trace = done(remote, lambda: remote.search(question, {"k": 4}))
    assert [
        (h.chunk.id, h.chunk.text, h.chunk.start, h.chunk.end, h.score, h.found_by) for h in there
    ] == [(h.chunk.id, h.chunk.text, h.chunk.start, h.chunk.end, h.score, h.found_by) for h in here]
    assert trace.plan.k == 4
    one = asyncio.run(local.ask(question, {"k": 4}))
    two = done(remote, lambda: remote.ask(question, {"k": 4}))
    same = ("text", "outcome", "action", "citations", "claims", "contacts")
    assert two.model_dump(include=set(same)) == one.model_dump(include=set(same))
    assert two.trace.rankings == one.trace.rankings


def test_the_person_is_really_asked_for(targets: Both) -> None:
    _, remote = targets
    german = Question(text=LEAVE.text, asker=Person(country="DE"))
    assert LEAVE_DE in done(remote, lambda: remote.ask(german, {})).text
    assert LEAVE_GB in done(remote, lambda: remote.ask(LEAVE, {})).text


def test_it_says_the_same_of_itself_and_has_the_same_passages(targets: Both) -> None:
    local, remote = targets
    assert remote.describe() == local.describe()
    passages = list(remote.passages())
    assert passages == list(local.passages())
    assert any("\u2028" in one.text and "\x85" in one.text for one in passages)


def test_citations_are_found_in_the_texts_that_passages_cover(targets: Both) -> None:
    local, remote = targets
    answer = asyncio.run(local.ask(LEAVE, {}))
    assert answer.citations
    for cited in answer.citations:
        text = remote.text_of(cited.document_id, cited.version)
        assert text is not None
        assert text[cited.start : cited.end] == cited.quote
        assert remote.text_of(cited.document_id, "another digest") is None


def test_a_refusal_of_the_server_is_said_in_its_words(targets: Both) -> None:
    _, remote = targets
    with pytest.raises(LabError, match=r"The target answered 422: .*plan"):
        done(remote, lambda: remote.ask(LEAVE, {"kk": 1}))
    with pytest.raises(LabError, match=r"cannot be indexed anew with index\.chunk_tokens"):
        remote.variant({"index.chunk_tokens": 64})


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://x",
        "http://",
        "http://[::1",
        "http://x:port",
        "http://x:99999",
        "http://a b",
        "//",
    ],
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(LabError, match="is not an address"):
        RemoteTarget(url)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("127.0.0.1:8321", "http://127.0.0.1:8321"),
        ("https://ombud.example.org/hr/", "https://ombud.example.org/hr"),
        ("http://[::1]:8321", "http://[::1]:8321"),
        ("http://me:secret@ombud.example.org", "http://ombud.example.org"),
    ],
)
def test_a_target_is_called_by_its_address_without_a_password(url: str, name: str) -> None:
    assert RemoteTarget(url).name == name


def test_a_path_is_kept_and_a_token_sent() -> None:
    with answering(Reply(ANSWER)) as server:
        ask(f"{server.url}/hr/", token="t0k")
        path, headers, _ = server.asked[0]
    assert (path, headers["authorization"]) == ("/hr/api/v1/ask", "Bearer t0k")


def test_one_target_serves_one_event_loop_after_another() -> None:
    with answering(Reply(ANSWER)) as server:
        target = RemoteTarget(server.url)
        texts = [done(target, lambda: target.ask(LEAVE, {})).text for _ in range(3)]
    assert texts == ["26 days"] * 3


def test_a_passage_that_comes_in_many_pieces_is_one_passage() -> None:
    long = [hit("leave 🏡 " * 40_000, id=str(number)).chunk for number in range(2)]
    lines = "\n".join(one.model_dump_json() for one in long)
    with answering(Reply(lines)) as server:
        assert list(RemoteTarget(server.url).passages()) == long
