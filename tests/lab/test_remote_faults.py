import json
import socket
import sys
from collections.abc import Callable
from typing import Any

import pytest

from lab.makers import hit
from lab.misbehaving import HANG_UP, LEAVE, Reply, answering, ask, done
from ombud.errors import LabError, OmbudError, Unreachable
from ombud.lab import RemoteTarget
from ombud.types import Observation

ANSWER = {"outcome": "full", "text": "26 days"}


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ombud.lab.runs.connection.WAIT", 0.001)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_target_is_asked_again(status: int) -> None:
    with answering(
        Reply("", status, {"retry-after": "0"}), Reply({}, status), Reply(ANSWER)
    ) as server:
        assert ask(server.url).text == "26 days"
        assert len(server.asked) == 3
        assert server.asked[0][2] == {
            "question": LEAVE.text,
            "plan": {"k": 3},
            "person": {
                "country": "GB",
                "roles": [],
                "groups": [],
                "language": "en",
                "persona": "employee",
            },
            "as_of": None,
            "history": [],
        }


def test_a_target_that_limits_its_rate_is_waited_for_as_long_as_it_says_when() -> None:
    limited = [Reply("", 429, {"retry-after": "0.001"})] * 6
    with answering(*limited, Reply(ANSWER)) as server:
        assert ask(server.url).text == "26 days"
        assert len(server.asked) == 7


@pytest.mark.parametrize("wait", ["soon", "nan", "-1", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_wait_that_is_no_number_of_seconds_is_not_minded(wait: str) -> None:
    with answering(Reply("", 429, {"retry-after": wait}), Reply(ANSWER)) as server:
        assert ask(server.url).text == "26 days"


def test_a_target_that_stays_busy_is_given_up() -> None:
    with answering(Reply({"title": "Busy", "detail": "too many questions"}, 429)) as server:
        with pytest.raises(LabError, match="The target answered 429: too many questions"):
            ask(server.url)
        assert len(server.asked) == 4


def test_a_hung_up_connection_is_tried_again_and_then_said() -> None:
    with answering(HANG_UP, Reply(ANSWER)) as server:
        assert ask(server.url).text == "26 days"
    with answering(HANG_UP) as server:
        with pytest.raises(LabError, match="The target broke off") as wrong:
            ask(server.url)
        assert not isinstance(wrong.value, Unreachable)
        assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply({"detail": "no luck"}, 500), "answered 500: no luck"),
        (Reply("<html>", 500), "answered 500: Internal Server Error"),
        (Reply([1], 500), "answered 500: Internal Server Error"),
        (Reply({"detail": None}, 404), "answered 404: "),
        (Reply('{"detail": "half \\ud800"}', 400), r"answered 400: half \?"),
        (Reply("[" * 100_000, 500), "answered 500: Internal"),
        (Reply("", 301, {"location": "https://x/"}), "answered 301: it has moved to https://x/"),
        (Reply(""), "sent no JSON: ''"),
        (Reply("<html>"), "sent no JSON: '<html>'"),
        (Reply(b"\xff\xfe"), "sent no JSON"),
        (Reply("[" * 100_000), "sent no JSON"),
        (Reply("9" * 5000), "sent no JSON"),
        (Reply(b"zzz", headers={"content-encoding": "gzip"}), "broke off"),
        (Reply([ANSWER]), "sent no Answer: it: "),
        (Reply({"outcome": "full"}), "sent no Answer: text: field required"),
        (Reply(ANSWER | {"outcome": "maybe"}), "sent no Answer: outcome: "),
        (Reply(ANSWER | {"mood": "good"}), "sent no Answer: mood: extra inputs"),
        (Reply('{"outcome": "full", "text": "half \\ud800"}'), "half a character"),
    ],
)
def test_an_answer_that_is_none_is_a_failure_of_the_case_and_can_be_stored(
    reply: Reply, said: str
) -> None:
    with answering(reply) as server, pytest.raises(OmbudError, match=said) as wrong:
        ask(server.url)
    assert type(wrong.value) is LabError
    Observation.model_validate_json(
        json.dumps({"case": {"id": "c", "question": "q"}, "error": str(wrong.value)})
    )


