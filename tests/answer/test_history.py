"""What of a conversation a search may use."""

from ombud.answer import wording
from ombud.answer.history import searchable
from ombud.answer.triage.sensitive import Matter
from ombud.types import Message, Question


def conversation(*turns: tuple[str, str], now: str = "and how long?") -> list[str]:
    messages: list[Message] = []
    for asked, said in turns:
        messages.append(Message(role="user", content=asked))
        messages.append(Message(role="assistant", content=said))
    question = searchable(Question(text=now, history=tuple(messages)))
    return [message.content for message in question.history]


def test_nothing_of_a_hand_over_is_searched_for() -> None:
    told = wording.handoff(Matter("told", "harassment", danger=False), "GB", {})
    quoted = f"{told}\n\n{wording.POLICY_SAYS}\n\nHarassment leads to dismissal. [1]"
    assert conversation(("my boss gropes me", quoted)) == []
    kept = conversation(("my boss gropes me", quoted), ("hotel cap?", "The cap is 180. [1]"))
    assert kept == ["hotel cap?", "The cap is 180. [1]"]


def test_nothing_of_what_was_outside_is_searched_for() -> None:
    assert conversation(("write me a poem", wording.off_topic("Larkmere"))) == []


def test_of_what_was_not_found_the_askers_words_stay() -> None:
    said = wording.not_stated(["Reykjavik"], ["Travel · Hotels"])
    assert conversation(("hotel cap in reykjavik", said)) == ["hotel cap in reykjavik"]
    assert conversation(("leave", wording.clarify(["How much annual leave do I get?"]))) == [
        "leave"
    ]


def test_of_what_was_not_sure_the_passages_stay() -> None:
    said = f"{wording.NOT_SURE}\n\nThe cap is 180. [1]"
    assert conversation(("hotel cap", said)) == ["hotel cap", "The cap is 180. [1]"]


def test_a_thank_you_is_no_turn() -> None:
    thanked = ("thanks!", wording.pleasantry("thanks", "Larkmere"))
    kept = conversation(("hotel cap?", "The cap is 180. [1]"), thanked, now="and in Paris?")
    assert kept == ["hotel cap?", "The cap is 180. [1]"]
