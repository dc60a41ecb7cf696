"""Claims arrive while a chat model is still writing, proven each; what breaks leaves what was
proven, or quotes."""

import asyncio
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import httpx
import pytest

from answer.asking import GB, LEAVE, Script, ask, check, claim, company, draft, label, with_model
from answer.faulty import Reply, broken, completion, misbehaving, ok, streamed
from answer.faulty import label as label_of
from answer.test_outages import FAULTS
from ingest.shelf import Shelf
from ombud.answer.proof.drafts import DraftClaim, ListParser
from ombud.app import Workspace, asking
from ombud.messages import message
from ombud.models.chat.model_client import CallPolicy
from ombud.types import Answer, Question
from web.running import running

TRUE = "You have 26 days of annual leave a year."
EXPIRES = "Unused days expire on 31 March."
FLOOR = "Everywhere employees have at least 20 days of annual leave a year."
FALSE = "You have 40 days of annual leave a year."
QUOTE = "26 days of annual leave a year."
Events = list[tuple[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    made = company(tmp_path_factory.mktemp("home"), plan={"abstain": 0.0})
    yield made
    made.workspace.close()


@pytest.fixture(autouse=True)
def _keyless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def workspace(home: Any, url: str, **models: Any) -> Workspace:
    given = {
        "embedder": "none",
        "roles": {"compose": "openai:a", "verify": "none"},
        "base_url": url,
        "retries": 0,
    } | models
    return Workspace(home, {"models": given, "plan": {"abstain": 0.0}})


def whole(told: Any, find: Callable[[Any, str], str]) -> list[dict[str, Any]]:
    """A draft that is true. told: the prompt, or the request; find: the label of what passage in
    it."""
    facts = ((TRUE, "26 days"), (EXPIRES, "31 March"), (FLOOR, "20 days"))
    return [claim(text, find(told, where)) for text, where in facts]


def heard(opened: Workspace, text: str = LEAVE, **options: Any) -> tuple[Answer, Events]:
    told: Events = []
    answer = ask(opened, text, GB, on_event=lambda name, data: told.append((name, data)), **options)
    return answer, told


def claims(told: Events) -> list[tuple[int, str]]:
    return [(data["index"], data["text"]) for name, data in told if name == "claim"]


# Order of events ----------------------------------------------------------------------------------


class Slow:
    """A server that says one claim, then waits until it is let go on."""

    def __init__(self) -> None:
        self.let = [threading.Event() for _ in range(3)]

    def __call__(self, asked: dict[str, Any]) -> Reply:
        return streamed(asked, self.pieces(asked))

    def pieces(self, asked: dict[str, Any]) -> Iterator[str]:
        yield '{"reasoning": "Let me see: \\"claims\\": [ {", "claims": ['
        for number, (one, gate) in enumerate(zip(whole(asked, label_of), self.let, strict=True)):
            text = json.dumps(one)
            yield (", " if number else "") + text[:20]
            yield text[20:]
            assert gate.wait(30)
        yield '], "outcome": "full", "suggestions": [], "sources": []}'


@pytest.mark.parametrize("path", ["/api/v1/ask", "/chat/ask"])
def test_claims_come_over_http_before_the_model_has_finished(shelf: Shelf, path: str) -> None:
    slow = Slow()
    with misbehaving(slow) as server, running(workspace(shelf.home, server.url)) as url:
        body = {"question": LEAVE, "person": {"country": "GB"}}
        headers = {"accept": "text/event-stream"}
        with (
            httpx.Client(base_url=url, timeout=30) as client,
            client.stream("POST", path, json=body, headers=headers) as got,
        ):
            lines = got.iter_lines()
            for gate, text in zip(slow.let, (TRUE, EXPIRES, FLOOR), strict=True):
                said = next(
                    json.loads(line[6:])
                    for line in lines
                    if line.startswith("data: ") and '"index"' in line
                )
                assert said["text"] == text
                assert said["citations"][0]["quote"]
                assert not gate.is_set()  # the model is still at it, and waits for us
                gate.set()
            rest = [line for line in lines if line.startswith(("event: ", "data: "))]
    assert [line for line in rest if line.startswith("event: ")] == ["event: answer"]
    answer = json.loads(rest[-1][6:])
    assert [c["text"] for c in answer["claims"]] == [TRUE, EXPIRES, FLOOR]
    assert answer["outcome"] == "full"


def test_who_goes_away_in_the_middle_ends_the_call(shelf: Shelf) -> None:
    slow = Slow()
    with misbehaving(slow) as server:
        opened = workspace(shelf.home, server.url)

        async def one() -> Events:
            told: Events = []
            first = asyncio.Event()

            def tell(name: str, data: dict[str, Any]) -> None:
                told.append((name, data))
                if name == "claim":
                    first.set()

            work = asyncio.create_task(
                asking.ask(opened, Question(text=LEAVE, asker=GB), on_event=tell)
            )
            await asyncio.wait_for(first.wait(), 30)
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
            return told

        assert claims(asyncio.run(one())) == [(0, TRUE)]
        for gate in slow.let:
            gate.set()
        opened.close()


def test_without_a_listener_nothing_is_streamed(shelf: Shelf) -> None:
    with misbehaving(
        lambda asked: streamed(asked, json.dumps(draft(*whole(asked, label_of))))
    ) as server:
        opened = workspace(shelf.home, server.url)
        assert not [asked for asked in server.asked if asked.get("stream")]
        quiet = ask(opened, LEAVE)
        assert [bool(asked.get("stream")) for asked in server.asked] == [False]
        answer, told = heard(opened)
        assert [bool(asked.get("stream")) for asked in server.asked] == [False, True]
        opened.close()
    assert claims(told) == [(0, TRUE), (1, EXPIRES), (2, FLOOR)]
    assert (answer.text, answer.sources) == (quiet.text, quiet.sources)
    assert (
        (answer.trace.tokens_in, answer.trace.tokens_out)
        == (quiet.trace.tokens_in, quiet.trace.tokens_out)
        == (50, 5)
    )


# Proof --------------------------------------------------------------------------------------------


def test_what_fails_its_check_is_never_told_and_a_repair_takes_its_place(shelf: Shelf) -> None:
    def first(prompt: str) -> dict[str, Any]:
        a, b, c = whole(prompt, label)
        return draft(a, claim(FALSE, *b["passages"]), c)

    answer, told = heard(with_model(shelf.workspace, Script(first, draft(claim(EXPIRES))).chat))
    assert claims(told) == [(0, TRUE), (1, FLOOR), (1, EXPIRES), (2, FLOOR)]
    assert [c.text for c in answer.claims] == [TRUE, EXPIRES, FLOOR]
    assert FALSE not in json.dumps(told)


def test_a_first_claim_that_fails_holds_nothing_back(shelf: Shelf) -> None:
    def first(prompt: str) -> dict[str, Any]:
        a, b, _ = whole(prompt, label)
        return draft(claim(FALSE, *a["passages"]), b)

    answer, told = heard(with_model(shelf.workspace, Script(first, first).chat))
    assert claims(told) == [(0, EXPIRES)]
    assert [c.text for c in answer.claims] == [EXPIRES]


def test_events_agree_with_the_answer_they_lead_to(shelf: Shelf) -> None:
    answer, told = heard(
        with_model(shelf.workspace, Script(lambda p: draft(*whole(p, label))).chat)
    )
    last = {data["index"]: data for name, data in told if name == "claim"}
    for place, one in enumerate(answer.claims):
        assert last[place]["text"] == one.text
        cited = [answer.citations[n].model_dump(mode="json") for n in one.citations]
        assert last[place]["citations"] == cited
    assert sorted(last) == list(range(len(answer.claims)))


def test_quotes_are_told_too(shelf: Shelf) -> None:
    answer, told = heard(with_model(shelf.workspace, None))
    assert claims(told) == [(n, c.text) for n, c in enumerate(answer.claims)]


# Broken streams -----------------------------------------------------------------------------------


def cut(asked: dict[str, Any], after: str) -> list[str]:
    """A draft up to some words, in pieces."""
    text = json.dumps(draft(*whole(asked, label_of)))
    end = text.index(after) + len(after)
    return [text[n : min(n + 5, end)] for n in range(0, end, 5)]


def stays(answer: Answer, opened: Workspace, *texts: str) -> None:
    assert [c.text for c in answer.claims] == list(texts)
    assert (answer.outcome, answer.action) == ("partial", "none")
    assert answer.text.endswith(message("answer.broken_off"))
    (said,) = [d for d in answer.trace.degraded if d.startswith("model: it broke off after")]
    assert "Employees in Great Britain" not in said
    check(opened, answer, GB)


@pytest.mark.parametrize("noticed", [True, False])
def test_what_was_proven_stays_when_the_stream_breaks(shelf: Shelf, noticed: bool) -> None:
    with misbehaving(
        lambda asked: broken(asked, cut(asked, "Everywhere employees"), noticed=noticed)
    ) as server:
        opened = workspace(shelf.home, server.url)
        answer, told = heard(opened)
        stays(answer, opened, TRUE, EXPIRES)
        opened.close()
    assert claims(told) == [(0, TRUE), (1, EXPIRES)]
    assert "Everywhere" not in answer.model_dump_json(include={"text", "claims"})


@pytest.mark.parametrize("noticed", [True, False])
@pytest.mark.parametrize("after", ['{"claims', "You have 26", '"passages": ["'])
def test_nothing_proven_leaves_the_quotes(shelf: Shelf, after: str, noticed: bool) -> None:
    with misbehaving(lambda asked: broken(asked, cut(asked, after), noticed=noticed)) as server:
        opened = workspace(shelf.home, server.url)
        answer, told = heard(opened)
        opened.close()
    assert QUOTE in answer.text
    assert message("answer.broken_off") not in answer.text
    assert claims(told) == [(n, c.text) for n, c in enumerate(answer.claims)]
    assert [d for d in answer.trace.degraded if d.startswith("model: ") and "broke off" not in d]


def test_a_stream_that_falls_silent_ends_at_the_deadline(shelf: Shelf) -> None:
    slow = Slow()
    slow.let[0].set()
    with misbehaving(slow) as server:
        opened = workspace(shelf.home, server.url, timeout_seconds=2)
        answer, told = heard(opened)
        stays(answer, opened, TRUE, EXPIRES)
        for gate in slow.let:
            gate.set()
        opened.close()
    assert claims(told) == [(0, TRUE), (1, EXPIRES)]


def test_a_broken_stream_is_asked_for_again(shelf: Shelf) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        if len(server.asked) == 1:
            return broken(asked, cut(asked, "Everywhere employees"))
        return streamed(asked, json.dumps(draft(*whole(asked, label_of))))

    with misbehaving(reply) as server:
        opened = workspace(shelf.home, server.url, retries=1)
        answer, told = heard(opened)
        assert len(server.asked) == 2
        opened.close()
    assert answer.outcome == "full"
    assert claims(told) == [
        (0, TRUE),
        (1, EXPIRES),
        (2, FLOOR),
    ]  # what was told once is not told again
    assert not [d for d in answer.trace.degraded if d.startswith("model")]


def test_another_model_goes_on_from_the_beginning(shelf: Shelf) -> None:
    other = "In Great Britain there are 26 days of annual leave."

    def reply(asked: dict[str, Any]) -> Reply:
        if asked["model"] == "a":
            return broken(asked, cut(asked, "Everywhere employees"))
        return streamed(asked, json.dumps(draft(claim(other, label_of(asked, "26 days")))))

    with misbehaving(reply) as server:
        opened = workspace(shelf.home, server.url, fallbacks=["openai:b"])
        answer, told = heard(opened)
        opened.close()
    assert claims(told) == [(0, TRUE), (1, EXPIRES), (0, other)]
    assert [c.text for c in answer.claims] == [other]
    assert answer.trace.model == "openai:b"
    assert [
        d for d in answer.trace.degraded if d.startswith("compose: `openai:b` answered instead of")
    ]


def test_of_two_that_break_the_one_that_got_further_counts(shelf: Shelf) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        return broken(
            asked, cut(asked, "Everywhere employees" if len(server.asked) == 1 else "Unused")
        )

    with misbehaving(reply) as server:
        opened = workspace(shelf.home, server.url, retries=1)
        stays(heard(opened)[0], opened, TRUE, EXPIRES)
        opened.close()


def test_an_error_in_the_stream_is_a_break(shelf: Shelf) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        status, body, headers = streamed(asked, cut(asked, "Everywhere employees"))
        assert not isinstance(body, bytes)
        lines = [
            line for line in body if b'"finish_reason": "stop"' not in line and b"DONE" not in line
        ]
        error = {"error": {"message": "overloaded: Employees in Great Britain", "code": 503}}
        return status, iter([*lines, b"data: " + json.dumps(error).encode() + b"\n\n"]), headers

    with misbehaving(reply) as server:
        opened = workspace(shelf.home, server.url)
        answer, _ = heard(opened)
        stays(answer, opened, TRUE, EXPIRES)
        opened.close()


def test_a_repair_that_breaks_leaves_the_first_draft(shelf: Shelf) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        a, b, c = whole(asked, label_of)
        if len(server.asked) == 1:
            return streamed(asked, json.dumps(draft(a, claim(FALSE, *b["passages"]), c)))
        return broken(asked, cut(asked, "Unused days"))

    with misbehaving(reply) as server:
        opened = workspace(shelf.home, server.url)
        answer, told = heard(opened)
        opened.close()
    assert [c.text for c in answer.claims] == [TRUE, FLOOR]
    assert answer.outcome == "partial"
    assert claims(told) == [(0, TRUE), (1, FLOOR)]


# Servers that cannot, and noise -------------------------------------------------------------------


@pytest.mark.parametrize("refusal", [(400, b'{"error": {"message": "no streams"}}', {}), None])
def test_a_server_that_knows_no_streams_still_answers(shelf: Shelf, refusal: Reply | None) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        if asked.get("stream") and refusal:
            return refusal
        return ok(completion(asked, json.dumps(draft(*whole(asked, label_of)))))

    with misbehaving(reply) as server:
        opened = workspace(shelf.home, server.url)
        for number in range(1, 6):
            answer, told = heard(opened)
            assert claims(told) == [(0, TRUE), (1, EXPIRES), (2, FLOOR)]
            assert answer.trace.model == "openai:a"
            # After three answers in a row nobody asks it for streams any more.
            assert len(server.asked) == number + min(number, 3)
        opened.close()


def test_usage_that_a_server_does_not_tell_is_not_nothing(shelf: Shelf) -> None:
    with misbehaving(
        lambda a: streamed(a, json.dumps(draft(*whole(a, label_of))), usage=None)
    ) as server:
        opened = workspace(
            shelf.home, server.url, roles={"compose": "openai:gpt-4.1", "verify": "none"}
        )
        trace = heard(opened)[0].trace
        opened.close()
    assert (trace.tokens_in, trace.price) == (0, None)


def test_a_streamed_answer_costs_what_the_server_says(shelf: Shelf) -> None:
    with misbehaving(lambda a: streamed(a, json.dumps(draft(*whole(a, label_of))))) as server:
        opened = workspace(
            shelf.home, server.url, roles={"compose": "openai:gpt-4.1", "verify": "none"}
        )
        trace = heard(opened)[0].trace
        opened.close()
    # gpt-4.1: 2.00 and 8.00 US dollars a million tokens (openai.com/api/pricing, April 2025)
    assert trace.price == pytest.approx((50 * 2 + 5 * 8) / 1e6)


NOISE = {
    "prose": "I am sorry, I cannot help. " * 50,
    "endless": '{"claims": [' + "{" * 50_000,
    "deep": '{"claims": [' + '{"text": [' * 20_000 + "}",
    "a megabyte": '{"claims": [{"text": "' + "x" * 1_000_000 + '", "passages": []}]}',
    "other claims": '{"claims": [{"text": 5}, {"text": "You have 26 days", "passages": ["L1"]}]}',
}


@pytest.mark.parametrize("said", NOISE)
def test_noise_leaves_the_quotes(shelf: Shelf, said: str) -> None:
    text = NOISE[said]
    pieces = [text[n : n + 1000] for n in range(0, len(text), 1000)]
    with misbehaving(lambda asked: streamed(asked, pieces)) as server:
        opened = workspace(shelf.home, server.url)
        answer, told = heard(opened)
        opened.close()
    assert QUOTE in answer.text
    assert claims(told) == [(n, c.text) for n, c in enumerate(answer.claims)]


# Reading a draft ----------------------------------------------------------------------------------


def read(text: str, size: int) -> list[str]:
    reader = ListParser(DraftClaim)
    return [one.text for n in range(0, len(text), size) for one in reader.read(text[n : n + size])]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 10_000])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_draft_is_read_the_same_in_any_pieces(size: int, indent: int | None) -> None:
    texts = [
        'A "quoted" {brace} and a ] bracket.',
        "Tab\tand \\ slash \\\\",
        "日本語 🎉 é",
        '"claims": [{"text": "x"}]',
    ]
    value = {"reasoning": '"claims": [{"text": "no", "passages": []}]'} | draft(
        *(claim(text, "L1") for text in texts)
    )
    assert read(json.dumps(value, indent=indent), size) == texts
    assert read(json.dumps(value, indent=indent, ensure_ascii=False), size) == texts


