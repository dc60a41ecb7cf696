"""What the entries of a Matrix room tell, and what strangers may write into them."""

from typing import Any

import pytest

from ombud.errors import BadSetting
from ombud.handoff.desks.desk import DeskEvent
from ombud.handoff.desks.opening import open_desk
from ombud.settings import HandoffSettings
from ombud_matrix.homeserver import RoomEntry
from ombud_matrix.timeline import RoomReader, spoken

BOT, ANA = "@bot:example.org", "@ana:example.org"
ROOM = {
    "url": "https://matrix.example.org",
    "advisors": (ANA,),
    "token_env": "TEST_MATRIX_TOKEN",
}


def told(*entries: dict[str, Any]) -> list[DeskEvent]:
    reader = RoomReader(BOT)
    return [event for entry in entries for event in reader.read(RoomEntry.model_validate(entry))]


def written(content: dict[str, Any], sender: str = ANA) -> dict[str, Any]:
    return {"type": "m.room.message", "sender": sender, "event_id": "$1", "content": content}


def member(membership: Any, user: str = ANA, **content: Any) -> dict[str, Any]:
    return {
        "type": "m.room.member",
        "sender": user,
        "state_key": user,
        "event_id": f"${membership}",
        "content": {"membership": membership, **content},
    }


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"msgtype": "m.text"},
        {"msgtype": "m.text", "body": 5},
        {"msgtype": "m.text", "body": "  "},
        {"msgtype": ["m.text"], "body": "Hello"},
    ],
)
def test_what_says_nothing_is_passed_over(content: dict[str, Any]) -> None:
    assert told(written(content)) == []
    assert told(written(content, sender=BOT)) == []


def test_nothing_that_an_advisor_sends_vanishes() -> None:
    other = {"type": "m.sticker", "sender": ANA, "event_id": "$2", "content": {"body": "Hi"}}
    caption = {"msgtype": "m.image", "body": "My desk", "filename": "desk.png", "url": "mxc://a/b"}
    events = told(
        written({"msgtype": "m.notice", "body": "The bridge is up."}),
        written({"msgtype": "org.example.new", "body": "Hello"}),
        written({"msgtype": "m.file", "body": "payslip.pdf", "url": "mxc://a/b"}),
        written(caption),
        other,
    )
    seen = [
        (event.kind, event.text, [(link.kind, link.name, link.url) for link in event.links])
        for event in events
    ]
    assert seen == [
        ("notice", "The bridge is up.", []),
        ("message", "Hello", []),
        ("message", "", [("file", "payslip.pdf", "")]),
        ("message", "My desk", [("file", "desk.png", "")]),
        ("message", "", [("other", "", "")]),
    ]


def test_an_id_of_ours_counts_only_from_us() -> None:
    content = {"msgtype": "m.text", "body": "I am the bot.", "org.ombud.id": "our-id"}
    assert [event.kind for event in told(written(content))] == ["message"]
    echo = told(written(content, sender=BOT))
    assert [(event.kind, event.entry_id) for event in echo] == [("echo", "our-id")]
    assert told(written(content | {"org.ombud.id": {}}, sender=BOT)) == []


def test_an_answer_is_told_without_what_it_quotes() -> None:
    content: dict[str, Any] = {
        "msgtype": "m.text",
        "body": "> <@bot:example.org> How long?\n> In days.\n\nTwenty six.",
    }
    assert spoken(content).startswith("> <@bot")
    content["m.relates_to"] = {"m.in_reply_to": {"event_id": "$0"}}
    assert spoken(content) == "Twenty six."
    content["m.relates_to"] = "nonsense"
    assert spoken(content).startswith("> <@bot")


def test_entries_of_other_kinds_are_passed_over() -> None:
    other = {"type": "m.room.pinned_events", "sender": ANA, "state_key": "", "content": {}}
    assert told(other, {"type": "m.room.member", "sender": ANA}, {"type": "com.example.x"}) == []


