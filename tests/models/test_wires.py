"""Answers over the wire formats of OpenAI, Anthropic and Google, through their own clients."""

import asyncio
import json
from typing import Any

import pytest
from pydantic import BaseModel

from models.wires import WIRES, Said, Wire, serving
from ombud.errors import MalformedOutput, ModelError
from ombud.models import Chat, ChatReply, recorded
from ombud.models.chat.connecting import connect

TEXT = json.dumps({"outcome": "full", "claims": ["You have 26 days of leave."]})


class Value(BaseModel):
    outcome: str
    claims: list[str]


@pytest.fixture(params=WIRES, ids=lambda wire: wire.name.partition(":")[0])
def wire(request: pytest.FixtureRequest) -> Wire:
    found: Wire = request.param
    return found


def ask(
    wire: Wire, said: Said, monkeypatch: pytest.MonkeyPatch, *, pieces: list[Any] | None = None
) -> tuple[ChatReply[Value], list[dict[str, Any]]]:
    with serving(wire, lambda _: said) as server:
        for name, value in wire.environment(server.url).items():
            monkeypatch.setenv(name, value)
        chat = Chat(wire.name, connect(wire.name, "", 10))
        reply = asyncio.run(
            chat.reply(
                "Answer from the passages.",
                "How many days?",
                Value,
                temperature=0.0,
                seconds=10,
                on_text=pieces.append if pieces is not None else None,
            )
        )
        return reply, server.asked


def test_a_value_comes_back_with_its_tokens(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    reply, _ = ask(wire, Said(TEXT), monkeypatch)
    assert reply.value.claims == ["You have 26 days of leave."]
    assert (reply.tokens_in, reply.tokens_out) == (70, 7)
    assert reply.price is not None
    assert reply.price > 0


def test_what_comes_before_the_value_is_no_part_of_it(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply, _ = ask(wire, Said(TEXT, noise="Let me see what L1 says."), monkeypatch)
    assert reply.value.outcome == "full"


def test_it_is_told_piece_by_piece(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[Any] = []
    reply, _ = ask(wire, Said(TEXT), monkeypatch, pieces=pieces)
    texts = [piece for piece in pieces if piece]
    assert len(texts) > 3
    assert "".join(texts) == TEXT
    assert reply.value.outcome == "full"


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("ends", ["refused", "cut"])
def test_a_refusal_and_a_reply_cut_short_are_no_answers(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, ends: str, *, streamed: bool
) -> None:
    pieces: list[Any] | None = [] if streamed else None
    with pytest.raises(ModelError) as failed:
        ask(wire, Said(TEXT[: len(TEXT) // 2], ends=ends), monkeypatch, pieces=pieces)
    assert wire.name in str(failed.value)
    assert "Answer from the passages" not in str(failed.value)
    if ends == "cut":
        assert isinstance(failed.value, MalformedOutput)


def _form(asked: dict[str, Any]) -> dict[str, Any]:
    """Where each provider is told the form of the reply."""
    if "text" in asked:
        found: dict[str, Any] = asked["text"]["format"]
        return found
    if "output_config" in asked or "output_format" in asked:
        config = asked.get("output_config") or asked
        form: dict[str, Any] = config.get("format") or config["output_format"]
        return {**form, "strict": True}
    config = asked["generationConfig"]
    return {"schema": config["responseJsonSchema"], "strict": True}


def test_each_is_held_to_the_form_and_to_a_length(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, asked = ask(wire, Said(TEXT), monkeypatch)
    form = _form(asked[0])
    assert form["strict"] is True
    assert set(form["schema"]["required"]) == {"outcome", "claims"}
    said = json.dumps(asked[0])
    assert any(
        f'"{name}": 8000' in said for name in ("max_output_tokens", "max_tokens", "maxOutputTokens")
    )


def test_what_the_provider_had_read_before_is_counted(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recorded() as calls:
        reply, _ = ask(wire, Said(TEXT, cached=40), monkeypatch)
    (call,) = calls
    assert (call.tokens_in, call.tokens_cached) == (70, 40)
    full, _ = ask(wire, Said(TEXT), monkeypatch)
    assert (reply.price or 0) < (full.price or 0)


def test_anthropic_is_told_to_keep_the_instructions_and_no_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (anthropic,) = [wire for wire in WIRES if wire.name.startswith("anthropic:")]
    _, (asked,) = ask(anthropic, Said(TEXT), monkeypatch)
    assert asked["system"][-1]["cache_control"]["type"] == "ephemeral"
    assert "cache_control" not in json.dumps(asked["messages"])
    assert "cache_control" not in asked
