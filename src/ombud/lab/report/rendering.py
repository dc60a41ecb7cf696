"""A report of runs that whoever decides can read: one HTML file that needs nothing else, or a short
Markdown text.

What documents, questions and answers say is escaped, always; no reader's browser is sent anywhere.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from ombud.lab.metrics.losses import LOSSES
from ombud.lab.report.accounting import costs_table
from ombud.lab.report.charting import report_charts
from ombud.lab.report.comparing import RecordedRun
from ombud.lab.report.drilldown import answer_spans, carries_quote, stands_in, worst_first
from ombud.lab.report.figures import format_figure
from ombud.lab.report.plotting import image_address
from ombud.lab.report.sides import (
    REPORT_GROUPS,
    MetricContrast,
    Side,
    compare_to_first,
    group_names,
    key_metrics,
    leading_metric,
    metrics_of,
    percentile,
    sides_of,
    timed_sides,
)
from ombud.lab.report.studying import StudyPlots
from ombud.lab.report.summary import Group, MetricSummary
from ombud.lab.report.tables import ContrastRow, contrast_table, figures_table
from ombud.lab.report.wording import (
    TEMPLATES,
    WORDS,
    difference_words,
    group_words,
    interval_words,
    is_judged,
    is_share,
    meaning_of,
    title_of,
    unit_of,
)
from ombud.types import Case, Observation, Run

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_BYTES = 1_000_000
"""Of the file: it goes by mail, and a browser has to open it. As many cases are shown in full as
have room."""
FULL_CASES = 400
"""At most."""
MOST_HITS = 5
"""Of a case."""


def html_report(
    runs: Sequence[RecordedRun],
    *,
    made: datetime | None = None,
    lead: str = "",
    links: Sequence[tuple[str, str]] = (),
) -> str:
    """Render one self-contained page; differences are to the first run. Raises LabError without a
    run.

    lead: the metric that the figure, the order of cases and the groups are of; see
    `leading_metric`. links: address and words of pages to go on to, where a server shows it."""
    metrics, leading = _ordered(runs, lead)
    sides = sides_of(runs, leading)
    context = _shared_context(sides, metrics, leading)
    cases = worst_first(sides, leading, metrics)
    context |= {
        "made": made or datetime.now(UTC),
        "links": links,
        "leading": leading,
        "charts": _drawn(sides, metrics, leading, context),
        "timed": timed_sides(sides),
        "groups": _groups(sides),
        "lost": _lost(sides),
        "measured": _measured(sides),
        "hits_limit": MOST_HITS,
    }
    return _fitting(context, cases)


def _fitting(context: Mapping[str, Any], cases: Sequence[Case]) -> str:
    """Return the page with as many whole cases, worst first, as fit."""
    limit = min(FULL_CASES, len(cases))
    page = _page(context, cases, limit)
    if limit and len(page.encode()) > MOST_BYTES:
        least = len(_page(context, cases, 0).encode())
        each = (len(page.encode()) - least) / limit
        limit = max(1, int(0.9 * (MOST_BYTES - least) / each))
        page = _page(context, cases, limit)
    return page


def _page(context: Mapping[str, Any], cases: Sequence[Case], limit: int) -> str:
    own = {"cases": cases[:limit], "left_out": cases[limit:]}
    page = _templates().get_template("report.html").render({**context, **own}).lstrip()
    # Half of a surrogate pair, which a document may hold, has no place in a file.
    return page.encode("utf-8", "replace").decode("utf-8")


def markdown_report(runs: Sequence[RecordedRun], *, lead: str = "") -> str:
    """Write means with intervals and, for several runs, differences to the first. Raises LabError
    without a run."""
    metrics, leading = _ordered(runs, lead)
    sides = sides_of(runs, leading)
    context = _shared_context(sides, metrics, leading="")
    context["figures"] = figures_table(_overall_lines(sides, metrics))
    return _templates().get_template("report.md").render(context)


def study_html(name: str, plots: StudyPlots, claims: Sequence[str] = ()) -> str:
    """Return a study as one page that needs nothing else."""
    page = _templates().get_template("study.html")
    return page.render(name=name, plots=plots, claims=claims).lstrip()


def study_body(plots: StudyPlots) -> str:
    """Return what `study_html` shows, escaped, for a page with a frame of its own."""
    return _templates().get_template("study_body.html").render(plots=plots, claims=())


def _overall_lines(
    sides: Sequence[Side], metrics: Sequence[str]
) -> Iterator[tuple[str, MetricSummary]]:
    """Format figures over all cases by metric, each with the letter of its run."""
    for metric in metrics:
        for side in sides:
            line = side.line(metric)
            if line:
                yield side.letter, line


def _contrasts(pairs: Sequence[MetricContrast]) -> str:
    return contrast_table([ContrastRow(pair.contrast, note=pair.why) for pair in pairs])


def _ordered(runs: Sequence[RecordedRun], lead: str) -> tuple[list[str], str]:
    """Return (the metrics, that which leads before the others; that which leads)."""
    metrics = metrics_of(runs)
    leading = leading_metric(metrics, lead)
    return sorted(metrics, key=lambda metric: metric != leading), leading


def _shared_context(sides: Sequence[Side], metrics: Sequence[str], leading: str) -> dict[str, Any]:
    """Collect the values that both report templates use."""
    comparisons, reasons = compare_to_first(sides, leading)
    keys = list(dict.fromkeys([*filter(None, [leading]), *key_metrics(metrics)]))
    if "price" in keys and not any(map(_was_paid, sides)):
        keys.remove("price")
    return {
        "sides": sides,
        "metrics": metrics,
        "keys": keys,
        "words": WORDS,
        "versus": comparisons,
        "apart": reasons,
    }


def _was_paid(side: Side) -> bool:
    prices = side.line("price")
    return bool(prices and prices.mean.value)


def _drawn(
    sides: Sequence[Side], metrics: Sequence[str], leading: str, context: Mapping[str, Any]
) -> dict[str, str]:
    """Draw each chart: its name -> the address of its image."""
    drawn = {}
    for name, draw in report_charts(sides, metrics, leading, context["versus"]).items():
        drawn[name] = image_address(draw())
    return drawn


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    templates.trim_blocks = True
    templates.lstrip_blocks = True
    templates.filters |= {
        "title": title_of,
        "unit": unit_of,
        "what": meaning_of,
        "written": format_figure,
        "between": interval_words,
        "changed": difference_words,
        "called": group_words,
        "spans": answer_spans,
        "percentile": percentile,
        "costs": costs_table,
        "contrasts": _contrasts,
        "address": image_address,
    }
    templates.tests |= {
        "carrying": carries_quote,
        "standing": stands_in,
        "share": is_share,
        "judged": is_judged,
        "measuring": lambda side, metric: side.line(metric) is not None,
    }
    return templates


def _groups(sides: Sequence[Side]) -> list[tuple[Group, list[tuple[str, int]]]]:
    """List the types, countries and tags in use, each with its number of cases."""
    groups = []
    for group in REPORT_GROUPS:
        names = group_names(sides, group)
        if names:
            groups.append((group, names))
    return groups


def _lost(sides: Sequence[Side]) -> list[tuple[Side, int, list[tuple[str, int]]]]:
    """By run: cases whose evidence was wanted, and how many lost it where."""
    rows = []
    for side in sides:
        wanted = list(filter(_wants_evidence, side.recorded.observations))
        counts = Counter(dict.fromkeys(LOSSES, 0))
        for seen in wanted:
            if seen.lost:
                counts[seen.lost] += 1
        rows.append((side, len(wanted), list(counts.items())))
    return rows if any(wanted for _, wanted, _ in rows) else []


def _wants_evidence(seen: Observation) -> bool:
    if seen.hits is None or not seen.case.evidence:
        return False
    return seen.case.expect in {"answer", "handoff"}


def _measured(sides: Sequence[Side]) -> list[tuple[str, list[str], bool]]:
    """List every setting by run, and whether the runs differ in it."""
    by_run = [dict(_settings(side.recorded.run)) for side in sides]
    keys = dict.fromkeys(chain.from_iterable(by_run))
    rows = []
    for key in keys:
        values = [settings.get(key, "–") for settings in by_run]
        rows.append((key, values, len(set(values)) > 1))
    return rows


def _settings(run: Run) -> Iterator[tuple[str, str]]:
    yield "run", run.id
    yield "target", run.target
    yield "dataset", run.dataset
    yield "split", run.split or "all"
    yield "digest of the cases", run.dataset_digest
    yield "digest of the run", run.digest
    config = dict(run.config)
    plan = _table(config.pop("plan", {}))
    config["plan"] = plan | _table(config.pop("set", {}))
    changed = _table(config.pop("changed", {}))
    for key, value in {**config, **changed}.items():
        if not isinstance(value, dict):
            yield key, str(value)
            continue
        for name, inner in value.items():
            yield f"{key}.{name}" if name else key, str(inner)


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
