"""A study of one's own, written in TOML: the rows to run, and claims that they bear out or not."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ombud.errors import LabError
from ombud.lab.metrics.parsing import parse_metric, parse_metrics
from ombud.lab.report.claims import ClaimOutcome, TestedClaim, check_claims
from ombud.lab.report.comparing import RecordedRun
from ombud.lab.runs.sweeping import Cell, cell_label, check_cell, parse_grid
from ombud.lab.tuning.searching import Tuning, ask_cell, time_in_turn
from ombud.types import Case


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str
    plan: dict[str, Any] = {}
    index: dict[str, Any] = {}
    models: dict[str, Any] = {}

    @property
    def cell(self) -> Cell:
        cell: dict[str, Any] = {}
        for section in ("plan", "index", "models"):
            for field, value in getattr(self, section).items():
                cell[f"{section}.{field}"] = value
        return cell


class _Claim(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    said: str
    better: str
    worse: str
    metric: str = ""
    """Empty: the one that leads."""
    stated: str = ""
    less: bool = False
    margin: float = Field(0.0, ge=0)


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    metrics: tuple[str, ...] = Field(min_length=1)
    plan: dict[str, Any] = {}
    """Under every row."""
    axes: tuple[str, ...] = ()
    """As those of a sweep: every combination is a row, before those of `row`."""
    row: tuple[_Row, ...] = ()
    claim: tuple[_Claim, ...] = ()


class Design(NamedTuple):
    name: str
    metrics: tuple[str, ...]
    """The first leads."""
    rows: dict[str, Cell]
    """Label -> what is set."""
    claims: tuple[TestedClaim, ...]


class DesignOutcome(NamedTuple):
    rows: dict[str, RecordedRun]
    claims: tuple[ClaimOutcome, ...]


def read_design(path: Path) -> Design:
    """Raises LabError and UnknownName for what is misspelt, before anything is asked."""
    try:
        file = _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as wrong:
        raise LabError(f"{path} cannot be read: {wrong}.", hint="A design is TOML.") from wrong
    except ValidationError as wrong:
        first = wrong.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise LabError(
            f"{path}: {place}: {first['msg'].lower()}.",
            hint="It has `metrics`, rows as `axes` or `[[row]]`, and `[[claim]]`.",
        ) from wrong
    metrics = tuple(map(str, parse_metrics(",".join(file.metrics))))
    rows = _rows(file, path)
    claims: list[TestedClaim] = []
    for claim in file.claim:
        for label in (claim.better, claim.worse):
            if label not in rows:
                raise LabError(
                    f"{path}: “{claim.said}” speaks of `{label}`, which is no row.",
                    hint=f"Rows: {', '.join(rows)}.",
                )
        metric = str(parse_metric(claim.metric)) if claim.metric else metrics[0]
        claims.append(
            TestedClaim(
                claim.said,
                metric,
                claim.better,
                claim.worse,
                stated=claim.stated,
                is_less=claim.less,
                margin=claim.margin,
            )
        )
    claimed = [claim.metric for claim in claims]
    measured = tuple(dict.fromkeys([*metrics, *claimed]))
    return Design(file.name or path.stem, measured, rows, tuple(claims))


def _rows(file: _File, path: Path) -> dict[str, Cell]:
    under = {f"plan.{field}": value for field, value in file.plan.items()}
    rows: dict[str, Cell] = {}
    for cell in parse_grid(file.axes) if file.axes else ():
        rows[cell_label(cell)] = {**under, **cell}
    for row in file.row:
        if row.label in rows:
            raise LabError(f"{path}: two rows are called `{row.label}`.")
        rows[row.label] = {**under, **row.cell}
    if not rows:
        raise LabError(f"{path} has no rows.", hint="Give it `axes`, or `[[row]]`.")
    for cell in rows.values():
        check_cell(cell)
    return rows


def sweep_design(name: str, metrics: Sequence[str], cells: Sequence[Cell]) -> Design:
    """Design a row for each combination of some settings, without claims."""
    return Design(name, tuple(metrics), {cell_label(cell): cell for cell in cells}, ())


async def carry_out_design(
    tuning: Tuning, design: Design, cases: Sequence[Case], *, timed: int = 0
) -> DesignOutcome:
    """Run each row; an interrupted run continues where it was. timed: cases on which all rows are
    timed in turn at the end."""
    runs: list[RecordedRun] = []
    for number, (label, cell) in enumerate(design.rows.items()):
        tuning.on_progress("study", number, len(design.rows))
        name = "" if label == cell_label(cell) else f"{label}: "
        runs.append(await ask_cell(tuning, cell, cases, name))
    tuning.on_progress("study", len(design.rows), len(design.rows))
    if timed:
        runs = await time_in_turn(tuning, runs, timed)
    rows = dict(zip(design.rows, runs, strict=True))
    return DesignOutcome(rows, check_claims(design.claims, rows))