def test_a_claim_is_given_as_soon_as_its_brace_is_there() -> None:
    reader = ListParser(DraftClaim)
    assert reader.read('```json\n{"claims": [{"text": "One.", "passages": ["L1"]') == []
    assert [one.text for one in reader.read("}")] == ["One."]
    assert reader.read(', {"text": "Two.", "passages": ["L2"], "more": {') == []
    assert [one.text for one in reader.read('}}], "outcome": "full"}')] == ["Two."]
    assert reader.read('"claims": [{"text": "Three.", "passages": []}]') == []


def test_a_list_is_read_up_to_what_is_no_claim() -> None:
    assert read(
        '{"claims": [{"text": "One.", "passages": []}, 5, {"text": "Two.", "passages": []}]}', 1
    ) == ["One."]
    assert read('{"claims": [], "suggestions": [{"text": "x", "passages": []}]}', 1) == []
    assert read('{"claims": "none", "sources": [{"text": "x", "passages": []}]}', 1) == []


def test_an_endless_list_ends() -> None:
    endless = '{"claims": [' + '{"text": "x", "passages": []},' * 500
    assert len(read(endless, 10_000)) == len(read(endless, 100)) == 40


@pytest.mark.parametrize("start", ['{"reasoning": "', '{"claims": [{"text": "'])
def test_what_never_ends_is_not_read_for_ever(start: str) -> None:
    reader = ListParser(DraftClaim)
    for piece in (start, *["}] "] * 100_000, '"}], "claims": [{"text": "x", "passages": []}]'):
        assert reader.read(piece) == []


