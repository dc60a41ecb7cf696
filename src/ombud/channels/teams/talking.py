"""What the bot does with what people write and click in Teams."""

import asyncio
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, cast, get_args

from microsoft_agents.activity import Activity, ActivityTypes, Attachment, ConversationReference
from microsoft_agents.hosting.core import Agent, TurnContext

from ombud.app import Workspace, asking, callers, conversing, provider
from ombud.channels.openai.shapes import LONGEST_QUESTION
from ombud.channels.places import AskingPlaces
from ombud.channels.teams.cards import Element, answer_card, notice_card
from ombud.errors import BadRequest, OmbudError
from ombud.types import HandoffReason, Person, Question, Session

CHANNEL = "teams"
CARD = "application/vnd.microsoft.card.adaptive"
IDLE = timedelta(hours=4)
"""After such a silence a message begins a new conversation: a chat in Teams never ends by itself,
and what was said in the morning is no history of the afternoon."""
HELLO = (
    "Ask me about the policies of {name}. I answer from its documents, with the passages that "
    "prove it. Write “new” to begin another subject."
)
PERSONAL = "Write to me in a chat of our own: what you ask concerns nobody else here."
SIGN_IN = "I do not know yet which rules apply to you. Sign in once, then write to me again."
QUEUED = (
    "You are in the queue. Whoever takes over writes to you here, and sees what was said before."
)
WORDS_ONLY = "I read words only: write your question, without pictures or files."
TOO_LONG = f"A question may have at most {LONGEST_QUESTION:,} characters."
THANKS = "Thank you. Noted."


class _Writer:
    """Who writes, and how they are reached."""

    def __init__(self, person: Person, secret: str, address: str) -> None:
        self.person = person
        self.secret = secret
        self.address = address


