"""What clients ask a model for besides answers: a title for the list of chats, tags, questions that
could follow. The documents know nothing of that, so it is told from the chat itself."""

import json
import re
from collections.abc import Sequence

from ombud.channels.openai.shapes import ChatMessage

TASK = "### Task:"
"""How such a message of Open WebUI begins."""
_HISTORY = re.compile(r"<chat_history>\s*(?:USER:\s*)?(.*?)(?:\n|</chat_history>)", re.DOTALL)
LONGEST_TITLE = 60


def task_reply(messages: Sequence[ChatMessage]) -> str:
    """Empty for a message of a person."""
    asked = messages[-1].text()
    if not asked.startswith(TASK):
        return ""
    wanted = asked.casefold()
    if '"follow_ups"' in wanted:
        return json.dumps({"follow_ups": []})
    if '"tags"' in wanted:
        return json.dumps({"tags": []})
    if '"queries"' in wanted:
        return json.dumps({"queries": []})
    if '"title"' in wanted:
        return json.dumps({"title": _title(asked)}, ensure_ascii=False)
    return "{}"


def _title(asked: str) -> str:
    said = _HISTORY.search(asked)
    words = " ".join(said[1].split()) if said else ""
    if len(words) > LONGEST_TITLE:
        words = words[:LONGEST_TITLE].rpartition(" ")[0] or words[:LONGEST_TITLE]
    return words or "Conversation"
