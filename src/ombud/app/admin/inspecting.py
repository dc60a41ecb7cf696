"""One case of a run, from the question to its grades: searches, hits by stage with scores, prompts,
the answer, and the reasons of the grades."""

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
    """Outcome and action, such as `full` or `denied, contact`, or `failed`."""
    lost: str
    is_wrong: bool
    """True if it failed, lost its evidence, or got an answer of the wrong kind."""
    figures: tuple[str, ...]


class CaseList(NamedTuple):
    """A page of a run's cases."""

    run: Run
    titles: tuple[str, ...]
    """Titles of the columns of figures."""
    lines: tuple[CaseLine, ...]
    fitting: int
    """Number of matching cases on all pages."""
    wrong: int


def list_cases(
    workspace: Workspace, run: str, *, only_wrong: bool = False, begin: int = 0
) -> CaseList:
    """Return `LISTED` cases in the order of their dataset. Raises NotFound."""
    recorded = read_run(workspace.store, run)
    metrics = recorded.metrics[:SHOWN_SCORES]
    values = {metric: recorded.values(metric) for metric in metrics}
    kinds = recorded.values("outcome_accuracy")
    lines = [case_line(seen, metrics, values, kinds) for seen in recorded.observations]
    wrong = [line for line in lines if line.is_wrong]
    fitting = wrong if only_wrong else lines
    return CaseList(
        run=recorded.run,
        titles=tuple(map(title_of, metrics)),
        lines=tuple(fitting[begin : begin + LISTED]),
        fitting=len(fitting),
        wrong=len(wrong),
    )


def case_line(
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
        got="failed" if seen.error else answer_kind(seen.answer),
        lost=seen.lost,
        is_wrong=bool(seen.error or seen.lost) or (kind is not None and kind.value == 0),
        figures=tuple(figure(values[metric].get(case.id), metric) for metric in metrics),
    )


def answer_kind(answer: Answer | None) -> str:
    if answer is None:
        return "searched only"
    return answer.outcome if answer.action == "none" else f"{answer.outcome}, {answer.action}"


def figure(score: Score | None, metric: str) -> str:
    return "–" if score is None or score.value is None else figure_of(score.value, metric)


# One case -----------------------------------------------------------------------------------------


class Stage(NamedTuple):
    """The rank of a passage in one leg of the search."""

    leg: str
    rank: int
    score: float


class ShownHit(NamedTuple):
    """A hit with its rank in each leg."""

    hit: Hit
    stages: tuple[Stage, ...]
    was_read: bool
    """True if the model that wrote the answer received it."""
    was_cited: bool
    holds_evidence: bool


class UsedPrompt(NamedTuple):
    """A prompt that the answer used."""

    name: str
    digest: str
    counts_now: bool
    """True if the same text is still active."""


class ShownScore(NamedTuple):
    """A score of the case."""

    title: str
    figure: str
    reason: str
    by: str


class ShownCase(NamedTuple):
    """Everything recorded about one case."""

    run: Run
    case: Case
    seen: Observation
    kind: str
    trace: Trace
    hits: tuple[ShownHit, ...]
    prompts: tuple[UsedPrompt, ...]
    scores: tuple[ShownScore, ...]
    before: str
    """Id of the previous case; empty for the first."""
    after: str


def show_case(workspace: Workspace, run: str, case_id: str) -> ShownCase:
    """Return one case of a run. Raises NotFound for an unknown run or case."""
    recorded = read_run(workspace.store, run)
    ids = [case.id for case in recorded.cases]
    if case_id not in ids:
        raise NotFound(
            "This run does not contain that case.", hint="The run's page lists its cases."
        )
    place = ids.index(case_id)
    seen = recorded.observations[place]
    trace = (seen.answer.trace if seen.answer else seen.trace) or Trace()
    return ShownCase(
        run=recorded.run,
        case=seen.case,
        seen=seen,
        kind="failed" if seen.error else answer_kind(seen.answer),
        trace=trace,
        hits=hits_with_ranks(seen, trace),
        prompts=used_prompts(workspace, trace),
        scores=case_scores(recorded, case_id),
        before=ids[place - 1] if place else "",
        after=ids[place + 1] if place + 1 < len(ids) else "",
    )


def hits_with_ranks(seen: Observation, trace: Trace) -> tuple[ShownHit, ...]:
    stages: dict[str, list[Stage]] = {}
    for ranking in trace.rankings:
        for chunk_id, rank, score in ranking.rows:
            stages.setdefault(chunk_id, []).append(Stage(ranking.leg, rank, score))
    cited = {one.chunk_id for one in seen.answer.citations} if seen.answer else set[str]()
    hits: list[ShownHit] = []
    for hit in seen.hits or ():
        hits.append(
            ShownHit(
                hit=hit,
                stages=tuple(stages.get(hit.chunk.id, ())),
                was_read=hit.chunk.id in trace.evidence,
                was_cited=hit.chunk.id in cited,
                holds_evidence=carries_quote(hit, seen.case),
            )
        )
    return tuple(hits)


def used_prompts(workspace: Workspace, trace: Trace) -> tuple[UsedPrompt, ...]:
    counting = digests(workspace.prompts)
    used: list[UsedPrompt] = []
    for called, digest in sorted(trace.prompts.items()):
        name = called.removesuffix(" as shipped")
        used.append(UsedPrompt(name, digest, counting.get(name) == digest))
    return tuple(used)


def case_scores(recorded: RecordedRun, case_id: str) -> tuple[ShownScore, ...]:
    scores: list[ShownScore] = []
    for score in recorded.scores:
        if score.case_id == case_id:
            value = figure(score, score.metric)
            scores.append(ShownScore(title_of(score.metric), value, score.reason, score.by))
    return tuple(scores)