class TeamsAgent(Agent):
    def __init__(self, workspace: Workspace, places: AskingPlaces) -> None:
        """places: for questions that are answered at the same time."""
        self._workspace = workspace
        self._places = places

    async def on_turn(self, context: TurnContext) -> None:
        activity = context.activity
        if activity.type == ActivityTypes.conversation_update:
            if _has_joined(activity):
                name = self._workspace.settings.general.name or "your organisation"
                await _show(context, notice_card(HELLO.format(name=name)))
        elif activity.type == ActivityTypes.message:
            await self._heard(context)

    async def _heard(self, context: TurnContext) -> None:
        activity = context.activity
        if (activity.conversation.conversation_type or "personal") != "personal":
            await _show(context, notice_card(PERSONAL))
            return
        writer = await asyncio.to_thread(self._writer, activity)
        if writer is None:
            url = self._workspace.settings.server.public_url
            await _show(context, notice_card(SIGN_IN, link=("Sign in", f"{url}/login")))
            return
        try:
            if isinstance(activity.value, dict):
                await self._clicked(context, writer, activity.value)
            else:
                await self._said(context, writer)
        except OmbudError as refused:
            said = f"{refused} {refused.hint}" if refused.hint else str(refused)
            await _show(context, notice_card(said, person=self._has_desk))

    # Who --------------------------------------------------------------------------------------

    def _writer(self, activity: Activity) -> _Writer | None:
        """None where it is not known who writes. Only Teams itself is believed about that."""
        address = activity.get_conversation_reference().model_dump_json(
            by_alias=True, exclude_none=True
        )
        language = (activity.locale or "en").partition("-")[0].lower()
        if self._workspace.settings.identity.kind == "none":
            person = Person(id=f"teams:{activity.from_property.id}", language=language)
            return _Writer(person, f"teams:{activity.from_property.id}", address)
        named = activity.from_property.aad_object_id
        if activity.channel_id != "msteams" or not named:
            return None
        account = provider.account_named(self._workspace, named)
        if account is None or "ask" not in callers.rights_of(account):
            return None
        person = account.person.model_copy(update={"language": language})
        return _Writer(person, f"account:{account.id}", address)

    def _conversation(self, writer: _Writer) -> Session:
        """Theirs, or a new one after a silence."""
        workspace = self._workspace
        stands = conversing.latest(workspace, writer.secret, CHANNEL)
        if stands is None or self._is_over(stands):
            return conversing.begin_elsewhere(
                workspace, writer.person, writer.secret, CHANNEL, writer.address
            )
        return conversing.reach_at(workspace, stands.id, CHANNEL, writer.address)

    def _is_over(self, stands: Session) -> bool:
        if stands.state in {"queued", "live"}:
            return False
        _, last = conversing.events_after(self._workspace, stands.id, stands.last - 1)
        return bool(last) and datetime.now(UTC) - last[-1].at > IDLE

    # What -------------------------------------------------------------------------------------

    async def _said(self, context: TurnContext, writer: _Writer) -> None:
        activity = context.activity
        text = activity.remove_recipient_mention() or activity.text or ""
        text = text.strip()
        if not text:
            raise BadRequest(WORDS_ONLY)
        if len(text) > LONGEST_QUESTION:
            raise BadRequest(TOO_LONG)
        if text.casefold() in {"new", "/new"}:
            await self._begin_anew(context, writer)
            return
        stands = await asyncio.to_thread(self._conversation, writer)
        key = str(uuid.uuid5(uuid.NAMESPACE_URL, f"teams:{stands.id}:{activity.id}"))
        if stands.state == "live":
            await asyncio.to_thread(conversing.say, self._workspace, stands.id, text, key)
            return
        await context.send_activity(Activity(type=ActivityTypes.typing))
        question = Question(text=text, asker=writer.person)
        async with self._places.of(writer.person.id or stands.id):
            answer = await asking.ask(
                self._workspace, question, conversation_id=stands.id, message_key=key
            )
        base = self._workspace.settings.server.public_url
        offered = self._has_desk and stands.state != "queued"
        await _show(context, answer_card(answer, writer.person, base, offered))

    async def _clicked(self, context: TurnContext, writer: _Writer, value: dict[str, Any]) -> None:
        wanted = value.get("ombud")
        if wanted == "person":
            stands = await asyncio.to_thread(self._conversation, writer)
            if stands.state not in {"queued", "live"}:
                topic = str(value.get("topic") or "")[:100]
                await asyncio.to_thread(
                    conversing.hand_over, self._workspace, stands.id, _reason(value), topic
                )
            await _show(context, notice_card(QUEUED))
        elif wanted == "rate" and value.get("thumb") in (1, -1):
            rate = partial(conversing.rate, self._workspace, thumb=value["thumb"], comment="")
            answer = str(value.get("answer") or "")[:64]
            await asyncio.to_thread(rate, answer_id=answer, secret=writer.secret)
            await _show(context, notice_card(THANKS))

    async def _begin_anew(self, context: TurnContext, writer: _Writer) -> None:
        stands = await asyncio.to_thread(conversing.latest, self._workspace, writer.secret, CHANNEL)
        if stands is not None:
            await asyncio.to_thread(conversing.close, self._workspace, stands.id)
        await _show(context, notice_card("What would you like to know?"))

    @property
    def _has_desk(self) -> bool:
        return self._workspace.settings.handoff.desk != "none"


async def _show(context: TurnContext, card: Element) -> None:
    attachment = Attachment(content_type=CARD, content=card)
    await context.send_activity(Activity(type=ActivityTypes.message, attachments=[attachment]))


def _reason(value: Mapping[str, Any]) -> HandoffReason:
    for reason in get_args(HandoffReason):
        if value.get("reason") == reason:
            return cast(HandoffReason, reason)
    return "asked"


def _has_joined(activity: Activity) -> bool:
    """Whether somebody other than the bot came, as when it is opened for the first time."""
    bot = activity.recipient.id if activity.recipient else ""
    return any(one.id != bot for one in activity.members_added or [])


def address_of(kept: str) -> ConversationReference:
    return ConversationReference.model_validate_json(kept)
