"""One kit for pictures, all as SVG: elements, axes, plots, and words wrapped into boxes."""

from ombud.charts import svg
from ombud.charts.figures import format_figure
from ombud.charts.lettering import IN_BOXES, shortened, text_width
from ombud.charts.plots import (
    Interval,
    Point,
    Row,
    Series,
    draw_intervals,
    draw_lines,
    draw_scatter,
)
from ombud.charts.wrapping import StyledWord, WrappedLine, wrapped

__all__ = [
    "IN_BOXES",
    "Interval",
    "Point",
    "Row",
    "Series",
    "StyledWord",
    "WrappedLine",
    "draw_intervals",
    "draw_lines",
    "draw_scatter",
    "format_figure",
    "shortened",
    "svg",
    "text_width",
    "wrapped",
]
