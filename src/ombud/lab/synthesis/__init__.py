"""Cases out of a corpus without a model: questions from headings, definitions, table rows and
numbers."""

from ombud.lab.synthesis.choosing import Account, Synthesis, synthesise

__all__ = ["Account", "Synthesis", "synthesise"]
