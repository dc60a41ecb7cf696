"""A reply that is heard while it is written costs, counts and fails like one that comes whole."""

import asyncio
import json
from typing import Any

import pytest
from pydantic import BaseModel

from answer.faulty import Reply as Sent
from answer.faulty import broken, misbehaving, streamed
from models.timing import Clock
from ombud.errors import MalformedOutput, ModelError, ModelUnavailable
from ombud.models import Chat, ModelRoles, recorded
from ombud.settings import ModelSettings


class Word(BaseModel):
    word: str


YES = '{"word": "yes"}'


@pytest.fixture(autouse=True)
def _keyless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def board(url: str, clock: Clock, **more: Any) -> Chat:
    given = {"chat": "openai:a", "base_url": url, "retries": 0} | more
    chat = ModelRoles(ModelSettings.model_validate(given), timing=clock.timing).chat("compose")
    assert chat
    return chat


def hear(chat: Chat, temperature: float = 0) -> tuple[Any, list[str | None]]:
    """The reply or the error, and what was heard."""
    pieces: list[str | None] = []

    async def one() -> Any:
        try:
            return await chat.reply(
                "Be brief.",
                "Yes?",
                Word,
                temperature=temperature,
                seconds=60,
                on_text=pieces.append,
            )
        except ModelError as failed:
            return failed

    return asyncio.run(one()), pieces


def test_it_is_heard_piece_by_piece_from_the_beginning() -> None:
    with misbehaving(lambda asked: streamed(asked, ['{"wo', 'rd": ', '"yes"}'])) as server:
        reply, pieces = hear(board(server.url, Clock()))
    assert pieces == [None, '{"wo', 'rd": ', '"yes"}']
    assert (reply.value, reply.tokens_in, reply.tokens_out, reply.model) == (
        Word(word="yes"),
        50,
        5,
        "openai:a",
    )


def test_another_try_begins_anew() -> None:
    def reply(asked: dict[str, Any]) -> Sent:
        if len(server.asked) == 1:
            return broken(asked, ['{"word": "no'])
        return streamed(asked, ['{"wort": "ja"}'] if len(server.asked) == 2 else [YES])

    with misbehaving(reply) as server:
        with recorded() as calls:
            found, pieces = hear(board(server.url, Clock(), retries=1))
        assert len(server.asked) == 3
    assert pieces == [None, '{"word": "no', None, '{"wort": "ja"}', None, YES]
    assert found.value == Word(word="yes")
    assert [(call.attempts, call.tokens_in, call.price) for call in calls] == [(2, 100, None)]


def test_streams_that_break_close_the_line() -> None:
    with misbehaving(lambda asked: broken(asked, ['{"wo'])) as server:
        clock = Clock()
        chat = board(server.url, clock, breaker_failures=2)
        for asked in (1, 2, 2):
            failed, _ = hear(chat)
            assert isinstance(failed, ModelUnavailable)
            assert len(server.asked) == asked
        clock.now += 31
        server.reply = lambda asked: streamed(asked, YES)
        assert hear(chat)[0].value == Word(word="yes")


def test_a_cut_that_nobody_notices_is_a_reply_that_does_not_fit() -> None:
    with misbehaving(lambda asked: broken(asked, ['{"wo'], noticed=False)) as server:
        failed, _ = hear(board(server.url, Clock()))
        assert len(server.asked) == 2
    assert isinstance(failed, MalformedOutput)


def test_what_was_heard_is_remembered_and_then_not_heard_again() -> None:
    with misbehaving(lambda asked: streamed(asked, YES)) as server:
        chat = board(server.url, Clock(), cache=True)
        hear(chat)
        reply, pieces = hear(chat)
        assert (reply.value, pieces, len(server.asked)) == (Word(word="yes"), [], 1)
        assert hear(chat, temperature=0.5)[1]
        assert len(server.asked) == 2


def test_a_stand_in_is_heard_too() -> None:
    def reply(asked: dict[str, Any]) -> Sent:
        return broken(asked, ['{"wo']) if asked["model"] == "a" else streamed(asked, [YES])

    with misbehaving(reply) as server:
        found, pieces = hear(board(server.url, Clock(), fallbacks=["openai:b"]))
    assert found.model == "openai:b"
    assert pieces == [None, '{"wo', None, YES]


def test_only_who_listens_asks_for_a_stream() -> None:
    with misbehaving(lambda asked: streamed(asked, YES)) as server:
        chat = board(server.url, Clock())
        asyncio.run(chat.reply("Be brief.", "Yes?", Word, temperature=0, seconds=60))
        hear(chat)
        assert [json.dumps(asked.get("stream", False)) for asked in server.asked] == [
            "false",
            "true",
        ]
