"""Evidence -> Answer: triage, composition, proof; and the whole ask flow."""

from ombud.answer.asking import AskRun
from ombud.answer.assessing import answering_spans
from ombud.answer.clarifying import ElsewhereRules, rules_elsewhere
from ombud.answer.compose.components import check_components, switched
from ombud.answer.compose.streaming import OnEvent
from ombud.answer.contacts import read_contacts
from ombud.answer.parts import AnswerParts
from ombud.answer.personas.personas import DEFAULT_PERSONA, Persona, read_personas
from ombud.answer.privacy import (
    follows_sensitive,
    guard_search,
    remote_names,
    was_handed_over,
)
from ombud.answer.proof.checking import check_claim
from ombud.answer.proof.citing import as_markdown
from ombud.answer.quoting.confidence import (
    FEATURES_OF,
    Basis,
    ConfidenceWeights,
    Tree,
    estimate_confidence,
    trees_logit,
)
from ombud.answer.quoting.reading import NOT_READ, joined, passage_of, read_evidence
from ombud.answer.quoting.sections import choose_sections, rank_sections
from ombud.answer.quoting.spans import AnswerSpan, candidate_spans
from ombud.answer.quoting.underlining import SPAN_FEATURES_OF, read_ahead, span_features
from ombud.answer.resolve import ResolveParts, resolve_question
from ombud.answer.signals import measure_signals, section_signals, term_weights
from ombud.answer.supplying import AdvisorRun, EvidenceRun, SuppliedEvidence
from ombud.answer.triage.checking import Triage
from ombud.answer.triage.classifier import FineTunedEncoder, TriageClassifier, open_encoder
from ombud.answer.triage.phrases import own_circumstances
from ombud.answer.triage.sensitive import read_sensitive
