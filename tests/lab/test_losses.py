from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from lab.makers import case, cites, gold, hit, says
from ombud.lab import LOSSES
from ombud.lab.metrics.losses import IndexedPassages, locate_loss
from ombud.types import Answer, Case, Chunk, Hit, Observation, Ranking, Trace

QUOTE = "Staff have 26 days of paid annual leave."
RIGHT = hit(QUOTE, id="right")
WRONG = hit("Pay day is the last Friday.", "hr/pay.md", id="wrong")
CASE = case(gold(QUOTE))


def shelf(*hits: Hit) -> IndexedPassages:
    return IndexedPassages(lambda: [one.chunk for one in hits])


def found(
    *hits: Hit, ranked: tuple[str, ...] = (), answer: Answer | None = None, of: Case = CASE
) -> Observation:
    rows = tuple((identity, rank, 1.0) for rank, identity in enumerate(ranked, 1))
    trace = Trace(rankings=(Ranking(leg="global/sparse/standard", rows=rows),))
    if answer is not None:
        answer = answer.model_copy(
            update={"trace": trace.model_copy(update={"evidence": answer.trace.evidence})}
        )
    return Observation(case=of, hits=hits, answer=answer, trace=None if answer else trace)


ALL = shelf(RIGHT, WRONG)
SHOWN, HIDDEN = Trace(evidence=("right", "wrong")), Trace(evidence=("wrong",))


@pytest.mark.parametrize(
    ("seen", "where"),
    [
        (found(WRONG, ranked=("wrong",)), "not retrieved"),
        (found(WRONG, ranked=("wrong", "right")), "ranked below k"),
        (found(WRONG, ranked=("wrong", "right"), answer=says("No.")), "ranked below k"),
        (found(RIGHT), ""),
        (
            found(RIGHT, answer=says("Friday.", cites("Pay day", "hr/pay.md"), trace=HIDDEN)),
            "dropped from the prompt",
        ),
        (found(RIGHT, answer=says("Not there.", outcome="denied", trace=SHOWN)), "refused wrongly"),
        (
            found(RIGHT, answer=says("Which leave?", action="clarify", trace=SHOWN)),
            "refused wrongly",
        ),
        (
            found(RIGHT, answer=says("Friday.", cites("Pay day", "hr/pay.md"), trace=SHOWN)),
            "in the prompt but missed",
        ),
        (found(RIGHT, answer=says("26.", cites(QUOTE), trace=SHOWN)), ""),
        (found(RIGHT, answer=says("26.", cites(QUOTE))), ""),
    ],
)
def test_every_way_to_lose_the_evidence(seen: Observation, where: str) -> None:
    assert locate_loss(seen, ALL) == where
    assert where in (*LOSSES, "")


def test_what_is_not_in_the_index_cannot_be_found() -> None:
    assert locate_loss(found(WRONG, ranked=("wrong",)), shelf(WRONG)) == "not indexed"
    assert locate_loss(found(), shelf()) == "not indexed"
    # The document is there, the quote is not: it has changed since.
    assert (
        locate_loss(found(), shelf(hit("Staff have 27 days of paid annual leave.")))
        == "not indexed"
    )


def test_the_first_place_counts_and_only_the_best_evidence_is_needed() -> None:
    both = case(gold(QUOTE), gold("Gone.", "hr/gone.md"))
    assert locate_loss(found(RIGHT, of=both), ALL) == "not indexed"
    lesser = case(gold(QUOTE), gold("Gone.", "hr/gone.md", grade=1))
    assert locate_loss(found(RIGHT, of=lesser), ALL) == ""


def test_a_quote_cut_by_a_chunk_border_stands_where_both_sides_came_back() -> None:
    left, right = hit(QUOTE[:20], id="l"), hit(QUOTE[20:], start=20, id="r")
    assert locate_loss(found(left, right), shelf(left, right)) == ""
    assert locate_loss(found(left, ranked=("l",)), shelf(left, right)) == "not retrieved"


def test_evidence_that_is_a_whole_document() -> None:
    whole = case(gold("", "hr/leave.md"))
    assert locate_loss(found(RIGHT, of=whole), ALL) == ""
    assert locate_loss(found(WRONG, of=whole), ALL) == "not retrieved"
    assert locate_loss(found(WRONG, of=whole), shelf(WRONG)) == "not indexed"
    assert (
        locate_loss(found(RIGHT, answer=says("26.", cites("26 days"), trace=SHOWN), of=whole), ALL)
        == ""
    )
    other = says("Friday.", cites("Pay day", "hr/pay.md"), trace=SHOWN)
    assert locate_loss(found(RIGHT, answer=other, of=whole), ALL) == "in the prompt but missed"


@pytest.mark.parametrize("expect", ["deny", "clarify"])
def test_where_nothing_should_be_answered_nothing_is_lost(expect: str) -> None:
    assert locate_loss(found(WRONG, of=CASE.model_copy(update={"expect": expect})), ALL) == ""


def test_nothing_is_lost_without_a_search_or_without_evidence() -> None:
    assert locate_loss(Observation(case=CASE, answer=says("No.", outcome="denied")), ALL) == ""
    assert locate_loss(Observation(case=CASE, error="down"), ALL) == ""
    assert locate_loss(found(WRONG, of=case()), ALL) == ""


def test_a_sensitive_case_that_is_handed_over_with_its_passage_lost_nothing() -> None:
    sensitive = case(gold(QUOTE), expect="handoff", type="sensitive")
    kept = says("An advisor helps you.", cites(QUOTE), action="handoff", trace=SHOWN)
    assert locate_loss(found(RIGHT, answer=kept, of=sensitive), ALL) == ""


def test_passages_are_fetched_once_also_by_many_threads_and_only_when_needed() -> None:
    fetched = []

    def passages() -> Iterator[Chunk]:
        fetched.append(1)
        yield from (one.chunk for one in (RIGHT, WRONG))

    lazy = IndexedPassages(passages)
    locate_loss(found(RIGHT), lazy)
    assert not fetched
    with ThreadPoolExecutor(8) as threads:
        places = list(
            threads.map(lambda _: locate_loss(found(WRONG, ranked=("right",)), lazy), range(50))
        )
    assert set(places) == {"ranked below k"}
    assert fetched == [1]


def test_a_fetch_that_broke_off_is_made_again_and_not_taken_for_the_whole() -> None:
    fetched = []

    def passages() -> Iterator[Chunk]:
        fetched.append(1)
        yield WRONG.chunk
        if len(fetched) == 1:
            raise ConnectionError("hung up")
        yield RIGHT.chunk

    broken = IndexedPassages(passages)
    with pytest.raises(ConnectionError):
        locate_loss(found(WRONG), broken)
    assert locate_loss(found(WRONG), broken) == "not retrieved"
    assert [one.id for one in broken.of_document(WRONG.chunk.uri)] == ["wrong"]