def test_a_new_name_or_picture_is_no_arrival() -> None:
    events = told(
        member("join", displayname="Ana"),
        member("join", displayname="Ana López"),
        written({"msgtype": "m.text", "body": "Hello"}),
    )
    assert [(event.kind, event.name) for event in events] == [
        ("joined", "Ana"),
        ("message", "Ana López"),
    ]


def test_members_may_be_nonsense() -> None:
    events = told(member(["join"]), member("join", displayname={"en": "Ana"}), member("ban"))
    assert [(event.kind, event.name) for event in events] == [
        ("joined", "ana"),
        ("left", "ana"),
        ("ended", "ana"),
    ]
    assert len({event.entry_id for event in events}) == len(events)


def test_it_is_over_when_we_are_sent_out() -> None:
    events = told(member("join", user=BOT), member("join"), member("leave", user=BOT))
    assert [event.kind for event in events] == ["joined", "ended"]


def test_a_word_that_begins_like_the_one_that_closes_is_a_word() -> None:
    events = told(
        written({"msgtype": "m.text", "body": "!closed"}),
        written({"msgtype": "m.text", "body": "Write !close when done."}),
        written({"msgtype": "m.text", "body": "!Close\nsettled by phone"}),
    )
    assert [event.kind for event in events] == ["message", "message", "ended"]
    assert events[-1].text == "settled by phone"


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("m.receipt", {"$1": 3, "$2": {"m.read": [ANA]}, "$3": {"m.read.private": {ANA: {}}}}),
        ("m.receipt", {"$1": {"m.read": {BOT: {"ts": 1}}}}),
        ("m.presence", {"user_ids": [ANA]}),
    ],
)
def test_what_passes_may_be_nonsense(kind: str, content: dict[str, Any]) -> None:
    entry = RoomEntry(type=kind, content=content)
    assert list(RoomReader(BOT).passing(entry)) == []


def test_who_typed_before_we_looked_types_no_more() -> None:
    reader = RoomReader(BOT)
    nobody = RoomEntry(type="m.typing", content={"user_ids": "nonsense"})
    assert [event.is_typing for event in reader.passing(nobody)] == [False]
    assert list(reader.passing(nobody)) == []


@pytest.mark.parametrize(
    ("changed", "hint"),
    [
        ({"url": ""}, "handoff.matrix.url"),
        ({"url": "matrix.example.org"}, "handoff.matrix.url"),
        ({"advisors": ()}, "handoff.matrix.advisors"),
        ({"advisors": (ANA, "ana")}, "@ana:example.org"),
        ({"token_env": "TEST_NOT_THERE"}, "TEST_NOT_THERE"),
        ({"adviser": (ANA,)}, "url, token_env, advisors"),
    ],
)
def test_settings_that_no_room_can_be_made_with(
    changed: dict[str, Any], hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_MATRIX_TOKEN", "secret")
    settings = HandoffSettings.model_validate({"desk": "matrix", "matrix": ROOM | changed})
    with pytest.raises(BadSetting) as wrong:
        open_desk(settings)
    assert hint in wrong.value.hint


def test_who_reads_what_came_later_has_read_ours() -> None:
    reader = RoomReader(BOT)
    ours = {"msgtype": "m.text", "body": "Hello", "org.ombud.id": "our-id"}
    for number, content in enumerate(({"msgtype": "m.text", "body": "Hi"}, ours, {}), start=1):
        sender = BOT if content is ours else ANA
        entry = written(content, sender) | {"event_id": f"${number}"}
        list(reader.read(RoomEntry.model_validate(entry)))
    receipts: dict[str, Any] = {f"${number}": {"m.read": {ANA: {}}} for number in (1, 3, 4)}
    read = RoomEntry(type="m.receipt", content=receipts)
    assert reader.unplaced(read) == ["$1", "$4"]
    assert [event.entry_id for event in reader.passing(read)] == ["our-id"]
    reader.place("$4", "a-later-id")
    assert [event.entry_id for event in reader.passing(read)] == ["our-id", "a-later-id"]
