"""Which judges may gate: those that were held against people and reached the bar."""

from collections.abc import Sequence

from ombud.lab.report.comparing import RecordedRun

BAR = 0.6
"""Spearman's correlation with people. RAGChecker, the best of the published ones on its own human
labels, reaches .61 (Ru et al. 2024)."""
LEAST_ITEMS = 30
"""Fewer say nothing: at 30 a correlation of .6 has an interval from .3 to .8."""


def below_bar(runs: Sequence[RecordedRun], bar: float = BAR) -> dict[str, str]:
    """Judged metric -> why its judge may not gate; without those that may."""
    if not bar:
        return {}
    found: dict[str, str] = {}
    for recorded in runs:
        for metric, given in recorded.versions.items():
            for judge, version in sorted(given):
                why = _why_not(recorded, metric, judge, version, bar) if judge else ""
                if why:
                    found[metric] = why
    return found


def _why_not(recorded: RecordedRun, metric: str, judge: str, version: int, bar: float) -> str:
    for kept in recorded.alignments:
        if (kept.metric, kept.judge, kept.version) != (metric, judge, version):
            continue
        if kept.items < LEAST_ITEMS:
            return (
                f"{judge} was held against people on {kept.items} answers, {LEAST_ITEMS} are needed"
            )
        if kept.spearman is None or kept.spearman < bar:
            reached = "nothing" if kept.spearman is None else f"{kept.spearman:.2f}"
            return f"{judge} reaches {reached} with people, the bar is {bar:.2f}"
        return ""
    return f"nobody has held {judge} against people"
