"""The records everything speaks in. Frozen, JSON round-trippable, importing nothing of ours."""

from ombud.types.answers import (
    Action,
    Answer,
    Citation,
    CitedDocument,
    Claim,
    Contact,
    Contradiction,
    Evidence,
    Hit,
    Outcome,
    Ranking,
    Scope,
    Trace,
)
from ombud.types.asking import Message, Mode, Parameter, Person, Plan, Query, Question, Role
from ombud.types.documents import Audience, Block, Chunk, Document, Status, Triplet
from ombud.types.measuring import Case, Observation, Passage, Reference, Run, Score
from ombud.types.records import Record

__all__ = [
    "Action",
    "Answer",
    "Audience",
    "Block",
    "Case",
    "Chunk",
    "Citation",
    "CitedDocument",
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
    "Query",
    "Question",
    "Ranking",
    "Record",
    "Reference",
    "Role",
    "Run",
    "Scope",
    "Score",
    "Status",
    "Trace",
    "Triplet",
]
