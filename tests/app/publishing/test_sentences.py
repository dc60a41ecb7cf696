"""Which sentences with figures a draft changes, and how they are asked for."""

from ombud.app.publishing.sentences import ChangedSentence, changed_sentences
from ombud.types import Chunk


def passage(text: str) -> Chunk:
    return Chunk(
        id="d-1",
        document_id="d",
        title="Leave",
        uri="docs/leave.md",
        trail=("Leave", "2. Buying leave"),
        text=text,
        start=0,
        end=len(text),
    )


def test_figures_changed_added_and_taken_out() -> None:
    old = "You may buy up to 5 days. Ask by 31 January. Talk to your manager.\n| Grade | 4 % |"
    new = "You may buy up to 7 days. Refunds take 3 weeks. Talk to her.\n| Grade | 4 % |"
    changed = changed_sentences([passage(new)], [passage(old)])
    assert [(one.before, one.after) for one in changed] == [
        ("You may buy up to 5 days.", "You may buy up to 7 days."),
        ("", "Refunds take 3 weeks."),
        ("Ask by 31 January.", ""),
    ]


def test_a_changed_row_of_a_table_is_one_change() -> None:
    old, new = passage("| G1 | 4 % |\n| G5 | 8 % |"), passage("| G1 | 4 % |\n| G5 | 9 % |")
    (changed,) = changed_sentences([new], [old])
    assert (changed.before, changed.after) == ("| G5 | 8 % |", "| G5 | 9 % |")


def test_the_same_words_are_no_change() -> None:
    assert changed_sentences([passage("Buy 5 days.")], [passage("Buy  5 days.")]) == []


def test_a_changed_sentence_is_asked_for_without_its_figures() -> None:
    changed = ChangedSentence("2. Buying leave", "", "- You may buy up to 7 days.")
    asked = "What does the policy say about Buying leave: You may buy up to days?"
    assert changed.question == asked
