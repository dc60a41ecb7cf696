"""The manifest from which Slack makes the app."""

from typing import Any

from ombud.settings import Settings

SCOPES = {
    "app_mentions:read": "questions in channels",
    "channels:history": "look whether an answer has arrived",
    "channels:read": "who reads a channel",
    "chat:write": "answers",
    "groups:history": "look whether an answer has arrived",
    "groups:read": "who reads a private channel",
    "im:history": "questions in direct messages",
    "im:write": "direct messages when a person takes over",
    "mpim:history": "look whether an answer has arrived",
    "mpim:read": "who reads a group message",
    "users:read": "names and languages",
    "users:read.email": "whose account it is",
}
"""Permission -> what we need it for."""


def slack_manifest(settings: Settings) -> dict[str, Any]:
    """Make the manifest of this workspace's app."""
    name = settings.general.name
    is_socket = settings.slack.mode == "socket"
    url = f"{settings.server.public_url or 'https://ask.example.com'}/api/slack"
    place = {} if is_socket else {"request_url": url}
    about = f"Answers questions about the policies of {name or 'your organisation'}"
    return {
        "display_information": {"name": "ombud", "description": about[:140]},
        "features": {
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": "ombud", "always_online": True},
        },
        "oauth_config": {"scopes": {"bot": list(SCOPES)}},
        "settings": {
            "event_subscriptions": place
            | {"bot_events": ["app_home_opened", "app_mention", "message.im"]},
            "interactivity": {"is_enabled": True} | place,
            "org_deploy_enabled": False,
            "socket_mode_enabled": is_socket,
            "token_rotation_enabled": False,
        },
    }
