"""Chat models: over HTTP against a server of our own, and pydantic-ai's scripted one."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from pydantic_ai import ModelMessage, ModelResponse, TextPart, ToolCallPart, UserError, exceptions
from pydantic_ai.models.function import AgentInfo, FunctionModel

from models.serving import Server
from ombud.errors import MalformedOutput, ModelError, ModelUnavailable, SetupError
from ombud.models import Chat, ChatReply, ModelRoles, open_chat
from ombud.settings import ModelSettings


class Word(BaseModel):
    word: str


Say = Callable[[list[ModelMessage], AgentInfo], ModelResponse]


def ask(chat: Chat, *, seconds: float = 30, temperature: float = 0.25) -> ChatReply[Word]:
    return asyncio.run(
        chat.reply("Be brief.", "Yes?", Word, temperature=temperature, seconds=seconds)
    )


def scripted(say: Say) -> Chat:
    return Chat("scripted", FunctionModel(say))


def said(info: AgentInfo, arguments: str) -> ModelResponse:
    """The reply in whichever way it was asked for."""
    tools = info.output_tools
    return ModelResponse(
        parts=[ToolCallPart(tools[0].name, arguments) if tools else TextPart(arguments)]
    )


def opened(server: Server, name: str = "openai:llama3:8b") -> Chat:
    chat = open_chat(ModelSettings(chat=name, base_url=server.url, retries=0))
    assert chat is not None
    return chat


def test_without_a_name_there_is_no_model() -> None:
    assert open_chat(ModelSettings()) is None


def test_a_typed_reply_with_what_it_cost(server: Server) -> None:
    reply = ask(opened(server))
    assert reply == ChatReply(
        Word(word="yes"), tokens_in=11, tokens_out=7, price=None, model="openai:llama3:8b"
    )
    asked = server.asked[0]
    assert (asked["path"], asked["model"], asked["temperature"]) == (
        "/v1/chat/completions",
        "llama3:8b",
        0.25,
    )
    assert [(m["role"], m["content"]) for m in asked["messages"]] == [
        ("system", "Be brief."),
        ("user", "Yes?"),
    ]
    assert asked["authorization"] == "Bearer none"


def test_a_priced_model_says_its_price(server: Server) -> None:
    # gpt-4.1: 2.00 and 8.00 US dollars a million tokens (openai.com/api/pricing, April 2025)
    assert ask(opened(server, "openai:gpt-4.1")).price == pytest.approx((11 * 2 + 7 * 8) / 1e6)


@pytest.mark.parametrize("name", ["openai:llama3:8b", "openai:gpt-4.1"])
def test_a_price_of_the_settings_stands_before_the_price_list(server: Server, name: str) -> None:
    settings = ModelSettings(chat=name, base_url=server.url, retries=0, prices={name: (3, 9)})
    models = ModelRoles(settings)
    chat = models.chat("compose")
    assert chat is not None
    assert ask(chat).price == pytest.approx((11 * 3 + 7 * 9) / 1e6)
    assert models.rates(name) == (3, 9)


@pytest.mark.parametrize("wrong", [[1], [1, -1], 2])
def test_a_price_is_two_numbers_from_nought_up(wrong: Any) -> None:
    with pytest.raises(ValidationError, match=r"prices"):
        ModelSettings(prices={"openai:a": wrong})


def test_a_key_of_the_provider_is_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    ask(opened(server))
    assert server.asked[0]["authorization"] == "Bearer k"


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_a_refusal_is_worth_asking_elsewhere(server: Server, status: int) -> None:
    server.status, server.body = status, b'{"error": {"message": "no"}}'
    with pytest.raises(ModelUnavailable, match=f"`openai:llama3:8b` answered with HTTP {status}"):
        ask(opened(server))


def test_a_reply_that_never_fits_is_malformed_after_one_more_try(server: Server) -> None:
    server.said = '{"wort": "ja"}'
    with pytest.raises(MalformedOutput, match="no usable answer"):
        ask(opened(server))
    assert len(server.asked) == 2


@pytest.mark.parametrize("body", [b"null", b'{"a": 1}'])
def test_something_else_than_a_completion_is_malformed(server: Server, body: bytes) -> None:
    server.body = body
    with pytest.raises(MalformedOutput):
        ask(opened(server))


@pytest.mark.parametrize("name", ["nosuch:model", "nonsense", "openai:gpt-4.1"])
def test_a_name_or_key_that_cannot_work_is_a_matter_of_setup(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(SetupError, match=f"`{name}` cannot be used") as wrong:
        open_chat(ModelSettings(chat=name))
    assert "provider:model" in wrong.value.hint


def test_a_scripted_model_stands_in() -> None:
    reply = ask(scripted(lambda _, info: said(info, '{"word": "yes"}')))
    assert (reply.value, reply.price) == (Word(word="yes"), None)
    assert reply.tokens_out > 0


def test_a_reply_that_fits_the_second_time_is_taken() -> None:
    replies = iter(['{"wort": "ja"}', '{"word": "yes"}'])
    assert ask(scripted(lambda _, info: said(info, next(replies)))).value == Word(word="yes")


def test_prose_instead_of_a_value_is_malformed() -> None:
    with pytest.raises(MalformedOutput):
        ask(scripted(lambda *_: ModelResponse(parts=[TextPart("Well...")])))


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (OSError("network is down"), ModelUnavailable),
        (exceptions.ModelHTTPError(503, "m"), ModelUnavailable),
        (exceptions.UsageLimitExceeded("too much"), ModelError),
        (UserError("wrong use"), ModelError),
    ],
)
def test_failures_become_ours(raised: Exception, error: type[ModelError]) -> None:
    def fail(*_: Any) -> ModelResponse:
        raise raised

    with pytest.raises(ModelError, match="`scripted`") as wrong:
        ask(scripted(fail))
    assert type(wrong.value) is error


def test_a_model_that_says_nothing_in_time_is_unavailable() -> None:
    async def wait(*_: Any) -> ModelResponse:
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(ModelUnavailable, match="no answer within 0 seconds") as wrong:
        ask(Chat("scripted", FunctionModel(wait)), seconds=0.01)
    assert "models.timeout_seconds" in wrong.value.hint


def test_a_profile_with_native_output_gets_the_schema(server: Server) -> None:
    ask(opened(server, "openai:gpt-4.1"))
    asked = server.asked[0]
    assert asked["response_format"]["json_schema"]["schema"]["required"] == ["word"]
    assert "tools" not in asked
