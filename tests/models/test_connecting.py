"""Names of the settings become models: where they are asked, with which key, and what is
missing."""

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest
from pydantic import BaseModel

from models.serving import Server
from ombud.errors import SetupError
from ombud.models import ModelRoles
from ombud.settings import ModelSettings

VARIABLES = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OLLAMA_BASE_URL",
    "OLLAMA_API_KEY",
    "VLLM_BASE_URL",
    "VLLM_API_KEY",
    "AZURE_OPENAI_ENDPOINT",
    "AZURE_OPENAI_API_KEY",
    "OPENAI_API_VERSION",
)
NOWHERE = "http://model.invalid:1/v1"


class Word(BaseModel):
    word: str


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def ask(name: str, base_url: str = "") -> str:
    chat = ModelRoles(ModelSettings(chat=name, base_url=base_url)).chat("compose")
    assert chat is not None
    reply = asyncio.run(chat.reply("Be brief.", "Yes?", Word, temperature=0, seconds=60))
    return reply.value.word


@pytest.mark.parametrize(
    "name", ["openai:llama3:8b", "openai-chat:llama3:8b", "ollama:llama3:8b", "vllm:llama3:8b"]
)
def test_base_url_is_for_servers_that_speak_openais_protocol(server: Server, name: str) -> None:
    assert ask(name, server.url) == "yes"
    assert (server.asked[0]["path"], server.asked[0]["model"]) == (
        "/v1/chat/completions",
        "llama3:8b",
    )


def test_a_name_without_a_provider_is_one_of_base_url(server: Server) -> None:
    assert ask("local", server.url) == "yes"
    assert server.asked[0]["model"] == "local"


@pytest.mark.parametrize(("name", "variable"), [("ollama:a", "OLLAMA"), ("vllm:a", "VLLM")])
def test_a_provider_with_an_address_of_its_own_keeps_it(
    server: Server, monkeypatch: pytest.MonkeyPatch, name: str, variable: str
) -> None:
    monkeypatch.setenv(f"{variable}_BASE_URL", server.url)
    monkeypatch.setenv(f"{variable}_API_KEY", "its-own")
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-it")
    assert ask(name, NOWHERE) == "yes"
    assert server.asked[0]["authorization"] == "Bearer its-own"


def test_the_key_of_openai_is_not_shown_to_others(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    ask("ollama:a", server.url)
    assert "secret" not in str(server.asked[0]["authorization"])


def test_azure_is_asked_where_azure_is(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url.removesuffix("/v1"))
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    assert ask("azure:our-deployment", NOWHERE) == "yes"
    assert server.asked[0]["path"].startswith(
        "/openai/deployments/our-deployment/chat/completions?api-version="
    )


@pytest.mark.parametrize(
    "name", ["azure:gpt-4.1", "openai:gpt-4.1", "ollama:llama3", "vllm:llama3", "nosuch:model"]
)
def test_what_is_missing_is_said_before_anyone_asks(name: str) -> None:
    with pytest.raises(SetupError, match=f"`{name}` cannot be used") as wrong:
        ModelRoles(ModelSettings(chat=name)).chat("compose")
    assert wrong.value.hint


def test_a_stand_in_that_cannot_work_is_said_too(server: Server) -> None:
    with pytest.raises(SetupError, match="`nosuch:model`"):
        ModelRoles(
            ModelSettings(chat="openai:a", base_url=server.url, fallbacks=("nosuch:model",))
        ).chat("compose")


@pytest.mark.parametrize(
    ("provider", "package", "extra"),
    [
        ("anthropic", "anthropic", "ombud[anthropic]"),
        ("google", "google.genai", "ombud[google]"),
        ("mistral", "mistralai", "ombud[mistral]"),
        ("cohere", "cohere", "ombud[cohere]"),
        ("bedrock", "boto3", "ombud[bedrock]"),
        ("groq", "groq", "pydantic-ai-slim[groq]"),
    ],
)
def test_a_client_that_is_not_installed_is_named(provider: str, package: str, extra: str) -> None:
    # In a process of its own: no other test has imported the client.
    code = f"""
import sys
sys.modules[{package!r}] = None
from ombud.errors import MissingExtra
from ombud.models import ModelRoles
from ombud.settings import ModelSettings
try:
    ModelRoles(ModelSettings(chat="{provider}:model")).chat("compose")
except MissingExtra as missing:
    print(missing, missing.hint, sep="\\n")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    said, hint = done.stdout.splitlines()
    assert f"`{provider}:model`" in said
    assert hint == f"pip install '{extra}'"


# The other dialects, where their clients are installed. The bodies are those of the providers' API
# references. ------


def given(server: Server, body: Any) -> None:
    server.body = json.dumps(body).encode()


def test_anthropic(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("anthropic")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url.removesuffix("/v1"))
    use = {"type": "tool_use", "id": "t", "name": "final_result", "input": {"word": "yes"}}
    usage = {"input_tokens": 9, "output_tokens": 4}
    given(
        server,
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "claude-next",
            "content": [use],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": usage,
        },
    )
    assert ask("anthropic:claude-next", NOWHERE) == "yes"
    assert server.asked[0]["path"].startswith("/v1/messages")


def test_google(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("google.genai")
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url.removesuffix("/v1"))
    content = {"role": "model", "parts": [{"text": '{"word": "yes"}'}]}
    given(
        server,
        {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {
                "promptTokenCount": 9,
                "candidatesTokenCount": 4,
                "totalTokenCount": 13,
            },
            "modelVersion": "gemini-2.5-flash",
        },
    )
    assert ask("google:gemini-2.5-flash", NOWHERE) == "yes"
    assert server.asked[0]["path"].endswith("/models/gemini-2.5-flash:generateContent")


def test_cohere(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cohere")
    monkeypatch.setenv("CO_API_KEY", "k")
    monkeypatch.setenv("CO_BASE_URL", server.url.removesuffix("/v1"))
    call = {
        "id": "t",
        "type": "function",
        "function": {"name": "final_result", "arguments": '{"word": "yes"}'},
    }
    tokens = {"input_tokens": 9, "output_tokens": 4}
    given(
        server,
        {
            "id": "m",
            "finish_reason": "TOOL_CALL",
            "message": {"role": "assistant", "tool_calls": [call]},
            "usage": {"billed_units": tokens, "tokens": tokens},
        },
    )
    assert ask("cohere:command-r-08-2024", NOWHERE) == "yes"
    assert server.asked[0]["path"].endswith("/v2/chat")


def test_bedrock(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("boto3")
    for name, value in (
        ("ACCESS_KEY_ID", "k"),
        ("SECRET_ACCESS_KEY", "s"),
        ("DEFAULT_REGION", "eu-west-1"),
    ):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url.removesuffix("/v1"))
    use = {"toolUse": {"toolUseId": "t", "name": "final_result", "input": {"word": "yes"}}}
    given(
        server,
        {
            "output": {"message": {"role": "assistant", "content": [use]}},
            "stopReason": "tool_use",
            "usage": {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13},
            "metrics": {"latencyMs": 1},
        },
    )
    assert ask("bedrock:amazon.nova-lite-v1:0", NOWHERE) == "yes"
    assert server.asked[0]["path"].endswith("/converse")


def test_mistral(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mistralai")
    monkeypatch.setenv("MISTRAL_API_KEY", "k")
    assert ModelRoles(ModelSettings(chat="mistral:mistral-small-latest", base_url=NOWHERE)).chat(
        "compose"
    )
