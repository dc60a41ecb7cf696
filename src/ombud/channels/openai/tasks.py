"""Requests of Open WebUI that are not questions: a chat title, tags, follow-ups. They are answered
from the chat alone, not from the documents."""

import json
import re
from collections.abc import Sequence

from ombud.channels.openai.shapes import ChatMessage

TASK = "### Task:"
"""Prefix of such a message."""
_HISTORY = re.compile(r"<chat_history>\s*(?:USER:\s*)?(.*?)(?:\n|</chat_history>)", re.DOTALL)
LONGEST_TITLE = 60


def task_reply(messages: Sequence[ChatMessage]) -> str:
    """Reply to a task; empty for a message of a person."""
    text = messages[-1].text()
    if not text.startswith(TASK):
        return ""
    lowered = text.casefold()
    if '"follow_ups"' in lowered:
        return json.dumps({"follow_ups": []})
    if '"tags"' in lowered:
        return json.dumps({"tags": []})
    if '"queries"' in lowered:
        return json.dumps({"queries": []})
    if '"title"' in lowered:
        return json.dumps({"title": chat_title(text)}, ensure_ascii=False)
    return "{}"


def chat_title(text: str) -> str:
    history = _HISTORY.search(text)
    words = " ".join(history[1].split()) if history else ""
    if len(words) > LONGEST_TITLE:
        words = words[:LONGEST_TITLE].rpartition(" ")[0] or words[:LONGEST_TITLE]
    return words or "Conversation"
