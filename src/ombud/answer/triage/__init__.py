"""Whom a message is for: the documents, a person, or nobody here. Works without a chat model and
better with one."""

from ombud.answer.triage.checking import Triage, TriageResult
from ombud.answer.triage.classifier import TriageClassifier, open_encoder
from ombud.answer.triage.phrases import own_record
from ombud.answer.triage.refining import Refined, refine
from ombud.answer.triage.sensitive import UNNAMED

__all__ = [
    "UNNAMED",
    "Refined",
    "Triage",
    "TriageClassifier",
    "TriageResult",
    "open_encoder",
    "own_record",
    "refine",
]
