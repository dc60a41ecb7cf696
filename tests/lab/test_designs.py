"""A study of one's own: what its file may say, what its claims come to."""

import asyncio
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from copies import open_copy
from lab.scripted import ScriptedTarget, cases
from ombud.errors import OmbudError
from ombud.lab import (
    Design,
    DesignOutcome,
    Instruments,
    RunOptions,
    Tuning,
    carry_out_design,
    draw_study,
    parse_metrics,
    read_design,
    study_html,
)
from ombud.types import Answer, Question

DESIGN = """
name = "passages"
metrics = ["citation_recall"]
axes = ["plan.k=3,8"]

[plan]
strategies = ["standard"]

[[row]]
label = "nine"
plan = { k = 9 }
index = { chunk_tokens = 256 }

[[claim]]
said = "Eight find more than three."
better = "k=8"
worse = "k=3"
stated = ".6 against .5"

[[claim]]
said = "Nine lose next to nothing."
better = "nine"
worse = "k=8"
margin = 0.05

[[claim]]
said = "So do three."
better = "k=3"
worse = "k=8"
margin = 0.05
metric = "outcome_accuracy"
"""


class ByK(ScriptedTarget):
    """Cites half of the passages with k = 3, and all with more; the outcome is the same."""

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        answer = await super().ask(question, plan)
        if plan.get("k") == 3 and int(question.text.split(":")[0]) % 8 < 4:
            return answer.model_copy(update={"citations": ()})
        return answer

    def variant(self, settings: Mapping[str, Any]) -> "ByK":
        del settings  # another index finds the same
        return self


def design(folder: Path, text: str = DESIGN) -> Design:
    file = folder / "own.toml"
    file.write_text(text, encoding="utf-8")
    return read_design(file)


def carried_out(folder: Path, count: int) -> DesignOutcome:
    read = design(folder)
    metrics = parse_metrics(",".join(read.metrics))
    with closing(open_copy(folder)) as store:
        tuning = Tuning(
            target=ByK(),
            store=store,
            options=RunOptions(metrics, "study", "scripted", study=read.name),
            objectives=tuple(map(str, metrics)),
            axes={},
            instruments=lambda _: Instruments(),
        )
        return asyncio.run(carry_out_design(tuning, read, cases(count)))


def test_axes_and_rows_are_set_ups_over_one_plan(tmp_path: Path) -> None:
    read = design(tmp_path)
    under = {"plan.strategies": ["standard"]}
    assert read.rows == {
        "k=3": {**under, "plan.k": 3},
        "k=8": {**under, "plan.k": 8},
        "nine": {**under, "plan.k": 9, "index.chunk_tokens": 256},
    }
    # What only a claim names is measured as well; the file's own metric leads.
    assert read.metrics == ("citation_recall", "outcome_accuracy")


def test_the_page_of_a_study_holds_table_charts_and_claims_without_scripts(tmp_path: Path) -> None:
    outcome = carried_out(tmp_path, 12)
    plots = draw_study(list(outcome.rows.values()), "citation_recall", design(tmp_path).rows)
    page = study_html("own <study>", plots, [claim.as_text() for claim in outcome.claims])
    assert "own &lt;study&gt;" in page
    assert "<script" not in page
    for label in ("k=3", "k=8", "nine"):
        assert f'<th scope="row" dir="auto">{label}</th>' in page
    assert page.count("12/12") == 3
    assert "invalid verdicts" in page
    assert page.count("data:image/svg+xml") == 2
    assert "annot be told with 12 cases" in page


def test_its_claims_are_tested_and_alike_is_shown_by_enough_documents_alone(
    tmp_path: Path,
) -> None:
    outcome = carried_out(tmp_path, 80)
    assert list(outcome.rows) == ["k=3", "k=8", "nine"]
    assert [claim.verdict for claim in outcome.claims] == [
        "holds",
        # Twenty documents that are alike leave 17 % of all that may not be.
        "cannot be told with 80 cases",
        "cannot be told with 80 cases",
    ]


def test_so_many_documents_show_that_nothing_is_lost(tmp_path: Path) -> None:
    # Clopper and Pearson: none of 80 documents, so at most 4.5 % of all.
    outcome = carried_out(tmp_path, 320)
    assert [claim.verdict for claim in outcome.claims] == ["holds", "holds", "holds"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("metrics = [", "cannot be read"),
        ('axes = ["plan.k=3"]', "metrics: field required"),
        ('metrics = ["mrr"]', "has no rows"),
        ('metrics = ["mrr"]\naxes = ["plan.kk=3"]', "`kk` is not a field of the plan"),
        ('metrics = ["mr"]\naxes = ["plan.k=3"]', "mr"),
        (DESIGN.replace('better = "k=8"', 'better = "k=7"'), "`k=7`, which is no row"),
        (DESIGN.replace('label = "nine"', 'label = "k=3"'), "two rows are called `k=3`"),
        (DESIGN.replace("margin", "margins"), "extra inputs are not permitted"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_before_anything_is_asked(
    text: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(OmbudError) as told:
        design(tmp_path, text)
    assert said in str(told.value)
