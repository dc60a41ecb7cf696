"""Roles, stand-ins, retries, rest and turns: over HTTP, by a clock of our own."""

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import BaseModel

from answer.faulty import Faulty, completion, misbehaving, ok
from answer.faulty import Reply as Sent
from models.timing import Clock
from ombud.errors import MalformedOutput, ModelUnavailable
from ombud.models import Call, Chat, ChatReply, ModelRoles, recorded, stand_ins
from ombud.settings import ModelRole, ModelSettings


class Word(BaseModel):
    word: str


YES = '{"word": "yes"}'
Answer = Callable[[dict[str, Any]], Sent]


@pytest.fixture(autouse=True)
def _keyless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def says(asked: dict[str, Any]) -> Sent:
    return ok(completion(asked, YES))


def down(status: int = 500, **headers: str) -> Sent:
    return (
        status,
        b'{"error": {"message": "Yes? is too much"}}',
        {k.replace("_", "-"): v for k, v in headers.items()},
    )


def board(server: Faulty, clock: Clock, **settings: Any) -> ModelRoles:
    return ModelRoles(
        ModelSettings(base_url=server.url, **({"chat": "openai:a"} | settings)), timing=clock.timing
    )


def opened(switchboard: ModelRoles, role: ModelRole = "compose") -> Chat:
    chat = switchboard.chat(role)
    assert chat is not None
    return chat


def ask(
    chat: Chat, prompt: str = "Yes?", *, seconds: float = 60, temperature: float = 0.0
) -> ChatReply[Word]:
    return asyncio.run(
        chat.reply("Be brief.", prompt, Word, temperature=temperature, seconds=seconds)
    )


def asked_of(server: Faulty) -> list[str]:
    return [asked["model"] for asked in server.asked]


# Roles --------------------------------------------------------------------------------------------


def names(**settings: Any) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(roles) for name, roles in ModelRoles(ModelSettings(**settings)).models().items()
    }


ALL = ("strategy", "rerank", "compose", "verify", "extract", "judge", "synthesise")


def test_one_model_does_everything() -> None:
    assert names(chat="openai:a") == {"openai:a": ALL}


def test_without_a_name_a_role_has_no_model() -> None:
    assert names() == {}
    assert names(fallbacks=["openai:b"]) == {}
    assert names(roles={"strategy": "openai:a"}) == {"openai:a": ("strategy",)}


def test_a_role_may_have_its_own_and_its_own_stand_ins() -> None:
    roles = {
        "strategy": "openai:small",
        "compose": ["openai:large", "openai:other"],
        "rerank": "none",
    }
    assert names(chat="openai:a", roles=roles, fallbacks=["openai:b"]) == {
        "openai:small": ("strategy",),
        "openai:large": ("compose", "verify"),
        "openai:a": ("extract", "judge", "synthesise"),
        "openai:b": ("strategy", "compose", "verify", "extract", "synthesise"),
        "openai:other": ("compose", "verify"),
    }
    assert (
        ModelRoles(ModelSettings(chat="openai:a", roles={"rerank": ("none",)})).chat("rerank")
        is None
    )


def test_each_role_asks_its_own_model(clock: Clock) -> None:
    with misbehaving(says) as server:
        switchboard = board(server, clock, roles={"strategy": "openai:small"})
        assert ask(opened(switchboard, "strategy")).model == "openai:small"
        assert ask(opened(switchboard, "compose")) == ChatReply(
            Word(word="yes"), 50, 5, None, "openai:a"
        )
    assert asked_of(server) == ["small", "a"]


# Asking again -------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_what_may_pass_is_asked_again(clock: Clock, status: int) -> None:
    clock.chance = 1.0

    def answer(asked: dict[str, Any]) -> Sent:
        return says(asked) if len(server.asked) > 2 else down(status)

    with misbehaving(answer) as server, recorded() as calls:
        assert ask(opened(board(server, clock))).value.word == "yes"
    assert len(server.asked) == 3
    assert clock.slept == [0.5, 1.0]
    assert [(call.attempts, call.failed) for call in calls] == [(3, "")]


def test_after_the_last_time_it_is_left(clock: Clock) -> None:
    with misbehaving(lambda _: down(503)) as server:
        with pytest.raises(ModelUnavailable, match="`openai:a` answered with HTTP 503") as wrong:
            ask(opened(board(server, clock, retries=1)))
        assert len(server.asked) == 2
    assert "Yes?" not in str(wrong.value) + wrong.value.hint


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_what_will_not_pass_is_asked_once(clock: Clock, status: int) -> None:
    with misbehaving(lambda _: down(status)) as server:
        with pytest.raises(ModelUnavailable, match=f"HTTP {status}"):
            ask(opened(board(server, clock)))
        assert len(server.asked) == 1


