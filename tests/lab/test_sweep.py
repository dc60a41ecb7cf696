import asyncio
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from copies import open_copy
from lab.recording import many, recorded
from lab.scripted import ScriptedTarget
from lab.scripted import cases as scripted_cases
from ombud.errors import BadSetting, LabError
from ombud.lab import (
    Instruments,
    RunOptions,
    Tuning,
    carry_out_design,
    cell_label,
    parse_grid,
    parse_metrics,
    read_run,
    sweep_design,
    sweep_points,
)
from ombud.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_copy(tmp_path)) as opened:
        yield opened


def test_a_grid_is_every_combination_with_the_last_axis_fastest() -> None:
    assert parse_grid(["plan.k=3, 5", "plan.mode=sparse,dense"]) == (
        {"plan.k": 3, "plan.mode": "sparse"},
        {"plan.k": 3, "plan.mode": "dense"},
        {"plan.k": 5, "plan.mode": "sparse"},
        {"plan.k": 5, "plan.mode": "dense"},
    )


@pytest.mark.parametrize(
    ("axis", "values", "labels"),
    [
        (
            "plan.strategies=standard+hyde,keywords",
            [["standard", "hyde"], ["keywords"]],
            ["standard+hyde", "keywords"],
        ),
        ('plan.strategies=[["a", "b"]]', [["a", "b"]], ["a+b"]),
        ("plan.adaptive=true,false", [True, False], ["true", "false"]),
        ("plan.abstain=null,0.5", [None, 0.5], ["null", "0.5"]),
        (
            'plan.weights=[{"sparse": 1, "dense": 0}]',
            [{"sparse": 1, "dense": 0}],
            ['{"sparse":1,"dense":0}'],
        ),
        ("index.chunk_tokens=128,256", [128, 256], ["128", "256"]),
    ],
)
def test_values_are_numbers_words_lists_and_objects(
    axis: str, values: list[Any], labels: list[str]
) -> None:
    cells = parse_grid([axis])
    (key,) = cells[0]
    assert [cell[key] for cell in cells] == values
    assert [cell_label(cell) for cell in cells] == [
        f"{key.partition('.')[2]}={said}" for said in labels
    ]


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        ([], "There is nothing to sweep."),
        (["plan.k=[]"], "There is nothing to sweep."),
        (["k=3"], "`k=3` is not an axis."),
        (["plan.k"], "`plan.k` is not an axis."),
        (["plan.k= "], "`plan.k= ` is not an axis."),
        (["plan=3"], "`plan=3` is not an axis."),
        (["server.port=1"], "`server.port=1` is not an axis."),
        (["plan.k=3", "plan.k=5"], "`plan.k` is given twice."),
        (["plan.k=[3,"], "`plan.k`: not a JSON list"),
        ([f"plan.k={'[' * 100_000}"], "`plan.k`: not a JSON list"),
        (["index.chunk_tokens=128,many"], "index.chunk_tokens: input should be a valid integer"),
        (
            ["index.chunk_tokens=128,16"],
            "index.chunk_tokens: input should be greater than or equal to 32, not 16",
        ),
        (["index.chunk_token=128"], "`index.chunk_token` is not a setting."),
        ([f"plan.k={','.join(['1'] * 501)}"], "501 runs are too many."),
        # Made one by one these would never end.
        (
            [
                f"plan.{f}={','.join(['1'] * 100)}"
                for f in ("k", "pool", "budget_tokens", "rewrites", "persona")
            ],
            "10000000000 ",
        ),
    ],
)
def test_grids_that_cannot_be(axes: list[str], said: str) -> None:
    with pytest.raises(LabError) as wrong:
        parse_grid(axes)
    assert str(wrong.value).startswith(said)


def test_plan_fields_are_checked_before_anything_is_asked() -> None:
    with pytest.raises(BadSetting) as wrong:
        parse_grid(["plan.kk=3"])
    assert "`k`" in wrong.value.hint
    with pytest.raises(BadSetting, match=r"plan\.mode"):
        parse_grid(["plan.mode=sparse,fast"])


