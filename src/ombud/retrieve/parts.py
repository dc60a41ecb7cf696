"""What a search works with, and what comes of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ombud.index import Engine
from ombud.models import Chat, Embedder, Reranker
from ombud.retrieve.model import ModelUsage, Understanding
from ombud.retrieve.router.classifying import Router, classify
from ombud.retrieve.strategies.glossary import Glossary
from ombud.retrieve.strategies.thesaurus.translating import Translation
from ombud.retrieve.vocabularies import Vocabularies
from ombud.store import Graph
from ombud.types import Evidence, Plan, Query, Question, Ranking


class SearchParts(NamedTuple):
    """The parts of the workspace that a search needs."""

    engine: Engine
    embedder: Embedder | None
    glossary: Glossary = Glossary()
    chat: Chat | None = None
    """Writes search texts: the model of role `strategy`."""
    seconds: float = 15.0
    """Deadline of the model calls that prepare a search, all together; a reranker has as much
    again."""
    organisation: str = "the organisation"
    prompts: Path | None = None
    """A folder of the workspace's own prompts."""
    cross_encoder: Reranker | None = None
    graph: Graph | None = None
    ranker: Chat | None = None
    """Orders passages: the model of role `rerank`."""
    router: Router = classify
    vocabularies: Vocabularies | None = None
    """None: questions are read as they are typed."""


class SearchResult(NamedTuple):
    evidence: Evidence = Evidence()
    queries: tuple[Query, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    seconds: Mapping[str, float] = {}
    degraded: tuple[str, ...] = ()
    best: Mapping[str, float] = {}
    """Leg -> score of its first hit: BM25 or cosine."""
    plan: Plan = Plan()
    """As it was carried out."""
    spent: ModelUsage = ModelUsage()
    understood: Understanding | None = None
    signals: Mapping[str, float] = {}
    question: Question | None = None
    """As it was searched for in its own words: without the history where it opens a subject."""
    translation: Translation | None = None
    """Of a question in a language that neither the embedder nor the documents know."""
