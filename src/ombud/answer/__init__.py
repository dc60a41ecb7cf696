"""Evidence -> Answer: triage, composition, proof; and the whole ask flow."""

from ombud.answer.asking import AskRun
from ombud.answer.assisting import AdvisorRun
from ombud.answer.clarify import ElsewhereRules, rules_elsewhere
from ombud.answer.compose.components import check_components, switched
from ombud.answer.compose.streaming import OnEvent
from ombud.answer.confidence import FEATURES_OF, Basis, ConfidenceWeights, estimate_confidence
from ombud.answer.contacts import read_contacts
from ombud.answer.parts import AnswerParts
from ombud.answer.personas.personas import DEFAULT_PERSONA, Persona, read_personas
from ombud.answer.proof.checking import check_claim
from ombud.answer.proof.citing import as_markdown
from ombud.answer.quoting.matters import MatterBank, pack_bank
from ombud.answer.quoting.reading import NOT_READ, joined, passage_of, read_evidence
from ombud.answer.quoting.spans import AnswerSpan, candidate_spans, rank_by
from ombud.answer.quoting.underlining import SPAN_FEATURES_OF, read_ahead, span_features
from ombud.answer.resolve import ResolveParts, resolve_question
from ombud.answer.signals import measure_signals, span_signals, term_weights
from ombud.answer.supplying import EvidenceRun, SuppliedEvidence
from ombud.answer.triage.checking import Triage
from ombud.answer.triage.classifier import FineTunedEncoder, TriageClassifier, open_encoder
from ombud.answer.triage.persons import asks_for_person
from ombud.answer.triage.phrases import own_circumstances
from ombud.answer.triage.privacy import (
    follows_sensitive,
    guard_search,
    remote_names,
    was_handed_over,
)
from ombud.answer.triage.sensitive import read_sensitive

__all__ = [
    "DEFAULT_PERSONA",
    "FEATURES_OF",
    "NOT_READ",
    "SPAN_FEATURES_OF",
    "AdvisorRun",
    "AnswerParts",
    "AnswerSpan",
    "AskRun",
    "Basis",
    "ConfidenceWeights",
    "ElsewhereRules",
    "EvidenceRun",
    "FineTunedEncoder",
    "MatterBank",
    "OnEvent",
    "Persona",
    "ResolveParts",
    "SuppliedEvidence",
    "Triage",
    "TriageClassifier",
    "as_markdown",
    "asks_for_person",
    "candidate_spans",
    "check_claim",
    "check_components",
    "estimate_confidence",
    "follows_sensitive",
    "guard_search",
    "joined",
    "measure_signals",
    "open_encoder",
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
    "resolve_question",
    "rules_elsewhere",
    "span_features",
    "span_signals",
    "switched",
    "term_weights",
    "was_handed_over",
]
