"""How far scores agree with people, against SciPy, scikit-learn and published figures."""

import json
import random
import re
from collections import Counter
from pathlib import Path
from statistics import fmean

import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support

from lab.yardsticks import read_mtrag, read_ragchecker
from ombud.lab import JudgeAlignment, Rating, align
from ombud.lab.people.alignment import powered_mean

JUDGE = Path(__file__).parents[3] / "shared" / "data" / "judge"
needs_yardsticks = pytest.mark.skipif(not JUDGE.exists(), reason="needs ../shared/data/judge")


def drawn(seed: int, items: int = 60) -> tuple[list[Rating], dict[str, float | None]]:
    draw = random.Random(seed)
    ratings = [Rating(f"{n}", float(draw.randint(1, 5)), "ann") for n in range(items)]
    scores: dict[str, float | None] = {}
    for rating in ratings:
        scores[rating.item] = float(min(5, max(1, rating.value + draw.choice([-1, 0, 0, 1, 2]))))
    return ratings, scores


def of(ratings: list[Rating], scores: dict[str, float | None]) -> JudgeAlignment:
    (found,) = align(ratings, scores)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_as_other_implementations_say(seed: int) -> None:
    ratings, scores = drawn(seed)
    said = [rating.value for rating in ratings]
    judged = [scores[rating.item] or 0.0 for rating in ratings]
    found = of(ratings, scores)
    assert found.pearson.value == pytest.approx(pearsonr(said, judged)[0])
    assert found.spearman.value == pytest.approx(spearmanr(said, judged)[0])
    assert found.classes is not None
    macro = precision_recall_fscore_support(said, judged, average="macro", zero_division=0)
    assert (found.classes.precision, found.classes.recall, found.classes.f1) == pytest.approx(
        macro[:3]
    )
    assert found.classes.kappa.value == pytest.approx(cohen_kappa_score(said, judged))
    equal = sum(a == b for a, b in zip(said, judged, strict=True)) / len(said)
    assert found.classes.agreement.value == pytest.approx(equal)


def test_each_type_of_question_has_its_own_correlation() -> None:
    ratings, scores = drawn(2)
    kinds = [
        rating._replace(kind="vague" if n % 3 else "simple") for n, rating in enumerate(ratings)
    ]
    found = of(kinds, scores)
    assert set(found.by_type) == {"simple", "vague"}
    own = [rating for rating in kinds if rating.kind == "simple"]
    alone = spearmanr([one.value for one in own], [scores[one.item] for one in own])[0]
    assert found.by_type["simple"].value == pytest.approx(alone)


def test_p_is_small_for_what_goes_together_and_uniform_for_what_does_not() -> None:
    ratings, scores = drawn(1)
    assert (of(ratings, scores).p or 1) < 0.001
    theirs, ours = [], []
    for seed in range(10):
        draw = random.Random(seed)
        shuffled = {item: draw.random() for item in scores}
        ours.append(of(ratings, dict(shuffled)).p or 0)
        said = [rating.value for rating in ratings]
        theirs.append(spearmanr(said, list(shuffled.values()))[1])
    assert ours == pytest.approx(theirs, abs=0.03)


def test_what_cannot_be_said_is_none_and_what_is_missing_is_counted() -> None:
    ratings = [Rating("a", 1, "ann"), Rating("b", 1, "ann"), Rating("c", 1, "ann")]
    found = of(ratings, {"a": 0.5, "b": None})
    assert (found.items, found.unscored, found.spearman.value) == (1, 2, None)
    assert found.classes is None
    assert found.people is None


def test_two_ratings_of_one_answer_are_not_two_answers() -> None:
    ratings, scores = drawn(3, items=20)
    once = of(ratings, scores).spearman
    thrice = [rating._replace(rater=name) for name in "xyz" for rating in ratings]
    again = of(thrice, scores).spearman
    assert again.value == pytest.approx(once.value)
    assert (again.low, again.high) == pytest.approx((once.low, once.high), abs=0.05)


