"""A run: every case through the target, each kept when it is done, resumed after whatever stopped
it."""

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from ombud.errors import LabError, OmbudError, Unreachable
from ombud.lab.extra import check_lab_libraries
from ombud.lab.judges.asking import Judge
from ombud.lab.judges.judging import judge_run
from ombud.lab.metrics.losses import IndexedPassages, locate_loss
from ombud.lab.metrics.metric import Instruments, Metric
from ombud.lab.metrics.parsing import measure_of, needs, score, split_judged, versions_of
from ombud.lab.runs.failing import most_telling
from ombud.lab.runs.playing import play
from ombud.lab.runs.systems import SystemTarget
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
SYNTHETIC = (
    "Synthetic cases: only the passage a question was made from counts as relevant, "
    "which understates retrieval."
)
_RESCORED = 200

OnProgress = Callable[[str, int, int], None]
"""(step, done, total)."""
JudgeOf = Callable[[str], Judge]


def no_progress(step: str, done: int, total: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run."""

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
    options: RunOptions,
    *,
    instruments: Instruments | None = None,
    on_progress: OnProgress = no_progress,
    reuse: bool = False,
    judge_of: JudgeOf | None = None,
    asker: Judge | None = None,
) -> Run:
    """Ask what was not asked yet; returns the finished run.

    judge_of: run id -> who gives the judged metrics, once all is answered. asker: plays those who
    ask, in cases with a goal.

    reuse: a finished run that did just this is taken instead of asking again.

    An unfinished run of the same name, dataset, target and configuration is gone on with: cases
    whose answer is stored are not asked again, failed ones are. Raises Unreachable (what is done
    stays) when the target is down, LabError when it fails every case, Busy when another process
    makes this run."""
    computed, judged = split_judged(options.metrics)
    _check_work(cases, judged, judge_of, asker)
    if isinstance(target, SystemTarget):
        target.check_plan(options.plan)
    described = await asyncio.to_thread(target.describe)
    planned = _planned_run(cases, target.name, options, described)
    run = _unfinished_run(store, planned, reuse=reuse) or _begun(store, planned, cases)
    if run.state == "done":
        return run
    tools = instruments or Instruments(text_of=target.text_of)
    with acquire_lease(store, f"lab run {run.id}"):
        failed = done_places(store, run.id)
        left = []
        for place, case in enumerate(cases):
            if failed.get(place, True):
                left.append((place, case))
        runner = _Runner(target, options, tools, len(cases), asker)
        keeper = _Keeper(store, run, versions_of(computed), on_progress)
        await runner.ask_all(left, keeper)
        rescore(store, run, computed, tools, missing_only=True)
        if judge_of:
            judge = judge_of(run.id)
            await judge_metrics(
                store,
                run,
                options.metrics,
                judge,
                concurrency=options.concurrency,
                on_progress=on_progress,
            )
        config = {**run.config, "metrics": list(map(str, options.metrics))}
        run = run.model_copy(update={"state": "done", "ended": datetime.now(UTC), "config": config})
        save_run(store, run)
    return run


def _check_work(
    cases: Sequence[Case], judged: Sequence[Metric], judge_of: JudgeOf | None, asker: Judge | None
) -> None:
    """Raise LabError or SetupError where a run cannot be made: before anything is asked."""
    if not cases:
        raise LabError(
            "There is nothing to ask: no case is left.",
            hint="Choose another split or a larger sample.",
        )
    check_lab_libraries()
    if judged and judge_of is None:
        raise no_judge(judged)
    if asker is None and any(case.goal for case in cases):
        raise LabError(
            "Some cases have a goal: a chat model plays their asker, and there is none here.",
            hint="`ombud lab run` plays them where models.chat or models.roles.synthesise is set.",
        )


def rescore(
    store: Store,
    run: Run,
    metrics: Sequence[Metric],
    instruments: Instruments,
    *,
    missing_only: bool = False,
    on_progress: OnProgress = no_progress,
) -> int:
    """Score stored observations; returns how many. missing_only: those that lack one of the
    metrics."""
    computed, _ = split_judged(metrics)
    versions = versions_of(computed)
    wanted = set(versions)
    scored = scored_places(store, run.id) if missing_only else {}
    block: dict[int, Any] = {}
    count = 0
    for place, observation in read_observations(store, run.id):
        if missing_only and wanted <= scored.get(place, set()):
            continue
        block[place] = score(observation, computed, instruments)
        count += 1
        if len(block) == _RESCORED:
            save_scores(store, run.id, block, versions)
            on_progress("score", count, run.cases)
            block = {}
    save_scores(store, run.id, block, versions)
    return count


async def judge_metrics(
    store: Store,
    run: Run,
    metrics: Sequence[Metric],
    judge: Judge,
    *,
    concurrency: int = 4,
    on_progress: OnProgress = no_progress,
) -> int:
    """Have the judged ones of these metrics given to stored observations; returns how many cases
    were graded. What this judge has said already is not asked again."""
    computed, judged = split_judged(metrics)
    return await judge_run(
        store,
        run,
        {metric: measure_of(metric.name) for metric in judged},
        judge,
        concurrency=concurrency,
        first=len(computed),
        on_progress=on_progress,
    )


def no_judge(judged: Sequence[Metric]) -> LabError:
    named = ", ".join(map(str, judged[:3]))
    return LabError(
        f"{named}: a judge gives that, and no chat model is set up for it.",
        hint="Set models.roles.judge, or models.chat, in ombud.toml.",
    )


def digest_of(cases: Sequence[Case]) -> str:
    """Identify a dataset by its questions, askers and expected answers."""
    whole = sha256()
    for case in cases:
        # Datasets without these fields keep the digest that they had before cases had them.
        later = {field for field in ("goal", "forbidden") if not getattr(case, field)}
        whole.update(case.model_dump_json(exclude=later).encode() + b"\n")
    return whole.hexdigest()[:16]


def _planned_run(
    cases: Sequence[Case], target: str, options: RunOptions, described: Mapping[str, Any]
) -> Run:
    """A run as it would be begun. Its digest is of all that it must share with one to go on
    with."""
    config = {**described, "set": dict(options.plan), "changed": dict(options.changed)}
    dataset = digest_of(cases)
    identity = [dataset, target, options.split, config]
    written = json.dumps(identity, sort_keys=True, default=str)
    notes = list(options.notes)
    if any("synthetic" in case.tags for case in cases):
        notes.append(SYNTHETIC)
    return Run(
        id=uuid.uuid4().hex[:8],
        name=options.name,
        dataset=options.dataset,
        dataset_digest=dataset,
        split=options.split,
        target=target,
        config={**config, "metrics": list(map(str, options.metrics))},
        digest=sha256(written.encode()).hexdigest()[:16],
        study=options.study,
        cases=len(cases),
        started=datetime.now(UTC),
        notes=tuple(notes),
    )


def _unfinished_run(store: Store, planned: Run, *, reuse: bool) -> Run | None:
    """Find the run to resume; with `reuse` also a finished one that has all metrics: without
    answers there is nothing to score."""
    wanted = set(planned.config["metrics"])
    for run in list_runs(store, digest=planned.digest):
        is_same = (run.name, run.study) == (planned.name, planned.study)
        has_all = wanted <= set(run.config.get("metrics", ()))
        if is_same and (run.state == "running" or (reuse and has_all)):
            return run
    return None


def _begun(store: Store, run: Run, cases: Sequence[Case]) -> Run:
    start_run(store, run)
    if run.split != "sealed":
        return run
    looks = add_look(store, run, [case.id for case in cases])
    note = f"Look {looks} at the sealed split of this dataset."
    run = run.model_copy(update={"notes": (*run.notes, note)})
    save_run(store, run)
    return run


class _Keeper:
    """A writer that commits finished cases in batches: each contains what came in during the last
    commit."""

    def __init__(
        self, store: Store, run: Run, versions: Mapping[str, int], on_progress: OnProgress
    ) -> None:
        self._store = store
        self._run = run
        self._versions = versions
        self._on_progress = on_progress
        self._kept = 0
        self._waiting: list[Done] = []
        self._batch: list[Done] = []
        self._writing: Future[None] | None = None
        self._thread = ThreadPoolExecutor(1)
        self._has_come = asyncio.Event()

    def begin(self, left: int) -> None:
        """left: cases that are to be asked."""
        self._kept = self._run.cases - left
        self._report()

    def add(self, done: Done) -> None:
        self._waiting.append(done)
        self._has_come.set()

    async def write(self) -> None:
        """Write finished cases until cancelled."""
        while True:
            await self._has_come.wait()
            self._has_come.clear()
            self._batch = self._waiting
            self._waiting = []
            self._writing = self._thread.submit(
                save_done, self._store, self._run.id, self._batch, self._versions
            )
            await asyncio.wrap_future(self._writing)
            self._kept += len(self._batch)
            self._report()

    def close(self) -> None:
        """Wait for a commit in progress and commit the rest here, so that nothing is stored twice
        or lost."""
        if self._writing and self._writing.cancel():
            self._waiting = [*self._batch, *self._waiting]
        elif self._writing:
            wait([self._writing])
        self._thread.shutdown()
        save_done(self._store, self._run.id, self._waiting, self._versions)

    def finish(self) -> None:
        self._kept = self._run.cases
        self._report()

    def _report(self) -> None:
        self._on_progress("ask", self._kept, self._run.cases)


class _Runner:
    """Workers that ask, each one case at a time."""

    def __init__(
        self,
        target: Target,
        options: RunOptions,
        instruments: Instruments,
        total: int,
        asker: Judge | None,
    ) -> None:
        self._asker = asker
        self._target = target
        self._options = options
        self._instruments = instruments
        self._wants_hits, self._wants_answer = needs(options.metrics)
        self._computed, _ = split_judged(options.metrics)
        self._passages = IndexedPassages(target.passages)
        self._total = total
        self._answered = 0
        self._failed = 0

    async def ask_all(self, left: Sequence[tuple[int, Case]], keeper: _Keeper) -> None:
        """left: place in the dataset, and case."""
        keeper.begin(len(left))
        queue = iter(left)
        try:
            async with asyncio.TaskGroup() as group:
                writer = group.create_task(keeper.write())
                async with asyncio.TaskGroup() as workers:
                    for _ in range(min(self._options.concurrency, len(left))):
                        workers.create_task(self._work(queue, keeper))
                writer.cancel()
        except BaseExceptionGroup as several:
            raise most_telling(several) from several
        finally:
            keeper.close()
        keeper.finish()

    async def _work(self, queue: Iterator[tuple[int, Case]], keeper: _Keeper) -> None:
        for place, case in queue:
            observation = await self._observe(case)
            self._count(observation)
            scores = await asyncio.to_thread(score, observation, self._computed, self._instruments)
            keeper.add(Done(place, observation, scores))

    async def _observe(self, case: Case) -> Observation:
        try:
            turns = case.goal.turns if case.goal else 1
            async with asyncio.timeout(self._options.seconds * turns):
                seen = await (
                    play(case, self._ask, self._asker) if self._asker else self._ask(case)
                )
        except Unreachable:
            raise
        except TimeoutError:
            seconds = f"{self._options.seconds:g} seconds"
            return Observation(case=case, error=f"no answer within {seconds}")
        except OmbudError as error:
            return Observation(case=case, error=f"{error} {error.hint}".strip())
        if seen.lacks:
            return seen  # nobody outside can say where another system lost its evidence
        try:
            lost = await asyncio.to_thread(locate_loss, seen, self._passages)
        except OmbudError:
            # The answer counts, also where nobody may say where its evidence was lost.
            return seen
        return seen.model_copy(update={"lost": lost}) if lost else seen

    async def _ask(self, case: Case) -> Observation:
        """Ask the target for what the metrics need: a search, an answer or both. If both, the
        answer is timed."""
        question = Question(
            text=case.question,
            asker=case.person,
            history=case.history,
            as_of=case.as_of,
        )
        if isinstance(self._target, SystemTarget):
            started = time.perf_counter()
            reply = await self._target.reply(question, self._options.plan)
            return reply.observed(case, time.perf_counter() - started)
        hits = trace = answer = seconds = None
        if self._wants_hits:
            started = time.perf_counter()
            hits, trace = await self._target.search(question, self._options.plan)
            seconds = time.perf_counter() - started
        if self._wants_answer:
            started = time.perf_counter()
            answer = await self._target.ask(question, self._options.plan)
            seconds = time.perf_counter() - started
            trace = None  # the answer holds its own
        return Observation(
            case=case,
            hits=hits,
            answer=answer,
            seconds=seconds,
            trace=trace,
        )

    def _count(self, observation: Observation) -> None:
        """Raises LabError when there is no use in going on."""
        if observation.error:
            self._failed += 1
        else:
            self._answered += 1
        all_of_them = self._failed == self._total
        if not self._answered and (self._failed >= HOPELESS or all_of_them):
            raise LabError(
                f"The first {self._failed} cases all failed; the last one: {observation.error}"
                if not all_of_them
                else f"All {self._failed} cases failed; the last one: {observation.error}",
                hint="Put that right; the run then goes on.",
            )
