"""Question -> Evidence: strategies make search texts, legs are searched together, fused, and split by scope."""

from ombud.retrieve.contradictions import contradictions, disagreeing
from ombud.retrieve.conversation import aside_free, carry_over, parts
from ombud.retrieve.countries import named_countries
from ombud.retrieve.fusion import FUSIONS, fuse
from ombud.retrieve.glossary import Glossary, read_glossary
from ombud.retrieve.model import Spent, Understanding
from ombud.retrieve.paths import Neighbourhood, Walked, neighbourhood, paths, with_paths
from ombud.retrieve.rerank import RERANKERS, Reranked, rerank
from ombud.retrieve.search import Found, Index, find, search
from ombud.retrieve.search import check as check_plan
from ombud.retrieve.standard import query_terms, standard
from ombud.retrieve.strategies import STRATEGIES

__all__ = [
    "FUSIONS",
    "RERANKERS",
    "STRATEGIES",
    "Found",
    "Glossary",
    "Index",
    "Neighbourhood",
    "Reranked",
    "Spent",
    "Understanding",
    "Walked",
    "aside_free",
    "carry_over",
    "check_plan",
    "contradictions",
    "disagreeing",
    "find",
    "fuse",
    "named_countries",
    "neighbourhood",
    "parts",
    "paths",
    "query_terms",
    "read_glossary",
    "rerank",
    "search",
    "standard",
    "with_paths",
]
