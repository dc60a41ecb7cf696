"""Question -> Evidence: strategies make search texts, legs are searched together, fused, and split by scope."""

from ombud.retrieve.fusion import FUSIONS, fuse
from ombud.retrieve.glossary import Glossary, read_glossary
from ombud.retrieve.search import Found, Index, query_terms, search

__all__ = ["FUSIONS", "Found", "Glossary", "Index", "fuse", "query_terms", "read_glossary", "search"]
