"""The nouns: frozen, closed, the same after a trip through JSON."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ombud import types
from ombud.types import (
    Answer,
    Chunk,
    Citation,
    Claim,
    Document,
    Evidence,
    Hit,
    Person,
    Plan,
    Record,
    Trace,
)

NOUNS = sorted(
    (
        n
        for n in vars(types).values()
        if isinstance(n, type) and issubclass(n, Record) and n is not Record
    ),
    key=lambda noun: noun.__name__,
)


def hit(identity: str, score: float) -> Hit:
    return Hit(
        chunk=Chunk(id=identity, document_id="d", title="", uri="u", text="", start=0, end=0),
        score=score,
    )


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.__name__)
def test_a_noun_takes_no_unknown_field_and_never_changes(noun: type[Record]) -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        noun.model_validate({"no_such_field": 1})
    empty = noun.model_construct()
    name = next(iter(noun.model_fields))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(empty, name, None)


def test_nouns_survive_json() -> None:
    document = Document(
        id="0" * 16,
        source="s",
        uri="s/ü.md",
        title="Ferien 🏖",
        blocks=(types.Block(kind="table", text="| a |", page=3, bbox=(0, 1.5, 2, 3)),),
        audience={"roles": ("manager",)},
        effective_from=date(2024, 2, 29),
        updated=datetime(2026, 1, 1, 12, tzinfo=UTC),
    )
    assert Document.model_validate_json(document.model_dump_json()) == document
    cited = Citation(
        chunk_id="c", document_id="d", title="t", uri="u", quote="q", start=1, end=2, digest="x"
    )
    answer = Answer(
        outcome="partial",
        action="handoff",
        text="[1]",
        claims=(Claim(text="a [1]", citations=(0,)),),
        citations=(cited,),
        trace=Trace(
            rankings=(types.Ranking(leg="GB/sparse/standard", rows=(("c", 1, 0.5),)),), price=None
        ),
    )
    assert Answer.model_validate_json(answer.model_dump_json()) == answer


def test_the_hits_are_both_scopes_by_score_then_local_first_then_id() -> None:
    evidence = Evidence(
        local=(hit("c", 1), hit("b", 2)),
        shared=(hit("a", 2), hit("d", 3), hit("0", 1), hit("1", 1)),
    )
    assert [h.chunk.id for h in evidence.hits] == ["d", "b", "a", "c", "0", "1"]


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 2), st.booleans()), max_size=8))
def test_no_hit_is_lost_or_out_of_order(rows: list[tuple[str, int, bool]]) -> None:
    local = tuple(hit(i, s) for i, s, mine in rows if mine)
    shared = tuple(hit(i, s) for i, s, mine in rows if not mine)
    scores = [h.score for h in Evidence(local=local, shared=shared).hits]
    assert scores == sorted((s for _, s, _ in rows), reverse=True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": -1},
        {"k": 101},
        {"pool": 0},
        {"abstain": 1.1},
        {"abstain": float("nan")},
        {"classes": 4},
        {"mode": "x"},
    ],
)
def test_a_plan_has_bounds(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Plan.model_validate(wrong)


def test_the_plan_of_the_contract() -> None:
    plan = Plan()
    assert (plan.k, plan.pool, plan.rewrites, plan.mode, plan.adaptive, plan.graph) == (
        8,
        30,
        3,
        "hybrid",
        False,
        False,
    )


def test_nobody_in_particular_has_no_country_and_no_role() -> None:
    assert Person() == Person(id="", country=None, roles=(), groups=(), grade=None, contract=None)
