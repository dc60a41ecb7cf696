"""The plugin of pytest: cases of a dataset as tests (`ombud_case`), and the gate (`ombud_gate`).

    pytestmark = pytest.mark.ombud("cases.csv", target="my_rag:answer")

Loaded in every session of pytest where ombud is installed: nothing heavy is imported here."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.lab import RecordedRun
    from ombud.types import Observation, Score

MARKER = (
    "ombud(dataset, target='local', metrics='', split='open', columns='', home='.'): cases for "
    "`ombud_case` and `ombud_gate`; each is asked once in a session"
)
_RUNS = pytest.StashKey[dict[str, tuple["Workspace", "RecordedRun"]]]()


@dataclass(frozen=True, slots=True)
class LabSetup:
    """The arguments of the marker."""

    dataset: str
    target: str = "local"
    metrics: str = ""
    split: str = "open"
    columns: str = ""
    home: str = "."


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case, what the target did with it, and its scores."""

    observation: "Observation"
    scores: dict[str, "Score"]

    @property
    def answer(self) -> str:
        answer = self.observation.answer
        return answer.text if answer else ""

    @property
    def contexts(self) -> list[str]:
        return [hit.chunk.text for hit in self.observation.hits or ()]

    def score(self, metric: str) -> float:
        """Return the value of a metric; skip the test, with the reason, if there is none."""
        if metric not in self.scores:
            pytest.fail(f"the run has no {metric}; it has {', '.join(self.scores)}")
        score = self.scores[metric]
        if score.value is None:
            pytest.skip(f"{metric}: {score.reason}")
        return score.value


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    config.stash[_RUNS] = {}


def pytest_unconfigure(config: pytest.Config) -> None:
    for workspace, _ in config.stash.get(_RUNS, {}).values():
        workspace.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "ombud_case" in metafunc.fixturenames:
        from ombud.cli.lab.asking import draw_cases, tagged_cases

        setup = _setup_of(metafunc.definition)
        path = Path(setup.dataset)
        cases, _ = draw_cases(tagged_cases(path, (), setup.columns), path, setup.split, 1.0, 0)
        ids = [case.id for case in cases]
        metafunc.parametrize("ombud_case", ids, ids=ids, indirect=True)


@pytest.fixture
def ombud_case(request: pytest.FixtureRequest) -> CaseResult:
    """Yield the cases of the marker's dataset one by one, asked and scored."""
    recorded = _recorded(request)
    seen = next(one for one in recorded.observations if one.case.id == request.param)
    if seen.error:
        pytest.fail(seen.error)
    scores = {one.metric: one for one in recorded.scores if one.case_id == request.param}
    return CaseResult(seen, scores)


@pytest.fixture
def ombud_gate(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Fail the test if the run fell behind a baseline: ombud_gate("main", metrics="…")."""

    def gate(baseline: str, *, metrics: str = "", unreviewed: bool = False) -> None:
        from ombud.lab import check_gate, parse_metrics, read_run

        candidate = _recorded(request)
        workspace, _ = request.config.stash[_RUNS][repr(_setup_of(request.node))]
        verdict = check_gate(
            read_run(workspace.store, baseline),
            candidate,
            list(map(str, parse_metrics(metrics))),
            allow_unreviewed=unreviewed,
            judge_bar=workspace.settings.lab.judge_bar,
        )
        if not verdict.passed:
            pytest.fail("\n".join(fall.said for fall in verdict.falls), pytrace=False)

    return gate


def _setup_of(item: Any) -> LabSetup:
    marker = item.get_closest_marker("ombud")
    if marker is None:
        raise pytest.UsageError(f"{item.nodeid} needs a marker: @pytest.mark.ombud('cases.csv').")
    return LabSetup(*marker.args, **marker.kwargs)


def _recorded(request: pytest.FixtureRequest) -> "RecordedRun":
    """Return the run of the marker's dataset, made when the first test asks for it."""
    setup = _setup_of(request.node)
    made = request.config.stash[_RUNS]
    if repr(setup) not in made:
        made[repr(setup)] = _make_run(setup)
    return made[repr(setup)][1]


def _make_run(setup: LabSetup) -> tuple["Workspace", "RecordedRun"]:
    from ombud.app import Workspace, asker_for, judge_of
    from ombud.cli.lab.asking import draw_cases, run_options, tagged_cases
    from ombud.cli.lab.target import complete, instruments, target_of
    from ombud.lab import SystemTarget, read_run, run_cases, usual_metrics

    workspace = Workspace(Path(setup.home))
    path = Path(setup.dataset)
    cases, notes = draw_cases(tagged_cases(path, (), setup.columns), path, setup.split, 1.0, 0)
    target = target_of(workspace, setup.target)
    of_ombud = not isinstance(target, SystemTarget)
    options = run_options(
        path,
        name="pytest",
        split=setup.split,
        metrics=setup.metrics or usual_metrics(cases, of_ombud=of_ombud),
        plan=(),
        notes=notes,
        concurrency=4,
        seconds=120.0,
    )
    work = run_cases(
        cases,
        target,
        workspace.store,
        options,
        instruments=instruments(workspace, target, options.metrics),
        judge_of=judge_of(workspace, options.metrics),
        asker=asker_for(workspace, cases),
    )
    return workspace, read_run(workspace.store, complete(work, target).id)
