"""The connection to Slack's Web API: who people are, who reads a channel, and what is posted."""

import asyncio
import logging
import ssl
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from ombud.app import Workspace, callers
from ombud.channels.chats.address import Address, Post
from ombud.channels.chats.groups import Undisclosed, reader_of
from ombud.channels.chats.relaying import Gone
from ombud.channels.chats.talking import Talks, Writer
from ombud.channels.places import AskingPlaces
from ombud.channels.slack.blocks import blocks_of, summary
from ombud.deadlines import retry_after
from ombud.errors import NotAllowed, OmbudError, Undelivered
from ombud.messages import message, use_language
from ombud.proxies import proxy_of
from ombud.types import Person

logger = logging.getLogger(__name__)
NAME = "slack"
EVENT_TYPE = "ombud_message"
"""Type of the metadata by which our messages are found again."""
UNREACHABLE = {
    "account_inactive",
    "cannot_dm_bot",
    "channel_not_found",
    "is_archived",
    "not_in_channel",
    "user_disabled",
    "user_not_found",
    "user_not_in_channel",
}
"""Errors after which nobody can be reached at an address."""
REFUSED_BLOCKS = {"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long"}


class Member(NamedTuple):
    """Facts about somebody, as Slack gives them."""

    mail: str
    """Empty if it is not confirmed."""
    language: str
    is_person: bool
    is_ours: bool
    """Of our own workspace, and not a former colleague."""


