"""A round before something is published: past questions on its topic, answered, rated by people,
and a go or no-go.

The share of answers at or above the bar has Wilson's interval (Wilson 1927), which also says
something where all of them are. Go means that its lower end reaches what is required for every
criterion, no-go that some upper end does not; in between more answers must be rated."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import combinations
from math import sqrt
from random import Random
from statistics import NormalDist, fmean
from typing import Literal, NamedTuple

from ombud.errors import BadRequest
from ombud.lab.people.agreeing import Agreement, agreement, agreement_table
from ombud.lab.people.annotating import AnnotationTask
from ombud.lab.people.criteria import CriteriaSet
from ombud.lab.people.ratings import Rating, RatingSet
from ombud.lab.report.tables import markdown_table, plain
from ombud.text import analyse
from ombud.types import Case

BAR = 4.0
SHARE = 0.8
CONCERN = 2.0
"""A rating up to this, or two ratings so far apart, is a response of concern."""
EACH = 2
"""Raters of one answer."""

GoDecision = Literal["go", "no-go", "undecided"]


class CriterionShare(NamedTuple):
    criterion: str
    reached: int
    """Answers whose mean rating is at or above the bar."""
    rated: int
    low: float
    high: float
    """95 %."""

    @property
    def share(self) -> float | None:
        return self.reached / self.rated if self.rated else None


class WorryingAnswer(NamedTuple):
    """A response of concern."""

    task: AnnotationTask
    ratings: Mapping[str, Mapping[str, float]]
    """Criterion -> rater -> value; of those that are of concern."""
    notes: tuple[str, ...]


class RoundReport(NamedTuple):
    topic: str
    answers: int
    bar: float
    required: float
    """Share of answers that must reach the bar."""
    shares: tuple[CriterionShare, ...]
    agreement: tuple[Agreement, ...]
    concerns: tuple[WorryingAnswer, ...]
    open: int
    """Cells that nobody has filled in rightly."""

    @property
    def decision(self) -> GoDecision:
        if any(one.high < self.required for one in self.shares):
            return "no-go"
        if self.shares and all(one.low >= self.required for one in self.shares):
            return "go"
        return "undecided"


def choose_on_topic(
    cases: Sequence[Case], topic: str, size: int, seed: int = 0
) -> tuple[Case, ...]:
    """Up to `size` cases that have a word of the topic in the question, a tag or the name of the
    document that answers it; drawn at random. Raises BadRequest where there is none."""
    wanted = set(analyse(topic))
    matching = [case for case in cases if wanted & _terms(case)]
    if not matching:
        raise BadRequest(
            f"None of {len(cases)} questions is about `{topic}`.",
            hint="A topic is found by its words: name it as people or the documents do.",
        )
    drawn = sorted(matching, key=lambda case: sha256(f"{seed}/{case.id}".encode()).digest())
    return tuple(drawn[:size])


def _terms(case: Case) -> set[str]:
    documents = [item.document for item in case.evidence]
    named = re.sub(r"[\W_]+", " ", " ".join((*case.tags, *documents)))
    return set(analyse(f"{case.question} {named}"))


def assign_raters(
    items: Sequence[str], raters: Sequence[str], each: int = EACH, seed: int = 0
) -> dict[str, tuple[str, ...]]:
    """Item -> its raters: as many for everybody as can be, and every two people together as often
    as any other two, so that their agreement can be told. Raises BadRequest for too few."""
    if len(set(raters)) < each:
        raise BadRequest(
            f"{len(set(raters))} raters cannot give each answer {each} ratings.",
            hint="--raters ann,bob,cem",
        )
    groups = list(combinations(dict.fromkeys(raters), each))
    Random(seed).shuffle(groups)  # noqa: S311
    loads: Counter[str] = Counter()
    used: Counter[tuple[str, ...]] = Counter()
    assigned: dict[str, tuple[str, ...]] = {}
    for item in items:
        costs = [(_load(group, loads), used[group]) for group in groups]
        group = groups[costs.index(min(costs))]
        assigned[item] = group
        used[group] += 1
        loads.update(group)
    return assigned


def _load(group: tuple[str, ...], loads: Mapping[str, int]) -> int:
    return sum(loads[rater] for rater in group)


def round_report(
    topic: str,
    tasks: Sequence[AnnotationTask],
    read: RatingSet,
    criteria: CriteriaSet,
    *,
    bar: float = BAR,
    required: float = SHARE,
) -> RoundReport:
    by_criterion: dict[str, dict[str, list[Rating]]] = {name: {} for name in criteria.criteria}
    for rating in read.ratings:
        by_criterion[rating.criterion].setdefault(rating.item, []).append(rating)
    shares = [_share(name, ratings_by_item, bar) for name, ratings_by_item in by_criterion.items()]
    return RoundReport(
        topic=topic,
        answers=len(tasks),
        bar=bar,
        required=required,
        shares=tuple(shares),
        agreement=tuple(agreement(read.ratings)),
        concerns=tuple(_concerns(tasks, by_criterion, read.notes)),
        open=len(read.missing) + len(read.wrong),
    )


def _share(criterion: str, by_item: Mapping[str, Sequence[Rating]], bar: float) -> CriterionShare:
    reached = 0
    for ratings in by_item.values():
        reached += fmean(rating.value for rating in ratings) >= bar
    low, high = wilson_interval(reached, len(by_item))
    return CriterionShare(criterion, reached, len(by_item), low, high)


def wilson_interval(hits: int, size: int, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of a share (Wilson 1927); (0, 1) without data."""
    if not size:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = hits / size
    middle = share + z * z / (2 * size)
    half = z * sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    whole = 1 + z * z / size
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)


