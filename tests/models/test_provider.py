"""An embedder behind HTTP: against a server of our own."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answer.faulty import misbehaving, ok
from models.serving import Server
from ombud.errors import MalformedOutput, ModelUnavailable, SetupError
from ombud.models import CachingEmbedder, Embedder, open_embedder
from ombud.models.embed.provider import ProviderEmbedder
from ombud.settings import ModelSettings

NAME = "openai:nomic-embed-text:v1.5"


@pytest.fixture
def embedder(server: Server, tmp_path: Path) -> Embedder:
    opened = open_embedder(ModelSettings(embedder=NAME, base_url=server.url), tmp_path)
    assert opened is not None
    return opened


def test_vectors_have_length_one_and_keep_their_order(embedder: Embedder) -> None:
    assert (embedder.dimension, embedder.fingerprint, embedder.languages) == (3, NAME, None)
    assert embedder.embed(["abc", ""]).tolist() == pytest.approx(
        np.array([[0.6, 0.8, 0], [0, 1, 0]])
    )
    assert embedder.embed([]).shape == (0, 3)
    assert [r.windows.tolist() for r in embedder.read(["abc"])] == [[pytest.approx([0.6, 0.8, 0])]]
    assert embedder.read([]) == []


def test_base_url_and_model_name_reach_the_server(embedder: Embedder, server: Server) -> None:
    asked = server.asked[0]
    assert (asked["path"], asked["model"]) == ("/v1/embeddings", "nomic-embed-text:v1.5")
    assert asked["authorization"] == "Bearer none"


def test_many_texts_go_in_batches(embedder: Embedder, server: Server) -> None:
    server.asked.clear()
    lengths = [n % 7 for n in range(150)]
    vectors = embedder.embed(["x" * n for n in lengths])
    assert sorted(len(asked["input"]) for asked in server.asked) == [22, 64, 64]
    assert (vectors[:, 0] / vectors[:, 1] * 4).round().astype(int).tolist() == lengths


def test_any_thread_and_any_event_loop_may_ask(embedder: Embedder) -> None:
    wrong: list[BaseException] = []

    def work() -> None:
        try:
            assert embedder.embed(["abc"]).shape == (1, 3)
        except BaseException as error:
            wrong.append(error)

    for _ in range(3):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []

    async def inside() -> tuple[int, ...]:
        return embedder.embed(["abc"]).shape

    assert asyncio.run(inside()) == (1, 3)


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("one", 2), ("one two three", 4), ("a b c d e f", 8)]
)
def test_tokens_are_four_thirds_of_the_words(embedder: Embedder, text: str, tokens: int) -> None:
    assert embedder.count(text) == tokens


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_a_refusal_is_worth_another_try(embedder: Embedder, server: Server, status: int) -> None:
    server.status, server.body = status, b'{"error": {"message": "no"}}'
    with pytest.raises(ModelUnavailable, match=f"{status}") as wrong:
        embedder.embed(["abc"])
    assert NAME in str(wrong.value)


ONE = (
    b'{"object": "list", "model": "m", "data": [{"object": "embedding", "index": 0, '
    b'"embedding": [1.0]}]}'
)


@pytest.mark.parametrize("body", [b"null", b'{"a": 1}', ONE])
def test_a_reply_that_is_none_is_malformed(embedder: Embedder, server: Server, body: bytes) -> None:
    server.body = body
    with pytest.raises(MalformedOutput, match="no usable vectors"):
        embedder.embed(["abc", "def"])


def test_a_web_page_is_malformed(embedder: Embedder, server: Server) -> None:
    server.body, server.kind = b"<html></html>", "text/html"
    with pytest.raises(MalformedOutput):
        embedder.embed(["abc"])


@pytest.mark.parametrize("name", ["nosuch:model", "openai:text-embedding-3-small"])
def test_a_name_or_key_that_cannot_work_is_a_matter_of_setup(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(SetupError, match=f"`{name}` cannot be used"):
        open_embedder(ModelSettings(embedder=name), Path("unused"))


def test_an_embedder_that_is_silent_is_left_at_the_deadline(tmp_path: Path) -> None:
    vector = {"object": "embedding", "index": 0, "embedding": [1.0, 0.0]}
    reply: dict[str, Any] = {"object": "list", "model": "m", "data": [vector]}
    reply["usage"] = {"prompt_tokens": 1, "total_tokens": 1}
    with misbehaving(lambda _: ok(reply)) as server:
        settings = ModelSettings(embedder=NAME, base_url=server.url, search_seconds=0.2)
        embedder = open_embedder(settings, tmp_path)
        assert isinstance(embedder, ProviderEmbedder)
        server.silent = True
        with pytest.raises(ModelUnavailable, match=r"within 0\.2 seconds"):
            embedder.read_queries(["abc"])


def test_questions_are_embedded_as_questions(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url.removesuffix("/v1"))
    monkeypatch.setenv("GOOGLE_API_KEY", "none")
    server.body = b'{"embeddings": [{"values": [1.0, 0.0]}]}'
    opened = open_embedder(ModelSettings(embedder="google:gemini-embedding-001"), tmp_path)
    assert opened
    embedder = CachingEmbedder(opened)
    server.asked.clear()
    for _ in range(2):
        embedder.read(["How much leave?"])
        embedder.read_queries(["How much leave?"])
    kinds = [asked["requests"][0]["taskType"] for asked in server.asked]
    assert kinds == ["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]


def test_an_embedder_that_is_away_opens_by_what_is_remembered(tmp_path: Path) -> None:
    vector = {"object": "embedding", "index": 0, "embedding": [1.0, 0.0]}
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    reply = {"object": "list", "model": "m", "data": [vector], "usage": usage}
    with misbehaving(lambda _: ok(reply)) as server:
        settings = ModelSettings(embedder=NAME, base_url=server.url)
        assert open_embedder(settings, tmp_path)
        server.reply = lambda _: (503, b"", {})
        embedder = open_embedder(settings, tmp_path)
        assert isinstance(embedder, ProviderEmbedder)
        assert embedder.dimension == 2
        for _ in range(6):
            with pytest.raises(ModelUnavailable):
                embedder.read_queries(["abc"])
        asked = len(server.asked)
        with pytest.raises(ModelUnavailable, match="left alone"):
            embedder.read_queries(["abc"])
        assert len(server.asked) == asked


def test_vectors_of_another_length_are_refused(embedder: Embedder, server: Server) -> None:
    server.body = json.dumps(
        {
            "object": "list",
            "model": "m",
            "data": [{"object": "embedding", "index": 0, "embedding": [1.0]}],
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
    ).encode()
    with pytest.raises(MalformedOutput):
        embedder.embed(["abc"])
