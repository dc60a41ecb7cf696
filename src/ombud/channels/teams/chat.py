"""Teams as a place where people write to us: who they are, who reads a channel, what is posted."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from aiohttp import ClientError, ClientResponseError
from microsoft_agents.activity import (
    Activity,
    ActivityTypes,
    Attachment,
    ChannelAccount,
    ConversationParameters,
    ConversationReference,
)
from microsoft_agents.hosting.core import ClaimsIdentity, TurnContext
from microsoft_agents.hosting.core.connector import ConnectorClientBase
from microsoft_agents.hosting.fastapi import CloudAdapter

from ombud.app import Workspace, callers, provider
from ombud.channels.chats.address import Address, Post
from ombud.channels.chats.groups import Undisclosed, reader_of
from ombud.channels.chats.relaying import Gone
from ombud.channels.chats.talking import Talks, Writer
from ombud.channels.places import AskingPlaces
from ombud.channels.teams.cards import Element, adaptive_card
from ombud.deadlines import retry_after
from ombud.errors import OmbudError, Undelivered
from ombud.types import Account, Person

logger = logging.getLogger(__name__)
T = TypeVar("T")
NAME = "teams"
CARD = "application/vnd.microsoft.card.adaptive"
GONE = {400, 403, 404, 410}
"""Statuses by which Teams reports that somebody cannot be reached any more, such as after removing
the bot."""
WRITE_TO_ME = "I can answer this only in a chat of our own. Write to me there."


def language_of(activity: Activity) -> str:
    """Return the language of the Teams client that somebody uses, such as `de`."""
    return (activity.locale or "en").partition("-")[0].lower()


class TeamsChat:
    """Teams, reached by the connector of the Bot Framework."""

    name = NAME

    def __init__(self, workspace: Workspace, places: AskingPlaces, adapter: CloudAdapter) -> None:
        """places: limits concurrent questions."""
        self.workspace = workspace
        self.talks = Talks(workspace, places, self)
        self._adapter = adapter

    # Who --------------------------------------------------------------------------------------

    async def writer(self, activity: Activity) -> Writer | None:
        """Identify the writer; None if unknown. Only Teams itself is trusted to name them."""
        language = language_of(activity)
        sender = activity.from_property
        if self.workspace.settings.identity.kind == "none":
            person = Person(id=f"teams:{sender.id}", language=language)
            return Writer(person, f"teams:{sender.id}")
        if activity.channel_id != "msteams" or not sender.aad_object_id:
            return None
        account = await asyncio.to_thread(self._account, sender)
        if account is None:
            account = await self._account_of_member(activity)
        person_here = reader_of(account)
        if account is None or person_here is None:
            return None
        person = person_here.model_copy(update={"language": language})
        return Writer(person, f"account:{account.id}")

    def _account(self, member: ChannelAccount) -> Account | None:
        """Find the account of a member by the directory's id, else by the name there."""
        facts = member.properties or {}
        named = member.aad_object_id or facts.get("objectId")
        account = provider.account_named(self.workspace, str(named)) if named else None
        return account or callers.account_of_mail(
            self.workspace, str(facts.get("userPrincipalName") or "")
        )

    async def _account_of_member(self, activity: Activity) -> Account | None:
        """Ask Teams for the name in the directory of somebody who has not signed in here yet."""
        reference = reference_of(activity)

        async def ask(connector: ConnectorClientBase) -> ChannelAccount:
            return await connector.conversations.get_conversation_member(
                address_of(activity).channel, activity.from_property.id
            )

        try:
            member = await self._with_connector(reference, ask)
        except OmbudError as failed:
            logger.warning("Teams does not say who writes: %s", failed)
            return None
        return await asyncio.to_thread(self._account, member)

    async def members(self, address: Address) -> list[Person]:
        """Return everybody in a channel. Raises Undisclosed if Teams does not list them or somebody
        has no account."""
        reference = ConversationReference.model_validate_json(address.reference)
        try:
            listed = await self._with_connector(reference, lambda it: listed_of(it, address))
        except OmbudError as failed:
            logger.warning("The members of a channel cannot be listed: %s", failed)
            raise Undisclosed("members") from failed
        if not listed:
            raise Undisclosed("members")
        if self.workspace.settings.identity.kind == "none":
            return [Person() for _ in listed]
        people: list[Person] = []
        for member in listed:
            account = await asyncio.to_thread(self._account, member)
            person = reader_of(account)
            if person is None:
                raise Undisclosed("strangers")
            people.append(person)
        return people

    async def direct(self, address: Address) -> Address:
        reference = ConversationReference.model_validate_json(address.reference)
        tenant = reference.conversation.tenant_id
        wanted = ConversationParameters(
            is_group=False,
            agent=reference.agent,
            members=[reference.user],
            channel_data={"tenant": {"id": tenant}},
        )
        if tenant:
            wanted.tenant_id = tenant

        async def begin(connector: ConnectorClientBase) -> str:
            begun = await connector.conversations.create_conversation(wanted)
            return str(begun.id)

        identity = await self._with_connector(reference, begin)
        reference.conversation.id = identity
        reference.conversation.is_group = False
        reference.conversation.conversation_type = "personal"
        return Address(channel=identity, user=address.user, reference=dump(reference))

    # Posting ----------------------------------------------------------------------------------

    async def deliver(self, post: Post) -> None:
        if post.answer is None and not post.asks_for_person:
            content = Activity(type=ActivityTypes.message, text=post.text, text_format="plain")
        else:
            content = card_activity(adaptive_card(self.talks.card(post)))
        if not (post.address.is_group and post.address.private):
            await self.post(post.address, content)
            return
        try:
            direct = await self.direct(post.address)
        except Gone:  # they have not added the bot to their own chats
            notice = Activity(type=ActivityTypes.message, text=WRITE_TO_ME, text_format="plain")
            await self.post(post.address, notice)
            return
        await self.post(direct, content)

    async def post(self, address: Address, content: Activity) -> None:
        """Post outside a turn. Raises Undelivered if a later attempt may succeed, Gone if not."""
        reference = ConversationReference.model_validate_json(address.reference)

        async def send(context: TurnContext) -> None:
            await context.send_activity(content)

        await self._within(reference, send)

    async def _with_connector(
        self, reference: ConversationReference, work: Callable[[ConnectorClientBase], Awaitable[T]]
    ) -> T:
        async def use(context: TurnContext) -> T:
            connector = context.services.get(ConnectorClientBase)  # type: ignore[type-abstract]
            assert connector is not None  # noqa: S101 - the adapter puts it there
            return await work(connector)

        return await self._within(reference, use)

    async def _within(
        self, reference: ConversationReference, work: Callable[[TurnContext], Awaitable[T]]
    ) -> T:
        """Run work in a turn that we begin. Raises Undelivered or Gone."""
        continued = reference.get_continuation_activity()
        continued.id = None  # it is no reply
        results: list[T] = []
        failures: list[Exception] = []

        async def run(context: TurnContext) -> None:
            try:
                results.append(await work(context))
            except Exception as failed:  # noqa: BLE001 - the employee must not see it
                failures.append(failed)

        try:
            await self._adapter.continue_conversation_with_claims(self._claims(), continued, run)
        except (ClientError, OSError, ValueError) as failed:  # no token
            failures.append(failed)
        if failures:
            raise error_of(failures[0]) from failures[0]
        return results[0]

    def _claims(self) -> ClaimsIdentity:
        """Return the bot's own identity."""
        app_id = self.workspace.settings.teams.app_id
        return self._adapter.create_claims_identity(app_id) if app_id else ClaimsIdentity()


