"""TF-IDF in place of BM25, beside scikit-learn's."""

from collections.abc import Sequence
from typing import Any

import pytest

from ombud.index import Leg, blocking
from ombud.index.engine import Stats
from ombud.retrieve.weighting import by_tfidf
from ombud.text.analysis import analyse
from ombud.types import Chunk

TEXTS = (
    "leave leave pay",
    "notice leave",
    "pay pay pay notice notice",
    "leave pay notice",
    "notice",
)


class Counted:
    """An engine that only counts: a neighbour's double."""

    async def stats(self, terms: Sequence[str] = ()) -> Stats:
        return Stats(
            len(TEXTS), {term: sum(term in analyse(text) for text in TEXTS) for term in terms}
        )


def chunk(place: int, text: str) -> Chunk:
    return Chunk(id=str(place), document_id="d", title="", uri="u", text=text, start=0, end=1)


@pytest.mark.parametrize(
    "asked", ["leave pay notice", "leave pay notice leave", "notice notice notice pay leave"]
)
def test_scores_are_those_of_scikit_learn(asked: str) -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    model = text.TfidfVectorizer(analyzer=analyse, sublinear_tf=True, smooth_idf=True)
    weights: Any = model.fit_transform(TEXTS)
    wanted = (weights @ model.transform([asked]).T).toarray().ravel()
    leg = Leg("sparse", tuple((chunk(n, text), 0.0) for n, text in enumerate(TEXTS)))
    found = blocking(by_tfidf(leg, " ".join(analyse(asked)), Counted()))  # type: ignore[arg-type]
    assert {int(c.id): score for c, score in found.hits} == pytest.approx(dict(enumerate(wanted)))
    assert [score for _, score in found.hits] == sorted(
        (score for _, score in found.hits), reverse=True
    )


def test_words_that_were_not_asked_for_make_a_passage_longer() -> None:
    short, long = chunk(0, "leave"), chunk(1, "leave cars hotels printers toner")
    leg = Leg("sparse", ((long, 2.0), (short, 1.0)))
    found = blocking(by_tfidf(leg, "leav", Counted()))  # type: ignore[arg-type]
    assert [c.id for c, _ in found.hits] == ["0", "1"]


def test_nothing_found_stays_nothing() -> None:
    found = blocking(by_tfidf(Leg("sparse", ()), "leav", Counted()))  # type: ignore[arg-type]
    assert found.hits == ()
