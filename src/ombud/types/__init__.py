"""The records everything speaks in. Frozen, JSON round-trippable, importing nothing of ours."""

from ombud.types.answers import (
    Action,
    Answer,
    Citation,
    Claim,
    Contact,
    Contradiction,
    Evidence,
    Hit,
    Outcome,
    Ranking,
    Scope,
    Source,
    Trace,
)
from ombud.types.asking import Message, Mode, Parameter, Person, Plan, Preset, Query, Question, Role
from ombud.types.documents import Audience, Block, Chunk, Document, Status, Triplet
from ombud.types.measuring import Case, CaseType, Observation, Passage, Reference, Run, Score
from ombud.types.people import Session, Ticket
from ombud.types.records import Record

__all__ = [
    "Action",
    "Answer",
    "Audience",
    "Block",
    "Case",
    "CaseType",
    "Chunk",
    "Citation",
    "Claim",
    "Contact",
    "Contradiction",
    "Document",
    "Evidence",
    "Hit",
    "Message",
    "Mode",
    "Observation",
    "Outcome",
    "Parameter",
    "Passage",
    "Person",
    "Plan",
    "Preset",
    "Query",
    "Question",
    "Ranking",
    "Record",
    "Reference",
    "Role",
    "Run",
    "Scope",
    "Score",
    "Session",
    "Source",
    "Status",
    "Ticket",
    "Trace",
    "Triplet",
]