def _concerns(
    tasks: Iterable[AnnotationTask],
    by_criterion: Mapping[str, Mapping[str, Sequence[Rating]]],
    notes: Mapping[tuple[str, str], str],
) -> list[WorryingAnswer]:
    answers: list[WorryingAnswer] = []
    for task in tasks:
        worrying: dict[str, dict[str, float]] = {}
        for criterion, by_item in by_criterion.items():
            own = {rating.rater: rating.value for rating in by_item.get(task.item, ())}
            if own and _is_worrying(list(own.values())):
                worrying[criterion] = own
        if worrying:
            comments = [text for (item, _), text in notes.items() if item == task.item]
            answers.append(WorryingAnswer(task, worrying, tuple(comments)))
    return answers


def _is_worrying(values: Sequence[float]) -> bool:
    return min(values) <= CONCERN or max(values) - min(values) >= CONCERN


# In words -----------------------------------------------------------------------------------------

_WORDS: Mapping[GoDecision, str] = {
    "go": "Go. Every criterion reaches what is required, beyond chance.",
    "no-go": "No-go. A criterion stays below what is required, beyond chance.",
    "undecided": "Undecided. So few answers cannot tell: rate more, or put right what is below.",
}


def round_markdown(report: RoundReport) -> str:
    parts = [
        f"# Round: {report.topic}",
        f"**{_WORDS[report.decision]}**",
        f"{report.answers} answers to past questions. Required: at least {report.required:.0%} "
        f"rated {report.bar:g} or better on each criterion, at the lower end of the 95 % interval.",
        _share_table(report),
        "## Agreement\n\n" + agreement_table(report.agreement),
        f"## Responses of concern: {len(report.concerns)}",
    ]
    if report.open:
        parts.insert(3, f"{report.open} ratings are still missing or out of range.")
    parts += map(_concern_text, report.concerns)
    return "\n\n".join(parts) + "\n"


def _share_table(report: RoundReport) -> str:
    rows: list[tuple[str, ...]] = []
    for one in report.shares:
        share = "" if one.share is None else f"{one.share:.0%}"
        between = f"{one.low:.0%} to {one.high:.0%}"
        rows.append((one.criterion, f"{one.reached} of {one.rated}", share, between))
    return markdown_table(("criterion", "at or above the bar", "share", "95 % interval"), rows)


def _concern_text(one: WorryingAnswer) -> str:
    lines = [f"### {one.task.case}", "", f"Question: {plain(one.task.question)}", ""]
    lines += [f"Answer: {plain(one.task.answer)}", ""]
    for criterion, by_rater in one.ratings.items():
        grades = ", ".join(f"{rater} {value:g}" for rater, value in by_rater.items())
        lines.append(f"* {criterion}: {grades}")
    lines += [f"* said: {plain(text)}" for text in one.notes]
    return "\n".join(lines)
