"""Question -> Evidence: strategies make search texts, legs are searched together, fused, and split
by scope."""

from ombud.retrieve.graph_search import GraphSearch, neighbourhood
from ombud.retrieve.model import ModelUsage, usage_of
from ombud.retrieve.parts import SearchParts, SearchResult
from ombud.retrieve.rerank.reranking import reranker_names
from ombud.retrieve.router.adapting import PARAMETERS, mapped
from ombud.retrieve.router.classifying import (
    Routed,
    Router,
    classify,
    classify_by_model,
    open_router,
)
from ombud.retrieve.scopes import COUNTERPART, by_scope, in_place_of
from ombud.retrieve.searching import check_plan, find_passages, search
from ombud.retrieve.strategies.glossary import read_glossary
from ombud.retrieve.strategies.making import strategy_names
from ombud.retrieve.strategies.own_words import chunk_terms, query_terms, standard_query
from ombud.retrieve.strategies.thesaurus.translating import Translation, unread_language
from ombud.retrieve.vocabularies import Vocabularies
