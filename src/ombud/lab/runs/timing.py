"""Times that may be compared: the same questions, put to each run's set-up in turn.

Of runs one after another the last looks fastest, for caches are warm by then, and a machine that is
busy for a while makes one of them look slow. So every set-up is asked once unmeasured, then each
question goes to all of them, first to another one each time."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from ombud.errors import LabError, OmbudError
from ombud.lab.metrics.parsing import TIMED, needs, parse_metrics
from ombud.lab.runs.running import OnProgress, no_progress
from ombud.lab.runs.target import Target
from ombud.store import Store, read_observations, save_scores
from ombud.types import Case, Question, Run, Score

LAST = 1000
"""Place of the metric among those of a run: behind all others."""


async def time_runs(
    runs: Sequence[Run],
    store: Store,
    target_of: Callable[[Run], Target],
    *,
    cases: int = 30,
    on_progress: OnProgress = no_progress,
) -> int:
    """Measure `warm_latency` for every run on the same cases; returns how many were timed.

    target_of: the set-up of a run; asked in its thread. cases: at most; chosen by their ids'
    digests, so the same ones each time. A case that fails in one of the runs is timed in none. The
    scores have a version of their own, for they compare only with each other. Raises LabError where
    the runs share no case or every case fails.
    """
    places = [await asyncio.to_thread(_places, store, run) for run in runs]
    shared = _shared(places)
    if not shared:
        raise LabError(
            "The runs have no case in common.",
            hint="Times are compared on the same cases: use the same dataset and split.",
        )
    chosen = sorted(shared, key=_digest)[:cases]
    sides = [_Side(run, await asyncio.to_thread(target_of, run)) for run in runs]
    timed = await _in_turn(sides, chosen, on_progress)
    if not timed:
        raise LabError(
            f"None of {len(chosen)} cases was answered by all runs.",
            hint="Run them again: the target may be down.",
        )
    versions = {TIMED: int(time.time())}
    for number, run in enumerate(runs):
        scores: dict[int, list[Score]] = {}
        for case, seconds in timed.items():
            score = Score(case_id=case.id, metric=TIMED, value=seconds[number])
            scores[places[number][case]] = [score]
        await asyncio.to_thread(save_scores, store, run.id, scores, versions, first=LAST)
    return len(timed)


async def _in_turn(
    sides: Sequence["_Side"], cases: Sequence[Case], on_progress: OnProgress
) -> dict[Case, list[float]]:
    """Map each case to the seconds of each side, without cases that one side failed."""
    for side in sides:
        await side.seconds(cases[0])
    timed: dict[Case, list[float]] = {}
    for number, case in enumerate(cases):
        on_progress("time", number, len(cases))
        measured: dict[int, float | None] = {}
        for step in range(len(sides)):
            place = (number + step) % len(sides)
            measured[place] = await sides[place].seconds(case)
        seconds = [taken for _, taken in sorted(measured.items()) if taken is not None]
        if len(seconds) == len(sides):
            timed[case] = seconds
    on_progress("time", len(cases), len(cases))
    return timed


class _Side:
    """A run to time again: its target, its plan and whether it answers."""

    def __init__(self, run: Run, target: Target) -> None:
        self._target = target
        self._plan: Mapping[str, Any] = run.config.get("set", {})
        metrics = parse_metrics(",".join(run.config.get("metrics", ())))
        _, self._answers = needs(metrics)

    async def seconds(self, case: Case) -> float | None:
        """Until the whole answer, or the hits where the run only searched; None where it failed."""
        question = Question(
            text=case.question,
            asker=case.person,
            history=case.history,
            as_of=case.as_of,
        )
        started = time.perf_counter()
        try:
            if self._answers:
                await self._target.ask(question, self._plan)
            else:
                await self._target.search(question, self._plan)
        except OmbudError:
            return None
        return time.perf_counter() - started


def _places(store: Store, run: Run) -> dict[Case, int]:
    return {seen.case: place for place, seen in read_observations(store, run.id)}


def _shared(places: Sequence[Mapping[Case, int]]) -> list[Case]:
    shared = set(places[0]).intersection(*places[1:])
    return [case for case in places[0] if case in shared]


def _digest(case: Case) -> str:
    return sha256(case.id.encode()).hexdigest()
