"""A report of runs that whoever decides can read: one HTML file that needs nothing else, or a short
Markdown text.

What documents, questions and answers say is escaped, always; no reader's browser is sent anywhere.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from math import ceil, nan
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ombud.charts import (
    Interval,
    Point,
    Row,
    Series,
    draw_intervals,
    draw_lines,
    draw_scatter,
    format_figure,
)
from ombud.errors import LabError
from ombud.lab.cases.quotes import holds, normalise, pieces, shared, union
from ombud.lab.metrics.losses import LOSSES
from ombud.lab.metrics.parsing import METRICS
from ombud.lab.report.comparing import LEVEL, Contrast, RecordedRun, compare_runs
from ombud.lab.report.summary import NO_COUNTRY, Group, MetricSummary, groups_of
from ombud.lab.statistics import Mean
from ombud.types import Answer, Case, Hit, Observation, Passage, Run, Score, Trace

if TYPE_CHECKING:
    from jinja2 import Environment

FULL_CASES = 400
"""Cases shown in full: a browser has to open the file."""
_HITS, _NAMES, _PLOTTED = 10, 60, 16
"""Most hits of a case, and names of a group in a table and in a plot."""
_TEMPLATES = Path(__file__).parent / "templates"
_WORDS: dict[str, dict[str, str]] = tomllib.loads(
    (_TEMPLATES / "words.toml").read_text(encoding="utf-8")
)
_FAMILIES = (
    ("quote_recall", "page_recall", "recall", "hit", "ndcg", "mrr"),
    ("citation_recall", "token_f1", "rouge_l", "semantic_similarity", "number_agreement"),
    ("outcome_accuracy", "action_accuracy"),
    ("latency",),
    ("price",),
)
"""Of each family the first metric that was measured is a key figure."""
_GROUPS: tuple[Group, ...] = ("type", "country", "tag")
_SPACE = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True, slots=True)
class Side:
    """A run as the report names it."""

    letter: str
    place: int
    recorded: RecordedRun
    lines: Mapping[tuple[str, Group, str], MetricSummary]
    """(metric, group, name) -> figures; types, countries and tags of key figures only."""
    values: Mapping[str, Mapping[str, Score]]
    seen: Mapping[Case, Observation]

    @property
    def label(self) -> str:
        return f"{self.letter} · {self.recorded.run.name}"

    @property
    def seconds(self) -> list[float]:
        return sorted(one.seconds for one in self.recorded.observations if one.seconds is not None)

    @property
    def failed(self) -> int:
        return sum(bool(one.error) for one in self.recorded.observations)

    @property
    def traces(self) -> list[Trace]:
        return [one.answer.trace for one in self.recorded.observations if one.answer]

    @property
    def models(self) -> list[str]:
        return list(dict.fromkeys(trace.model for trace in self.traces if trace.model))

    def line(self, metric: str, group: Group = "overall", name: str = "") -> MetricSummary | None:
        return self.lines.get((metric, group, name))


@dataclass(frozen=True, slots=True)
class MetricContrast:
    """One metric of two runs."""

    contrast: Contrast
    verdict: str
    """better, worse, higher, lower, within noise, the same or not compared."""


@dataclass(frozen=True, slots=True)
class Versus:
    """A run against the first one."""

    side: Side
    pairs: tuple[MetricContrast, ...]
    moved: tuple[MetricContrast, ...]
    """Types, countries and tags in which the leading metric moved beyond noise."""

    def judged(self, *verdicts: str) -> list[MetricContrast]:
        return [pair for pair in self.pairs if pair.verdict in verdicts]


def html_report(runs: Sequence[RecordedRun], *, made: datetime | None = None) -> str:
    """One self-contained page; differences are to the first run. Raises LabError without a run."""
    from markupsafe import Markup

    sides, metrics = _sides(runs)
    leading = next((metric for metric in metrics if unit_of(metric) == "0-1"), "")
    told = _told(sides, metrics, leading)
    cases = _cases(sides, leading, metrics)
    limit = min(FULL_CASES, 3 * FULL_CASES // len(sides))
    charts = _charts(sides, metrics, leading, told["versus"])
    told |= {
        "made": made or datetime.now(UTC),
        "leading": leading,
        "charts": {
            name: [Markup(draw(width=width)) for width in (760, 350)]  # noqa: S704  plots escape
            for name, draw in charts
        },
        "groups": [(group, names) for group in _GROUPS if (names := _names(sides, group))],
        "lost": _lost(sides),
        "measured": _measured(sides),
        "cases": cases[:limit],
        "left_out": cases[limit:],
        "hits_limit": _HITS,
    }
    return (
        _environment()
        .get_template("report.html")
        .render(told)
        .lstrip()
        .encode("utf-8", "replace")
        .decode("utf-8")
    )


def markdown_report(runs: Sequence[RecordedRun]) -> str:
    """Means with intervals and, of several runs, differences to the first. Raises LabError without
    a run."""
    return _environment().get_template("report.md").render(_told(*_sides(runs), ""))


def _told(sides: Sequence[Side], metrics: Sequence[str], leading: str) -> dict[str, Any]:
    """What both reports say."""
    versus, apart = _versus(sides, leading)
    paid = any(line.mean.value for side in sides if (line := side.line("price")))
    keys = [metric for metric in _keys(metrics) if metric != "price" or paid]
    said = {"sides": sides, "metrics": metrics, "keys": keys, "words": _WORDS}
    return {**said, "versus": versus, "apart": apart}


def title_of(metric: str) -> str:
    """`quote_recall@5` in words: Right passage found, first 5."""
    name, _, cutoff = metric.partition("@")
    first = (
        f", first {int(cutoff.removesuffix('w')):,}{' words' if cutoff.endswith('w') else ''}"
        if cutoff
        else ""
    )
    return _WORDS["titles"].get(name, name.replace("_", " ")) + first


def unit_of(metric: str) -> str:
    measure = METRICS.get(metric.partition("@")[0])
    return measure.unit if measure else ""


def called(name: str) -> str:
    """A type, country or tag in words."""
    return "no country" if name == NO_COUNTRY else name.replace("_", " ")


def between(of: Mean, unit: str) -> str:
    """`59 to 83 %`; empty without an interval."""
    if of.low is None or of.high is None:
        return ""
    low, high = format_figure(of.low, unit), format_figure(of.high, unit)
    return f"{low.partition(_SPACE)[0] if low.partition(_SPACE)[2] == high.partition(_SPACE)[2] else low} to {high}"


def changed(value: float | None, metric: str) -> str:
    """A difference: in points of a hundred for shares, else in the metric's unit, always with its
    sign."""
    unit = unit_of(metric)
    if value is None or unit == "0-1":
        return format_figure(value, "points")
    return ("+" if value > 0 else "") + format_figure(value, unit)


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    made.trim_blocks = made.lstrip_blocks = True
    made.filters |= {
        "title": title_of,
        "unit": unit_of,
        "written": format_figure,
        "between": between,
        "changed": changed,
    }
    made.filters |= {"called": called, "spans": _spans, "percentile": _percentile}
    made.filters |= {
        "what": lambda metric: (
            METRICS[name].what if (name := metric.partition("@")[0]) in METRICS else ""
        )
    }
    made.tests |= {
        "carrying": _carries,
        "standing": _stands,
        "share": lambda metric: unit_of(metric) == "0-1",
    }
    made.tests["measuring"] = lambda side, metric: side.line(metric) is not None
    return made


def _sides(runs: Sequence[RecordedRun]) -> tuple[list[Side], list[str]]:
    """The runs with their letters, and every metric that one of them has."""
    if not runs:
        raise LabError(
            "There is nothing to report: no run was named.", hint="`ombud lab runs` lists them."
        )
    sides, metrics = (
        [],
        list(dict.fromkeys(metric for recorded in runs for metric in recorded.metrics)),
    )
    leading = [metric for metric in metrics if unit_of(metric) == "0-1"][:1]
    grouped = {*leading, *(metric for metric in _keys(metrics) if unit_of(metric) == "0-1")}
    for place, recorded in enumerate(runs):
        few = replace(
            recorded, scores=tuple(score for score in recorded.scores if score.metric in grouped)
        )
        lines_ = (*recorded.summary(by=("overall",)), *few.summary(by=_GROUPS))
        figures = {(line.metric, line.group, line.name): line for line in lines_}
        values = {metric: recorded.values(metric) for metric in recorded.metrics}
        seen = {observation.case: observation for observation in recorded.observations}
        sides.append(
            Side(
                chr(65 + place) if place < 26 else str(place + 1),
                place,
                recorded,
                figures,
                values,
                seen,
            )
        )
    return sides, metrics


def _keys(metrics: Sequence[str]) -> list[str]:
    """Of each family the first that was measured."""
    named = (
        next((m for name in names for m in metrics if m.partition("@")[0] == name), "")
        for names in _FAMILIES
    )
    return [metric for metric in named if metric]


def _versus(sides: Sequence[Side], leading: str) -> tuple[list[Versus], list[str]]:
    """Every run against the first, and why some could not be compared."""
    first, found, apart = sides[0], [], []
    for side in sides[1:]:
        try:
            pairs = [
                MetricContrast(row, _verdict(row))
                for row in compare_runs(first.recorded, side.recorded, by=("overall",))
            ]
        except LabError as why:
            apart.append(f"{side.label}: {why}")
            continue
        moved = []
        if leading in first.values and leading in side.values:
            rows = compare_runs(first.recorded, side.recorded, by=_GROUPS, metrics=(leading,))
            moved = [
                pair
                for row in rows
                if (pair := MetricContrast(row, _verdict(row))).verdict in {"better", "worse"}
            ]
        found.append(Versus(side, tuple(pairs), tuple(moved)))
    return found, apart


def _verdict(row: Contrast) -> str:
    of = row.comparison
    if (
        of.difference is None
        or row.adjusted is None
        or not (measure := METRICS.get(row.metric.partition("@")[0]))
    ):
        return "not compared"
    if of.difference == 0 == of.low == of.high:
        return "the same"
    if row.adjusted > LEVEL or of.difference == 0:
        return "within noise"
    if measure.better == "neither":
        return "higher" if of.difference > 0 else "lower"
    return "better" if row.better else "worse"


def _charts(
    sides: Sequence[Side], metrics: Sequence[str], leading: str, versus: Sequence[Versus]
) -> Iterator[tuple[str, Callable[..., str]]]:
    """Name and what draws it, given a width."""
    shares = [metric for metric in metrics if unit_of(metric) == "0-1"]
    order = [side.label for side in sides] if len(sides) > 1 else []
    every = [row for metric in shares for row in _rows(title_of(metric), sides, metric)]
    yield (
        "metrics",
        partial(
            draw_intervals, "Every share, with its 95 % interval", every, unit="0-1", order=order
        ),
    )
    rows = [
        (one.side, pair.contrast)
        for one in versus
        for pair in one.pairs
        if pair.contrast.metric in shares
    ]
    rows.sort(key=lambda row: shares.index(row[1].metric))
    moved = [
        Interval(title_of(row.metric), side.label, of.difference, of.low, of.high)
        for side, row in rows
        if (of := row.comparison).difference is not None
    ]
    yield (
        "differences",
        partial(
            draw_intervals,
            f"Points above or below {sides[0].label}",
            moved,
            unit="points",
            order=order,
        ),
    )
    for group in _GROUPS:
        counted = [
            (name, max(_valid(side, leading, group, name) for side in sides))
            for name, _ in _names(sides, group)
        ]
        named = [(f"{called(name)} ({n})", name) for name, n in counted if n][:_PLOTTED]
        grouped = [
            row for label, name in named for row in _rows(label, sides, leading, group, name)
        ]
        yield group, partial(draw_intervals, title_of(leading), grouped, unit="0-1", order=order)
    timed = [side for side in sides if side.seconds]
    axes = (("median time to answer", title_of(leading)), _points(timed, leading))
    yield "scatter", partial(draw_scatter, "Quality against time", *axes, units=("seconds", "0-1"))
    drawn = [Series(side.label, _steps(side.seconds)) for side in sides]
    marks = (
        [(_percentile(timed[0].seconds, share / 100), f"{share} of 100") for share in (50, 95)]
        if len(timed) == 1
        else []
    )
    told = partial(
        draw_lines,
        "Share of cases answered within a time",
        ("time to answer", "share of cases"),
        drawn,
    )
    yield "latency", partial(told, marks=marks, units=("seconds", "0-1"))


def _valid(side: Side, metric: str, group: Group, name: str) -> int:
    line = side.line(metric, group, name)
    return line.mean.valid if line else 0


def _rows(
    label: str, sides: Sequence[Side], metric: str, group: Group = "overall", name: str = ""
) -> list[Interval]:
    known = [
        (side.label if len(sides) > 1 else "", line.mean)
        for side in sides
        if (line := side.line(metric, group, name))
    ]
    return [
        Interval(label, series, nan if of.value is None else of.value, of.low, of.high)
        for series, of in known
    ]


def _points(timed: Sequence[Side], metric: str) -> list[Point]:
    figures = [(side, line.mean) for side in timed if (line := side.line(metric))]
    at = [
        (_percentile(side.seconds, 0.5), of.value, side, of)
        for side, of in figures
        if of.value is not None
    ]
    best = [all(x < a or y > b or (x, y) == (a, b) for a, b, _, _ in at) for x, y, _, _ in at]
    return [
        Point(side.label, x, y, of.low, of.high, top)
        for (x, y, side, of), top in zip(at, best, strict=True)
    ]


def _steps(seconds: Sequence[float]) -> list[Row]:
    """How many of 100 were answered within which time."""
    return (
        [(_percentile(seconds, at / 100), at / 100, None, None) for at in range(101)]
        if seconds
        else []
    )


def _percentile(ordered: Sequence[float], share: float) -> float:
    """The least value that this share of them does not exceed."""
    return ordered[max(ceil(share * len(ordered)) - 1, 0)]


def _names(sides: Sequence[Side], group: Group) -> list[tuple[str, int]]:
    """Types, countries or tags with their number of cases, the most frequent first."""
    counts: Counter[str] = Counter()
    for case in dict.fromkeys(case for side in sides for case in side.seen):
        counts.update(name for _, name in groups_of(case, (group,)))
    return counts.most_common(_NAMES)


def _lost(sides: Sequence[Side]) -> list[tuple[Side, int, list[tuple[str, int]]]]:
    """By run: cases whose evidence was wanted, and how many lost it where."""
    found = []
    for side in sides:
        wanted = [
            seen
            for seen in side.recorded.observations
            if seen.hits is not None
            and seen.case.evidence
            and seen.case.expect in {"answer", "handoff"}
        ]
        counts = Counter(seen.lost for seen in wanted if seen.lost)
        found.append(
            (
                side,
                len(wanted),
                [(place, counts[place]) for place in dict.fromkeys((*LOSSES, *counts))],
            )
        )
    return found if any(wanted for _, wanted, _ in found) else []


def _measured(sides: Sequence[Side]) -> list[tuple[str, list[str], bool]]:
    """Every setting, by run, and whether the runs differ in it."""
    flat = [dict(_settings(side.recorded.run)) for side in sides]
    rows = [
        (key, [one.get(key, "–") for one in flat])
        for key in dict.fromkeys(key for one in flat for key in one)
    ]
    return [(key, values, len(set(values)) > 1) for key, values in rows]


def _settings(run: Run) -> Iterator[tuple[str, str]]:
    yield from (
        ("run", run.id),
        ("target", run.target),
        ("dataset", run.dataset),
        ("split", run.split or "all"),
    )
    yield from (("digest of the cases", run.dataset_digest), ("digest of the run", run.digest))
    config = dict(run.config)
    known = {
        name: part
        for name in ("plan", "set", "changed")
        if isinstance(part := config.pop(name, {}), dict)
    }
    config["plan"] = known.get("plan", {}) | known.get("set", {})
    for key, value in {**config, **known.get("changed", {})}.items():
        inner = value.items() if isinstance(value, dict) else [("", value)]
        yield from ((f"{key}.{name}" if name else key, str(one)) for name, one in inner)


def _cases(sides: Sequence[Side], leading: str, metrics: Sequence[str]) -> list[Case]:
    """Failed ones first, then by the leading metric, or where that has no value by the mean of the
    other shares."""
    shares = [metric for metric in metrics if unit_of(metric) == "0-1"]

    def worst(case: Case) -> tuple[bool, float, float, float]:
        values = [
            {m: got.value for m in shares if (got := side.values.get(m, {}).get(case.id))}
            for side in sides
        ]
        others = [value for one in values for value in one.values() if value is not None]
        known = [value for one in values if (value := one.get(leading)) is not None]
        middle, start = fmean(others) if others else 1.0, values[0].get(leading)
        failed = any(seen.error for side in sides if (seen := side.seen.get(case)))
        return not failed, min(known, default=middle), min(known, default=0) - (start or 0), middle

    return sorted(dict.fromkeys(case for side in sides for case in side.seen), key=worst)


def _carries(hit: Hit, case: Case) -> bool:
    """Whether a hit holds one of the case's quotes, or half of one that a border cut."""
    quotes = [item.quote for item in case.evidence if item.document == hit.chunk.uri]
    return any(2 * shared(hit.chunk.text, quote) >= len(normalise(quote)) for quote in quotes)


def _stands(item: Passage, hits: Sequence[Hit]) -> bool:
    texts = union(pieces(hit for hit in hits if hit.chunk.uri == item.document)).get(
        item.document, ()
    )
    return holds(texts, item.quote) if normalise(item.quote) else bool(texts)


def _spans(answer: Answer) -> list[tuple[str, str]]:
    """(kind, words) of an answer: text, bold, or the number of a citation that it has."""
    found = []
    for part in re.split(r"(\[\d{1,4}\]|\*\*[^*\n]+\*\*)", answer.text):
        if (
            part.startswith("[")
            and part[1:-1].isdecimal()
            and 1 <= int(part[1:-1]) <= len(answer.citations)
        ):
            found.append(("cite", part[1:-1]))
        else:
            bold = len(part) > 4 and part.startswith("**") and part.endswith("**")
            found.append(("bold", part[2:-2]) if bold else ("text", part))
    return found