def test_a_used_up_quota_is_not_asked_again_however_it_is_numbered(clock: Clock) -> None:
    body = (
        b'{"error": {"message": "no", "code": "insufficient_quota", "type": "insufficient_quota"}}'
    )
    with misbehaving(lambda _: (429, body, {})) as server:
        with pytest.raises(ModelUnavailable, match="HTTP 429, insufficient_quota") as wrong:
            ask(opened(board(server, clock)))
        assert len(server.asked) == 1
    assert "quota" in wrong.value.hint


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"retry-after": "3"}, 3),
        ({"retry-after": "12"}, 5),
        ({"retry-after": "3600"}, 5),
        ({"retry-after-ms": "700"}, 0.7),
    ],
)
def test_the_pause_that_a_server_asks_for_is_made_if_it_is_short(
    clock: Clock, headers: dict[str, str], pause: float
) -> None:
    with misbehaving(
        lambda asked: says(asked) if len(server.asked) > 1 else down(429, **headers)
    ) as server:
        ask(opened(board(server, clock)))
    assert clock.slept == [pytest.approx(pause)]


def test_a_pause_longer_than_the_deadline_is_not_made(clock: Clock) -> None:
    with misbehaving(lambda _: down(429, retry_after="12")) as server:
        with pytest.raises(ModelUnavailable):
            ask(opened(board(server, clock)), seconds=5)
        assert len(server.asked) == 1
    assert clock.slept == []


# Stand-ins ----------------------------------------------------------------------------------------


def only(model: str, otherwise: Callable[[], Sent] = down) -> Answer:
    return lambda asked: says(asked) if asked["model"] == model else otherwise()


def test_the_next_model_answers_and_it_is_said(clock: Clock) -> None:
    with misbehaving(only("c")) as server, recorded() as calls:
        reply = ask(
            opened(
                board(
                    server,
                    clock,
                    retries=0,
                    roles={"compose": ["openai:a", "openai:b", "openai:c"]},
                )
            )
        )
    assert reply.model == "openai:c"
    assert asked_of(server) == ["a", "b", "c"]
    assert [(call.model, call.role, call.failed) for call in calls] == [
        ("openai:a", "compose", "HTTP 500"),
        ("openai:b", "compose", "HTTP 500"),
        ("openai:c", "compose", ""),
    ]
    said = "compose: `openai:c` answered instead of `openai:a` (HTTP 500); `openai:b` (HTTP 500)"
    assert stand_ins([*calls, *calls]) == (said,)


def test_a_reply_of_no_use_goes_to_the_next_model(clock: Clock) -> None:
    with misbehaving(only("b", lambda: ok(b"<html>busy</html>"))) as server:
        assert ask(opened(board(server, clock, fallbacks=["openai:b"]))).model == "openai:b"


def test_where_another_stands_ready_nobody_waits_long(clock: Clock) -> None:
    with misbehaving(only("b", lambda: down(429, retry_after="12"))) as server:
        assert ask(opened(board(server, clock, fallbacks=["openai:b"]))).model == "openai:b"
    assert asked_of(server) == ["a", "b"]
    assert clock.slept == []


def test_silence_leaves_time_for_the_next(clock: Clock) -> None:
    def reply(asked: dict[str, Any]) -> Sent:
        if asked["model"] == "a":
            server.over.wait(60)
        return says(asked)

    with misbehaving(reply) as server, recorded() as calls:
        assert (
            ask(opened(board(server, clock, fallbacks=["openai:b"])), seconds=4).model == "openai:b"
        )
    assert calls[0].failed == "no answer within 2 seconds"
    assert calls[0].price is None


def test_when_all_fail_the_error_names_each(clock: Clock) -> None:
    each = pytest.raises(ModelUnavailable, match="`openai:a`: HTTP 401; `openai:b`: HTTP 401")
    with misbehaving(only("", lambda: down(401))) as server, each as wrong:
        ask(opened(board(server, clock, fallbacks=["openai:b"])))
    assert "API key" in wrong.value.hint
    with misbehaving(lambda _: ok(b"{}")) as server, pytest.raises(MalformedOutput):
        ask(opened(board(server, clock, fallbacks=["openai:b"])))


# Rest ---------------------------------------------------------------------------------------------


