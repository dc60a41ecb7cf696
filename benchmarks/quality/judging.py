"""A strong judge with our rubrics, beside people and RAGChecker.

The verdicts of tests/data/recorded/judge-verdicts.jsonl were given apart: each answer alone, in a
random order, by a reader who knew question, reference and rubric (judge-rubric.md) and neither the
labels nor which answers belong together. `--write` writes research/results/judging.md."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

sys.path += [str(Path(__file__).parents[2] / part) for part in ("benchmarks/speed", "tests")]
from record import ROOT, commit

from lab.yardsticks import RatedText, read_ragchecker
from ombud.lab import JudgeAlignment, Rating, align
from ombud.lab.people.agreeing import Estimate

DATA = ROOT.parent / "shared/data/judge/ragchecker"
VERDICTS = ROOT / "tests/data/recorded/judge-verdicts.jsonl"
RUBRICS = ("correctness", "truthfulness", "completeness", "relevance")
CRITERIA = ("overall", "correctness", "completeness")
DRAWS = 2000
HEAD = """# A judge beside people

Pairs of answers of RAGChecker's meta-evaluation (280, two people each, -2 to 2, ten domains), of which a strong reader
graded {pairs} with our rubrics (`tests/data/recorded/judge-rubric.md`): each answer alone, in a random order, without
labels. A judge's word on a pair is the difference of its two grades. The mean of the four rubrics was chosen before the
second part of the verdicts had come. Pearson's and Spearman's correlation with every rating of a person, 95 % intervals
over pairs, all on the same {pairs} pairs. On all 280, overall, x 100: token F1 50.8/51.4, RAGChecker 61.9/60.9, people
70.1/68.9, as published and as `ombud lab align` gives them.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    text = report()
    print(text)
    if given.write:
        (ROOT / "research/results/judging.md").write_text(text, encoding="utf-8")


def report() -> str:
    labels, texts = read_ragchecker(DATA / "human_labeled_data.json")
    judged = {name: graded([name]) for name in RUBRICS}
    ours = graded(RUBRICS)
    pairs = sorted(ours)
    lines = [HEAD.format(pairs=len(pairs)), f"## Measured, {commit()}\n\n"]
    for criterion in CRITERIA:
        ratings = [
            rating for rating in labels if rating.criterion == criterion and rating.item in ours
        ]
        checker = baseline(criterion, pairs)
        sides = {"our rubrics, mean of four": ours, "RAGChecker": checker, "token F1": f1(texts)}
        sides |= {f"our `{name}` alone": judged[name] for name in RUBRICS}
        lines.append(f"### {criterion}\n\n| who | Pearson | Spearman |\n|---|---|---|\n")
        for name, scores in sides.items():
            lines.append(row(name, of(ratings, scores)))
        people = of(ratings, ours).people
        if people:
            value = f"{shown(people.pearson)} | {shown(people.spearman)}"
            lines.append(f"| people with each other | {value} |\n")
        low, middle, high = difference(ratings, ours, checker)
        lines.append(
            f"\nOurs minus RAGChecker's, Pearson: {middle:+.3f} [{low:+.3f}, {high:+.3f}].\n\n"
        )
    return "".join(lines)


def graded(names: Sequence[str]) -> dict[str, float]:
    """Item -> how much better the second answer is, by the mean of these rubrics; items of which
    both answers were graded."""
    grades: dict[str, dict[int, float]] = {}
    for line in VERDICTS.read_text(encoding="utf-8").splitlines():
        verdict = json.loads(line)
        mean = sum(verdict[name] for name in names) / len(names)
        grades.setdefault(verdict["item"], {})[verdict["answer"]] = mean
    return {item: both[2] - both[1] for item, both in grades.items() if len(both) == 2}


def baseline(criterion: str, pairs: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for row in json.loads((DATA / "baseline_ragchecker.json").read_text(encoding="utf-8")):
        item = f"{row['dataset']}/{row['query_id']}/{row['instance_id']}"
        first, second = (
            row[model]["ragchecker"][f"{criterion}_label"] for model in ("model1", "model2")
        )
        if item in pairs:
            found[item] = second - first
    return found


def f1(texts: Mapping[str, RatedText]) -> dict[str, float]:
    from ombud.lab import TEXT_METRICS

    found: dict[str, float] = {}
    for item, text in texts.items():
        first, second = (
            TEXT_METRICS["token_f1"](answer, text.reference) for answer in text.answers
        )
        found[item] = second - first
    return found


def of(ratings: Sequence[Rating], scores: Mapping[str, float]) -> JudgeAlignment:
    (found,) = align(ratings, scores)
    return found


def row(name: str, found: JudgeAlignment) -> str:
    return f"| {name} | {shown(found.pearson)} | {shown(found.spearman)} |\n"


def shown(found: Estimate) -> str:
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def difference(
    ratings: Sequence[Rating], ours: Mapping[str, float], theirs: Mapping[str, float]
) -> tuple[float, float, float]:
    """Of Pearson's correlations, with whole pairs drawn again: (low, as it is, high)."""
    items = sorted({rating.item for rating in ratings})
    place = {item: number for number, item in enumerate(items)}
    of_item = np.asarray([place[rating.item] for rating in ratings])
    people = np.asarray([rating.value for rating in ratings])
    own = np.asarray([ours[rating.item] for rating in ratings])
    other = np.asarray([theirs[rating.item] for rating in ratings])
    random = np.random.default_rng(0)

    def gap(weights: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> float:
        rows = np.repeat(np.arange(len(ratings)), weights[of_item].astype(int))
        first = np.corrcoef(people[rows], own[rows])[0, 1]
        return float(first - np.corrcoef(people[rows], other[rows])[0, 1])

    share = np.full(len(items), 1 / len(items))
    gaps = [gap(random.multinomial(len(items), share).astype(float)) for _ in range(DRAWS)]
    low, high = np.quantile(gaps, [0.025, 0.975])
    return float(low), gap(np.ones(len(items))), float(high)


if __name__ == "__main__":
    main()
