"""One case of a run, from the question to its grades: what was searched for, what came back and at
which stage with which score, which prompts were used, what was answered, why it was graded so."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ombud.app.workspace import Workspace
from ombud.errors import NotFound
from ombud.lab import RecordedRun, carries_quote, figure_of, read_run, title_of
from ombud.prompts import digests
from ombud.types import Answer, Case, Hit, Observation, Run, Score, Trace

LISTED = 100
"""Cases on one page of the list."""
SHOWN_SCORES = 4


class CaseLine(NamedTuple):
    """A case in the list of a run."""

    id: str
    question: str
    got: str
    """Such as `full`, `denied, contact`, or `failed`."""
    lost: str
    is_wrong: bool
    """It failed, it lost its evidence, or the answer was of the wrong kind."""
    figures: tuple[str, ...]


class CaseList(NamedTuple):
    run: Run
    titles: tuple[str, ...]
    """Of the columns of figures."""
    lines: tuple[CaseLine, ...]
    fitting: int
    """Of all cases that fit, on all pages."""
    wrong: int


def list_cases(
    workspace: Workspace, run: str, *, only_wrong: bool = False, begin: int = 0
) -> CaseList:
    """`LISTED` cases in the order of their dataset. Raises NotFound."""
    recorded = read_run(workspace.store, run)
    metrics = recorded.metrics[:SHOWN_SCORES]
    values = {metric: recorded.values(metric) for metric in metrics}
    kinds = recorded.values("outcome_accuracy")
    lines = [_line(seen, metrics, values, kinds) for seen in recorded.observations]
    wrong = [line for line in lines if line.is_wrong]
    fitting = wrong if only_wrong else lines
    return CaseList(
        run=recorded.run,
        titles=tuple(map(title_of, metrics)),
        lines=tuple(fitting[begin : begin + LISTED]),
        fitting=len(fitting),
        wrong=len(wrong),
    )


def _line(
    seen: Observation,
    metrics: Sequence[str],
    values: Mapping[str, Mapping[str, Score]],
    kinds: Mapping[str, Score],
) -> CaseLine:
    case = seen.case
    kind = kinds.get(case.id)
    return CaseLine(
        id=case.id,
        question=case.question,
        got="failed" if seen.error else _kind_of(seen.answer),
        lost=seen.lost,
        is_wrong=bool(seen.error or seen.lost) or (kind is not None and kind.value == 0),
        figures=tuple(_figure(values[metric].get(case.id), metric) for metric in metrics),
    )


def _kind_of(answer: Answer | None) -> str:
    if answer is None:
        return "searched only"
    return answer.outcome if answer.action == "none" else f"{answer.outcome}, {answer.action}"


def _figure(score: Score | None, metric: str) -> str:
    return "–" if score is None or score.value is None else figure_of(score.value, metric)


# One case -----------------------------------------------------------------------------------------


class Stage(NamedTuple):
    """Where one leg of the search had a passage."""

    leg: str
    rank: int
    score: float


class ShownHit(NamedTuple):
    hit: Hit
    stages: tuple[Stage, ...]
    was_read: bool
    """It stood in front of what wrote the answer."""
    was_cited: bool
    holds_evidence: bool


class UsedPrompt(NamedTuple):
    name: str
    digest: str
    counts_now: bool
    """The same words still count."""


class ShownScore(NamedTuple):
    title: str
    figure: str
    reason: str
    by: str


class ShownCase(NamedTuple):
    run: Run
    case: Case
    seen: Observation
    kind: str
    trace: Trace
    hits: tuple[ShownHit, ...]
    prompts: tuple[UsedPrompt, ...]
    scores: tuple[ShownScore, ...]
    before: str
    """Id of the case before; empty for the first."""
    after: str


def show_case(workspace: Workspace, run: str, case_id: str) -> ShownCase:
    """Raises NotFound for a run or a case that there is none of."""
    recorded = read_run(workspace.store, run)
    ids = [case.id for case in recorded.cases]
    if case_id not in ids:
        raise NotFound("This run did not ask that case.", hint="The run's page lists its cases.")
    place = ids.index(case_id)
    seen = recorded.observations[place]
    trace = (seen.answer.trace if seen.answer else seen.trace) or Trace()
    return ShownCase(
        run=recorded.run,
        case=seen.case,
        seen=seen,
        kind="failed" if seen.error else _kind_of(seen.answer),
        trace=trace,
        hits=_hits(seen, trace),
        prompts=_prompts(workspace, trace),
        scores=_scores(recorded, case_id),
        before=ids[place - 1] if place else "",
        after=ids[place + 1] if place + 1 < len(ids) else "",
    )


def _hits(seen: Observation, trace: Trace) -> tuple[ShownHit, ...]:
    stages: dict[str, list[Stage]] = {}
    for ranking in trace.rankings:
        for chunk_id, rank, score in ranking.rows:
            stages.setdefault(chunk_id, []).append(Stage(ranking.leg, rank, score))
    cited = {one.chunk_id for one in seen.answer.citations} if seen.answer else set[str]()
    shown: list[ShownHit] = []
    for hit in seen.hits or ():
        shown.append(
            ShownHit(
                hit=hit,
                stages=tuple(stages.get(hit.chunk.id, ())),
                was_read=hit.chunk.id in trace.evidence,
                was_cited=hit.chunk.id in cited,
                holds_evidence=carries_quote(hit, seen.case),
            )
        )
    return tuple(shown)


def _prompts(workspace: Workspace, trace: Trace) -> tuple[UsedPrompt, ...]:
    counting = digests(workspace.prompts)
    used: list[UsedPrompt] = []
    for called, digest in sorted(trace.prompts.items()):
        name = called.removesuffix(" as shipped")
        used.append(UsedPrompt(name, digest, counting.get(name) == digest))
    return tuple(used)


def _scores(recorded: RecordedRun, case_id: str) -> tuple[ShownScore, ...]:
    shown: list[ShownScore] = []
    for score in recorded.scores:
        if score.case_id == case_id:
            figure = _figure(score, score.metric)
            shown.append(ShownScore(title_of(score.metric), figure, score.reason, score.by))
    return tuple(shown)