async def listed_of(connector: ConnectorClientBase, address: Address) -> list[ChannelAccount]:
    listed: list[ChannelAccount] = []
    token: str | None = None
    while True:
        page = await connector.conversations.get_conversation_paged_members(
            address.channel, 500, token
        )
        listed += page.members or []
        token = page.continuation_token
        if not token:
            return listed


def address_of(activity: Activity) -> Address:
    """Return where a message stands; in a channel, below which message."""
    conversation = activity.conversation
    channel, _, thread = str(conversation.id).partition(";messageid=")
    return Address(
        channel=channel,
        thread=thread,
        user=activity.from_property.id,
        is_group=(conversation.conversation_type or "personal") != "personal",
        reference=dump(reference_of(activity)),
    )


def reference_of(activity: Activity) -> ConversationReference:
    """Return what reaches the same conversation later, whichever message it was made of."""
    reference = activity.get_conversation_reference()
    reference.activity_id = None
    return reference


def dump(reference: ConversationReference) -> str:
    return reference.model_dump_json(by_alias=True, exclude_none=True)


def card_activity(card: Element) -> Activity:
    attachment = Attachment(content_type=CARD, content=card)
    return Activity(type=ActivityTypes.message, attachments=[attachment])


def error_of(failed: Exception) -> OmbudError:
    if isinstance(failed, ClientResponseError):
        if failed.status in GONE:
            return Gone(f"Teams says {failed.status}.")
        wait = retry_after(failed.headers or {})
        return Undelivered(f"Teams says {failed.status}.", retry_after=wait)
    return Undelivered(f"Teams cannot be reached: {type(failed).__name__}.")
