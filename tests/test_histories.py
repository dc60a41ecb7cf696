"""How much of a conversation is looked at."""

from ombud.types import Message, recent_history


def conversation(count: int, length: int) -> list[Message]:
    return [
        Message(role="user", content=f"{number} ".ljust(length, "x")) for number in range(count)
    ]


def test_the_last_messages_count() -> None:
    messages = conversation(50, 10)
    assert recent_history(messages) == tuple(messages[-20:])
    assert recent_history(messages, most=3) == tuple(messages[-3:])
    assert recent_history(messages, most=0) == ()
    assert recent_history([]) == ()


def test_all_of_them_stay_within_the_tokens() -> None:
    kept = recent_history(conversation(50, 1_500), tokens=2_000)
    assert sum(len(message.content) for message in kept) <= 8_000
    assert kept[-1].content.startswith("49 ")
    assert len(kept) == 5


def test_a_pasted_text_is_cut_and_leaves_room_for_the_turns_around_it() -> None:
    messages = [*conversation(2, 100), Message(role="user", content="p" * 19_000)]
    first, second, pasted = recent_history(messages)
    assert (first, second) == tuple(messages[:2])
    assert 0 < len(pasted.content) <= 2_000
    assert messages[2].content.startswith(pasted.content)
