"""What each part is worth: the whole against the whole without it, on the same cases."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ombud.errors import LabError
from ombud.lab.report.comparing import (
    Contrast,
    RecordedRun,
    compare_runs,
    correct_together,
)
from ombud.lab.runs.sweeping import Cell
from ombud.lab.tuning.parts import Parts
from ombud.lab.tuning.searching import PRESENT, Tuning, ask_cell
from ombud.types import Case


@dataclass(frozen=True, slots=True)
class Ablation:
    """Effect on one metric of leaving out one part."""

    part: str
    cell: Cell
    run: str
    """Id of the run without it."""
    contrast: Contrast
    """Without it minus the whole; `adjusted` over all parts and metrics of the table."""
    changed: int
    """Cases whose value differs at all."""


async def ablate(tuning: Tuning, cases: Sequence[Case], parts: Parts) -> tuple[Ablation, ...]:
    """Leave out every part by itself; rows by part, then metric. parts: name -> what to set. Raises
    LabError if there are none."""
    if not parts:
        raise LabError(
            "There is nothing to leave out: no such part is on.", hint="Or --over steps."
        )
    whole = await ask_cell(tuning, PRESENT, cases, "whole ")
    rows: list[Ablation] = []
    for number, (name, cell) in enumerate(parts.items()):
        tuning.on_progress("ablate", number, len(parts))
        without = await ask_cell(tuning, cell, cases, f"without {name}: ")
        for contrast in compare_runs(whole, without, by=["overall"], metrics=tuning.objectives):
            ablation = Ablation(
                part=name,
                cell=cell,
                run=without.run.id,
                contrast=contrast,
                changed=_changed(whole, without, contrast.metric),
            )
            rows.append(ablation)
    tuning.on_progress("ablate", len(parts), len(parts))
    corrected = correct_together([row.contrast for row in rows])
    return tuple(
        replace(row, contrast=contrast) for row, contrast in zip(rows, corrected, strict=True)
    )


def _changed(whole: RecordedRun, without: RecordedRun, metric: str) -> int:
    before = whole.values(metric)
    count = 0
    for case_id, score in without.values(metric).items():
        count += case_id in before and before[case_id].value != score.value
    return count
