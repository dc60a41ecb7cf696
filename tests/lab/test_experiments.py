"""Studies over a scripted target whose best row is known: their tables, claims and honesty."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lab.scripted import ScriptedTarget, cases
from ombud.errors import LabError, UnknownName
from ombud.lab import (
    Instruments,
    RunOptions,
    Tuning,
    carry_out,
    find_study,
    parse_grid,
    parse_metrics,
    study_chart,
    study_markdown,
)
from ombud.lab.experiments.carrying import STUDIES
from ombud.lab.experiments.design import Study, StudyClaim, StudyRow
from ombud.store import Store, open_store
from ombud.types import Answer, Question

TINY = Study(
    title="Tiny: what k is worth",
    about="Nothing else.",
    metrics=("citation_recall", "outcome_accuracy"),
    rows=(
        StudyRow("k=3", {"plan.k": 3}, paper=".50", table="K"),
        StudyRow("k=8", {"plan.k": 8}, table="K"),
        StudyRow("k=9", {"plan.k": 9}, table="K"),
        StudyRow("written", {"plan.refine": True}, "chat model", table="Models"),
    ),
    claims=(
        StudyClaim("Eight is better.", "citation_recall", "k=8", "k=3", is_known=True),
        StudyClaim("Three is better.", "citation_recall", "k=3", "k=8"),
        StudyClaim("Nine is better than eight.", "citation_recall", "k=9", "k=8"),
        StudyClaim("A model is better.", "citation_recall", "written", "k=8"),
    ),
    paper_metric="its own score",
    lines="K",
    groups=("tag",),
    repeated=True,
)


class ByK(ScriptedTarget):
    """Finds half of the passages with k = 3, and all with more."""

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        answer = await super().ask(question, plan)
        number = int(question.text.split(":")[0])
        if plan.get("k") == 3 and number % 8 < 4:
            return answer.model_copy(update={"citations": ()})
        return answer


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store("", tmp_path)) as opened:
        yield opened


def tuning(store: Store, study: Study, target: ScriptedTarget) -> Tuning:
    metrics = parse_metrics(",".join(study.metrics))
    return Tuning(
        target=target,
        store=store,
        options=RunOptions(metrics, "study", "scripted", study="study"),
        objectives=tuple(map(str, metrics)),
        axes={},
        instruments=lambda _: Instruments(),
    )


def test_claims_hold_do_not_hold_or_cannot_be_told(store: Store) -> None:
    target = ByK()
    outcome = asyncio.run(carry_out(TINY, tuning(store, TINY, target), cases(80), set()))
    assert [claim.verdict for claim in outcome.claims] == [
        "holds",
        "does not hold: the opposite",
        "cannot be told",
        "not run here",
    ]
    report = study_markdown(outcome, dataset="tiny", made="Today.", metrics=TINY.metrics)
    # Half of the cases found nothing to cite.
    assert re.search(r"\| k=3 \| 0\.500 \(.*\) \| 1\.000 .*\| \.50 \|", report)
    assert "| written | needs a chat model | needs a chat model |" in report
    assert "| Eight is better. | the study |" in report
    assert "| Three is better. | its design asks |" in report
    assert "## Two runs of “k=3”" in report
    assert "## citation_recall by tag" in report
    assert study_chart(outcome, "citation_recall").startswith("<svg")


def test_a_study_that_was_stopped_asks_nothing_twice(store: Store) -> None:
    first = ByK()
    asyncio.run(carry_out(TINY, tuning(store, TINY, first), cases(10), set()))
    again = ByK()
    asyncio.run(carry_out(TINY, tuning(store, TINY, again), cases(10), set()))
    assert again.asked == []


def test_where_no_row_can_be_run_it_is_said(store: Store) -> None:
    alone = Study("A: b", "", ("citation_recall",), (StudyRow("x", {}, "chat model"),))
    with pytest.raises(LabError, match="No row"):
        asyncio.run(carry_out(alone, tuning(store, alone, ByK()), cases(5), set()))


@pytest.mark.parametrize("name", ["wombat", "natwest", "eva", "hypa", "persona"])
def test_every_shipped_study_names_settings_and_metrics_that_there_are(name: str) -> None:
    study = find_study(name)
    assert parse_metrics(",".join(study.metrics))
    labels = [row.label for row in study.rows]
    assert len(set(labels)) == len(labels)
    for row in study.rows:
        for key, value in row.cell.items():
            if not isinstance(value, list):
                parse_grid([f"{key}={value if isinstance(value, str) else str(value).lower()}"])
    for claim in study.claims:
        assert {claim.better, claim.worse} <= set(labels)
        assert claim.metric in study.metrics


def test_hypa_has_the_rows_of_its_tables() -> None:
    rows = find_study("hypa").rows
    by_table = {
        table: [r for r in rows if r.table == table] for table in ("3 classes", "2 classes")
    }
    assert (len(by_table["3 classes"]), len(by_table["2 classes"])) == (8, 6)
    assert {row.paper for row in rows if row.paper} == {
        ".7621", ".8030", ".8141", ".7918", ".8402", ".7546", ".7955"
    }  # fmt: skip
    assert rows[0].cell == {"plan.k": 0}


def test_an_unknown_study() -> None:
    assert set(STUDIES) == {"wombat", "natwest", "eva", "hypa", "persona"}
    with pytest.raises(UnknownName, match="No study"):
        find_study("ragas")
