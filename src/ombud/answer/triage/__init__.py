"""Whom a message is for: the documents, a person, or nobody here. Works without a chat model and
better with one."""

from ombud.answer.triage.classifying import Triage, TriageResult, open_triage
from ombud.answer.triage.following import triaged_message, triaged_turn
from ombud.answer.triage.owning import OwnRecord, own_record
from ombud.answer.triage.refining import Refined, refine

__all__ = [
    "OwnRecord",
    "Refined",
    "Triage",
    "TriageResult",
    "open_triage",
    "own_record",
    "refine",
    "triaged_message",
    "triaged_turn",
]
