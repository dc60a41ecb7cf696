"""Does the verifier catch a claim with one thing changed, and leave faithful ones alone?

Reads tests/data and the sample's cases and handbook. Writes docs/results/verifier.md. Run:
python benchmarks/quality/verifier.py, with --dev to see the figures of the dev halves and what
fails there, and write nothing."""

import sys
import time
from collections.abc import Iterator, Sequence
from math import sqrt
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path += [str(Path(__file__).parents[1] / "speed"), str(Path(__file__).parents[2] / "tests")]
from figures import header, table
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
    own, gold = own_claims(), gold_claims()
    names = names_in([claim.text for claim in (*own, *gold)])
    if "--dev" in arguments:
        for title, claims in (("Own claims", own), ("Gold answers", gold)):
            found = checked([c for c in claims if c.half == "dev"], names)
            print("\n".join([*summary(title, {"dev": found}), *failures(found)]))
        return
    spent = cost([c for c in own if c.half == "test"])  # first, while nothing is remembered
    lines = [header("verifier", own=len(own), gold=len(gold)), ""]
    for title, claims in (("Own claims", own), ("Gold answers", gold)):
        halves = {
            half: checked([c for c in claims if c.half == half], names) for half in ("dev", "test")
        }
        lines += [*summary(title, halves), ""]
        lines += [*strangers(title, [c for c in claims if c.half == "test"]), ""]
    lines += spent
    target = ROOT / "docs/results/verifier.md"
    target.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    print(target.read_text(encoding="utf-8"))


def checked(claims: Sequence[Stated], names: Sequence[str]) -> list[Outcome]:
    return [outcome for claim in claims for outcome in _checked(claim, names)]


def _checked(claim: Stated, names: Sequence[str]) -> Iterator[Outcome]:
    cited = passages(claim)
    for kind, text in (("", claim.text), *mutants(claim.text, names)):
        yield Outcome(claim, kind, text, check_claim(text, cited, claim.question))


def summary(title: str, halves: dict[str, list[Outcome]]) -> list[str]:
    rows = [
        [
            "**originals flagged**",
            *(_share([o for o in found if not o.kind]) for found in halves.values()),
        ]
    ]
    all_named = [[o for o in found if o.kind in NAMED] for found in halves.values()]
    rows.append(["**mutants caught**", *map(_share, all_named)])
    for kind in (*NAMED, "comparator"):
        name = f"{kind} (apart)" if kind not in NAMED else kind
        rows.append(
            [name, *(_share([o for o in found if o.kind == kind]) for found in halves.values())]
        )
    return [f"## {title}", "", *table(["", *halves], rows)]


def _share(outcomes: Sequence[Outcome]) -> str:
    """With Wilson's 95 % interval: Wilson, JASA 22, 1927."""
    part, whole, z = sum(bool(o.said) for o in outcomes), len(outcomes), 1.96
    if not whole:
        return "-"
    share = part / whole
    middle, spread = (
        share + z * z / (2 * whole),
        z * sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole)),
    )
    low, high = ((middle + sign * spread) / (1 + z * z / whole) for sign in (-1, 1))
    return f"{share:.1%} ({part} of {whole}; {max(0, low):.1%} to {min(1, high):.1%})"


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
            yield f"{outcome.kind or 'FLAGGED'} | {outcome.claim.id} | {outcome.text} | {'; '.join(outcome.said)}"


if __name__ == "__main__":
    main(sys.argv[1:])
