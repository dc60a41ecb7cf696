"""The search flow over real small folders, and its arithmetic over an engine that returns what it
is told."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from ingest.shelf import Shelf
from ombud.app import asking
from ombud.errors import ModelUnavailable, SetupError, UnknownName
from ombud.index import Engine, Filter, Leg, Row
from ombud.models import EmbeddedText
from ombud.retrieve import SearchParts, SearchResult, find_passages, read_glossary, search
from ombud.types import Chunk, Message, Person, Plan, Query, Question

GB, FR, NOBODY = Person(country="GB"), Person(country="FR"), Person()


class Told:
    """An engine that returns these legs: a neighbour's double, so that fusion can be checked by
    hand."""

    def __init__(self, **legs: list[tuple[str, tuple[str, ...], float]]) -> None:
        self.legs = tuple(
            Leg(name, tuple((chunk(i, c), s) for i, c, s in rows)) for name, rows in legs.items()
        )
        self.asked: list[tuple[str, bool, str]] = []
        self.spoken = frozenset({"en"})

    def languages(self) -> frozenset[str]:
        return self.spoken

    async def rows(self, documents: Sequence[str]) -> Sequence[Row]:
        return ()

    def write_in(self, language: str) -> None:
        """All its passages are in that language."""
        legs = []
        for leg in self.legs:
            rows = [(c.model_copy(update={"language": language}), s) for c, s in leg.hits]
            legs.append(leg._replace(hits=tuple(rows)))
        self.legs = tuple(legs)

    async def search(
        self, text: str, vector: Any, where: Filter, k: int, mode: str
    ) -> tuple[Leg, ...]:
        self.asked.append((text, vector is not None, mode))
        return self.legs


class Vectors:
    """An embedder whose vectors nobody looks at, or that is away."""

    fingerprint, dimension = "told", 2

    def __init__(self, languages: frozenset[str] | None = None, *, away: bool = False) -> None:
        self.languages, self.away = languages, away

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if self.away:
            raise ModelUnavailable("The embedder did not answer: connection refused")
        return np.ones((len(texts), 2), np.float32)

    def read(self, texts: Sequence[str]) -> list[EmbeddedText]:
        return [EmbeddedText(vector[None]) for vector in self.embed(texts)]

    def count(self, text: str) -> int:
        raise NotImplementedError


def chunk(identity: str, countries: tuple[str, ...] = ()) -> Chunk:
    return Chunk(
        id=identity,
        document_id="d",
        title="T",
        uri="u",
        text="t",
        start=0,
        end=1,
        countries=countries,
    )


def found(
    engine: Any, plan: Plan | None = None, embedder: Any = None, text: str = "leave"
) -> SearchResult:
    where = Filter(countries=("GB",))
    return asyncio.run(
        search(Question(text=text, asker=GB), plan or Plan(), where, SearchParts(engine, embedder))
    )


WORDS = [("s1", (), 8.0), ("l1", ("GB",), 4.0), ("s2", (), 0.0)]
VECTORS = [("l1", ("GB", "IE"), 0.9), ("s3", (), 0.5), ("s1", (), 0.4)]


def scores(result: SearchResult) -> dict[str, float]:
    return {hit.chunk.id: hit.score for hit in result.evidence.hits}


def test_legs_are_fused_over_both_scopes_and_a_country_counts_a_little_more() -> None:
    result = found(Told(sparse=WORDS, dense=VECTORS), Plan(weights={"sparse": 0.4, "dense": 0.6}))
    # s1: .4 x 1 + .6 x 0; l1: .4 x .5 + .6 x 1 = .8; s3: .6 x .2; and .06 of the best, .8, for the
    # local one
    assert scores(result) == pytest.approx(
        {"l1": 0.8 + 0.06 * 0.8, "s1": 0.4, "s3": 0.12, "s2": 0.0}
    )
    assert [h.chunk.id for h in result.evidence.hits] == ["l1", "s1", "s3", "s2"]
    assert [h.chunk.id for h in result.evidence.local] == ["l1"]
    assert [h.chunk.id for h in result.evidence.shared] == ["s1", "s3", "s2"]
    assert dict(result.best) == {"sparse": 8.0, "dense": 0.9}


def test_every_hit_says_who_found_it_and_every_leg_is_kept_by_scope() -> None:
    result = found(Told(sparse=WORDS, dense=VECTORS))
    labels = {hit.chunk.id: hit.found_by for hit in result.evidence.hits}
    assert labels["s1"] == ("global/sparse/standard", "global/dense/standard")
    assert labels["l1"] == ("GB/sparse/standard", "GB/dense/standard")
    assert labels["s3"] == ("global/dense/standard",)
    rankings = {ranking.leg: ranking.rows for ranking in result.rankings}
    assert rankings == {
        "global/sparse/standard": (("s1", 1, 8.0), ("s2", 2, 0.0)),
        "GB/sparse/standard": (("l1", 1, 4.0),),
        "GB/dense/standard": (("l1", 1, 0.9),),
        "global/dense/standard": (("s3", 1, 0.5), ("s1", 2, 0.4)),
    }


@pytest.mark.parametrize("k", [1, 2, 3, 100])
def test_evidence_is_cut_to_k_over_both_scopes_together(k: int) -> None:
    result = found(Told(sparse=WORDS, dense=VECTORS), Plan(k=k))
    assert [h.chunk.id for h in result.evidence.hits] == ["l1", "s1", "s3", "s2"][:k]


def test_equals_stand_local_first_and_then_by_chunk() -> None:
    rows = [("s9", (), 1.0), ("l5", ("GB",), 1.0), ("s1", (), 1.0), ("l2", ("GB",), 1.0)]
    plan = Plan(k=3, weights={"sparse": 0.0, "dense": 0.0})
    assert [h.chunk.id for h in found(Told(sparse=rows), plan).evidence.hits] == ["l2", "l5", "s1"]
    assert set(scores(found(Told(sparse=rows), plan)).values()) == {0.0}


@pytest.mark.parametrize("fusion", ["rrf", "combsum"])
def test_the_plan_chooses_the_fusion(fusion: str) -> None:
    result = found(
        Told(sparse=WORDS),
        Plan.model_validate({"fusion": fusion, "weights": {"sparse": 1.0}}),
    )
    best = {"rrf": 1 / 61, "combsum": 1.0}[fusion]
    assert scores(result)["s1"] == pytest.approx(best)


def test_nothing_found_is_empty_evidence() -> None:
    result = found(Told())
    assert result.evidence.hits == ()
    assert result.rankings == ()
    assert dict(result.best) == {}


@pytest.mark.parametrize(
    ("knobs", "said", "hint"),
    [
        ({"strategies": ("hide",)}, "`hide`", "standard"),
        ({"strategies": ("standard", "hide")}, "`hide`", "standard"),
        ({"reranker": "cohere"}, "`cohere`", "none"),
        ({"weights": {"sprase": 1.0}}, "`sprase`", "sparse"),
    ],
)
def test_a_knob_with_nothing_behind_it_is_refused(
    knobs: dict[str, Any], said: str, hint: str
) -> None:
    with pytest.raises(UnknownName, match=said) as wrong:
        found(Told(sparse=WORDS), Plan.model_validate(knobs))
    assert hint in wrong.value.hint


@pytest.mark.parametrize("mode", ["hybrid", "dense"])
@pytest.mark.parametrize(
    ("embedder", "text", "why"),
    [
        (None, "leave", "no embedding model"),
        (Vectors(away=True), "leave", "gave no answer"),
        (Vectors(frozenset({"en"})), "有給休暇は何日ですか", "language"),
        (Vectors(frozenset({"en"})), "연차 휴가", "language"),
    ],
)
def test_without_vectors_words_are_searched_and_it_is_said(
    mode: str, embedder: Any, text: str, why: str
) -> None:
    engine = Told(sparse=WORDS)
    result = found(engine, Plan.model_validate({"mode": mode}), embedder, text)
    (said,) = result.degraded
    assert said.startswith("dense: ")
    assert why in said
    assert [(asked[1], asked[2]) for asked in engine.asked] == [(False, "sparse")]
    assert result.evidence.hits


def test_an_embedder_of_all_languages_is_asked_in_any() -> None:
    engine = Told(dense=VECTORS)
    assert found(engine, embedder=Vectors(), text="有給休暇は何日ですか").degraded == ()
    assert engine.asked[0][1:] == (True, "hybrid")


GERMAN = "Wie viele Urlaubstage bekomme ich im ersten Jahr?"


@pytest.mark.parametrize(
    ("knows", "documents", "text", "first"),
    [
        (frozenset({"en"}), frozenset({"de"}), GERMAN, "word"),
        (frozenset({"en"}), frozenset({"de", "en"}), GERMAN, "word"),
        (
            frozenset({"en"}),
            frozenset({"de", "en"}),
            "How many days of leave do I have in my first year?",
            "vector",
        ),
        # A German who asks English documents: their words are not his.
        (frozenset({"en"}), frozenset({"en"}), GERMAN, "vector"),
        (None, frozenset({"de"}), GERMAN, "vector"),
    ],
)
def test_words_count_for_more_in_a_language_that_the_embedder_does_not_know(
    knows: frozenset[str] | None, documents: frozenset[str], text: str, first: str
) -> None:
    engine = Told(
        sparse=[("word", (), 9.0), ("other", (), 1.0)],
        dense=[("vector", (), 0.9), ("other", (), 0.1)],
    )
    engine.spoken = documents
    engine.write_in("de" if "de" in documents else "en")
    hits = found(
        engine, Plan(weights={"sparse": 0.4, "dense": 0.6}), Vectors(knows), text
    ).evidence.hits
    assert hits[0].chunk.id == first


def test_a_sparse_plan_is_no_degradation() -> None:
    engine = Told(sparse=WORDS)
    assert found(engine, Plan(mode="sparse"), Vectors(away=True)).degraded == ()
    assert found(engine, Plan(mode="sparse")).degraded == ()


# Search texts -------------------------------------------------------------------------------------


def passage(
    text: str, *earlier: str, index: SearchParts | None = None, country: str = "GB"
) -> tuple[str, str]:
    """(passage, search text) of a question after these earlier turns of the asker."""
    history = [Message(role="user", content=said) for said in earlier]
    replies = [Message(role="assistant", content="Yes.") for _ in earlier]
    turns = tuple(m for pair in zip(history, replies, strict=True) for m in pair)
    question = Question(text=text, asker=Person(country=country), history=turns)
    index = index or SearchParts(Told(), None)  # type: ignore[arg-type]
    query, *_ = asyncio.run(search(question, Plan(), Filter(), index)).queries
    return query.passage, query.text


def test_abbreviations_and_policy_words_are_added_for_the_words_alone(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text(
        "abbreviation,expansion,country\nTTP,time to travel permit,GB\n", encoding="utf-8"
    )
    index = SearchParts(Told(), None, read_glossary(tmp_path / "g.csv"))  # type: ignore[arg-type]
    said, text = passage("Do I need a TTP on my days off?", index=index)
    assert said == "Do I need a TTP on my days off?"
    assert "time to travel permit" in text
    assert "annual leave" in text
    assert "permit" not in passage("Do I need a TTP on my days off?", index=index, country="FR")[1]


# Over real folders --------------------------------------------------------------------------------

FILES = {
    "gb.md": (
        "# Leave\n\nEmployees in Great Britain have 26 days of annual leave.\n",
        {"country": "GB"},
    ),
    "fr.md": ("# Leave\n\nEmployees in France have 31 days of annual leave.\n", {"country": "FR"}),
    "both.md": (
        "# Leave\n\nAnnual leave is recorded in the time system.\n",
        {"country": "[DE, GB]"},
    ),
    "global.md": ("# Leave\n\nAnnual leave is at least 20 days everywhere.\n", {}),
    "boss.md": (
        "# Leave\n\nManagers approve annual leave within a week.\n",
        {"audience": "{roles: [manager]}"},
    ),
    "old.md": ("# Leave\n\nAnnual leave was 18 days everywhere.\n", {"effective_to": "2024-12-31"}),
    "next.md": (
        "# Leave\n\nAnnual leave will be 22 days everywhere.\n",
        {"effective_from": "2199-01-01"},
    ),
    "draft.md": ("# Leave\n\nAnnual leave might be 40 days.\n", {"status": "draft"}),
    "ja.md": (
        "# 休暇\n\n年次有給休暇は年に20日です。病気休暇は医師の診断書が必要です。\n",
        {"country": "JP"},
    ),
    "ja2.md": (
        "# 出張\n\nホテルの宿泊費は一泊一万円までです。日当は三千円です。\n",
        {"country": "JP"},
    ),
}


def filled(home: Path, embedder: str) -> Shelf:
    shelf = Shelf(home, embedder)
    for name, (text, front) in FILES.items():
        shelf.write(name, text, **front)
    assert shelf.sync().ok
    return shelf


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    shelf = filled(tmp_path_factory.mktemp("words"), "none")
    yield shelf
    shelf.workspace.close()


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    try:
        shelf = filled(tmp_path_factory.mktemp("vectors"), "minilm")
    except SetupError as missing:
        pytest.skip(f"the MiniLM wheel is not installed: {missing}")
    yield shelf
    shelf.workspace.close()


@pytest.mark.parametrize(
    ("person", "day", "seen"),
    [
        (GB, None, {"gb.md", "both.md", "global.md"}),
        (FR, None, {"fr.md", "global.md"}),
        (NOBODY, None, {"global.md"}),
        (
            Person(country="GB", roles=("manager",)),
            None,
            {"gb.md", "both.md", "global.md", "boss.md"},
        ),
        (FR, date(2024, 12, 31), {"fr.md", "global.md", "old.md"}),
        (FR, date(2025, 1, 1), {"fr.md", "global.md"}),
        (FR, date(2199, 1, 1), {"fr.md", "global.md", "next.md"}),
    ],
)
@pytest.mark.parametrize("home", ["words", "vectors"])
def test_a_person_finds_what_they_may_read_and_what_is_in_force(
    home: str, person: Person, day: date | None, seen: set[str], request: pytest.FixtureRequest
) -> None:
    shelf: Shelf = request.getfixturevalue(home)
    evidence, trace = asyncio.run(
        asking.search(shelf.workspace, "annual leave", person, k=50, as_of=day)
    )
    assert {hit.chunk.uri.removeprefix("docs/") for hit in evidence.hits} == seen
    hidden = {chunk.id for chunk in shelf.chunks() if chunk.uri.removeprefix("docs/") not in seen}
    assert not hidden & {row[0] for ranking in trace.rankings for row in ranking.rows}
    assert all(hit.chunk.countries for hit in evidence.local)
    assert not any(hit.chunk.countries for hit in evidence.shared)


def test_words_can_be_weighed_by_tfidf(words: Shelf) -> None:
    def scores(weighting: str) -> dict[str, float]:
        _, trace = asyncio.run(
            asking.search(words.workspace, "annual leave", GB, plan={"weighting": weighting})
        )
        return {row[0]: row[2] for ranking in trace.rankings for row in ranking.rows}

    bm25, tfidf = scores("bm25"), scores("tfidf")
    assert bm25.keys() == tfidf.keys()
    assert all(tfidf[one] != bm25[one] for one in bm25)
    assert all(0 < score <= 1 for score in tfidf.values())  # cosines


def test_a_document_of_several_countries_is_found_under_the_asker_s(words: Shelf) -> None:
    evidence, _ = asyncio.run(asking.search(words.workspace, "recorded in the time system", GB))
    (hit,) = [h for h in evidence.hits if h.chunk.uri == "docs/both.md"]
    assert hit.found_by == ("GB/sparse/standard",)


def test_a_japanese_question_finds_the_japanese_rule(words: Shelf) -> None:
    evidence, trace = asyncio.run(
        asking.search(words.workspace, "有給休暇は何日ですか", Person(country="JP"))
    )
    assert evidence.hits[0].chunk.uri == "docs/ja.md"
    evidence, _ = asyncio.run(
        asking.search(words.workspace, "ホテルの宿泊費", Person(country="JP"))
    )
    assert evidence.hits[0].chunk.uri == "docs/ja2.md"
    assert {r.leg for r in trace.rankings} == {"JP/sparse/standard"}


def test_a_japanese_question_to_an_english_embedder_goes_by_words_and_says_so(
    vectors: Shelf,
) -> None:
    evidence, trace = asyncio.run(
        asking.search(vectors.workspace, "有給休暇は何日ですか", Person(country="JP"))
    )
    assert evidence.hits[0].chunk.uri == "docs/ja.md"
    assert any("language" in said for said in trace.degraded)
    assert not any("/dense/" in ranking.leg for ranking in trace.rankings)


def test_vectors_find_what_words_do_not(words: Shelf, vectors: Shelf) -> None:
    paraphrase = "how many holidays am I allowed"
    assert "docs/gb.md" in {
        h.chunk.uri
        for h in asyncio.run(asking.search(vectors.workspace, paraphrase, GB, mode="dense"))[0].hits
    }
    assert asyncio.run(asking.search(words.workspace, "zzzz", GB))[0].hits == ()
    evidence, trace = asyncio.run(asking.search(vectors.workspace, "zzzz", GB))
    assert evidence.hits
    assert trace.degraded == ()


@pytest.mark.parametrize("mode", ["hybrid", "dense"])
def test_a_workspace_without_a_model_says_so(words: Shelf, mode: Any) -> None:
    evidence, trace = asyncio.run(asking.search(words.workspace, "annual leave", GB, mode=mode))
    assert evidence.hits
    assert [said for said in trace.degraded if "no embedding model" in said]


@pytest.mark.parametrize(
    "text", ["", "   ", "?!", "the of and", "x" * 50_000, "\x00", "' OR 1=1 --", "年"]
)
def test_any_text_can_be_searched(words: Shelf, text: str) -> None:
    evidence, _ = asyncio.run(asking.search(words.workspace, text, GB))
    assert len(evidence.hits) <= 8


class Asymmetric(Vectors):
    """An embedder that tells questions from documents, and remembers what it was given as what."""

    def __init__(self) -> None:
        super().__init__()
        self.told: dict[str, list[str]] = {"queries": [], "documents": []}

    def read(self, texts: Sequence[str]) -> list[EmbeddedText]:
        self.told["documents"] += texts
        return super().read(texts)

    def read_queries(self, texts: Sequence[str]) -> list[EmbeddedText]:
        self.told["queries"] += texts
        return super().read(texts)


def test_a_question_is_embedded_as_a_question_and_a_made_up_paragraph_as_a_document() -> None:
    embedder = Asymmetric()
    queries = [
        Query(strategy="hyde", text="", passage="Staff have 26 days.", hypothetical=True),
        Query(strategy="own words", text="leave", passage="How much leave do I have?"),
    ]
    parts = SearchParts(cast(Engine, Told(dense=VECTORS)), embedder)
    assert find_passages(queries, Plan(), Filter(), parts).evidence.hits
    assert embedder.told == {
        "queries": ["How much leave do I have?"],
        "documents": ["Staff have 26 days."],
    }
