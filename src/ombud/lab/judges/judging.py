"""A judge's pass over the stored answers of a run: stopped anywhere, it goes on where it was."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256

from ombud.errors import ModelError
from ombud.lab.judges.asking import INVALID, Judge, NoVerdictError
from ombud.lab.judges.conversations import CONVERSATION
from ombud.lab.judges.grading import NO_SEARCH
from ombud.lab.metrics.lacking import not_given
from ombud.lab.metrics.metric import Grade, Judgement, Measure, Metric, Undefined
from ombud.lab.runs.failing import most_telling
from ombud.store import (
    NOT_SCORED,
    Store,
    StoredReply,
    find_reply,
    judged_places,
    read_observations,
    read_scores,
    save_reply,
    save_scores,
)
from ombud.types import Observation, Run, Score

OnProgress = Callable[[str, int, int], None]
HOPELESS = 5
"""Cases in a row that the model could not be asked about: then there is no use in going on."""
_KEPT_AT_ONCE = 20
"""Cases whose scores are written together; their replies are kept one by one."""


class StoredReplies:
    """Replies of judges, stored with a run and reused by every run."""

    def __init__(self, store: Store, run_id: str) -> None:
        self._store = store
        self._run_id = run_id

    def find(self, key: str) -> StoredReply | None:
        return find_reply(self._store, self._run_id, key)

    def keep(self, key: str, reply: StoredReply) -> None:
        save_reply(self._store, self._run_id, key, reply)


async def judge_run(
    store: Store,
    run: Run,
    metrics: Mapping[Metric, Measure],
    judge: Judge,
    *,
    concurrency: int,
    first: int = 0,
    on_progress: OnProgress = lambda *_: None,
) -> int:
    """Grade what this judge has not graded yet in these versions; returns how many cases.

    first: place of the first metric among all of the run. Raises ModelError when the model cannot
    be asked for several cases in a row, and when it gave no verdict at all on a metric; what was
    judged is kept.
    """
    judging = _Judging(store, run, metrics, judge, first)
    judging.on_progress = on_progress
    rows = judging.left()
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(judging.work(rows))
    except BaseExceptionGroup as several:
        raise most_telling(several) from several
    finally:
        judging.flush()
    judging.check()
    return judging.graded


def judged_version(measure: Measure, judge: Judge) -> int:
    """Return the version of a metric under this judge, from rubric, formula, prompts, form and
    repeats."""
    whole = sha256(f"{measure.version} {judge.digest}".encode())
    return int(whole.hexdigest()[:7], 16)


class _Judging:
    """Workers share the rows, the buffer and the count of failures in a row."""

    def __init__(
        self,
        store: Store,
        run: Run,
        metrics: Mapping[Metric, Measure],
        judge: Judge,
        first: int,
    ) -> None:
        self.on_progress: OnProgress = lambda *_: None
        self.graded = 0
        self._store = store
        self._run = run
        self._judge = judge
        self._first = first
        self._grades: dict[Metric, Grade] = {}
        for metric, measure in metrics.items():
            if measure.grade:
                self._grades[metric] = measure.grade
        self._versions = {
            str(metric): judged_version(measure, judge) for metric, measure in metrics.items()
        }
        self._buffer: dict[int, list[Score]] = {}
        self._seen = 0
        self._failed = 0
        self._refused: dict[str, str] = {}
        """Metric -> why it was not given, the last time."""

    def left(self) -> Iterator[tuple[int, Observation]]:
        """Yield (place, observation) of the cases that lack one of the metrics."""
        done = judged_places(self._store, self._run.id, self._judge.name, self._versions)
        for place, observation in read_observations(self._store, self._run.id):
            self._seen += 1
            if not set(self._versions) <= done.get(place, set()):
                yield place, observation

    async def work(self, rows: Iterator[tuple[int, Observation]]) -> None:
        for place, observation in rows:
            scores = [
                await self._score(metric, grade, observation)
                for metric, grade in self._grades.items()
            ]
            self._buffer[place] = scores
            self.graded += 1
            self.on_progress("judge", self._seen, self._run.cases)
            if len(self._buffer) >= _KEPT_AT_ONCE:
                await asyncio.to_thread(self.flush)

    def flush(self) -> None:
        buffer, self._buffer = self._buffer, {}
        if buffer:
            save_scores(self._store, self._run.id, buffer, self._versions, self._first)

    def check(self) -> None:
        """Raise ModelError where a metric was asked for and not one case of the run has it."""
        for score in read_scores(self._store, self._run.id) if self._refused else ():
            if score.value is not None:
                self._refused.pop(score.metric, None)
        for metric, reason in self._refused.items():
            raise ModelError(
                f"{self._judge.name} gave no verdict on {metric}, for any case. The last: {reason}",
                hint="Name another model under models.roles.judge, or set lab.judge_form to line.",
            )

    async def _score(self, metric: Metric, grade: Grade, observation: Observation) -> Score:
        if observation.turns and metric.name not in CONVERSATION:
            observation = observation.at_turn(-1)
        judgement = await self._judgement(grade, observation)
        value = judgement.value
        if isinstance(value, Undefined) and value.reason.startswith((NOT_SCORED, INVALID)):
            self._refused[str(metric)] = value.reason
        return Score(
            case_id=observation.case.id,
            metric=str(metric),
            value=None if isinstance(value, Undefined) else value,
            reason=value.reason if isinstance(value, Undefined) else judgement.words,
            by=self._judge.name,
        )

    async def _judgement(self, grade: Grade, observation: Observation) -> Judgement:
        if observation.error:
            return Judgement(Undefined(f"the target failed: {observation.error}"))
        try:
            judgement = await grade(_without_empty_passages(observation), self._judge)
        except NoVerdictError as none:
            judgement = Judgement(Undefined(str(none)))
        except ModelError as failed:
            self._failed += 1
            if self._failed >= HOPELESS:
                raise
            return Judgement(Undefined(f"{NOT_SCORED}{failed}"))
        self._failed = 0
        if observation.lacks and judgement.value == NO_SEARCH:
            return Judgement(not_given("contexts"))
        return judgement


def _without_empty_passages(observation: Observation) -> Observation:
    """Drop passages of which only the document is known: a judge cannot read them."""
    if "contexts" in observation.lacks:
        return observation.model_copy(update={"hits": None})
    return observation
