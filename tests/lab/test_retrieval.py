from math import log2

import pytest

from lab.makers import case, gold, hit
from ombud.lab import parse_metric, score
from ombud.types import Case, Hit, Observation, Score

LEAVE = "You have 25 days of leave a year."
NOISE = hit("Nothing to see here.", "hr/other.md")


def measure(metric: str, asked: Case, *hits: Hit) -> float | None:
    return row(metric, asked, *hits).value


def row(metric: str, asked: Case, *hits: Hit) -> Score:
    (one,) = score(Observation(case=asked, hits=hits), [parse_metric(metric)])
    return one


TWO = case(gold(LEAVE), gold("Unpaid leave needs consent.", "hr/unpaid.md", grade=1))
FOUND_LEAVE = hit("Intro. " + LEAVE)
FOUND_UNPAID = hit("Unpaid leave needs consent. Ask early.", "hr/unpaid.md")


def test_one_of_two_at_rank_two() -> None:
    hits = (NOISE, FOUND_LEAVE, NOISE)
    assert measure("recall@1", TWO, *hits) == 0
    assert measure("recall@2", TWO, *hits) == 0.5
    assert measure("precision@3", TWO, *hits) == pytest.approx(1 / 3)
    assert measure("precision@10", TWO, *hits) == pytest.approx(1 / 10)
    assert measure("hit@1", TWO, *hits) == 0
    assert measure("hit@2", TWO, *hits) == 1
    assert measure("mrr", TWO, *hits) == 0.5
    assert measure("mrr@1", TWO, *hits) == 0
    assert measure("map", TWO, *hits) == pytest.approx(1 / 2 / 2)
    ideal = 2 + 1 / log2(3)
    assert measure("ndcg@3", TWO, *hits) == pytest.approx(2 / log2(3) / ideal)
    assert measure("ndcg_exp@3", TWO, *hits) == pytest.approx((3 / log2(3)) / (3 + 1 / log2(3)))


def test_both_found_in_grade_order_is_perfect() -> None:
    for metric in ("recall@2", "precision@2", "mrr", "map", "ndcg@2", "ndcg_exp@2"):
        assert measure(metric, TWO, FOUND_LEAVE, FOUND_UNPAID) == 1
    swapped = (1 + 2 / log2(3)) / (2 + 1 / log2(3))
    assert measure("ndcg@2", TWO, FOUND_UNPAID, FOUND_LEAVE) == pytest.approx(swapped)


def test_overlapping_chunks_are_not_paid_twice() -> None:
    again = hit(LEAVE + " More.", start=7)
    assert measure("map", TWO, FOUND_LEAVE, again, FOUND_UNPAID) == pytest.approx((1 + 2 / 3) / 2)
    assert measure("precision@3", TWO, FOUND_LEAVE, again, FOUND_UNPAID) == 1


def test_one_hit_with_two_items_is_perfect_but_not_more() -> None:
    both = case(gold("25 days"), gold("a year", grade=1))
    for metric in ("recall@1", "map", "ndcg@1", "ndcg@5", "ndcg_exp@5"):
        assert measure(metric, both, FOUND_LEAVE) == 1


def test_a_quote_cut_by_the_border_belongs_to_the_greater_half() -> None:
    asked = case(gold(LEAVE))
    left, right = hit(LEAVE[:22]), hit(LEAVE[22:], start=22)
    assert measure("recall@1", asked, left) == 1
    assert measure("recall@1", asked, right) == 0
    assert measure("quote_recall@1", asked, left) == 0
    assert measure("quote_recall@2", asked, right, left) == 1


def test_the_same_words_elsewhere_are_not_the_evidence() -> None:
    asked = case(gold(LEAVE))
    assert measure("recall@1", asked, hit(LEAVE, "hr/old.md")) == 0
    assert measure("quote_recall@1", asked, hit(LEAVE, "hr/old.md")) == 0


def test_evidence_without_a_quote_is_the_document() -> None:
    asked = case(gold(uri="beir-7"))
    assert measure("recall@2", asked, NOISE, hit("anything", "beir-7")) == 1
    assert row("quote_recall@2", asked, NOISE).reason == "the case's evidence has no quotes"
    assert row("context_f1@2", asked, NOISE).value is None


def test_pages() -> None:
    asked = case(gold(LEAVE, "a.pdf", page=3), gold(LEAVE, "b.md", page=9), gold("x", "c.pdf"))
    paged = hit("p. 2 to 4", "a.pdf", page_from=2, page_to=4)
    assert measure("page_recall@1", asked, paged) == pytest.approx(1 / 3)
    assert measure("page_recall@1", asked, hit("p. 2", "a.pdf", page_from=2)) == 0
    assert (
        measure("page_recall@3", asked, paged, hit("", "b.md"), hit("", "c.pdf", page_from=1)) == 1
    )


def test_quotes_within_words() -> None:
    asked = case(gold(LEAVE))
    filler = hit("word " * 995, "hr/other.md")
    # LEAVE has 8 words: 995 + 8 do not fit into 1000, 992 + 8 do.
    assert measure("quote_recall@1000w", asked, filler, hit(LEAVE)) == 0
    assert measure("quote_recall@1003w", asked, filler, hit(LEAVE)) == 1
    assert measure("quote_recall@1000w", asked, hit(LEAVE), filler) == 1


def test_amounts() -> None:
    assert measure("words@1", TWO, hit("one two  three", header="not counted"), NOISE) == 3
    assert measure("words@9", TWO, hit("one two  three"), NOISE) == 7
    assert measure("words@9", TWO) == 0
    assert (
        measure("score@2", TWO, hit("a", score=0.5), hit("b", score=0.25), hit("c", score=9))
        == 0.375
    )
    assert row("score@2", TWO).reason == "nothing was found"
    # 7 of 11 tokens (the article is dropped): 2 * 7 / (7 + 11).
    asked = case(gold("You have 25 days of leave a year"))
    text = "You have 25 days of leave a year. Ask the people team soon."
    assert measure("context_f1@1", asked, hit(text)) == pytest.approx(2 * 7 / (7 + 11))


@pytest.mark.parametrize(
    "metric",
    ["recall@3", "mrr", "map", "ndcg@3", "page_recall@3", "quote_recall@3", "context_f1@3"],
)
def test_undefined_has_a_reason_and_nothing_found_is_zero(metric: str) -> None:
    (unsearched,) = score(Observation(case=TWO), [parse_metric(metric)])
    assert (unsearched.value, unsearched.reason) == (None, "no hits were recorded")
    assert row(metric, case(), NOISE).reason == "the case names no evidence"
    assert "to be denied" in row(metric, case(gold(LEAVE), expect="deny"), NOISE).reason
    assert measure(metric, TWO) == 0