def fails(chat: Chat, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(ModelUnavailable):
            ask(chat)


def test_a_model_that_is_down_is_left_alone_by_every_role(clock: Clock) -> None:
    up = False
    with misbehaving(lambda asked: says(asked) if up else down()) as server:
        switchboard = board(server, clock, retries=0)
        fails(opened(switchboard), 3)
        with pytest.raises(ModelUnavailable, match="left alone for 30 more seconds"):
            ask(opened(switchboard, "strategy"))
        assert len(server.asked) == 3
        clock.now += 30
        fails(opened(switchboard), 2)
        assert len(server.asked) == 4
        clock.now += 30
        up = True
        assert {ask(opened(switchboard)).value.word for _ in range(3)} == {"yes"}


def test_an_outage_of_silence_costs_one_deadline(clock: Clock) -> None:
    def reply(_: dict[str, Any]) -> Sent:
        clock.now += 20  # what the asker waits
        return down(504)

    with misbehaving(reply) as server:
        chat = opened(board(server, clock))
        began = clock.now
        with pytest.raises(ModelUnavailable):
            ask(chat, seconds=20)
        fails(chat, 5)
        assert clock.now - began == 20
        assert len(server.asked) == 1


def test_a_resting_model_leaves_the_whole_deadline_to_the_next(clock: Clock) -> None:
    with misbehaving(only("b")) as server:
        switchboard = board(server, clock, retries=0, fallbacks=["openai:b"])
        with recorded() as calls:
            for _ in range(5):
                assert ask(opened(switchboard)).model == "openai:b"
    assert asked_of(server).count("a") == 3
    assert calls[-2] == Call("compose", "openai:a", 0.0, failed="it rests after failures")


def test_what_a_request_itself_did_wrong_closes_no_line(clock: Clock) -> None:
    with misbehaving(lambda _: down(400)) as server:
        fails(opened(board(server, clock)), 5)
        assert len(server.asked) == 5


def test_a_wrong_key_closes_it(clock: Clock) -> None:
    with misbehaving(lambda _: down(401)) as server:
        fails(opened(board(server, clock)), 5)
        assert len(server.asked) == 3


# Turns --------------------------------------------------------------------------------------------


def test_no_more_calls_at_once_than_allowed(clock: Clock) -> None:
    pair, inside, peak = threading.Barrier(2), [0], [0]

    def reply(asked: dict[str, Any]) -> Sent:
        inside[0] += 1
        pair.wait(60)  # two are always there
        peak[0] = max(peak[0], inside[0])
        pair.wait(60)
        inside[0] -= 1
        pair.wait(60)
        return says(asked)

    async def six(chat: Chat) -> None:
        calls = (chat.reply("", "Yes?", Word, temperature=0, seconds=120) for _ in range(6))
        await asyncio.gather(*calls)

    with misbehaving(reply) as server:
        asyncio.run(six(opened(board(server, clock, concurrency=2))))
    assert peak == [2]


def test_who_gets_no_turn_in_time_is_told(clock: Clock) -> None:
    arrived = threading.Event()

    def reply(asked: dict[str, Any]) -> Sent:
        arrived.set()
        server.over.wait(60)
        return says(asked)

    async def two(chat: Chat) -> None:
        first = asyncio.create_task(chat.reply("", "Yes?", Word, temperature=0, seconds=60))
        await asyncio.to_thread(arrived.wait, 60)
        try:
            await chat.reply("", "No?", Word, temperature=0, seconds=0.05)
        finally:
            first.cancel()

    with misbehaving(reply) as server:
        with pytest.raises(ModelUnavailable, match="1 calls were under way"):
            asyncio.run(two(opened(board(server, clock, concurrency=1))))
        assert len(server.asked) == 1


def test_many_threads_with_loops_of_their_own_may_ask(clock: Clock) -> None:
    with misbehaving(says) as server, ThreadPoolExecutor(4) as threads:
        chat = opened(board(server, clock))
        assert {reply.value.word for reply in threads.map(lambda _: ask(chat), range(12))} == {
            "yes"
        }


# What it costs ------------------------------------------------------------------------------------


def test_a_reply_that_did_not_fit_is_paid_for_too(clock: Clock) -> None:
    def reply(asked: dict[str, Any]) -> Sent:
        return ok(completion(asked, YES if len(server.asked) > 1 else '{"wort": "ja"}'))

    with misbehaving(reply) as server:
        found = ask(opened(board(server, clock, chat="openai:gpt-4.1")))
    assert (found.tokens_in, found.tokens_out) == (100, 10)
    # gpt-4.1: 2.00 and 8.00 US dollars a million tokens (openai.com/api/pricing, April 2025)
    assert found.price == pytest.approx((100 * 2 + 10 * 8) / 1e6)


def test_calls_of_tasks_are_recorded_where_they_were_started(clock: Clock) -> None:
    async def two(chat: Chat) -> tuple[list[Call], list[Call]]:
        async def one() -> list[Call]:
            with recorded() as mine:
                await asyncio.create_task(
                    chat.reply("", json.dumps(len(mine)), Word, temperature=0, seconds=60)
                )
            return mine

        with recorded() as both:
            first, second = await asyncio.gather(one(), one())
        assert len(first) == len(second) == 1
        return both, first

    with misbehaving(says) as server:
        both, _ = asyncio.run(two(opened(board(server, clock))))
    assert [(c.model, c.tokens_in, c.tokens_out, c.attempts) for c in both] == [
        ("openai:a", 50, 5, 1)
    ] * 2
