"""Tables as Markdown: reports hold them, and the terminal shows the same."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ombud.lab.report.figures import format_figure
from ombud.lab.report.wording import difference_words, interval_words, is_judged, unit_of

if TYPE_CHECKING:
    from ombud.lab.report.comparing import Contrast
    from ombud.lab.report.summary import MetricSummary

NONE = "–"
PRICE_UNIT = "US dollars"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Format a table whose first `left` columns are words and the others figures; columns that are
    empty in all rows are left out."""
    table = [head, *rows]
    for column in reversed(range(len(head))):
        if not any(row[column] for row in rows):
            table = [[*row[:column], *row[column + 1 :]] for row in table]
            left -= column < left
    marks = ["---"] * left + ["---:"] * (len(table[0]) - left)
    lines = list(map(_line, table))
    return "\n".join([lines[0], f"|{'|'.join(marks)}|", *lines[1:]])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(plain, cells))} |"


def plain(words: str) -> str:
    """Put words on one line, without marks that would end a cell or be HTML."""
    return " ".join(words.replace("|", "\\|").replace("<", "&lt;").split("\n"))


def figure(value: float | None, sign: bool = False) -> str:
    """Format with three decimals, without the zero before the point."""
    if value is None:
        return NONE
    text = f"{value:+.3f}" if sign else f"{value:.3f}"
    below_one = round(abs(value), 3) < 1
    return text.replace("0.", ".", 1) if below_one else text


def p_value(p: float | None) -> str:
    """Format a p value; below a thousandth as an upper limit."""
    return "< .001" if p is not None and p < 0.001 else figure(p)


def interval(low: float | None, high: float | None, sign: bool = False) -> str:
    return "" if low is None or high is None else f"{figure(low, sign)} to {figure(high, sign)}"


def figures_table(lines: Iterable[tuple[str, "MetricSummary"]]) -> str:
    """Tabulate means with their intervals; with several runs each line has the letter of its run.

    The column of invalid verdicts is there only where a judge has graded."""
    rows: list[tuple[str, ...]] = []
    for run, line in lines:
        unit, mean = unit_of(line.metric), line.mean
        is_unpriced = mean.value is None and unit == PRICE_UNIT
        rows.append(
            (
                line.metric,
                f"{line.group} {line.name}".strip() if line.group != "overall" else "",
                run,
                "not known" if is_unpriced else format_figure(mean.value, unit),
                interval_words(mean, unit),
                format_figure(mean.median, unit),
                f"{mean.valid}/{mean.total}",
                str(line.invalid) if is_judged(line.metric) else "",
            )
        )
    columns = ("mean", "95 % interval", "median", "n", "invalid verdicts")
    return markdown_table(("metric", "of", "run", *columns), rows, left=3)


class ContrastRow(NamedTuple):
    contrast: "Contrast"
    label: str = ""
    note: str = ""


def contrast_table(
    rows: Iterable[ContrastRow], label: str = "", *, first: str = "", second: str = ""
) -> str:
    """Tabulate differences with their tests. label: head of the rows' labels. first, second: heads
    of the two means; without them, these and the detectable difference are left out."""
    cells: list[tuple[str, ...]] = []
    for row in rows:
        contrast, comparison = row.contrast, row.contrast.comparison
        unit = unit_of(contrast.metric)
        low, high = (
            difference_words(end, contrast.metric) for end in (comparison.low, comparison.high)
        )
        cells.append(
            (
                row.label,
                contrast.metric,
                f"{contrast.group} {contrast.name}".strip() if contrast.name else "",
                format_figure(contrast.first, unit) if first else "",
                format_figure(contrast.second, unit) if first else "",
                difference_words(comparison.difference, contrast.metric),
                "" if comparison.low is None else f"{low} to {high}",
                "" if contrast.adjusted is None else p_value(contrast.adjusted),
                contrast.verdict + (f"; {row.note}" if row.note else ""),
                str(comparison.pairs),
                difference_words(comparison.detectable, contrast.metric).strip("+")
                if first
                else "",
            )
        )
    columns = ("difference", "95 % interval", "p (Holm)", "verdict", "pairs", "detectable")
    return markdown_table((label, "metric", "of", first, second, *columns), cells, left=3)
