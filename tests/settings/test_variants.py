"""Layers of the plan, and who is in which experiment."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ombud.errors import BadSetting, UnknownName
from ombud.settings import Settings, check_plans, load, plan_for
from ombud.types import Person, Plan

ANNE = Person(id="anne", country="GB")
LAYERS = """
[plan]
k = 10
pool = 20
budget_tokens = 1030
rewrites = 4
graph_keywords = 5

[country.GB.plan]
pool = 21
budget_tokens = 1031
rewrites = 5
graph_keywords = 6

[persona.employee.plan]
budget_tokens = 1032
rewrites = 6
graph_keywords = 7

[experiment.first]
share = 1
plan = { rewrites = 7, graph_keywords = 8 }

[experiment.second]
share = 1
plan = { graph_keywords = 9 }
"""


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read_it(text: str) -> Settings:
        (tmp_path / "ombud.toml").write_text(text, encoding="utf-8")
        return load(tmp_path)

    return read_it


# Precedence ---------------------------------------------------------------------------------------


def test_layers_lie_on_each_other_in_their_order(read: Any) -> None:
    planned = plan_for(read(LAYERS), ANNE, {"graph_keywords": 10})
    assert planned.plan == Plan(
        k=10,  # only [plan] says it
        pool=21,  # the country over that
        budget_tokens=1032,  # the persona over the country
        rewrites=7,  # the experiment over the persona
        graph_keywords=10,  # the request over all
    )
    assert planned.variant == "first+second"


def test_the_later_of_two_experiments_wins(read: Any) -> None:
    assert plan_for(read(LAYERS), ANNE).plan.graph_keywords == 9


def test_who_is_in_none_of_the_layers_has_the_plan_of_the_file(read: Any) -> None:
    stranger = Person(country="FR", persona="manager")
    assert plan_for(read(LAYERS), stranger) == (
        Plan(k=10, pool=20, budget_tokens=1030, rewrites=4, graph_keywords=5),
        "",
    )


def test_a_persona_is_the_persons_own(read: Any) -> None:
    settings = read(
        "[plan]\npersona = 'manager'\n[persona.employee.plan]\nk = 3\n[persona.manager.plan]\nk = 4\n"
    )
    assert plan_for(settings, Person(persona="employee")).plan.k == 3
    assert plan_for(settings, Person(persona="manager"), {"persona": "employee"}).plan.k == 4


@pytest.mark.parametrize(
    ("adaptive", "left"),
    [
        ("true", ("rewrites", "graph_depth")),
        ("['k', 'rewrites']", ("rewrites",)),
        ("['k']", ()),
        ("{ k = [3, 5, 7], rewrites = [1, 2, 3] }", {"rewrites": (1, 2, 3)}),
        ("false", False),
    ],
)
def test_what_the_request_sets_does_not_adapt(read: Any, adaptive: str, left: Any) -> None:
    settings = read(f"[plan]\nadaptive = {adaptive}\n")
    asked = {"k": 3, "graph_keywords": 2, "mode": "sparse"}
    assert plan_for(settings, ANNE, asked).plan.adaptive == left
    unasked = plan_for(settings, ANNE, {"mode": "sparse"}).plan.adaptive
    assert unasked == settings.plan.adaptive


def test_a_plan_of_a_trace_asked_for_again_is_the_same_plan(read: Any) -> None:
    first = plan_for(read(LAYERS), ANNE, {"k": 3}).plan
    again = plan_for(read("[plan]\nk = 99\n"), Person(), first.model_dump(mode="json")).plan
    assert again == first


def test_a_request_that_is_no_plan_is_refused(read: Any) -> None:
    with pytest.raises(BadSetting, match="`weigths` is not a field of the plan"):
        plan_for(read(""), ANNE, {"weigths": {}})


# Presets ------------------------------------------------------------------------------------------


def test_a_preset_is_spelt_out_in_its_own_layer(read: Any) -> None:
    # pa+rerank: strategies multi, reranker cross-encoder, k and rewrites adaptive, no graph
    text = "[plan]\npreset = 'pa+rerank'\nstrategies = ['keywords']\n[country.GB.plan]\nreranker = 'none'\n"
    here, there = (plan_for(read(text), Person(country=code)).plan for code in ("GB", "FR"))
    assert (here.preset, here.adaptive, here.strategies) == (
        "pa+rerank",
        ("k", "rewrites"),
        ("keywords",),
    )
    assert (here.reranker, there.reranker) == ("none", "cross-encoder")


@pytest.mark.parametrize("preset", ["pa", "pa+rerank", "hypa", "hypa+rerank"])
def test_presets_search_with_the_question_itself_beside_its_rewrites(
    read: Any, preset: str
) -> None:
    plan = plan_for(read(f"[plan]\npreset = '{preset}'\n"), ANNE).plan
    assert plan.strategies == ("standard", "multi")
    assert plan.strategy_mode == "all"


def test_a_preset_of_a_stronger_layer_wins_over_fields_of_a_weaker(read: Any) -> None:
    settings = read(
        "[plan]\ngraph = true\nreranker = 'listwise'\n[experiment.plain]\nshare = 1\nplan = {preset = 'fixed'}\n"
    )
    assert plan_for(settings, Person()).plan.reranker == "listwise"
    plan = plan_for(settings, ANNE).plan
    assert (plan.graph, plan.reranker, plan.adaptive) == (False, "none", False)


# Experiments --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "person_id", "below", "above"),
    [
        # FIPS 180-2: sha256("abc") = ba7816bf..., and 0xba7816bf / 2**32 = 0.728394...
        ("a", "bc", 0.728394, 0.728395),
        # FIPS 180-2, two blocks: 248d6a61..., and 0x248d6a61 / 2**32 = 0.142782...
        ("abcdbcdecdefdefgefghfghigh", "ijhijkijkljklmklmnlmnomnopnopq", 0.142782, 0.142783),
    ],
)
def test_a_place_is_the_published_sha256(
    read: Any, name: str, person_id: str, below: float, above: float
) -> None:
    def variant(share: float) -> str:
        return plan_for(
            read(f"[experiment.{name}]\nshare = {share}\n"), Person(id=person_id)
        ).variant

    assert variant(below) == ""
    assert variant(above) == name


def test_the_share_of_people_is_the_share(read: Any) -> None:
    settings = read("[experiment.fifth]\nshare = 0.2\n[experiment.half]\nshare = 0.5\n")
    variants = [plan_for(settings, Person(id=f"person-{n}")).variant for n in range(10_000)]
    fifth = sum("fifth" in v for v in variants)
    both = variants.count("fifth+half")
    assert 1840 <= fifth <= 2160  # 2,000, deviation (10,000 x .2 x .8) ** .5 = 40, four of them
    assert (
        880 <= both <= 1120
    )  # independent: 1,000, deviation (10,000 x .1 x .9) ** .5 = 30, four of them


def test_a_person_stays_where_they_are(read: Any) -> None:
    people = [Person(id=str(n), country="GB") for n in range(500)]

    def members(text: str, people: Sequence[Person] = people) -> set[str]:
        settings = read(text)
        return {p.id for p in people if plan_for(settings, p).variant}

    tenth, third = (members(f"[experiment.x]\nshare = {share}\n") for share in (0.1, 0.3))
    assert tenth < third  # a larger share only adds people
    assert members("[plan]\nk = 3\n[experiment.x]\nshare = 0.1\nplan = {k = 4}\n") == tenth
    moved = [p.model_copy(update={"country": "FR", "roles": ("manager",)}) for p in people]
    assert members("[experiment.x]\nshare = 0.1\n", moved) == tenth


@pytest.mark.parametrize(("share", "variant"), [(0, ""), (1, "x")])
def test_nobody_and_everybody(read: Any, share: int, variant: str) -> None:
    settings = read(f"[experiment.x]\nshare = {share}\n")
    assert {plan_for(settings, Person(id=str(n))).variant for n in range(300)} == {variant}


def test_who_has_no_id_is_in_no_experiment(read: Any) -> None:
    planned = plan_for(read("[experiment.x]\nshare = 1\nplan = {k = 3}\n"), Person(country="GB"))
    assert (planned.plan.k, planned.variant) == (8, "")


def test_an_experiment_that_is_off_changes_nothing(read: Any) -> None:
    planned = plan_for(read("[experiment.x]\nshare = 1\noff = true\nplan = {k = 3}\n"), ANNE)
    assert (planned.plan.k, planned.variant) == (8, "")


def test_an_experiment_of_some_countries(read: Any) -> None:
    settings = read("[experiment.x]\nshare = 1\ncountries = ['gb', 'IE']\n")
    found = {
        code: plan_for(settings, Person(id="anne", country=code)).variant
        for code in ("GB", "IE", "FR", None)
    }
    assert found == {"GB": "x", "IE": "x", "FR": "", None: ""}


def test_an_experiment_is_switched_off_by_a_variable(
    read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMBUD_EXPERIMENT__X__OFF", "true")
    assert plan_for(read("[experiment.x]\nshare = 1\n"), ANNE).variant == ""


def test_an_id_of_any_characters_has_its_place(read: Any) -> None:
    settings = read("[experiment.x]\nshare = 1\n")
    assert [plan_for(settings, Person(id=text)).variant for text in ("Ünïcode", "\ud800", " ")] == [
        "x"
    ] * 3


# Looking at every layer ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[plan]\nstrategies = ['hdye']", "plan"),
        ("[country.GB.plan]\nstrategies = ['hdye']", "country.GB.plan"),
        ("[persona.employee.plan]\nstrategies = ['hdye']", "persona.employee.plan"),
        ("[experiment.x]\nshare = 0\nplan = {strategies = ['hdye']}", "experiment.x.plan"),
    ],
)
def test_a_layer_that_is_refused_is_named(read: Any, text: str, where: str) -> None:
    def check(plan: Plan) -> None:
        if "hdye" in plan.strategies:
            raise UnknownName("No strategy is called `hdye`.", hint="Did you mean `hyde`?")

    with pytest.raises(BadSetting) as wrong:
        check_plans(read(text), check)
    assert str(wrong.value) == f"{where}: No strategy is called `hdye`."
    assert wrong.value.hint == "Did you mean `hyde`?"
    check_plans(read(LAYERS), check)