def test_the_front_of_quality_and_time_by_hand() -> None:
    cases = many(2)
    rows: list[tuple[float | None, float | None]] = [
        (0.50, 1.0),  # front: nothing is as fast
        (0.70, 2.0),  # front
        (0.70, 3.0),  # as good as the one above, slower
        (0.60, 2.5),  # worse and slower than the second
        (0.90, 9.0),  # front: nothing is as good
        (0.70, 2.0),  # the same as the second: neither beats the other
        (None, 0.1),  # no value
        (0.95, None),  # no time
    ]
    runs = [
        recorded(cases, {"mrr": [q, q], "warm_latency": [s, s]}, id=f"r{n}")
        for n, (q, s) in enumerate(rows)
    ]
    placed = sweep_points([{"plan.k": n} for n in range(len(rows))], runs, "mrr")
    assert [p.front for p in placed] == [True, True, False, False, True, True, False, False]
    assert [(p.quality.value, p.seconds, p.cell["plan.k"]) for p in placed[:2]] == [
        (0.5, 1.0, 0),
        (0.7, 2.0, 1),
    ]


def test_where_less_is_better_the_cheapest_is_on_the_front() -> None:
    cases = many(1)
    runs = [recorded(cases, {"price": [price], "warm_latency": [1.0]}) for price in (0.02, 0.01)]
    assert [p.front for p in sweep_points([{}, {}], runs, "price")] == [False, True]


def test_a_time_that_was_not_taken_in_turn_places_nothing() -> None:
    timed = {"mrr": [1.0, 1.0, None], "warm_latency": [1.0, None, 2.0]}
    (placed,) = sweep_points([{}], [recorded(many(3), timed)], "mrr")
    assert (placed.seconds, placed.quality.valid, placed.quality.total) == (1.5, 2, 3)
    alone = recorded(many(3), {"mrr": [1.0, 1.0, 1.0]}, seconds=[1.0, 3.0, 2.0])
    (placed,) = sweep_points([{}], [alone], "mrr")
    assert placed.seconds is None


class Varied(ScriptedTarget):
    """Knows which index it is."""

    def __init__(
        self, made: list[Mapping[str, Any]], settings: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__()
        self.made, self.settings = made, dict(settings or {})

    def variant(self, settings: Mapping[str, Any]) -> "Varied":
        self.made.append(settings)
        return Varied(self.made, settings)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "index": self.settings}


def test_a_sweep_makes_a_run_a_cell_and_a_variant_an_index(store: Store) -> None:
    made: list[Mapping[str, Any]] = []
    target = Varied(made)
    cells = parse_grid(["plan.k=1,3", "index.chunk_tokens=64,128"])
    options = RunOptions(
        parse_metrics("recall@3"), "study", "leave.jsonl", plan={"mode": "sparse"}, study="study"
    )
    told: list[tuple[str, int, int]] = []

    tuning = Tuning(
        target,
        store,
        options,
        objectives=("recall@3",),
        axes={},
        instruments=lambda _: Instruments(),
        on_progress=lambda *at: told.append(at),
    )
    design = sweep_design("study", ["recall@3"], cells)

    def go() -> list[str]:
        outcome = asyncio.run(carry_out_design(tuning, design, scripted_cases(6)))
        return [run.run.id for run in outcome.rows.values()]

    ids = go()
    assert made == [{"index.chunk_tokens": 64}, {"index.chunk_tokens": 128}]
    found = [read_run(store, one) for one in ids]
    assert [one.run.name for one in found] == [cell_label(cell) for cell in cells]
    assert found[0].run.config["set"] == {"mode": "sparse", "k": 1}
    assert {one.run.study for one in found} == {"study"}
    # The right passage stands behind n % 3 wrong ones: of six, two come first.
    means = [one.summary(["overall"])[0].mean.value for one in found]
    assert means == [pytest.approx(2 / 6)] * 2 + [1.0] * 2
    assert [at for at in told if at[0] == "study"] == [("study", n, 4) for n in range(5)]
    assert go() == ids  # made again, nothing is asked again
