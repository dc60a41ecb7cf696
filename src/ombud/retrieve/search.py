"""The search flow: queries, legs, fusion, scopes."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ombud.errors import ModelError, UnknownName
from ombud.index import Engine, Filter, Leg, Vector, analyse
from ombud.models import Embedder, detect_language
from ombud.retrieve.fusion import fuse
from ombud.retrieve.glossary import Glossary
from ombud.retrieve.thesaurus import policy_words
from ombud.types import Chunk, Evidence, Hit, Plan, Query, Question, Ranking

TURNS = 3
"""Earlier user turns folded into a follow-up."""
SHORT = 3
"""Content words up to which a turn is taken for a follow-up."""
POINTS_BACK = re.compile(
    r"^\W*(?:and|but|so|or|also|ok(?:ay)?|then|what about|how about|what if|same)\b"
    r"|\b(?:it|its|that|this|those|these|they|them|their|there|then|same|too|either|instead|both|another)\b",
    re.IGNORECASE,
)
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
LEGS = ("sparse", "dense")
FLOOR_FROM = 5
"""Fewest hits among which one may be spared for a mandatory global rule."""
ASKING = re.compile(
    r"\bhow\s+(?:many|much|long|often|far|soon|early|late|high|big|do|does|can|would)\b"
    r"|\b(?:want(?:ed)? to|need to|would like to|tell me|know|please|hi|hello|thanks?|thank you|wondering)\b",
    re.IGNORECASE,
)
"""How people ask, which says nothing of what they ask about: a rare "many" would outweigh a common "leave"."""
LOCAL_BONUS = 0.06
"""What a country's own rule is worth over a global one, as a share of the best fused score (dev: +.02 quote@1000w)."""


class Index(NamedTuple):
    """What a search needs of the workspace."""

    engine: Engine
    embedder: Embedder | None
    glossary: Glossary = Glossary()


class Found(NamedTuple):
    evidence: Evidence
    queries: tuple[Query, ...]
    rankings: tuple[Ranking, ...]
    seconds: Mapping[str, float]
    degraded: tuple[str, ...]
    best: Mapping[str, float]
    """Leg -> score of its first hit: BM25 or cosine."""


def search(question: Question, plan: Plan, where: Filter, index: Index) -> Found:
    """Evidence for a question: at most plan.k hits, what `where` hides removed before anything is ranked."""
    _check(plan)
    started = time.perf_counter()
    queries = [_strategy(name)(question, index.glossary) for name in plan.strategies[:1]]
    vectors, degraded = _embed(queries, plan, index)
    embedded = time.perf_counter()
    legs: list[tuple[Query, Leg]] = []
    for query, vector in zip(queries, vectors, strict=True):
        terms = " ".join(query_terms(query.text, index.engine))
        mode = "sparse" if vector is None else plan.mode
        legs += [(query, leg) for leg in index.engine.search(terms, vector, where, plan.pool, mode)]
    searched = time.perf_counter()
    evidence = _fuse(legs, plan, where)
    return Found(
        evidence,
        tuple(queries),
        tuple(_rankings(legs, where)),
        {"embed": embedded - started, "search": searched - embedded, "fuse": time.perf_counter() - searched},
        degraded,
        {leg.name: leg.hits[0][1] for _, leg in legs if leg.hits},
    )


def standard(question: Question, glossary: Glossary) -> Query:
    """The question itself; a follow-up has the asker's earlier turns before it.

    Abbreviations spelt out and the words that policies use for what people say go to the sparse side only: there
    they bridge vocabularies, while a vector of many words points nowhere (measured on dev).
    """
    earlier = [m.content for m in question.history if m.role == "user"][-TURNS:]
    folded = "\n".join([*earlier, question.text]) if leans_on_history(question.text) else question.text
    more = [*glossary.expansions(folded, question.asker.country), *policy_words(folded)]
    return Query(strategy="standard", text="\n".join([folded, *more]), passage=folded)


def leans_on_history(text: str) -> bool:
    """Whether a turn cannot be understood alone: it is short, or points back. A new subject stands for itself."""
    return len(analyse(text)) <= SHORT or bool(POINTS_BACK.search(text))


def query_terms(text: str, engine: Engine) -> list[str]:
    """Index terms of a question, stemmed by the rules of its language, and of the index's only one if it has one.

    Short questions are hard to place; in an index of one language there is nothing to place.
    """
    text = ASKING.sub(" ", text)
    languages = engine.languages()
    language = next(iter(languages)) if len(languages) == 1 else detect_language(text)
    return analyse(text, language if language in languages or not languages else "en")


