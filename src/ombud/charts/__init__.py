"""One kit for pictures: plots of the lab and words wrapped into boxes, all as SVG."""

from ombud.charts import plots
from ombud.charts.plots import Interval, Point, Row, Series, intervals, lines, scatter, written
from ombud.charts.wrapping import StyledWord, WrappedLine, pixels, shortened, wrapped

__all__ = [
    "Interval",
    "Point",
    "Row",
    "Series",
    "StyledWord",
    "WrappedLine",
    "intervals",
    "lines",
    "pixels",
    "plots",
    "scatter",
    "shortened",
    "wrapped",
    "written",
]
