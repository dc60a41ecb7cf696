"""Evidence -> Answer: triage, composition, proof; and the whole ask flow."""

from ombud.answer.asking import AskRun, answer_question
from ombud.answer.assisting import AdvisorRun
from ombud.answer.clarify import ElsewhereRules, rules_elsewhere, with_said_country
from ombud.answer.compose.components import check_components, switched
from ombud.answer.compose.streaming import OnEvent
from ombud.answer.confidence import (
    FEATURES_OF,
    Basis,
    ConfidenceWeights,
    estimate_confidence,
)
from ombud.answer.contacts import read_contacts
from ombud.answer.parts import AnswerParts
from ombud.answer.personas.personas import DEFAULT_PERSONA, Persona, read_personas
from ombud.answer.proof.verifying import check_claim
from ombud.answer.quoting.matters import MatterBank, pack_bank
from ombud.answer.quoting.reading import NOT_READ, joined, passage_of, read_evidence
from ombud.answer.quoting.spans import AnswerSpan, candidate_spans, rank_by
from ombud.answer.quoting.underlining import SPAN_FEATURES_OF, read_ahead, span_features
from ombud.answer.signals import measure_signals, span_signals, term_weights
from ombud.answer.supplying import EvidenceRun, SuppliedEvidence
from ombud.answer.triage.circumstances import own_circumstances
from ombud.answer.triage.classifying import open_triage
from ombud.answer.triage.features import TRIAGE_READING
from ombud.answer.triage.fine_tuned import (
    HEAD_SHARPNESS,
    FineTunedTriage,
    join_opinions,
    judges,
    open_fine_tuned,
    split_heads,
)
from ombud.answer.triage.heads import CLASSES, HEADS, SCOPES, TOPICS, Head, Label
from ombud.answer.triage.persons import wants_person
from ombud.answer.triage.privacy import guard_search, remote_names, triage_embedder, was_handed_over
from ombud.answer.triage.sensitive import read_sensitive
from ombud.answer.triage.weights import (
    Thresholds,
    TriageWeights,
    names_fine_tuned,
    needs_vectors,
    triage_scores,
    triage_weights_text,
)

__all__ = [
    "CLASSES",
    "DEFAULT_PERSONA",
    "FEATURES_OF",
    "HEADS",
    "HEAD_SHARPNESS",
    "NOT_READ",
    "SCOPES",
    "SPAN_FEATURES_OF",
    "TOPICS",
    "TRIAGE_READING",
    "AdvisorRun",
    "AnswerParts",
    "AnswerSpan",
    "AskRun",
    "Basis",
    "ConfidenceWeights",
    "ElsewhereRules",
    "EvidenceRun",
    "FineTunedTriage",
    "Head",
    "Label",
    "MatterBank",
    "OnEvent",
    "Persona",
    "SuppliedEvidence",
    "Thresholds",
    "TriageWeights",
    "answer_question",
    "candidate_spans",
    "check_claim",
    "check_components",
    "estimate_confidence",
    "guard_search",
    "join_opinions",
    "joined",
    "judges",
    "measure_signals",
    "names_fine_tuned",
    "needs_vectors",
    "open_fine_tuned",
    "open_triage",
    "own_circumstances",
    "pack_bank",
    "passage_of",
    "rank_by",
    "read_ahead",
    "read_contacts",
    "read_evidence",
    "read_personas",
    "read_sensitive",
    "remote_names",
    "rules_elsewhere",
    "span_features",
    "span_signals",
    "split_heads",
    "switched",
    "term_weights",
    "triage_embedder",
    "triage_scores",
    "triage_weights_text",
    "wants_person",
    "was_handed_over",
    "with_said_country",
]
