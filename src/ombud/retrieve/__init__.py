"""Question -> Evidence: strategies make search texts, legs are searched together, fused, and split
by scope."""

from ombud.retrieve.graph_search import GraphSearch, neighbourhood
from ombud.retrieve.model import ModelUsage, usage_of
from ombud.retrieve.parts import SearchParts, SearchResult
from ombud.retrieve.rerank.reranking import reranker_names
from ombud.retrieve.router.adapting import PARAMETERS, mapped
from ombud.retrieve.router.classifying import (
    WEIGHTS,
    Routed,
    Router,
    classify,
    classify_by_model,
    open_router,
)
from ombud.retrieve.router.features import router_features, values
from ombud.retrieve.router.reading import WORD, asking, pattern
from ombud.retrieve.router.weights import (
    ROUTER_READING,
    Embed,
    Numbers,
    Weights,
    router_scores,
    router_weights_text,
)
from ombud.retrieve.scopes import by_scope
from ombud.retrieve.searching import check_plan, find_passages, search
from ombud.retrieve.strategies.glossary import read_glossary
from ombud.retrieve.strategies.making import strategy_names
from ombud.retrieve.strategies.own_words import asked_meaning, query_terms, standard_query
from ombud.retrieve.strategies.thesaurus.translating import Translation, unread_language
from ombud.retrieve.terms import chunk_terms
from ombud.retrieve.vocabularies import Vocabularies

__all__ = [
    "PARAMETERS",
    "ROUTER_READING",
    "WEIGHTS",
    "WORD",
    "Embed",
    "GraphSearch",
    "ModelUsage",
    "Numbers",
    "Routed",
    "Router",
    "SearchParts",
    "SearchResult",
    "Translation",
    "Vocabularies",
    "Weights",
    "asked_meaning",
    "asking",
    "by_scope",
    "check_plan",
    "chunk_terms",
    "classify",
    "classify_by_model",
    "find_passages",
    "mapped",
    "neighbourhood",
    "open_router",
    "pattern",
    "query_terms",
    "read_glossary",
    "reranker_names",
    "router_features",
    "router_scores",
    "router_weights_text",
    "search",
    "standard_query",
    "strategy_names",
    "unread_language",
    "usage_of",
    "values",
]
