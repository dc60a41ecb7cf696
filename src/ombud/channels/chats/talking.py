"""What people can do in a chat: ask, choose, rate, and talk to a person."""

import asyncio
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, cast, get_args

from ombud.app import Workspace, asking, conversing
from ombud.channels.chats.address import Address, Platform, Post
from ombud.channels.chats.cards import Card, card_of
from ombud.channels.chats.groups import Reason, Undisclosed, current_asker, shared_reader
from ombud.channels.openai.shapes import LONGEST_QUESTION
from ombud.channels.places import AskingPlaces
from ombud.errors import BadRequest, NotAllowed, NotFound
from ombud.messages import message
from ombud.types import Answer, Event, HandoffReason, Person, Question, Session

IDLE = timedelta(hours=4)
"""Silence after which a message begins a new conversation. A direct chat never ends by itself, and
old messages would be misread as history."""


class Writer(NamedTuple):
    """The person who writes, and the secret that owns their conversations."""

    person: Person
    secret: str


class Click(NamedTuple):
    """A button of one of our cards that somebody chose."""

    kind: str
    data: Mapping[str, Any]
    id: str
    """Of the platform; the same once more is the same click."""


class Talks:
    """The conversations of one chat."""

    def __init__(self, workspace: Workspace, places: AskingPlaces, platform: Platform) -> None:
        """places: limits concurrent questions."""
        self._workspace = workspace
        self._places = places
        self._platform = platform
        self._storing = asyncio.Lock()
        """Two messages at once do not begin two conversations."""

    async def receive(
        self, writer: Writer, address: Address, text: str, message_id: str
    ) -> str | None:
        """Store a message, to be answered soon. Returns what to reply at once, if anything.
        message_id: of the platform; the same once more is the same message."""
        text = text.strip()
        if not text:
            raise BadRequest(message("channels.words_only"))
        if len(text) > LONGEST_QUESTION:
            raise BadRequest(message("channels.too_long", count=LONGEST_QUESTION))
        if text.casefold() in {"new", "/new"} and not address.is_group:
            await asyncio.to_thread(self._begin_anew, writer, address)
            return message("chat.hello")
        async with self._storing:
            await asyncio.to_thread(self._store, writer, address, text, message_id)
        return None

    def _store(self, writer: Writer, address: Address, text: str, message_id: str) -> None:
        name = self._platform.name
        # Of the message alone: it must be found again if its conversation has changed meanwhile.
        key = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{name}:{address.channel}:{message_id}"))
        own = self._open_conversations(writer)
        if conversing.has_message(self._workspace, own, key):
            return
        session = self._conversation(writer, address, own, first_key=key)
        conversing.write(self._workspace, session.id, text, key, name)

    def _conversation(
        self, writer: Writer, address: Address, own: list[Session], *, first_key: str = ""
    ) -> Session:
        """Return the writer's conversation at an address, or a new one. first_key: of the message
        that begins it, so that no two processes begin one for the same message."""
        for session in own:
            stored = Address.of(session)
            same_place = (stored.channel, stored.is_group) == (address.channel, address.is_group)
            if not same_place or not self._continues(session, stored, address):
                continue
            if stored.reference == address.reference:
                return session
            moved = stored.model_copy(update={"reference": address.reference})
            return self._reach(session.id, moved)
        return conversing.begin_elsewhere(
            self._workspace,
            writer.person,
            writer.secret,
            self._platform.name,
            address.model_dump_json(exclude_defaults=True),
            identity=first_key,
        )

    def _continues(self, session: Session, stored: Address, address: Address) -> bool:
        """Tell whether a message at an address belongs to a conversation in the same chat."""
        if address.thread:
            return stored.thread == address.thread
        # Whatever is written beside the thread goes to the person as well.
        return session.is_handed_over or (not stored.thread and not self._is_over(session))

    def _open_conversations(self, writer: Writer) -> list[Session]:
        return conversing.open_in_channel(self._workspace, writer.secret, self._platform.name)

    def _is_over(self, session: Session) -> bool:
        _, last = conversing.events_after(self._workspace, session.id, 0)
        return bool(last) and datetime.now(UTC) - last[-1].at > IDLE

    def _reach(self, conversation_id: str, address: Address) -> Session:
        text = address.model_dump_json(exclude_defaults=True)
        return conversing.reach_at(self._workspace, conversation_id, self._platform.name, text)

    def _begin_anew(self, writer: Writer, address: Address) -> None:
        for session in self._open_conversations(writer):
            if Address.of(session).channel == address.channel:
                conversing.close(self._workspace, session.id)

    # Answering --------------------------------------------------------------------------------

    async def answer(self, session: Session, question: Event) -> Answer:
        """Answer a stored question. In a group only what everybody there may read is used; where
        that does not answer, the conversation becomes private first."""
        asker = await asyncio.to_thread(current_asker, self._workspace, session.asker)
        if asker is None:
            raise NotAllowed(message("channels.account_closed"))
        own = asker
        address = Address.of(session)
        fall_back = None
        if address.is_shared:
            try:
                asker = shared_reader(await self._platform.members(address), own)
                fall_back = partial(self._answer_privately, session.id, address, "reading", own)
            except Undisclosed as unknown:
                await self._answer_privately(session.id, address, unknown.reason, own)
        async with self._places.of(own.id or session.id):
            return await asking.ask(
                self._workspace,
                Question(text=question.text, asker=asker),
                conversation_id=session.id,
                message_key=question.key,
                fall_back=fall_back,
            )

    async def _answer_privately(
        self, conversation_id: str, address: Address, reason: Reason, own: Person
    ) -> Person:
        private = address.model_copy(update={"private": reason})
        await asyncio.to_thread(self._reach, conversation_id, private)
        return own

    def card(self, post: Post) -> Card:
        settings = self._workspace.settings
        return card_of(
            post,
            settings.server.public_url,
            has_desk=settings.has_desk,
            knows_people=settings.identity.kind != "none",
        )

    async def choose(
        self, writer: Writer, address: Address, data: Mapping[str, Any], message_id: str
    ) -> None:
        """Ask a suggested question, where the answer stands that suggests it."""
        session = await asyncio.to_thread(self._own_conversation, writer, data)
        if session is not None:
            address = Address.of(session)
        await self.receive(writer, address, str(data.get("text") or ""), message_id)

    # Buttons ----------------------------------------------------------------------------------

    async def click(self, writer: Writer, address: Address, click: Click) -> str:
        """Do what a button of a card says. Returns what to reply at once, if anything."""
        match click.kind:
            case "ask":
                await self.choose(writer, address, click.data, click.id)
            case "person":
                return await self.hand_over(writer, address, click.data)
            case "take_back":
                await self.take_back(writer, address)
            case "rate":
                return await self.rate(writer, click.data)
        return ""

    async def hand_over(self, writer: Writer, address: Address, data: Mapping[str, Any]) -> str:
        """Ask for a person, in the direct chat with the writer. Returns what to reply at once."""
        target = await self._platform.direct(address) if address.is_group else address

        def ask() -> None:
            session = self._own_conversation(writer, data)
            if session is None:
                session = self._conversation(writer, target, self._open_conversations(writer))
            if session.is_handed_over:
                return
            if Address.of(session) != target:
                self._reach(session.id, target)
            topic = str(data.get("topic") or "")[:100]
            conversing.hand_over(self._workspace, session.id, handoff_reason(data), topic)

        await asyncio.to_thread(ask)
        return message("channels.directly") if address.is_group else ""

    def _own_conversation(self, writer: Writer, data: Mapping[str, Any]) -> Session | None:
        """Return the conversation of a button if it is the writer's own and still open."""
        try:
            answer = asking.stored_answer(self._workspace, str(data.get("answer") or "")[:64])
            identity = answer.conversation_id or ""
            conversing.check_owner(self._workspace, identity, writer.secret)
            session, _ = conversing.events_after(self._workspace, identity, 0)
        except NotFound:
            return None
        return None if session.state == "closed" else session

    async def take_back(self, writer: Writer, address: Address) -> None:
        """End the writer's request for a person in a chat."""

        def end() -> None:
            for session in self._open_conversations(writer):
                if session.is_handed_over and Address.of(session).channel == address.channel:
                    conversing.take_back(self._workspace, session.id)

        await asyncio.to_thread(end)

    async def rate(self, writer: Writer, data: Mapping[str, Any]) -> str:
        """Rate an answer, with a comment if there is one. Returns what to reply at once."""
        if data.get("thumb") not in (1, -1):
            raise BadRequest("A rating is a thumb up or down.")
        comment = str(data.get("comment") or "")[:2000]
        rate = partial(conversing.rate, self._workspace, thumb=data["thumb"], comment=comment)
        answer = str(data.get("answer") or "")[:64]
        await asyncio.to_thread(rate, answer_id=answer, secret=writer.secret)
        return message("thread.thanks")


def handoff_reason(data: Mapping[str, Any]) -> HandoffReason:
    for reason in get_args(HandoffReason):
        if data.get("reason") == reason:
            return cast(HandoffReason, reason)
    return "asked"