def test_a_judge_that_likes_length_is_found_out() -> None:
    draw = random.Random(5)
    ratings = [Rating(f"{n}", float(draw.randint(1, 5)), "ann") for n in range(200)]
    length = {rating.item: draw.random() * 300 for rating in ratings}
    fair: dict[str, float | None] = {r.item: r.value + draw.random() for r in ratings}
    vain: dict[str, float | None] = {r.item: r.value + length[r.item] / 100 for r in ratings}
    for scores, leans in ((fair, False), (vain, True)):
        (found,) = align(ratings, scores, {"length": length})
        probe = found.probes["length"]
        assert probe.low is not None
        assert (probe.low > 0) == leans


def test_few_labels_and_many_scores_give_a_narrower_interval_that_holds() -> None:
    held = narrower = 0
    for seed in range(100):
        draw = random.Random(seed)
        truth = [draw.gauss(3, 1) for _ in range(600)]
        scores = [value * 0.8 + 1.5 + draw.gauss(0, 0.3) for value in truth]  # biased
        found = powered_mean(truth[:60], scores[:60], scores[60:])
        assert found is not None
        held += found.low <= 3 <= found.high
        narrower += found.high - found.low < 0.7 * (found.people_high - found.people_low)
    assert held >= 88
    assert narrower == 100


def test_a_judge_that_says_nothing_leaves_the_people() -> None:
    labels = [1.0, 2.0, 3.0, 4.0]
    found = powered_mean(labels, [7.0] * 4, [7.0] * 50)
    assert found is not None
    assert (found.value, found.power) == (fmean(labels), 0.0)
    assert (found.low, found.high) == pytest.approx((found.people_low, found.people_high))
    assert powered_mean([1.0], [1.0], [1.0, 2.0]) is None


def word_f1(answer: str, reference: str) -> float:
    """Of every word, as the figures that were published count."""
    own, other = (Counter(re.findall(r"\w+", text.lower())) for text in (answer, reference))
    shared = sum((own & other).values())
    return 2 * shared / (own.total() + other.total()) if shared else 0.0


@needs_yardsticks
def test_ragchecker_as_published() -> None:
    """Pearson and Spearman, times 100: words 50.8 / 51.4, RAGChecker 61.9 / 60.9, people 70.1 /
    68.9."""
    ratings, texts = read_ragchecker(JUDGE / "ragchecker" / "human_labeled_data.json")
    overall = [rating for rating in ratings if rating.criterion == "overall"]
    words: dict[str, float | None] = {}
    for item, text in texts.items():
        first, second = (word_f1(answer, text.reference) for answer in text.answers)
        words[item] = second - first
    checker: dict[str, float | None] = {}
    baseline = (JUDGE / "ragchecker" / "baseline_ragchecker.json").read_text(encoding="utf-8")
    for row in json.loads(baseline):
        item = f"{row['dataset']}/{row['query_id']}/{row['instance_id']}"
        first, second = (row[m]["ragchecker"]["overall_label"] for m in ("model1", "model2"))
        checker[item] = second - first
    for scores, pearson, spearman in ((words, 0.508, 0.514), (checker, 0.619, 0.609)):
        found = of(overall, scores)
        assert (found.items, found.points) == (280, 560)
        assert found.pearson.value == pytest.approx(pearson, abs=0.0006)
        assert found.spearman.value == pytest.approx(spearman, abs=0.0006)
        assert found.people is not None
        assert found.people.pearson.value == pytest.approx(0.701, abs=0.0006)
        assert found.people.spearman.value == pytest.approx(0.689, abs=0.0006)


@needs_yardsticks
def test_mtrag_is_read_whole() -> None:
    path = JUDGE / "mtrag" / "reference_subset_with_human_evaluations.json"
    ratings, texts = read_mtrag(path)
    assert len(texts) == 477
    assert {rating.criterion for rating in ratings} == {
        "faithfulness", "appropriateness", "completeness", "naturalness",
    }  # fmt: skip
    assert {rating.value for rating in ratings} == {1.0, 2.0, 3.0, 4.0}
