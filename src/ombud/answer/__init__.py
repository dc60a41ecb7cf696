"""Evidence -> Answer: triage, composition, proof; and the whole ask flow."""

from ombud.answer.ask import Parts, Tell, ask
from ombud.answer.confidence import FEATURES, SPARSE_FEATURES, Weights, confidence, fit, load_weights
from ombud.answer.contacts import Contacts, read_contacts
from ombud.answer.extract import candidates
from ombud.answer.persona import FIRST, Persona, read_personas
from ombud.answer.prompting import COMPONENTS, SETS, check_components
from ombud.answer.sensitive import Sensitive, read_sensitive
from ombud.answer.signals import measure, term_weights
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
    "Weights",
    "ask",
    "candidates",
    "check_claim",
    "check_components",
    "check_quote",
    "confidence",
    "disagreements",
    "features",
    "fit",
    "load_weights",
    "measure",
    "read_contacts",
    "read_personas",
    "read_sensitive",
    "term_weights",
]
