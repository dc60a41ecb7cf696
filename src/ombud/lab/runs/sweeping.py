"""A grid of settings, one run each: what does which knob do, and what does it cost in time?"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product
from math import prod
from statistics import median
from typing import Any

from pydantic import ValidationError

from ombud.errors import LabError
from ombud.lab.metrics.parsing import TIMED
from ombud.lab.report.comparing import RecordedRun, direction
from ombud.lab.report.summary import MetricSummary
from ombud.lab.statistics import Mean
from ombud.settings import IndexSettings, merge_plan, nearest
from ombud.types import Run

LISTED = {"plan.strategies", "plan.sources", "plan.components"}
MOST = 500
"""Cells of a grid: more is a mistake in the spelling rather than a plan."""

MODELS = ("models.chat", "models.embedder")
"""Models that can be varied; an embedder has an index of its own."""

Cell = Mapping[str, Any]
"""Key such as `plan.k` or `index.chunk_tokens` -> value."""
Axes = Mapping[str, Sequence[Any]]
"""Key -> the values that it may have."""
_NUMBER = r"\d{1,6}(?:\.\d{1,6})?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:\.\.({_NUMBER}))?")
_FRACTIONS = {"plan.late", "plan.abstain", "plan.temperature", "index.percentile"}
"""Settings whose range goes up by a tenth of its width where no step is given; others by 1."""
_WEIGHT = "plan.weights."
_OTHER_LEG = {"sparse": "dense", "dense": "sparse"}


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """Quality and time of one cell of a sweep."""

    cell: Cell
    run: Run
    summary: MetricSummary
    seconds: float | None
    """Median."""
    front: bool = False
    """No other cell is at least as good and as fast, and better in one of them."""

    @property
    def quality(self) -> Mean:
        return self.summary.mean


def parse_grid(axes: Sequence[str]) -> tuple[Cell, ...]:
    """Parse `plan.k=3,5` and `plan.mode=sparse,dense` into four cells, the last axis changing
    fastest; raises LabError."""
    parsed = _parsed(axes)
    size = prod(map(len, parsed.values())) if parsed else 0
    if not 0 < size <= MOST:
        what = f"{size} runs are too many" if size else "There is nothing to sweep"
        raise LabError(
            f"{what}.", hint=f"Give one to {MOST} combinations, such as plan.k=3,5,7,10."
        )
    cells: list[Cell] = []
    for values in product(*parsed.values()):
        cell = dict(zip(parsed, values, strict=True))
        check_cell(cell)
        cells.append(cell)
    return tuple(cells)


def parse_axes(axes: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """Map each key to its values: of `plan.*`, `index.*`, `models.chat` and `models.embedder`.
    Raises LabError, also for a value that is out of range.

    A value that is itself a list is spelt with + (`plan.strategies=standard+hyde,keywords`), an
    object as JSON inside a JSON list (`plan.weights=[{"sparse": 1, "dense": 0}]`), numbers from one
    to another as `plan.pool=10..100`, every tenth of them `10..100..10`. What
    `plan.weights.sparse=0..1` leaves of 1 is the weight of the dense leg."""
    parsed = _parsed(axes)
    for key, values in parsed.items():
        for value in values:
            check_cell({key: value})
    return parsed


def _parsed(axes: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    parsed: dict[str, tuple[Any, ...]] = {}
    for axis in axes:
        key, text = _axis(axis)
        if key in parsed:
            raise LabError(
                f"`{key}` is given twice.", hint="One axis a key, its values separated by commas."
            )
        parsed[key] = tuple(_values(key, text))
    return parsed


def check_cell(cell: Cell) -> None:
    """Reject misspelt or out-of-range values before anything is asked."""
    for key, value in cell.items():
        if key.startswith(_WEIGHT):
            _check_weight(key, value)
        if key in MODELS and not isinstance(value, str):
            raise LabError(
                f"`{key}={value}`: the name of a model.", hint="Such as openai:gpt-4.1, or none."
            )
    merge_plan(part(cell, "plan"), served=False)
    _check_index(part(cell, "index"))


def _check_weight(key: str, value: Any) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if key.removeprefix(_WEIGHT) not in _OTHER_LEG or not is_number or not 0 <= value <= 1:
        raise LabError(
            f"`{key}={value}`: the weight of one leg, sparse or dense, as a share of both.",
            hint="Such as plan.weights.sparse=0..1.",
        )


def _axis(axis: str) -> tuple[str, str]:
    """Split into the key and the text of its values."""
    key, _, text = axis.partition("=")
    section, _, field = key.partition(".")
    is_setting = section in {"plan", "index"} or key in MODELS
    if not is_setting or not field or not text.strip():
        raise LabError(
            f"`{axis}` is not an axis.",
            hint="Such as plan.k=3,5,7,10 or index.chunk_tokens=128,256; models.chat and "
            "models.embedder can be axes too.",
        )
    return key, text


def part(cell: Cell, section: str) -> dict[str, Any]:
    """Return the plan fields of a cell, without `plan.`; index settings keep their whole key."""
    fields: dict[str, Any] = {}
    for key, value in cell.items():
        leg = key.removeprefix(_WEIGHT)
        if section == "plan" and leg in _OTHER_LEG:
            fields["weights"] = {leg: value, _OTHER_LEG[leg]: round(1 - value, 6)}
        elif key.startswith(f"{section}."):
            fields[key.removeprefix("plan.")] = value
    return fields


def changed_settings(cell: Cell) -> dict[str, Any]:
    """Return the settings that need another variant of the target: all but the plan."""
    return {key: value for key, value in cell.items() if not key.startswith("plan.")}


def cell_label(cell: Cell) -> str:
    """Label a cell: `k=5 mode=sparse`."""
    parts = []
    for key, value in cell.items():
        _, _, field = key.partition(".")
        parts.append(f"{field}={_spelt(value)}")
    return " ".join(parts)


def sweep_points(
    cells: Sequence[Cell], recorded: Sequence[RecordedRun], metric: str
) -> tuple[SweepPoint, ...]:
    """Place each cell by quality, with its interval, and by median time measured in turn, if there
    is one; the Pareto front is marked.

    Of a metric such as price less is better; of one that is neither, more.
    """
    sign = direction(metric) or 1
    placed = []
    for cell, run in zip(cells, recorded, strict=True):
        placed.append(SweepPoint(cell, run.run, run.overall(metric), _median_seconds(run)))
    marked = []
    for point in placed:
        beaten = any(_beats(other, point, sign) for other in placed)
        marked.append(replace(point, front=not beaten))
    return tuple(marked)


def _median_seconds(recorded: RecordedRun) -> float | None:
    times = []
    for score in recorded.values(TIMED).values():
        if score.value is not None:
            times.append(score.value)
    return median(times) if times else None


def _beats(other: SweepPoint, point: SweepPoint, sign: int) -> bool:
    if point.quality.value is None or point.seconds is None:
        return True
    if other.quality.value is None or other.seconds is None:
        return False
    better = sign * (other.quality.value - point.quality.value)
    faster = point.seconds - other.seconds
    return better >= 0 and faster >= 0 and (better > 0 or faster > 0)


def _check_index(changed: Mapping[str, Any]) -> None:
    fields = {}
    for key, value in changed.items():
        fields[key.removeprefix("index.")] = value
    for field in fields:
        if field not in IndexSettings.model_fields:
            raise LabError(
                f"`index.{field}` is not a setting.",
                hint=nearest(field, IndexSettings.model_fields),
            )
    try:
        IndexSettings.model_validate(fields)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        problem = f"{str(first['msg']).lower()}, not {first['input']!r}."
        raise LabError(
            f"index.{first['loc'][0]}: {problem}", hint="`ombud settings` lists them all."
        ) from wrong


def _values(key: str, text: str) -> list[Any]:
    if text.lstrip().startswith("["):
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError) as wrong:
            raise LabError(
                f"`{key}`: not a JSON list: {wrong}.", hint="Or write the values with commas."
            ) from wrong
        return list(parsed)
    values: list[Any] = []
    for piece in text.split(","):
        span = _RANGE.fullmatch(piece.strip())
        values += _spanned(key, span) if span else [_value(piece.strip())]
    return [str(value).split("+") for value in values] if key in LISTED else values


def _spanned(key: str, span: re.Match[str]) -> list[int | float]:
    """List the values of a range, both ends included; raises LabError for none or too many."""
    low = Decimal(span[1])
    high = Decimal(span[2])
    is_fraction = key in _FRACTIONS or key.startswith(_WEIGHT)
    step = (high - low) / 10 if is_fraction else Decimal(1)
    if span[3]:
        step = Decimal(span[3])
    count = int((high - low) / step) + 1 if step > 0 and high >= low else 0
    if not 0 < count <= MOST:
        raise LabError(
            f"`{span[0]}` is a range of {count} values.",
            hint=f"Of one to {MOST}, such as 10..100..10.",
        )
    values: list[int | float] = []
    for number in range(count):
        value = low + number * step
        is_whole = value == value.to_integral_value()
        values.append(int(value) if is_whole else float(value))
    return values


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _spelt(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(map(str, value))
    if isinstance(value, dict | bool | None):
        return json.dumps(value, separators=(",", ":"))
    return str(value)
