"""Whatever the model's server does, there is an answer: the quotes at worst, and the trace says
why."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from answer.asking import GB, LEAVE, ask, claim, company, draft, with_model
from answer.faulty import Reply, completion, label, misbehaving, ok
from ingest.shelf import Shelf
from ombud.app import Workspace
from ombud.errors import ModelUnavailable
from ombud.models import open_chat
from ombud.settings import ModelSettings
from ombud.types import Answer

TRUE = "You have 26 days of annual leave a year."
QUOTE = "26 days of annual leave a year."


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    made = company(
        tmp_path_factory.mktemp("home"), plan={"abstain": 0.0}, models={"embedder": "none"}
    )
    yield made
    made.workspace.close()


@pytest.fixture(autouse=True)
def _keyless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def connected(shelf: Shelf, url: str, seconds: float = 30) -> Workspace:
    """The company with a model behind `url`."""
    models = ModelSettings(
        embedder="none", chat="openai:llama", base_url=url, timeout_seconds=seconds
    )
    workspace = with_model(shelf.workspace, open_chat(models))
    settings = workspace.settings.model_copy(update={"models": models})
    workspace.__dict__["answering"] = workspace.answering._replace(settings=settings)
    return workspace


def quoted(answer: Answer) -> None:
    """Without the model: the quotes, and a trace that says so without telling what was sent."""
    assert QUOTE in answer.text
    assert answer.outcome in {"full", "partial"}
    (said,) = [d for d in answer.trace.degraded if d.startswith("model")]
    assert len(said) < 500
    assert "Employees in Great Britain" not in answer.trace.model_dump_json()
    assert answer.trace.prompts == {}


def good(asked: dict[str, Any]) -> dict[str, Any]:
    return draft(claim(TRUE, label(asked, "26 days")))


def test_a_server_that_works_writes_the_answer(shelf: Shelf) -> None:
    with misbehaving(lambda asked: ok(completion(asked, json.dumps(good(asked))))) as server:
        answer = ask(connected(shelf, server.url), LEAVE)
    assert answer.text == f"{TRUE} [1]"
    assert (answer.trace.model, answer.trace.tokens_in, answer.trace.tokens_out) == (
        "openai:llama",
        50,
        5,
    )
    assert not [d for d in answer.trace.degraded if d.startswith("model")]


def test_it_can_be_asked_again_and_again(shelf: Shelf) -> None:
    with misbehaving(lambda asked: ok(completion(asked, json.dumps(good(asked))))) as server:
        workspace = connected(shelf, server.url)
        assert {ask(workspace, LEAVE).text for _ in range(3)} == {f"{TRUE} [1]"}


def test_a_refused_connection(shelf: Shelf) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    quoted(ask(connected(shelf, url), LEAVE))


def test_a_name_that_does_not_exist(shelf: Shelf) -> None:
    quoted(ask(connected(shelf, "http://model.invalid:1/v1", seconds=5), LEAVE))


def test_silence_ends_at_the_deadline(shelf: Shelf) -> None:
    with misbehaving(lambda asked: ok({})) as server:
        server.silent = True
        answer = ask(connected(shelf, server.url, seconds=0.3), LEAVE)
        assert len(server.asked) == 1
    quoted(answer)


def test_silence_at_the_repair_ends_at_the_deadline_too(shelf: Shelf) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        server.silent = True
        return ok(completion(asked, json.dumps(draft(claim("You have 40 days of leave.", "L1")))))

    with misbehaving(reply) as server:
        answer = ask(connected(shelf, server.url, seconds=3), LEAVE)
        assert len(server.asked) == 2
    quoted(answer)
    assert "40 days" not in answer.text


ECHO = (
    b'{"error": {"message": "cannot read: Employees in Great Britain have 26 days", "type": "bad"}}'
)
AT_ONCE = {"retry-after-ms": "1"}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        *((status, ECHO) for status in (400, 401, 403, 404, 422, 429, 500, 503)),
        (413, b""),
        (429, b""),
        (500, b"{"),
        (502, b"<html>Bad gateway</html>"),
        (504, b"\xff"),
    ],
)
def test_a_storm_of_refusals(shelf: Shelf, status: int, body: bytes) -> None:
    with misbehaving(lambda _: (status, body, AT_ONCE)) as server:
        quoted(ask(connected(shelf, server.url), LEAVE))
        assert 1 <= len(server.asked) <= 6


def test_a_storm_that_passes_is_waited_out(shelf: Shelf) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        calm = len(server.asked) > 2
        return ok(completion(asked, json.dumps(good(asked)))) if calm else (429, ECHO, AT_ONCE)

    with misbehaving(reply) as server:
        assert ask(connected(shelf, server.url), LEAVE).text == f"{TRUE} [1]"


def test_one_that_asks_for_more_time_than_there_is_is_not_waited_for(shelf: Shelf) -> None:
    with misbehaving(lambda _: (429, ECHO, {"retry-after": "50"})) as server:
        quoted(ask(connected(shelf, server.url, seconds=0.3), LEAVE))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"not JSON",
        b"null",
        b"[]",
        b"{}",
        b'"text"',
        b"\xff\xfe\x00",
        b'{"choices": []}',
        b'{"choices": null}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": null, "index": 0, "finish_reason": "stop"}]}',
        b'{"choices": [{"message": {"role": "assistant", "content": 5}, "index": 0, '
        b'"finish_reason": "stop"}]}',
        b'{"id": 3, "choices": "no", "created": "yesterday", "model": [], "object": null}',
        b"<html>" + b"x" * 1_000_000,
    ],
    ids=lambda body: repr(body[:40]),
)
def test_something_else_than_a_completion(shelf: Shelf, body: bytes) -> None:
    with misbehaving(lambda _: ok(body)) as server:
        quoted(ask(connected(shelf, server.url), LEAVE))


def test_a_body_that_breaks_off(shelf: Shelf) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        body = json.dumps(completion(asked, json.dumps(good(asked)))).encode()
        return 200, body[: len(body) // 2], {"Content-Length": str(len(body))}

    with misbehaving(reply) as server:
        quoted(ask(connected(shelf, server.url), LEAVE))


@pytest.mark.parametrize(
    "said",
    [
        "",
        "I am sorry, I cannot help with that.",
        "```json\n{}\n```",
        '{"claims": [{"text": 5, "passages": "L1"}], "outcome": "full"}',
        '{"claims": [{"text": "You have 26 days.", "passages": [1]}]}',
        '{"claims": {}, "outcome": "full"}',
        '{"claims": [], "outcome": "perhaps"}',
        '{"claims": [{"text": "You have 26 days of ann',
        json.dumps({"claims": [{"text": "x" * 1_000_000, "passages": []}], "outcome": 1}),
    ],
    ids=lambda said: said[:40],
)
def test_words_that_are_no_draft(shelf: Shelf, said: str) -> None:
    with misbehaving(lambda asked: ok(completion(asked, said))) as server:
        quoted(ask(connected(shelf, server.url), LEAVE))


def test_a_megabyte_of_claims(shelf: Shelf) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        noise = [claim("lorem ipsum dolor sit amet " * 40, "L1") for _ in range(900)]
        return ok(
            completion(asked, json.dumps(draft(claim(TRUE, label(asked, "26 days")), *noise)))
        )

    with misbehaving(reply) as server:
        answer = ask(connected(shelf, server.url), LEAVE)
    assert (answer.outcome, len(answer.claims)) == ("partial", 1)
    assert answer.text.startswith(f"{TRUE} [1]\n\n")
    assert len(answer.model_dump_json()) < 100_000


@pytest.mark.parametrize(
    "calls",
    [
        [("delete_everything", "{}")],
        [("delete_everything", "not JSON")],
        [("", "")],
        [("final_result", "{")],
        [("search", '{"q": "leave"}'), ("search", '{"q": "leave"}')],
    ],
)
def test_calls_of_tools_that_do_not_exist(shelf: Shelf, calls: list[tuple[str, str]]) -> None:
    asked_for = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(calls)
    ]
    with misbehaving(
        lambda asked: ok(completion(asked, "", content=None, tool_calls=asked_for))
    ) as server:
        quoted(ask(connected(shelf, server.url), LEAVE))
        assert len(server.asked) <= 4


def test_a_filtered_or_cut_answer(shelf: Shelf) -> None:
    for reason in ("content_filter", "length"):

        def reply(asked: dict[str, Any], reason: str = reason) -> Reply:
            whole = completion(asked, "")
            whole["choices"][0]["finish_reason"] = reason
            return ok(whole)

        with misbehaving(reply) as server:
            quoted(ask(connected(shelf, server.url), LEAVE))


class Away:
    fingerprint, dimension = "away", 3
    languages: frozenset[str] | None = None

    def embed(self, texts: Any) -> Any:
        raise ModelUnavailable("The embedder did not answer")

    read = count = embed


def test_an_embedding_server_that_goes_away_leaves_the_words(shelf: Shelf) -> None:
    workspace = with_model(shelf.workspace, None)
    knowledge = workspace.answering.knowledge._replace(embedder=Away())
    workspace.__dict__["answering"] = workspace.answering._replace(knowledge=knowledge)
    try:
        answer = ask(workspace, LEAVE, GB)
    finally:
        workspace.__dict__.pop("answering")
    assert QUOTE in answer.text
    assert [d for d in answer.trace.degraded if d.startswith("dense")]
