"""A run: every case through the target, each kept when it is done, resumed after whatever stopped
it."""

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from ombud.errors import LabError, OmbudError, Unreachable
from ombud.lab.metrics.losses import IndexedPassages, locate_loss
from ombud.lab.metrics.metric import Instruments, Metric
from ombud.lab.metrics.parsing import SCORED_BY, needs, score
from ombud.lab.runs.target import Target
from ombud.store import (
    Done,
    Store,
    acquire_lease,
    add_look,
    done_places,
    list_runs,
    read_observations,
    save_done,
    save_run,
    save_scores,
    scored_places,
    start_run,
)
from ombud.types import Case, Observation, Question, Run

HOPELESS = 20
"""A target that fails so many cases before it answers the first one is set up wrongly: asking on is
of no use."""
SYNTHETIC = "Synthetic cases: only the passage a question was made from counts as relevant, which understates retrieval."
_RESCORED = 200

Tell = Callable[[str, int, int], None]
"""(step, done, total)."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a run is made."""

    metrics: tuple[Metric, ...]
    name: str
    dataset: str
    split: str = ""
    plan: Mapping[str, Any] = field(default_factory=dict)
    """Plan fields to set for every case."""
    changed: Mapping[str, Any] = field(default_factory=dict)
    """Index settings that the target was varied in, for the record."""
    study: str = ""
    concurrency: int = 4
    seconds: float = 120.0
    """Longest time for one case."""
    notes: tuple[str, ...] = ()


async def run_cases(
    cases: Sequence[Case],
    target: Target,
    store: Store,
    options: Options,
    instruments: Instruments | None = None,
    tell: Tell = lambda *_: None,
    *,
    reuse: bool = False,
) -> Run:
    """Ask what was not asked yet; returns the finished run.

    reuse: a finished run that did just this is taken instead of asking again.

    An unfinished run of the same name, dataset, target and configuration is gone on with: cases
    whose answer is stored are not asked again, failed ones are. Raises Unreachable (what is done
    stays) when the target is down, LabError when it fails every case, Busy when another process
    makes this run."""
    if not cases:
        raise LabError(
            "There is nothing to ask: no case is left.",
            hint="Choose another split or a larger sample.",
        )
    described = await asyncio.to_thread(target.describe)
    run = _find(store, cases, target, options, described, reuse)
    if run.state == "done":
        return run
    with acquire_lease(store, f"lab run {run.id}"):
        finished = done_places(store, run.id)
        todo = [(place, case) for place, case in enumerate(cases) if finished.get(place, True)]
        desk = _Desk(
            target, store, run, options, instruments or Instruments(text_of=target.text_of), tell
        )
        await desk.work(todo, len(cases))
        rescore(store, run, options.metrics, desk.instruments, missing_only=True)
        config = {**run.config, "metrics": [str(metric) for metric in options.metrics]}
        run = run.model_copy(update={"state": "done", "ended": datetime.now(UTC), "config": config})
        save_run(store, run)
    return run


def rescore(
    store: Store,
    run: Run,
    metrics: Sequence[Metric],
    instruments: Instruments,
    *,
    missing_only: bool = False,
    tell: Tell = lambda *_: None,
) -> int:
    """Score stored observations; returns how many. missing_only: those that lack one of the
    metrics."""
    wanted = {str(metric) for metric in metrics}
    known = scored_places(store, run.id) if missing_only else {}
    block: dict[int, Any] = {}
    count = 0
    for place, observation in read_observations(store, run.id):
        if missing_only and wanted <= known.get(place, set()):
            continue
        block[place] = score(observation, metrics, instruments)
        count += 1
        if len(block) == _RESCORED:
            save_scores(store, run.id, block, SCORED_BY)
            tell("score", count, run.cases)
            block = {}
    save_scores(store, run.id, block, SCORED_BY)
    return count


def digest_of(cases: Sequence[Case]) -> str:
    """Of a dataset: what is asked, of whom and what is expected."""
    whole = sha256()
    for case in cases:
        whole.update(case.model_dump_json().encode() + b"\n")
    return whole.hexdigest()[:16]


def _find(
    store: Store,
    cases: Sequence[Case],
    target: Target,
    options: Options,
    described: Mapping[str, Any],
    reuse: bool,
) -> Run:
    """The unfinished run that this one goes on with, or a new one."""
    config = {**described, "set": dict(options.plan), "changed": dict(options.changed)}
    dataset = digest_of(cases)
    whole = json.dumps([dataset, target.name, options.split, config], sort_keys=True, default=str)
    digest = sha256(whole.encode()).hexdigest()[:16]
    for known in list_runs(store, digest=digest):
        same = (known.name, known.study) == (options.name, options.study)
        if same and (known.state == "running" or reuse):
            return known
    run = Run(
        id=uuid.uuid4().hex[:8],
        name=options.name,
        dataset=options.dataset,
        dataset_digest=dataset,
        split=options.split,
        target=target.name,
        config={**config, "metrics": [str(metric) for metric in options.metrics]},
        digest=digest,
        study=options.study,
        cases=len(cases),
        started=datetime.now(UTC),
        notes=(
            *options.notes,
            *([SYNTHETIC] if any("synthetic" in case.tags for case in cases) else []),
        ),
    )
    start_run(store, run)
    if options.split == "sealed":
        looks = add_look(store, run)
        run = run.model_copy(
            update={"notes": (*run.notes, f"Look {looks} at the sealed split of this dataset.")}
        )
        save_run(store, run)
    return run


