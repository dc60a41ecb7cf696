"""A grid of settings, one run each: what does which knob do, and what does it cost in time?"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from statistics import median
from typing import Any

from pydantic import ValidationError

from ombud.errors import LabError
from ombud.lab.metrics.metric import Instruments
from ombud.lab.report.comparing import RecordedRun, direction
from ombud.lab.report.summary import cluster_of
from ombud.lab.runs.running import Options, Tell, run_cases
from ombud.lab.runs.target import Target
from ombud.lab.statistics import Mean, mean
from ombud.settings import IndexSettings, merge_plan, nearest
from ombud.store import Store
from ombud.types import Case, Run

LISTED = {"plan.strategies", "plan.sources", "plan.components"}
MOST = 500
"""Cells of a grid: more is a mistake in the spelling rather than a plan."""

Cell = Mapping[str, Any]
"""Key such as `plan.k` or `index.chunk_tokens` -> value."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One cell's place in the plane of quality and time."""

    cell: Cell
    run: Run
    quality: Mean
    seconds: float | None
    """Median."""
    front: bool = False
    """No other cell is at least as good and as fast, and better in one of them."""


def parse_grid(axes: Sequence[str]) -> tuple[Cell, ...]:
    """`plan.k=3,5` and `plan.mode=sparse,dense` -> four cells, the last axis fastest; raises
    LabError.

    A value that is itself a list is spelt with + (`plan.strategies=standard+hyde,keywords`), an
    object as JSON inside a JSON list (`plan.weights=[{"sparse": 1, "dense": 0}]`)."""
    parsed: dict[str, list[Any]] = {}
    for axis in axes:
        key, mark, text = axis.partition("=")
        if (
            not mark
            or not text.strip()
            or key.split(".")[0] not in {"plan", "index"}
            or "." not in key
        ):
            raise LabError(
                f"`{axis}` is not an axis.",
                hint="Such as plan.k=3,5,7,10 or index.chunk_tokens=128,256.",
            )
        if key in parsed:
            raise LabError(
                f"`{key}` is given twice.", hint="One axis a key, its values separated by commas."
            )
        parsed[key] = _values(key, text)
    size = prod(map(len, parsed.values())) if parsed else 0
    if not 0 < size <= MOST:
        what = f"{size} runs are too many" if size else "There is nothing to sweep"
        raise LabError(
            f"{what}.", hint=f"Give one to {MOST} combinations, such as plan.k=3,5,7,10."
        )
    cells = tuple(dict(zip(parsed, values, strict=True)) for values in product(*parsed.values()))
    for cell in cells:  # what is misspelt or out of range is said before anything is asked
        merge_plan(part(cell, "plan"))
        _check_index(part(cell, "index"))
    return cells


def part(cell: Cell, section: str) -> dict[str, Any]:
    """The plan fields of a cell, without `plan.`; the index settings keep their whole key."""
    mine = {key: value for key, value in cell.items() if key.startswith(f"{section}.")}
    return {key.removeprefix("plan."): value for key, value in mine.items()}


def label(cell: Cell) -> str:
    """`k=5 mode=sparse`."""
    return " ".join(f"{key.partition('.')[2]}={_spelt(value)}" for key, value in cell.items())


async def run_sweep(
    cells: Sequence[Cell],
    cases: Sequence[Case],
    target: Target,
    store: Store,
    options: Options,
    instruments: Instruments,
    tell: Tell = lambda *_: None,
) -> tuple[Run, ...]:
    """A run a cell, one after the other so that their times compare; finished ones of the same
    study are kept.

    Cells with the same index settings are asked of one variant of the target.
    """
    variants: dict[str, Target] = {}
    runs = []
    for number, cell in enumerate(cells):
        tell("sweep", number, len(cells))
        changed = part(cell, "index")
        key = json.dumps(changed, sort_keys=True)
        if key not in variants:
            variants[key] = await asyncio.to_thread(target.variant, changed) if changed else target
        asked = variants[key]
        mine = replace(
            options,
            plan={**options.plan, **part(cell, "plan")},
            changed=changed,
            name=label(cell),
            notes=options.notes,
        )
        tools = Instruments(instruments.embed, asked.text_of)
        runs.append(await run_cases(cases, asked, store, mine, tools, tell, reuse=True))
    tell("sweep", len(cells), len(cells))
    return tuple(runs)


def points(
    cells: Sequence[Cell], recorded: Sequence[RecordedRun], metric: str
) -> tuple[Placed, ...]:
    """Each cell's quality with its interval and its median latency, the Pareto front marked.

    Of a metric such as price less is better; of one that is neither, more.
    """
    sign = direction(metric) or 1
    placed = [
        Placed(cell, one.run, _quality(one, metric), _median(one))
        for cell, one in zip(cells, recorded, strict=True)
    ]
    return tuple(
        replace(point, front=not any(_beats(other, point, sign) for other in placed))
        for point in placed
    )


def _quality(recorded: RecordedRun, metric: str) -> Mean:
    values = recorded.values(metric)
    rows = [
        (values[case.id].value, cluster_of(case)) for case in recorded.cases if case.id in values
    ]
    return mean([value for value, _ in rows], [cluster for _, cluster in rows])


def _median(recorded: RecordedRun) -> float | None:
    times = [
        seen.seconds
        for seen in recorded.observations
        if not seen.error and seen.seconds is not None
    ]
    return median(times) if times else None


def _beats(other: Placed, point: Placed, sign: int) -> bool:
    if point.quality.value is None or point.seconds is None:
        return True
    if other.quality.value is None or other.seconds is None:
        return False
    better, faster = (
        sign * (other.quality.value - point.quality.value),
        point.seconds - other.seconds,
    )
    return better >= 0 and faster >= 0 and (better > 0 or faster > 0)


def _check_index(changed: Mapping[str, Any]) -> None:
    fields = {key.removeprefix("index."): value for key, value in changed.items()}
    if unknown := next(
        (field for field in fields if field not in IndexSettings.model_fields), None
    ):
        raise LabError(
            f"`index.{unknown}` is not a setting.",
            hint=nearest(unknown, IndexSettings.model_fields),
        )
    try:
        IndexSettings.model_validate(fields)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        said = f"index.{first['loc'][0]}: {str(first['msg']).lower()}, not {first['input']!r}."
        raise LabError(said, hint="`ombud settings` lists them all.") from wrong


def _values(key: str, text: str) -> list[Any]:
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as wrong:
            raise LabError(
                f"`{key}`: not a JSON list: {wrong}.", hint="Or write the values with commas."
            ) from wrong
        return list(found)
    values = [_value(one.strip()) for one in text.split(",")]
    return [str(value).split("+") for value in values] if key in LISTED else values


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _spelt(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(map(str, value))
    return (
        json.dumps(value, separators=(",", ":"))
        if isinstance(value, dict | bool | None)
        else str(value)
    )
