"""A short turn is heard with what was asked before it."""

from ombud.answer.triage import Triage, TriageResult, triaged_turn
from ombud.answer.triage.sensitive import TOLD, Matter
from ombud.types import Message

ALARMED = TriageResult(label="sensitive", matter=Matter(TOLD, "family", danger=False))
NAMED = TriageResult(label="sensitive", matter=Matter("violence", "health-safety", danger=True))
DENTAL = (Message(role="user", content="and dental"),)


def hearing(*alarming: str, named: bool = False) -> Triage:
    def triage(text: str) -> TriageResult:
        if text in alarming:
            return NAMED if named else ALARMED
        return TriageResult()

    return triage


def test_a_short_turn_that_alarms_only_alone_is_ordinary() -> None:
    heard = triaged_turn(hearing("my kids too?"), "my kids too?", DENTAL)
    assert (heard.label, heard.matter) == ("ordinary", None)


def test_it_stays_where_both_together_alarm_or_nothing_was_said_before() -> None:
    together = hearing("my kids too?", "and dental\nmy kids too?")
    assert triaged_turn(together, "my kids too?", DENTAL) == ALARMED
    assert triaged_turn(hearing("my kids too?"), "my kids too?", ()) == ALARMED


def test_what_a_term_names_or_is_told_at_length_needs_no_context() -> None:
    assert triaged_turn(hearing("he hit me", named=True), "he hit me", DENTAL) == NAMED
    long = "since i spoke up they have been giving me only the worst shifts of all"
    assert triaged_turn(hearing(long), long, DENTAL) == ALARMED