# Every fault of test_outages, heard ---------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_the_wording_not_the_answer(shelf: Shelf, fault: str) -> None:
    with misbehaving(FAULTS[fault]) as server:
        opened = workspace(shelf.home, server.url)
        answer, told = heard(opened)
        opened.close()
        assert 1 <= len(server.asked) <= 8
    assert QUOTE in answer.text
    assert [d for d in answer.trace.degraded if d.startswith("model: ")]
    assert claims(told) == [(n, c.text) for n, c in enumerate(answer.claims)]
    assert "Employees in Great Britain" not in " ".join(answer.trace.degraded)


def test_no_question_is_lost_while_streams_come_and_go(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        with lock:
            number = next(count)
        text = json.dumps(draft(*whole(asked, label_of)))
        kinds: list[Callable[[], Reply]] = [
            lambda: streamed(asked, text),
            lambda: broken(asked, cut(asked, "Everywhere employees")),
            lambda: broken(asked, cut(asked, '{"claims')),
            lambda: broken(asked, cut(asked, "Unused days"), noticed=False),
            lambda: (503, b"{}", {}),
        ]
        return kinds[number % len(kinds)]()

    # No rest, however many calls in a row fail.
    patient = partial(CallPolicy, breaker_failures=1000)
    monkeypatch.setattr("ombud.models.chat.roles.CallPolicy", patient)
    lock, count = threading.Lock(), itertools.count()
    with misbehaving(reply) as server:
        opened = workspace(shelf.home, server.url, concurrency=4)
        told: list[Events] = [[] for _ in range(20)]

        async def many() -> list[Answer]:
            asked = Question(text=LEAVE, asker=GB)
            return await asyncio.gather(
                *(asking.ask(opened, asked, on_event=lambda *e, t=t: t.append(e)) for t in told)
            )

        answers = asyncio.run(many())
        opened.close()
    assert len(answers) == 20
    for answer, events in zip(answers, told, strict=True):
        assert answer.claims
        last = {data["index"]: data["text"] for name, data in events if name == "claim"}
        assert [last[n] for n in range(len(answer.claims))] == [c.text for c in answer.claims]
    outcomes = {answer.outcome for answer in answers}
    assert outcomes == {"full", "partial"}
