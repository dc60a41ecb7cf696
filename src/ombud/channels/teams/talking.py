"""Takes what people write and click in Teams; answers follow by themselves."""

from typing import Any

from microsoft_agents.activity import Activity, ActivityTypes
from microsoft_agents.hosting.core import Agent, TurnContext

from ombud.channels.chats.talking import Click, Writer
from ombud.channels.teams.cards import notice_card
from ombud.channels.teams.chat import TeamsChat, address_of, card_activity, language_of
from ombud.errors import OmbudError, StoreError
from ombud.messages import message, use_language

ACTION = "adaptiveCard/action"
MESSAGE = "application/vnd.microsoft.activity.message"
ERROR = "application/vnd.microsoft.error"


class TeamsAgent(Agent):
    """The bot's reactions to messages and buttons."""

    def __init__(self, chat: TeamsChat) -> None:
        self._chat = chat

    async def on_turn(self, context: TurnContext) -> None:
        activity = context.activity
        use_language(language_of(activity))
        if activity.type == ActivityTypes.conversation_update:
            if somebody_joined(activity):
                name = self._chat.workspace.settings.general.name
                hello = message("channels.hello", name=name)
                await context.send_activity(card_activity(notice_card(hello)))
        elif activity.type == ActivityTypes.message:
            await self._receive(context)
        elif activity.type == ActivityTypes.invoke:
            await self._answer_invoke(context)

    async def _receive(self, context: TurnContext) -> None:
        """Store a message. The request ends then, so that Teams does not repeat it."""
        activity = context.activity
        writer = await self._chat.writer(activity)
        if writer is None:
            url = self._chat.workspace.settings.server.public_url
            link = (message("page.sign_in"), f"{url}/login")
            card = notice_card(message("channels.sign_in_first"), link)
            await context.send_activity(card_activity(card))
            return
        try:
            if isinstance(activity.value, dict):  # a button of a card before Action.Execute
                reply: str | None = await self._click(activity, writer, activity.value)
            else:
                text = activity.remove_recipient_mention() or activity.text or ""
                reply = await self._chat.talks.receive(
                    writer, address_of(activity), text, str(activity.id)
                )
        except StoreError:
            raise
        except OmbudError as refused:
            reply = f"{refused} {refused.hint}".strip()
        if reply:
            await context.send_activity(card_activity(notice_card(reply)))

    async def _answer_invoke(self, context: TurnContext) -> None:
        """Answer a button of a card; what is none of ours is refused."""
        activity = context.activity
        value = activity.value if isinstance(activity.value, dict) else {}
        action = value.get("action")
        status, kind, text = 200, MESSAGE, ""
        if activity.name != ACTION or not isinstance(action, dict):
            status, kind, text = 400, ERROR, message("channels.wrong_button")
        else:
            data = action.get("data")
            clicked = (data if isinstance(data, dict) else {}) | {"ombud": action.get("verb")}
            try:
                writer = await self._chat.writer(activity)
                text = message("channels.sign_in_first")
                if writer is not None:
                    text = await self._click(activity, writer, clicked)
            except StoreError:
                raise
            except OmbudError as refused:
                text = f"{refused} {refused.hint}".strip()
        content: Any = text if kind == MESSAGE else {"code": "BadRequest", "message": text}
        body = {"statusCode": status, "type": kind, "value": content}
        reply = {"status": 200, "body": body}
        await context.send_activity(Activity(type=ActivityTypes.invoke_response, value=reply))

    async def _click(self, activity: Activity, writer: Writer, data: dict[str, Any]) -> str:
        click = Click(str(data.get("ombud") or ""), data, str(activity.id))
        return await self._chat.talks.click(writer, address_of(activity), click)


def somebody_joined(activity: Activity) -> bool:
    """Tell whether somebody other than the bot joined, such as on the first contact."""
    bot = activity.recipient.id if activity.recipient else ""
    return any(one.id != bot for one in activity.members_added or [])
