"""Does the verifier catch a claim with one thing changed, and leave faithful ones alone?

Reads tests/data and the sample's cases and handbook. Writes research/results/verifier.md. Run:
python benchmarks/quality/verifier.py, with --dev to see the figures of the dev halves and what
fails there, and write nothing."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path += [str(Path(__file__).parents[2] / part) for part in (".", "benchmarks/speed", "tests")]
from figures import header, table, wilson_rate
from record import ROOT

from answer.claims import Stated, gold_claims, own_claims, passages
from answer.mutants import mutants, names_in
from ombud.answer import check_claim

NAMED = ("number", "date", "unit", "negation", "modal verb", "name")
"""The changes that the issue names."""


class Outcome(NamedTuple):
    claim: Stated
    kind: str
    """Of the mutant; empty for the claim itself."""
    text: str
    said: list[str]


def main(arguments: Sequence[str]) -> None:
    own = own_claims()
    gold = gold_claims()
    names = names_in([claim.text for claim in (*own, *gold)])
    titled = (("Own claims", own), ("Gold answers", gold))
    if "--dev" in arguments:
        for title, claims in titled:
            outcomes = checked(_half(claims, "dev"), names)
            print("\n".join([*summary(title, {"dev": outcomes}), *failures(outcomes)]))
        return
    spent = cost(_half(own, "test"))  # first, while nothing is remembered
    lines = [header("verifier", own=len(own), gold=len(gold)), ""]
    for title, claims in titled:
        halves = {half: checked(_half(claims, half), names) for half in ("dev", "test")}
        lines += [*summary(title, halves), ""]
        lines += [*strangers(title, _half(claims, "test")), ""]
    lines += spent
    target = ROOT / "research/results/verifier.md"
    target.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    print(target.read_text(encoding="utf-8"))


def _half(claims: Sequence[Stated], half: str) -> list[Stated]:
    return [claim for claim in claims if claim.half == half]


def checked(claims: Sequence[Stated], names: Sequence[str]) -> list[Outcome]:
    return [outcome for claim in claims for outcome in _checked(claim, names)]


def _checked(claim: Stated, names: Sequence[str]) -> Iterator[Outcome]:
    cited = passages(claim)
    for kind, text in (("", claim.text), *mutants(claim.text, names)):
        yield Outcome(claim, kind, text, check_claim(text, cited, claim.question))


def summary(title: str, halves: dict[str, list[Outcome]]) -> list[str]:
    measured: dict[str, Callable[[Outcome], bool]] = {
        "**originals flagged**": lambda outcome: not outcome.kind,
        "**mutants caught**": lambda outcome: outcome.kind in NAMED,
    }
    for kind in (*NAMED, "comparator"):
        name = kind if kind in NAMED else f"{kind} (apart)"
        measured[name] = partial(_is_of, kind)
    rows = []
    for name, counts in measured.items():
        shares = [_share(list(filter(counts, outcomes))) for outcomes in halves.values()]
        rows.append([name, *shares])
    return [f"## {title}", "", *table(["", *halves], rows)]


def _is_of(kind: str, outcome: Outcome) -> bool:
    return outcome.kind == kind


def _share(outcomes: Sequence[Outcome]) -> str:
    """With Wilson's 95 % interval: Wilson, JASA 22, 1927."""
    whole = len(outcomes)
    if not whole:
        return "-"
    rate = wilson_rate([bool(outcome.said) for outcome in outcomes])
    part = round(rate.value * whole)
    return f"{rate.value:.1%} ({part} of {whole}; {rate.low:.1%} to {rate.high:.1%})"


def strangers(title: str, claims: Sequence[Stated]) -> list[str]:
    """Claims beside the passage of another one: what has no support at all."""
    cited = [passages(claim) for claim in claims]
    away = len(claims) // 2
    found = [
        Outcome(
            claim, "stranger", claim.text, check_claim(claim.text, cited[(at + away) % len(claims)])
        )
        for at, claim in enumerate(claims)
    ]
    return [f"{title}, test half, beside the passage of another claim: {_share(found)} refused."]


def cost(claims: Sequence[Stated]) -> list[str]:
    cited = [passages(claim) for claim in claims]
    first: list[float] = []
    again: list[float] = []
    for times in (first, again):
        for claim, chunks in zip(claims, cited, strict=True):
            started = time.process_time()
            check_claim(claim.text, chunks)
            times.append(1000 * (time.process_time() - started))
    later = f"{median(again):.1f} ms for a claim and passages that were seen before"
    return [f"Cost, processor time, median: {median(first):.1f} ms for a claim, {later}."]


def failures(found: Sequence[Outcome]) -> Iterator[str]:
    for outcome in found:
        if bool(outcome.said) != bool(outcome.kind):
            why = "; ".join(outcome.said)
            kind = outcome.kind or "FLAGGED"
            yield f"{kind} | {outcome.claim.id} | {outcome.text} | {why}"


if __name__ == "__main__":
    main(sys.argv[1:])
