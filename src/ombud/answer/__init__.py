"""Evidence -> Answer: triage, composition, proof; and the whole ask flow."""

from ombud.answer.ask import Parts, Tell, ask
from ombud.answer.confidence import FEATURES, Weights, confidence, fit, load_weights
from ombud.answer.contacts import Contacts, read_contacts
from ombud.answer.sensitive import Sensitive, read_sensitive
from ombud.answer.signals import measure
from ombud.answer.verify import check_quote, disagreements

__all__ = [
    "FEATURES",
    "Contacts",
    "Parts",
    "Sensitive",
    "Tell",
    "Weights",
    "ask",
    "check_quote",
    "confidence",
    "disagreements",
    "fit",
    "load_weights",
    "measure",
    "read_contacts",
    "read_sensitive",
]
