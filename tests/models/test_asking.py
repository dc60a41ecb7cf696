"""A reply that is heard while it is written costs, counts and fails like one that comes whole."""

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from answer.faulty import Reply as Sent
from answer.faulty import broken, completion, misbehaving, ok, streamed
from models.timing import Clock
from ombud.errors import MalformedOutput, ModelError, ModelUnavailable
from ombud.models import Chat, ModelRoles, recorded
from ombud.models.chat.connecting import connect
from ombud.models.chat.model_client import CallPolicy, ModelClient
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
        chat = board(server.url, clock)
        for asked in (1, 2, 3, 3):
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


# Silence, thoughts and faults ---------------------------------------------------------------------


def impatient(url: str) -> Chat:
    """A chat that takes a fifth of a second for silence."""
    model = connect("openai:a", url, 10)
    return Chat("openai:a", clients=[ModelClient("openai:a", model, CallPolicy(0, stall=0.2))])


def test_a_stream_that_falls_silent_is_left() -> None:
    goes_on = threading.Event()

    def pieces() -> Iterator[str]:
        yield '{"wo'
        goes_on.wait(30)

    with misbehaving(lambda asked: streamed(asked, pieces())) as server:
        failed, heard = hear(impatient(server.url))
        goes_on.set()
        assert len(server.asked) == 1
    assert isinstance(failed, ModelUnavailable)
    assert "stopped in the middle" in str(failed)
    assert heard == [None, '{"wo']


def test_a_model_may_take_its_time_before_it_begins() -> None:
    def pieces() -> Iterator[str]:
        threading.Event().wait(0.5)
        yield YES

    with misbehaving(lambda asked: streamed(asked, pieces())) as server:
        assert hear(impatient(server.url))[0].value == Word(word="yes")


GLUED = [
    f'<think>Is it {{"word": "no"}}?</think>{YES}',
    f"\n<think>\nHm.\n</think>\n\n{YES}",
    f'Hm, {{"word": "no"}}?</think>{YES}',
    f"<think></think>{YES}",
]


@pytest.mark.parametrize("text", GLUED)
def test_thoughts_before_a_value_are_no_part_of_it(text: str) -> None:
    with misbehaving(lambda asked: streamed(asked, text)) as server:
        chat = board(server.url, Clock())
        quiet = asyncio.run(chat.reply("Be brief.", "Yes?", Word, temperature=0, seconds=60))
        heard, pieces = hear(chat)
        assert len(server.asked) == 2
    assert quiet.value == heard.value == Word(word="yes")
    if "<think>" in text:
        assert "".join(filter(None, pieces)).strip() == YES


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Well, yes.", "no valid JSON"),
        ('{"wort": "ja"}', "another form"),
        ("", "empty"),
        ("  ", "empty"),
    ],
)
def test_why_a_reply_is_of_no_use_is_said_in_our_own_words(said: str, why: str) -> None:
    with misbehaving(lambda asked: streamed(asked, said)) as server, recorded() as calls:
        failed, _ = hear(board(server.url, Clock()))
    assert isinstance(failed, MalformedOutput)
    assert why in str(failed)
    assert why in calls[0].failed


@pytest.mark.parametrize(
    ("ending", "why"), [("length", "cut off"), ("content_filter", "refused to answer")]
)
def test_how_a_reply_ended_is_said(ending: str, why: str) -> None:
    def reply(asked: dict[str, Any]) -> Sent:
        whole = completion(asked, '{"wo')
        whole["choices"][0]["finish_reason"] = ending
        return ok(whole)

    with misbehaving(reply) as server, recorded() as calls:
        chat = board(server.url, Clock())
        with pytest.raises(MalformedOutput):
            asyncio.run(chat.reply("Be brief.", "Yes?", Word, temperature=0, seconds=60))
    assert why in calls[0].failed


def test_a_prompt_that_is_too_long_is_said_so() -> None:
    error = {"code": "context_length_exceeded", "message": "Employees in Great Britain"}
    body = json.dumps({"error": error}).encode()
    with misbehaving(lambda _: (400, body, {})) as server, recorded() as calls:
        failed, _ = hear(board(server.url, Clock()))
    assert isinstance(failed, ModelUnavailable)
    assert "too long" in calls[0].failed
    assert "Britain" not in str(failed)
