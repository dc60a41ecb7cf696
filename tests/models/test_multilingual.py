"""The embedders that the models guide names for languages other than English, as their servers are
asked."""

import json
from pathlib import Path
from typing import Any

import pytest

from models.serving import Server
from ombud.models import CachingEmbedder, Embedder, open_embedder
from ombud.settings import ModelSettings

QUESTION = "Wie viele Urlaubstage habe ich?"
PASSAGE = "Beschäftigte haben 30 Tage Urlaub."
E5 = "openai:intfloat/multilingual-e5-large"
PREFIXES = ("query: ", "passage: ")


def opened(home: Path, name: str, **models: Any) -> Embedder:
    embedder = open_embedder(ModelSettings(embedder=name, **models), home)
    assert embedder is not None
    return CachingEmbedder(embedder)


def ask(embedder: Embedder, server: Server) -> list[dict[str, Any]]:
    """Return the requests for a passage and for a question."""
    server.asked.clear()
    embedder.read([PASSAGE])
    assert isinstance(embedder, CachingEmbedder)
    embedder.read_queries([QUESTION])
    return server.asked


def test_e5_is_sent_questions_and_passages_behind_their_prefixes(
    server: Server, tmp_path: Path
) -> None:
    e5 = opened(tmp_path, E5, base_url=server.url, embedder_prefixes=PREFIXES)
    inputs = [asked["input"] for asked in ask(e5, server)]
    assert inputs == [[f"passage: {PASSAGE}"], [f"query: {QUESTION}"]]
    without = opened(tmp_path, E5, base_url=server.url)
    assert e5.fingerprint != without.fingerprint  # an index of the one is not searched by the other


@pytest.mark.parametrize("model", ["BAAI/bge-m3", "text-embedding-3-large"])
def test_others_are_sent_both_as_they_are(model: str, server: Server, tmp_path: Path) -> None:
    requests = ask(opened(tmp_path, f"openai:{model}", base_url=server.url), server)
    assert [asked["input"] for asked in requests] == [[PASSAGE], [QUESTION]]
    assert {asked["model"] for asked in requests} == {model}


def test_cohere_is_told_which_is_which(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CO_API_KEY", "key")
    monkeypatch.setenv("CO_BASE_URL", server.url.removesuffix("/v1"))
    server.body = json.dumps(
        {
            "id": "x",
            "response_type": "embeddings_by_type",
            "embeddings": {"float": [[3.0, 4.0]]},
            "texts": ["x"],
            "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 1}},
        }
    ).encode()
    requests = ask(opened(tmp_path, "cohere:embed-multilingual-v3.0"), server)
    kinds = [(asked["path"], asked["input_type"], asked["texts"]) for asked in requests]
    assert kinds == [
        ("/v2/embed", "search_document", [PASSAGE]),
        ("/v2/embed", "search_query", [QUESTION]),
    ]
    assert {asked["model"] for asked in requests} == {"embed-multilingual-v3.0"}
