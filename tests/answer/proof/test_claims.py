"""Faithful claims pass and wrong ones are stopped, by the hand-written pairs of the dev sets.

The bars are what is reached; the test half is in docs/results/claims.md.
"""

import json
from typing import NamedTuple

import pytest

from answer.claims import DATA, Stated, passages
from ombud.answer import check_claim
from ombud.lab import split_of


class Pair(NamedTuple):
    stated: Stated
    kind: str
    """Of what is wrong with it; empty for a faithful one."""


def dev_pairs() -> list[Pair]:
    pairs: list[Pair] = []
    for name in ("claims.jsonl", "claims-dev.jsonl"):
        for line in (DATA / "proof" / name).read_text(encoding="utf-8").splitlines():
            read = json.loads(line)
            sentence, _, _ = read["id"].rpartition("-")
            if name == "claims.jsonl" and split_of(sentence) != "dev":
                continue
            evidence = ((read["document"], read["quote"]),)
            stated = Stated(read["id"], "dev", read["claim"], evidence, read.get("question", ""))
            pairs.append(Pair(stated, read.get("kind", "")))
    return pairs


PAIRS = dev_pairs()


def objections(pair: Pair) -> list[str]:
    stated = pair.stated
    return check_claim(stated.text, passages(stated), stated.question)


def test_faithful_claims_pass() -> None:
    faithful = [pair for pair in PAIRS if not pair.kind]
    dropped = [pair.stated.text for pair in faithful if objections(pair)]
    assert len(faithful) >= 190
    assert len(dropped) <= 0.03 * len(faithful), dropped


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        ("number", 0.9),
        ("unit or date", 0.9),
        ("comparator", 0.85),
        ("modal", 0.85),
        ("quantifier", 0.85),
        ("exchanged", 0.75),
        ("negation", 0.75),
        ("name or subject", 0.65),
        ("condition", 0.55),
    ],
)
def test_wrong_claims_are_stopped(kind: str, share: float) -> None:
    wrong = [pair for pair in PAIRS if pair.kind == kind]
    passed = [pair.stated.text for pair in wrong if not objections(pair)]
    assert len(wrong) - len(passed) >= share * len(wrong), passed