@pytest.mark.parametrize("depth", range(sys.getrecursionlimit() - 120, sys.getrecursionlimit(), 7))
def test_json_as_deep_as_it_can_be_read_is_refused_like_any_other(depth: int) -> None:
    with (
        answering(Reply("[" * depth + "]" * depth)) as server,
        pytest.raises(LabError, match="sent no"),
    ):
        ask(server.url)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([], "no list of hits"),
        ({"hits": {}}, "no list of hits"),
        ({"hits": [1]}, "a hit that is no object"),
        ({"hits": [{"score": 1.0}]}, "no Hit: chunk.id: field required"),
        ({"hits": [{"score": None}]}, "no Hit"),
        ({"hits": [], "trace": None}, "no Trace"),
    ],
)
def test_search_results_of_another_shape(body: Any, said: str) -> None:
    with answering(Reply(body)) as server:
        target = RemoteTarget(server.url)
        with pytest.raises(LabError, match=said):
            done(target, lambda: target.search(LEAVE, {}))


def test_a_target_that_hides_its_trace_still_finds() -> None:
    chunk = hit("26 days").chunk.model_dump(
        mode="json", exclude={"effective_from", "effective_to", "status"}
    )
    row = {"chunk_id": chunk.pop("id"), "score": 0.5, "scope": "local", **chunk}
    with answering(Reply({"hits": [row]})) as server:
        target = RemoteTarget(server.url)
        found, trace = done(target, lambda: target.search(LEAVE, {}))
    assert [one.chunk.text for one in found] == ["26 days"]
    assert trace.rankings == ()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{", "no JSON"),
        ([1], "no description of itself"),
        ('{"plan": "\\ud800"}', "half a character"),
    ],
)
def test_descriptions_that_cannot_be_kept(body: Any, said: str) -> None:
    with answering(Reply(body)) as server, pytest.raises(LabError, match=said):
        RemoteTarget(server.url).describe()


def test_passages_that_break_off_or_are_none() -> None:
    line = json.dumps(hit("a").chunk.model_dump(mode="json")) + "\n"
    with answering(Reply(line + "\r\n\n" + line.strip())) as server:
        assert [one.text for one in RemoteTarget(server.url).passages()] == ["a", "a"]
    with answering(Reply(line, cut=True)) as server, pytest.raises(Unreachable):
        list(RemoteTarget(server.url).passages())
    with (
        answering(Reply(line + "{}\n")) as server,
        pytest.raises(LabError, match="no Chunk: id: field required"),
    ):
        list(RemoteTarget(server.url).passages())
    with (
        answering(Reply({"detail": "not for you"}, 403)) as server,
        pytest.raises(LabError, match="not for you"),
    ):
        list(RemoteTarget(server.url).passages())


def test_texts_are_made_of_passages_that_fit_and_of_nothing_else() -> None:
    parts = [
        hit("bc", start=1),
        hit("f", start=5),
        hit("no", start=10, end=10**12),
        hit("no", start=-1, end=1),
    ]
    lines = "".join(json.dumps(part.chunk.model_dump(mode="json")) + "\n" for part in parts)
    with answering(Reply(lines)) as server:
        target = RemoteTarget(server.url)
        assert target.text_of("hr/leave.md", "d1") == " bc  f"
        assert target.text_of("hr/leave.md", "d2") is None
        assert len(server.asked) == 1


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def test_a_target_that_is_down_is_unreachable_in_every_way(closed_port: int) -> None:
    target = RemoteTarget(f"http://127.0.0.1:{closed_port}")
    ways: list[Callable[[], Any]] = [
        lambda: ask(target.name),
        lambda: done(target, lambda: target.search(LEAVE, {})),
        target.describe,
        lambda: list(target.passages()),
        lambda: target.text_of("d", "1"),
    ]
    for way in ways:
        with pytest.raises(
            Unreachable, match=f"127.0.0.1:{closed_port} cannot be reached"
        ) as wrong:
            way()
        assert wrong.value.retryable


def test_a_host_that_lets_nobody_in_is_unreachable_and_not_slow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ombud.lab.runs.connection.CONNECT_SECONDS", 0.05)
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)  # room for one that waits; everyone after it is not answered at all
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        with pytest.raises(Unreachable):
            ask(f"http://127.0.0.1:{full.getsockname()[1]}")


def test_an_answer_that_takes_too_long_fails_its_case_only() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(LabError, match="no answer in time") as wrong:
            ask(f"http://127.0.0.1:{silent.getsockname()[1]}", seconds=0.05)
    assert not isinstance(wrong.value, Unreachable)
