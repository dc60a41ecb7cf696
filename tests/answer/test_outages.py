"""Every fault of a model's server, over a whole workspace: who asks is answered, and nothing falls
over."""

import asyncio
import json
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from answer.asking import GB, LEAVE, ask, claim, company, draft
from answer.faulty import Reply, completion, label, misbehaving, ok
from ingest.shelf import Shelf
from ombud.app import Workspace, asking
from ombud.messages import message
from ombud.types import Answer, Question

TRUE = "You have 26 days of annual leave a year."
QUOTE = "26 days of annual leave a year."
WORDS = {"standalone": LEAVE, "passage": "Annual leave in a year.", "keywords": ["annual leave"]}
"""What a model that works makes of the question."""
Server = Callable[[dict[str, Any]], Reply]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    made = company(tmp_path_factory.mktemp("home"), plan={"abstain": 0.0})
    yield made
    made.workspace.close()


@pytest.fixture(autouse=True)
def _keyless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def workspace(home: Path, url: str, **models: Any) -> Workspace:
    """The company, all of whose model calls go to `url`."""
    given = {
        "embedder": "none",
        "chat": "openai:a",
        "roles": {"verify": "none"},
        "base_url": url,
        "retries": 0,
    } | models
    return Workspace(home, {"models": given, "plan": {"abstain": 0.0}})


def composing(asked: dict[str, Any]) -> bool:
    return "<passage" in str(asked["messages"])


def works(asked: dict[str, Any]) -> dict[str, Any]:
    said = draft(claim(TRUE, label(asked, "26 days"))) if composing(asked) else WORDS
    return completion(asked, json.dumps(said))


def answered(answer: Answer) -> None:
    """By quotes; the asker is told why, and the trace says that it was done without the model and
    nothing of what was sent."""
    assert QUOTE in answer.text
    assert answer.text.endswith(f"_{message('answer.model_away')}_")
    assert answer.outcome in {"full", "partial"}
    assert [d for d in answer.trace.degraded if d.startswith("model: ")]
    assert "Employees in Great Britain" not in " ".join(answer.trace.degraded)
    assert "Traceback" not in answer.model_dump_json()


def sends(body: Any) -> Server:
    return lambda _: ok(body)


def broken_off(asked: dict[str, Any]) -> Reply:
    body = json.dumps(works(asked)).encode()
    return 200, body[: len(body) // 2], {"Content-Length": str(len(body))}


def noise(asked: dict[str, Any]) -> Reply:
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "send_mail", "arguments": '{"to": "all"}'},
    }
    return ok(completion(asked, "", content=None, tool_calls=[call] * 3))


def in_french(asked: dict[str, Any]) -> Reply:
    if not composing(asked):
        return ok(
            completion(
                asked, json.dumps(WORDS | {"standalone": "Combien de jours de congé ai-je ?"})
            )
        )
    said = claim("Vous disposez de vingt-six jours de vacances par an.", label(asked, "26 days"))
    return ok(completion(asked, json.dumps(draft(said))))


def a_megabyte(asked: dict[str, Any]) -> Reply:
    return ok(completion(asked, "leave " * 180_000))


