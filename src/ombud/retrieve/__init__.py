"""Question -> Evidence: strategies make search texts, legs are searched together, fused, and split by scope."""

from ombud.retrieve.adapt import PARAMETERS, adapt, check_mapping, mapped
from ombud.retrieve.contradictions import CONTRADICTING, contradictions, disagreeing
from ombud.retrieve.conversation import aside_free, carry_over, parts
from ombud.retrieve.countries import named_countries
from ombud.retrieve.fusion import FUSIONS, fuse
from ombud.retrieve.glossary import Glossary, read_glossary
from ombud.retrieve.model import Spent, Understanding
from ombud.retrieve.paths import Neighbourhood, Walked, neighbourhood, paths, with_paths
from ombud.retrieve.quantities import Quantity, quantities
from ombud.retrieve.quantities import plain as plain_quantities
from ombud.retrieve.rerank import RERANKERS, Reranked, rerank
from ombud.retrieve.router import (
    Compared,
    Labelled,
    Result,
    Routed,
    Router,
    TrainingTools,
    as_markdown,
    classify,
    classify_by_model,
    compare_routers,
    fine_tune,
    judge_by_folds,
    judge_by_router,
    judge_weights,
    open_router,
    read_labelled,
    train,
    weights_text,
)
from ombud.retrieve.search import Found, Index, find, search
from ombud.retrieve.search import check as check_plan
from ombud.retrieve.standard import both_ways, query_terms, standard
from ombud.retrieve.strategies import STRATEGIES

__all__ = [
    "CONTRADICTING",
    "FUSIONS",
    "PARAMETERS",
    "RERANKERS",
    "STRATEGIES",
    "Compared",
    "Found",
    "Glossary",
    "Index",
    "Labelled",
    "Neighbourhood",
    "Quantity",
    "Reranked",
    "Result",
    "Routed",
    "Router",
    "Spent",
    "TrainingTools",
    "Understanding",
    "Walked",
    "adapt",
    "as_markdown",
    "aside_free",
    "both_ways",
    "carry_over",
    "check_mapping",
    "check_plan",
    "classify",
    "classify_by_model",
    "compare_routers",
    "contradictions",
    "disagreeing",
    "find",
    "fine_tune",
    "fuse",
    "judge_by_folds",
    "judge_by_router",
    "judge_weights",
    "mapped",
    "named_countries",
    "neighbourhood",
    "open_router",
    "parts",
    "paths",
    "plain_quantities",
    "quantities",
    "query_terms",
    "read_glossary",
    "read_labelled",
    "rerank",
    "search",
    "standard",
    "train",
    "weights_text",
    "with_paths",
]
