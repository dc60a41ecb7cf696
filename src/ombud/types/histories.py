"""How much of a conversation a question may bring along, and how much of that is looked at."""

from collections.abc import Sequence

from ombud.types.asking import Message

MOST_MESSAGES = 500
"""Earlier messages that a request may hold: clients send the whole conversation with every turn."""
LONGEST_MESSAGE = 20_000
"""Characters of one of them."""
RECENT_MESSAGES = 20
RECENT_TOKENS = 2_000
CHARACTERS_PER_TOKEN = 4
LARGEST_SHARE = 0.25
"""Of the tokens that one message may use, so that a pasted text leaves room for the turns around
it."""


def recent_history(
    messages: Sequence[Message], *, most: int = RECENT_MESSAGES, tokens: int = RECENT_TOKENS
) -> tuple[Message, ...]:
    """Return the last messages within both limits, oldest first; a long one is cut to its
    beginning."""
    room = tokens * CHARACTERS_PER_TOKEN
    longest = int(room * LARGEST_SHARE)
    recent: list[Message] = []
    for message in reversed(messages[-most:] if most else ()):
        text = message.content[:longest]
        room -= len(text)
        if room < 0:
            break
        recent.append(message.model_copy(update={"content": text}))
    return tuple(reversed(recent))