class _Desk:
    """Workers that ask, and one writer that keeps what waits: as many rows a commit as came in
    during the last."""

    def __init__(
        self,
        target: Target,
        store: Store,
        run: Run,
        options: Options,
        instruments: Instruments,
        tell: Tell,
    ) -> None:
        self.target, self.store, self.run, self.options, self.tell = (
            target,
            store,
            run,
            options,
            tell,
        )
        self.instruments = instruments
        self.hits, self.answer = needs(options.metrics)
        self.shelf = IndexedPassages(target.passages)
        self.waiting: list[Done] = []
        self.batch: list[Done] = []
        self.writing: Future[None] | None = None
        self.pen = ThreadPoolExecutor(1)
        self.came = asyncio.Event()
        self.answered = self.failed = 0

    async def work(self, todo: Sequence[tuple[int, Case]], total: int) -> None:
        kept = total - len(todo)
        self.tell("ask", kept, total)
        queue = iter(todo)
        try:
            async with asyncio.TaskGroup() as group:
                writer = group.create_task(self._write(kept, total))
                async with asyncio.TaskGroup() as workers:
                    for _ in range(min(self.options.concurrency, len(todo))):
                        workers.create_task(self._ask_all(queue))
                writer.cancel()
        except BaseExceptionGroup as several:
            raise _first(several) from several
        finally:
            self._flush()
        self.tell("ask", total, total)

    async def _ask_all(self, queue: Any) -> None:
        for place, case in queue:
            observation = await self._observe(case)
            self._count(observation)
            scores = await asyncio.to_thread(
                score, observation, self.options.metrics, self.instruments
            )
            self.waiting.append(Done(place, observation, scores))
            self.came.set()

    async def _observe(self, case: Case) -> Observation:
        question = Question(
            text=case.question, asker=case.person, history=case.history, as_of=case.as_of
        )
        plan, found, answer = self.options.plan, None, None
        trace, seconds = None, None
        try:
            async with asyncio.timeout(self.options.seconds):
                if self.hits:
                    started = time.perf_counter()
                    found, trace = await self.target.search(question, plan)
                    seconds = time.perf_counter() - started
                if self.answer:
                    started = time.perf_counter()
                    answer = await self.target.ask(question, plan)
                    seconds, trace = time.perf_counter() - started, None
        except Unreachable:
            raise
        except TimeoutError:
            return Observation(
                case=case, error=f"no answer within {self.options.seconds:g} seconds"
            )
        except OmbudError as failed:
            return Observation(case=case, error=f"{failed} {failed.hint}".strip())
        seen = Observation(case=case, hits=found, answer=answer, seconds=seconds, trace=trace)
        try:
            lost = await asyncio.to_thread(locate_loss, seen, self.shelf)
        except (
            OmbudError
        ):  # the answer counts, also where nobody may say where its evidence was lost
            lost = ""
        return seen.model_copy(update={"lost": lost}) if lost else seen

    def _count(self, observation: Observation) -> None:
        self.failed += bool(observation.error)
        self.answered += not observation.error
        if not self.answered and self.failed >= HOPELESS:
            raise LabError(
                f"The first {self.failed} cases all failed; the last one: {observation.error}",
                hint="Put that right; the run then goes on.",
            )

    async def _write(self, kept: int, total: int) -> None:
        while True:
            await self.came.wait()
            self.came.clear()
            self.batch, self.waiting = self.waiting, []
            self.writing = self.pen.submit(
                save_done, self.store, self.run.id, self.batch, SCORED_BY
            )
            await asyncio.wrap_future(self.writing)
            kept += len(self.batch)
            self.tell("ask", kept, total)

    def _flush(self) -> None:
        """A commit that was begun is waited for, one that was not is made here: nothing is kept
        twice or lost."""
        if self.writing and self.writing.cancel():
            self.waiting = [*self.batch, *self.waiting]
        elif self.writing:
            wait([self.writing])
        self.pen.shutdown()
        save_done(self.store, self.run.id, self.waiting, SCORED_BY)


def _first(several: BaseExceptionGroup[Any]) -> BaseException:
    """What stopped the run: of several, what ombud itself can explain."""
    found: list[BaseException] = []
    stack: list[BaseException] = [several]
    while stack:
        one = stack.pop(0)
        if isinstance(one, BaseExceptionGroup):
            stack.extend(one.exceptions)
        else:
            found.append(one)
    return next((one for one in found if isinstance(one, OmbudError)), found[0])