class SlackChat:
    """Slack as a place where people write to us."""

    name = NAME

    def __init__(self, workspace: Workspace, places: AskingPlaces, token: str) -> None:
        """places: limits concurrent questions."""
        self.workspace = workspace
        settings = workspace.settings.slack
        # The SDK would repeat a request whose reply was lost, and so post a message twice.
        self.client = AsyncWebClient(
            token,
            base_url=settings.api_url,
            ssl=ssl.create_default_context(),  # with the organisation's own authority
            retry_handlers=[],
        )
        if not proxy_of(settings.api_url):  # the SDK does not read NO_PROXY
            self.client.proxy = None
        self.talks = Talks(workspace, places, self)
        self._members: dict[str, tuple[float, Member]] = {}

    # Who --------------------------------------------------------------------------------------

    async def writer(self, user: str, team: str) -> Writer:
        """Identify a person. Raises NotAllowed for one without an account, Undelivered if Slack
        does not say who they are."""
        member = await self._member(user, team)
        use_language(member.language)
        if self.workspace.settings.identity.kind == "none":
            person = Person(id=f"slack:{user}", language=member.language)
            return Writer(person, f"slack:{user}")
        if not member.mail or not member.is_ours:
            raise NotAllowed(message("channels.no_mail"))
        account = await asyncio.to_thread(callers.account_of_mail, self.workspace, member.mail)
        person_here = reader_of(account)
        if account is None or person_here is None:
            raise NotAllowed(message("channels.unknown_account"))
        person = person_here.model_copy(update={"language": member.language})
        return Writer(person, f"account:{account.id}")

    async def members(self, address: Address) -> list[Person]:
        """Return everybody in a channel. Raises Undisclosed if Slack does not list them or somebody
        has no account."""
        try:
            listed = await self._listed(address.channel)
            members = [await self._member(user, address.reference) for user in listed]
        except OmbudError as failed:
            logger.warning("The members of a channel cannot be listed: %s", failed)
            raise Undisclosed("members") from failed
        people: list[Person] = []
        for member in members:
            if not member.is_person:
                continue
            if self.workspace.settings.identity.kind == "none":
                people.append(Person())
                continue
            mail = member.mail if member.is_ours else ""
            account = await asyncio.to_thread(callers.account_of_mail, self.workspace, mail)
            person = reader_of(account)
            if person is None:
                raise Undisclosed("strangers")
            people.append(person)
        return people

    async def _listed(self, channel: str) -> list[str]:
        listed: list[str] = []
        cursor = ""
        while True:
            page = await self.call("conversations.members", channel=channel, cursor=cursor)
            listed += page["members"]
            cursor = next_cursor(page)
            if not cursor:
                return listed
            if len(listed) > 500:  # each is looked up, and Slack allows some 100 a minute
                raise Undisclosed("members")

    async def _member(self, user: str, team: str) -> Member:
        at, member = self._members.get(user, (0.0, None))
        if member is None or time.monotonic() - at > 600:
            reply = await self.call("users.info", user=user, include_locale="true")
            member = member_of(reply["user"], team)
            self._members[user] = (time.monotonic(), member)
        return member

    async def direct(self, address: Address) -> Address:
        reply = await self.call("conversations.open", users=address.user)
        return Address(
            channel=reply["channel"]["id"], user=address.user, reference=address.reference
        )

    # Posting ----------------------------------------------------------------------------------

    async def deliver(self, post: Post) -> None:
        address = post.address
        if post.may_repeat and await self.has_posted(address, post.key, post.at):
            return
        card = self.talks.card(post)
        content = {"text": summary(card), "blocks": blocks_of(card)}
        await self.post(address, post.key, content)

    async def post(self, address: Address, key: str, content: Mapping[str, Any]) -> None:
        """Post a message. key: by which it is found again. Raises Undelivered or Gone."""
        place = {"channel": address.channel}
        if address.thread:
            place["thread_ts"] = address.thread
        if address.private:
            await self._send("chat.postEphemeral", place | {"user": address.user}, content)
            return
        metadata = {"event_type": EVENT_TYPE, "event_payload": {"key": key}}
        await self._send("chat.postMessage", place | {"metadata": metadata}, content)

    async def _send(
        self, method: str, place: Mapping[str, Any], content: Mapping[str, Any]
    ) -> None:
        fixed = {"unfurl_links": False, "unfurl_media": False}
        if method == "chat.postEphemeral":
            fixed = {}
        try:
            await self.call(method, **place, **content, **fixed)
        except RefusedContent:
            await self.call(method, **place, text=content["text"], **fixed)

    async def has_posted(self, address: Address, key: str, since: datetime) -> bool:
        """Tell whether a message has arrived that was first posted after a time. What only one
        person sees is not listed anywhere, and is posted again."""
        if address.private:
            return False
        # Their clock and ours may differ.
        arguments = {"channel": address.channel, "oldest": str(since.timestamp() - 600)}
        method = "conversations.history"
        if address.thread:
            method, arguments = "conversations.replies", arguments | {"ts": address.thread}
        cursor = ""
        while True:
            page = await self.call(
                method, **arguments, include_all_metadata="true", limit="200", cursor=cursor
            )
            for posted in page["messages"]:
                payload = posted.get("metadata", {}).get("event_payload", {})
                if payload.get("key") == key:
                    return True
            cursor = next_cursor(page)
            if not cursor:
                return False

    async def call(self, method: str, **arguments: Any) -> Mapping[str, Any]:
        """Call a method of the Web API. Raises Undelivered, Gone or RefusedContent."""
        given = {name: value for name, value in arguments.items() if value not in ("", None)}
        try:
            if method.startswith(("chat.", "views.")):
                reply = await self.client.api_call(method, json=given)
            else:
                reply = await self.client.api_call(method, data=given)
        except SlackApiError as failed:
            raise error_of(failed, method) from failed
        except (SlackClientError, ClientError, OSError, TimeoutError, ValueError) as failed:
            raise Undelivered(f"{method}: {type(failed).__name__}.") from failed
        assert isinstance(reply.data, dict)  # noqa: S101 - anything else raised above
        return reply.data


def next_cursor(page: Mapping[str, Any]) -> str:
    """Return where the next page of a list begins; empty after the last."""
    return str((page.get("response_metadata") or {}).get("next_cursor") or "")


class RefusedContent(OmbudError):
    """Slack does not take the form of a message."""


def error_of(failed: SlackApiError, method: str) -> OmbudError:
    """Translate an error of Slack; it repeats no token."""
    data = failed.response.data if isinstance(failed.response.data, dict) else {}
    error = str(data.get("error") or failed.response.status_code)
    if error in UNREACHABLE:
        return Gone(f"{method}: {error}.")
    if error in REFUSED_BLOCKS:
        return RefusedContent(f"{method}: {error}.")
    wait = retry_after(failed.response.headers)
    return Undelivered(f"{method}: {error}.", hint="See [slack].", retry_after=wait)


def member_of(user: Mapping[str, Any], team: str) -> Member:
    confirmed = user.get("is_email_confirmed", True)
    mail = user.get("profile", {}).get("email", "") if confirmed else ""
    is_foreign = user.get("is_stranger") or (team and user.get("team_id", team) != team)
    return Member(
        mail=mail or "",
        language=str(user.get("locale") or "en")[:2].lower(),
        is_person=not user.get("is_bot") and user.get("id") != "USLACKBOT",
        is_ours=not is_foreign and not user.get("deleted"),
    )
