"""What counts as a model on this machine."""

from pathlib import Path

import pytest
from pydantic_ai.models.test import TestModel

from models.serving import serving
from ombud.models import Chat, is_remote, open_embedder, open_reranker
from ombud.models.chat.connecting import connect
from ombud.models.remote import is_remote_client
from ombud.proxies import is_loopback
from ombud.settings import ModelSettings


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://127.8.9.1/v1", True),
        ("http://[::1]:11434/v1", True),
        ("http://localhost:8000", True),
        ("HTTP://LOCALHOST/", True),
        ("http://models.localhost:8000/v1", True),
        ("http://[::ffff:127.0.0.1]/v1", True),
        ("http://10.0.0.3/v1", False),
        ("http://localhost.example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("http://user@models.example/127.0.0.1", False),
        ("https://api.openai.com/v1", False),
        ("127.0.0.1:8080", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_only_an_address_of_this_machine_is_here(address: str, here: bool) -> None:
    assert is_loopback(address) == here


@pytest.mark.parametrize(
    ("name", "variables", "remote"),
    [
        ("openai:gpt-4.1", {"OPENAI_API_KEY": "x"}, True),
        ("anthropic:claude-sonnet-4-6", {"ANTHROPIC_API_KEY": "x"}, True),
        ("google:gemini-2.5-flash", {"GOOGLE_API_KEY": "x"}, True),
        ("vllm:own", {"VLLM_BASE_URL": "http://127.0.0.1:1/v1", "VLLM_API_KEY": "x"}, False),
        ("ollama:llama3", {"OLLAMA_BASE_URL": "http://localhost:11434/v1"}, False),
        ("ollama:large-cloud", {"OLLAMA_BASE_URL": "http://localhost:11434/v1"}, True),
        ("ollama:llama3", {"OLLAMA_BASE_URL": "http://ollama.example/v1"}, True),
    ],
)
def test_chat_models_go_by_their_address(
    monkeypatch: pytest.MonkeyPatch, name: str, variables: dict[str, str], remote: bool
) -> None:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    assert is_remote_client(connect(name, "", 10)) == remote


def test_a_model_in_this_process_is_here() -> None:
    chat = Chat("test", TestModel())
    assert chat.remote_models == ()
    assert chat.on_this_machine() is not None


def test_a_role_keeps_only_its_models_that_are_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    chat = Chat("openai:gpt-4.1", connect("openai:gpt-4.1", "", 10))
    assert chat.remote_models == ("openai:gpt-4.1",)
    assert chat.on_this_machine() is None


def test_an_embedder_and_a_reranker_go_by_their_address(tmp_path: Path) -> None:
    with serving() as server:
        settings = ModelSettings(
            embedder="openai:emb",
            base_url=server.url,
            reranker="jina:pairs",
            reranker_url=server.url,
        )
        assert not is_remote(open_embedder(settings, tmp_path))
        assert not is_remote(open_reranker(settings))
    away = ModelSettings(reranker="jina:pairs", reranker_url="http://rerank.example")
    assert is_remote(open_reranker(away))


def test_what_does_not_say_where_it_is_counts_as_remote() -> None:
    assert is_remote(object())
