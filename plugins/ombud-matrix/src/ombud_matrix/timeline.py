"""From the entries of a room to what a desk tells: who came and went, and what was said."""

from collections.abc import Iterable, Iterator
from typing import Any

from ombud.handoff.desks.desk import DeskEvent, DeskLink
from ombud_matrix.homeserver import RoomEntry

OUR_ID = "org.ombud.id"
"""Key of a message's content: the id that it has with us. Transaction ids are forgotten by
homeservers, and tell only whoever has the same token."""
CLOSE = "!close"
"""What an advisor writes to give the conversation back; what follows it is why."""
NOTICE = "m.notice"
"""A message of a program."""
FILES = {"m.image", "m.file", "m.audio", "m.video"}
"""Only who is in the room can open them, so that just their names are passed on."""
UNSHOWN = {
    "m.room.encrypted",
    "m.sticker",
    "m.poll.start",
    "org.matrix.msc3381.poll.start",
}
"""What people send that is no message."""


class RoomReader:
    """Reads the entries of one room, in their order.

    It is told first who is in the room where reading begins (`seat`), so that the same entries
    read again tell the same."""

    def __init__(self, account: str) -> None:
        self.account = account
        """Our own user."""
        self._names: dict[str, str] = {}
        self._memberships: dict[str, str] = {}
        self._typing: set[str] | None = None
        self._our_last = ""
        self._read_with: dict[str, str] = {}
        """Entry -> our id of the last message of ours up to there: who has read the one has read
        the other."""

    def seat(self, members: Iterable[RoomEntry]) -> None:
        for member in members:
            self._remember(member)

    def read(self, entry: RoomEntry) -> Iterator[DeskEvent]:
        """What an entry of the timeline tells: nothing, one thing, or that somebody left and with
        that the end."""
        if entry.sender == self.account:
            self._our_last = our_id(entry) or self._our_last
        self._read_with[entry.event_id] = self._our_last
        if entry.type == "m.room.message":
            yield from self._message(entry)
        elif entry.type in UNSHOWN and entry.sender != self.account:
            links = (DeskLink(kind="other"),)
            name = self._name(entry.sender)
            yield DeskEvent(kind="message", entry_id=entry.event_id, name=name, links=links)
        elif entry.type == "m.room.member" and entry.state_key:
            yield from self._member(entry)

    def unplaced(self, entry: RoomEntry) -> list[str]:
        """Entries that others have read, of which is not known what of ours came before them."""
        if entry.type != "m.receipt":
            return []
        return [
            event_id
            for event_id, readers in self._receipts(entry.content)
            if readers and not self._read_with.get(event_id)
        ]

    def place(self, event_id: str, our_last: str) -> None:
        """Our last message up to an entry, by our id; empty where there is none."""
        self._read_with[event_id] = our_last

    def passing(self, entry: RoomEntry) -> Iterator[DeskEvent]:
        """What something tells that is not kept in the room: who types, who has read."""
        if entry.type == "m.typing":
            yield from self._type(entry.content.get("user_ids"))
        elif entry.type == "m.receipt":
            for event_id, readers in self._receipts(entry.content):
                read = self._read_with.get(event_id, "")
                for user in readers if read else ():
                    yield DeskEvent(kind="read", entry_id=read, name=self._name(user))

    def _message(self, entry: RoomEntry) -> Iterator[DeskEvent]:
        content = entry.content
        if entry.sender == self.account:
            if our_id(entry):
                yield DeskEvent(kind="echo", entry_id=our_id(entry))
            return
        text, links = spoken(content), shared(content)
        if not text and not links:
            return
        name = self._name(entry.sender)
        word, *reason = text.split(maxsplit=1) or [""]
        if word.lower() == CLOSE:
            why = "".join(reason)
            yield DeskEvent(kind="ended", entry_id=entry.event_id, text=why, name=name)
            return
        kind = "notice" if _text(content, "msgtype") == NOTICE else "message"
        yield DeskEvent(kind=kind, entry_id=entry.event_id, text=text, name=name, links=links)

    def _member(self, entry: RoomEntry) -> Iterator[DeskEvent]:
        user = entry.state_key or ""
        name_before = self._name(user)
        before = self._memberships.get(user, "")
        self._remember(entry)
        came = before != "join" and self._memberships[user] == "join"
        went = before == "join" and self._memberships[user] != "join"
        if user == self.account:
            if went:
                yield DeskEvent(kind="ended", entry_id=entry.event_id)
        elif came:
            yield DeskEvent(kind="joined", entry_id=entry.event_id, name=self._name(user))
        elif went:
            yield from self._left(entry.event_id, name_before)
        elif before == "invite" and not self._advisors({"join", "invite"}):
            text = "Every advisor has declined."
            yield DeskEvent(kind="failed", entry_id=entry.event_id, text=text)

    def _left(self, entry_id: str, name: str) -> Iterator[DeskEvent]:
        yield DeskEvent(kind="left", entry_id=entry_id, name=name)
        if not self._advisors({"join"}):
            yield DeskEvent(kind="ended", entry_id=f"{entry_id}/ended", name=name)

    def _type(self, user_ids: Any) -> Iterator[DeskEvent]:
        listed = user_ids if isinstance(user_ids, list) else []
        typing = {user for user in listed if isinstance(user, str)} - {self.account}
        if self._typing is None and not typing:
            # Whoever typed before we looked does so no more.
            yield DeskEvent(kind="typing")
        before = self._typing or set()
        for user in sorted(before - typing):
            yield DeskEvent(kind="typing", name=self._name(user))
        for user in sorted(typing - before):
            yield DeskEvent(kind="typing", name=self._name(user), is_typing=True)
        self._typing = typing

    def _receipts(self, content: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
        """{entry: {"m.read": {user: {"ts": …}}}} -> entry and others who have read it."""
        for event_id, receipts in content.items():
            readers = receipts.get("m.read") if isinstance(receipts, dict) else None
            if isinstance(readers, dict):
                yield event_id, sorted(set(readers) - {self.account})

    def _remember(self, member: RoomEntry) -> None:
        user = member.state_key or ""
        self._memberships[user] = _text(member.content, "membership")
        name = _text(member.content, "displayname")
        if name:
            self._names[user] = name

    def _advisors(self, memberships: set[str]) -> list[str]:
        return [
            user
            for user, membership in self._memberships.items()
            if membership in memberships and user != self.account
        ]

    def _name(self, user: str) -> str:
        """As the room shows it; without one, what stands before the server: `ana` of
        @ana:example.org."""
        return self._names.get(user) or user.removeprefix("@").partition(":")[0]


def our_id(entry: RoomEntry) -> str:
    """The id that a message of ours has with us; empty where it has none."""
    return _text(entry.content, OUR_ID)


def spoken(content: dict[str, Any]) -> str:
    """The words of a message, of a file those beside it; empty where it has none, as after it was
    redacted. Of kinds that are not known, the words for clients that do not know them.

    Of an answer to an earlier message, without the quotation that older clients put before it:
    https://spec.matrix.org/v1.12/client-server-api/#fallbacks-for-rich-replies"""
    kind, body = _text(content, "msgtype"), _text(content, "body")
    if not kind or (kind in FILES and _text(content, "filename") in {"", body}):
        return ""
    relation = content.get("m.relates_to")
    if not isinstance(relation, dict) or "m.in_reply_to" not in relation:
        return body
    lines = body.split("\n")
    while lines and lines[0].startswith("> "):
        lines.pop(0)
    return "\n".join(lines).strip()


def shared(content: dict[str, Any]) -> tuple[DeskLink, ...]:
    """Name the file of a message that brings one."""
    if _text(content, "msgtype") not in FILES:
        return ()
    return (DeskLink(name=_text(content, "filename") or _text(content, "body")),)


def _text(content: dict[str, Any], key: str) -> str:
    """Empty where nothing, or no text, stands there."""
    value = content.get(key)
    return value.strip() if isinstance(value, str) else ""
