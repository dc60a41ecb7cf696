"""Evidence -> Answer: triage, composition, proof; and the whole ask flow."""

from ombud.answer.ask import Parts, Tell, ask
from ombud.answer.confidence import FEATURES, SPARSE_FEATURES, Weights, confidence, fit, load_weights
from ombud.answer.contacts import Contacts, read_contacts
from ombud.answer.extract import candidates
from ombud.answer.persona import FIRST, Persona, read_personas
from ombud.answer.prompting import COMPONENTS, SETS, check_components
from ombud.answer.sensitive import Sensitive, read_sensitive
from ombud.answer.signals import measure, term_weights
from ombud.answer.triage import open_triage
from ombud.answer.triage import read_labelled as read_triage_messages
from ombud.answer.triage.judging import Judged as TriageJudged
from ombud.answer.triage.judging import as_markdown as triage_report
from ombud.answer.triage.judging import compare as compare_triage
from ombud.answer.triage.judging import rate
from ombud.answer.triage.training import Tools as TriageTools
from ombud.answer.triage.weights import to_json as triage_weights_text
from ombud.answer.underlining import SPAN_FEATURES, SPARSE_SPAN_FEATURES, features
from ombud.answer.verify import check_claim, check_quote, disagreements

__all__ = [
    "COMPONENTS",
    "FEATURES",
    "FIRST",
    "SETS",
    "SPAN_FEATURES",
    "SPARSE_FEATURES",
    "SPARSE_SPAN_FEATURES",
    "Contacts",
    "Parts",
    "Persona",
    "Sensitive",
    "Tell",
    "TriageJudged",
    "TriageTools",
    "Weights",
    "ask",
    "candidates",
    "check_claim",
    "check_components",
    "check_quote",
    "compare_triage",
    "confidence",
    "disagreements",
    "features",
    "fit",
    "load_weights",
    "measure",
    "open_triage",
    "rate",
    "read_contacts",
    "read_personas",
    "read_sensitive",
    "read_triage_messages",
    "term_weights",
    "triage_report",
    "triage_weights_text",
]