FAULTS: dict[str, Server] = {
    "429 storm": lambda _: (429, b'{"error": {"message": "slow down"}}', {"retry-after": "60"}),
    "500s": lambda _: (500, b"oops", {}),
    "bad gateway": lambda _: (502, b"<html>" + b"x" * 100_000, {}),
    "invalid JSON": sends(b'{"choices": [{"mess'),
    "a page": sends(b"<html>Sign in</html>"),
    "JSON too deep to read": sends(b"[" * 100_000),
    "truncated": broken_off,
    "tool-call noise": noise,
    "wrong language": in_french,
    "1 MB": a_megabyte,
    "1 MB of claims": lambda a: ok(
        completion(a, json.dumps(draft(*[claim("lorem ipsum " * 50, "G1")] * 1500)))
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_the_wording_not_the_answer(shelf: Shelf, fault: str) -> None:
    with misbehaving(FAULTS[fault]) as server:
        opened = workspace(shelf.home, server.url)
        answered(ask(opened, LEAVE))
        assert server.asked
        opened.close()


def test_a_refused_connection(shelf: Shelf) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        opened = workspace(shelf.home, f"http://127.0.0.1:{free.getsockname()[1]}/v1")
        answered(ask(opened, LEAVE))
        opened.close()


def test_silence_ends_at_the_deadlines(shelf: Shelf) -> None:
    with misbehaving(sends({})) as server:
        server.silent = True
        opened = workspace(shelf.home, server.url, timeout_seconds=0.3, search_seconds=0.2)
        answered(ask(opened, LEAVE))
        opened.close()
        assert server.asked


def test_a_body_that_never_ends_does_at_the_deadlines(shelf: Shelf) -> None:
    """Headers and a first half, then nothing: no single read takes long enough to be called a
    silence."""
    with misbehaving(sends({})) as server:
        server.reply = lambda asked: (200, b'{"choices": [', {"Content-Length": "1000000"})
        server.lingering = True
        opened = workspace(shelf.home, server.url, timeout_seconds=0.3, search_seconds=0.2)
        answered(ask(opened, LEAVE))
        opened.close()


def test_no_question_is_lost_while_the_model_comes_and_goes(shelf: Shelf) -> None:
    faults = [lambda a: ok(works(a)), *FAULTS.values()]
    with misbehaving(lambda asked: faults[len(server.asked) % len(faults)](asked)) as server:
        opened = workspace(shelf.home, server.url, concurrency=4)

        async def many() -> list[Answer]:
            return await asyncio.gather(
                *(asking.ask(opened, Question(text=LEAVE, asker=GB)) for _ in range(24))
            )

        answers = asyncio.run(many())
        for answer in answers:
            assert "26 days" in answer.text
            assert asking.stored_answer(opened, answer.id) == answer
        opened.close()


def test_an_outage_is_not_felt_by_everyone(shelf: Shelf) -> None:
    with misbehaving(lambda _: (503, b"", {})) as server:
        opened = workspace(shelf.home, server.url)
        for _ in range(6):
            answered(ask(opened, LEAVE))
        opened.close()
        assert len(server.asked) <= 6  # two a question until it rests


def test_another_model_stands_in_and_the_trace_says_so(shelf: Shelf) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        return ok(works(asked)) if asked["model"] == "b" else (503, b"", {})

    with misbehaving(reply) as server:
        opened = workspace(shelf.home, server.url, fallbacks=["openai:b"])
        answer = ask(opened, LEAVE)
        opened.close()
    assert answer.text == f"{TRUE} [1]"
    assert answer.trace.model == "openai:b"
    assert message("answer.model_away") not in answer.text
    said = "`openai:b` answered instead of `openai:a` (HTTP 503)"
    assert f"compose: {said}" in answer.trace.degraded
    assert f"strategy: {said}" in answer.trace.degraded
    assert not [d for d in answer.trace.degraded if d.startswith("model: ")]


def test_a_question_that_a_model_misreads_is_not_lost(shelf: Shelf) -> None:
    misread = {
        "standalone": "When does the canteen open?",
        "passage": "The canteen opens at noon.",
        "keywords": ["canteen", "dinner", "fuel cards"],
    }

    def reply(asked: dict[str, Any]) -> Reply:
        return ok(works(asked) if composing(asked) else completion(asked, json.dumps(misread)))

    with misbehaving(reply) as server:
        opened = workspace(shelf.home, server.url)
        answer = ask(opened, LEAVE)
        opened.close()
    assert answer.text == f"{TRUE} [1]"
    (composed,) = filter(composing, server.asked)
    assert "opens at noon" not in str(composed)  # texts to search with are no evidence


def test_where_composing_fails_too_the_question_is_searched_for_alone(shelf: Shelf) -> None:
    misread = {"standalone": "When is dinner?", "passage": "Dinner.", "keywords": ["dinner"]}

    def reply(asked: dict[str, Any]) -> Reply:
        if composing(asked):
            return 503, b"", {}
        return ok(completion(asked, json.dumps(misread)))

    with misbehaving(reply) as server:
        opened = workspace(shelf.home, server.url)
        answer = ask(opened, LEAVE, plan={"own_words": False})
        opened.close()
    answered(answer)
    assert answer.trace.tokens_in > 0  # what the first search cost is not forgotten


def test_each_role_asks_its_own_model(shelf: Shelf) -> None:
    roles = {
        "strategy": ["openai:writer"],
        "rerank": ["openai:ranker"],
        "compose": ["openai:composer"],
        "verify": ["none"],
    }

    def reply(asked: dict[str, Any]) -> Reply:
        ranked = completion(asked, json.dumps({"order": [2, 1]}))
        return ok(ranked if asked["model"] == "ranker" else works(asked))

    with misbehaving(reply) as server:
        opened = workspace(shelf.home, server.url, roles=roles)
        answer = ask(opened, LEAVE, plan={"reranker": "listwise"})
        opened.close()
    assert [asked["model"] for asked in server.asked] == ["writer", "ranker", "composer"]
    assert answer.trace.model == "openai:writer, openai:ranker, openai:composer"
    assert "standalone" in str(server.asked[0]["messages"])


def test_what_is_said_of_a_fault_is_said_in_words(shelf: Shelf) -> None:
    for fault in ("429 storm", "invalid JSON", "1 MB"):
        with misbehaving(FAULTS[fault]) as server:
            opened = workspace(shelf.home, server.url)
            (said,) = [d for d in ask(opened, LEAVE).trace.degraded if d.startswith("model: ")]
            opened.close()
        assert re.match(
            r"model: The model `openai:a` (answered with HTTP 429|gave no usable answer)", said
        )
        assert len(said) < 250