def _check(plan: Plan) -> None:
    """Refuse knobs that nothing here turns yet, rather than ignore them."""
    if plan.reranker != "none":
        raise UnknownName(f"No reranker is called `{plan.reranker}`.", hint="Known: none.")
    for name in ("adaptive", "graph"):
        if getattr(plan, name):
            raise UnknownName(f"plan.{name} has nothing behind it in this version.", hint=f"Leave plan.{name} off.")
    for name in plan.strategies:
        _strategy(name)
    for name in plan.weights:
        if name not in LEGS:
            raise UnknownName(f"No leg is called `{name}`.", hint=f"Known: {', '.join(LEGS)}.")
    if not plan.strategies:
        raise UnknownName("plan.strategies is empty.", hint=f"Known: {', '.join(sorted(STRATEGIES))}.")
    if plan.strategy_mode == "all" and len(plan.strategies) > 1:
        raise UnknownName("plan.strategy_mode = `all` needs more than one strategy.", hint="Known: standard.")


def _strategy(name: str) -> Callable[[Question, Glossary], Query]:
    if name not in STRATEGIES:
        raise UnknownName(f"No strategy is called `{name}`.", hint=f"Known: {', '.join(sorted(STRATEGIES))}.")
    return STRATEGIES[name]


def _embed(queries: Sequence[Query], plan: Plan, index: Index) -> tuple[list[Vector | None], tuple[str, ...]]:
    if plan.mode == "sparse":
        return [None] * len(queries), ()
    if index.embedder is None:
        return [None] * len(queries), ("dense: no embedding model, searched by words only",)
    if index.embedder.languages is not None and all(_unread(q.passage) for q in queries):
        return [None] * len(queries), ("dense: the embedder does not know the language, searched by words only",)
    try:
        return list(index.embedder.embed([q.passage for q in queries])), ()
    except ModelError:
        return [None] * len(queries), ("dense: the embedding model gave no answer, searched by words only",)


def _unread(text: str) -> bool:
    """Whether most letters are of a script that an embedder of few languages takes for unknown tokens."""
    return 2 * len(CJK.findall(text)) > sum(c.isalpha() for c in text)


def _fuse(legs: Sequence[tuple[Query, Leg]], plan: Plan, where: Filter) -> Evidence:
    chunks = {chunk.id: chunk for _, leg in legs for chunk, _ in leg.hits}
    held: dict[str, list[str]] = {identity: [] for identity in chunks}
    weighted = []
    for query, leg in legs:
        weighted.append(([(chunk.id, score) for chunk, score in leg.hits], plan.weights.get(leg.name, 1.0)))
        for chunk, _ in leg.hits:
            held[chunk.id].append(f"{_scope(chunk, where)}/{leg.name}/{query.strategy}")
    fused = fuse(plan.fusion, weighted, rrf_k=plan.rrf_k)
    bonus = LOCAL_BONUS * max(fused.values(), default=0.0)
    fused = {i: score + bonus * bool(chunks[i].countries) for i, score in fused.items()}
    hits = [Hit(chunk=chunks[i], score=score, found_by=tuple(held[i])) for i, score in fused.items()]
    ranked = _by_scope(hits).hits
    return _by_scope(_with_floor(ranked, plan.k))


def _by_scope(hits: Sequence[Hit]) -> Evidence:
    return Evidence(
        local=tuple(h for h in hits if h.chunk.countries), shared=tuple(h for h in hits if not h.chunk.countries)
    )


def _with_floor(ranked: Sequence[Hit], k: int) -> Sequence[Hit]:
    """The best k hits. Where they hold a country's rule and a mandatory global document speaks of the same topic,
    the passage that opens that document takes the last place: nobody should be told the local rule without the
    floor under it, and policies say their rule first.
    """
    top = list(ranked[:k])
    ruled = {h.chunk.topic for h in top if h.chunk.countries and h.chunk.topic}
    floors = [h for h in ranked if h.chunk.mandatory and h.chunk.topic in ruled]
    if k < FLOOR_FROM or not floors:
        return top
    opening = min((h for h in floors if h.chunk.uri == floors[0].chunk.uri), key=lambda h: h.chunk.start)
    return top if opening in top else [*top[:-1], opening]


def _rankings(legs: Sequence[tuple[Query, Leg]], where: Filter) -> list[Ranking]:
    rows: dict[str, list[tuple[str, int, float]]] = {}
    for query, leg in legs:
        for chunk, score in leg.hits:
            ranking = rows.setdefault(f"{_scope(chunk, where)}/{leg.name}/{query.strategy}", [])
            ranking.append((chunk.id, len(ranking) + 1, round(score, 6)))
    return [Ranking(leg=name, rows=tuple(listed)) for name, listed in rows.items()]


def _scope(chunk: Chunk, where: Filter) -> str:
    mine = [c for c in chunk.countries if where.countries is None or c in where.countries]
    return mine[0] if mine else "global"


STRATEGIES = {"standard": standard}
