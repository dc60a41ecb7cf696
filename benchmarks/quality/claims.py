"""Does the proof let faithful claims pass and stop wrong ones, kind by kind?

Reads tests/data/proof, paraphrases and wrong claims over the sample handbook written by hand.
Writes research/results/claims.md. Run: python benchmarks/quality/claims.py, with --dev to see the
figures of the dev sets and what fails there, and write nothing."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path += [str(Path(__file__).parents[2] / part) for part in (".", "benchmarks/speed", "tests")]
from figures import header, table, wilson_rate
from record import ROOT

from answer.claims import Stated, passages
from ombud.answer import check_claim
from ombud.lab import split_of

PAIRS = ROOT / "tests/data/proof/claims.jsonl"
LATER = ROOT / "tests/data/proof/claims-dev.jsonl"
"""Written when the first dev half had been tuned on, to see what that had not taught; dev as well."""
LAST = ROOT / "tests/data/proof/claims-last.jsonl"
"""Faithful ones only, written last; half of what failed in them was mended."""


class Judged(NamedTuple):
    """A claim with what a reader says of it, and what the proof does."""

    claim: Stated
    kind: str
    """Of what is wrong with it; empty for a faithful one."""
    objections: list[str]
    milliseconds: float
    """Processor time, passages read before."""

    @property
    def as_it_should(self) -> bool:
        return bool(self.objections) == bool(self.kind)


def main(arguments: Sequence[str]) -> None:
    judged = list(map(_judge, _read(PAIRS)))
    later = list(map(_judge, _read(LATER)))
    last = list(map(_judge, _read(LAST)))
    dev = [one for one in judged if one.claim.half == "dev"]
    if "--dev" in arguments:
        shown = figures({"dev": dev, "dev, later": later})
        print("\n".join([*shown, "", *failures([*dev, *later])]))
        return
    test = [one for one in judged if one.claim.half == "test"]
    spent = median(one.milliseconds for one in judged)
    lines = [
        header("claims", claims=len(judged), later=len(later), last=len(last)),
        "",
        *figures({"dev": dev, "dev, later": later, "last": last, "test": test}),
        "",
        f"Cost, processor time of a claim beside passages that were read before, median: "
        f"{spent:.1f} ms.",
    ]
    target = ROOT / "research/results/claims.md"
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(target.read_text(encoding="utf-8"))


def _read(path: Path) -> Iterator[tuple[Stated, str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        sentence, _, _ = pair["id"].rpartition("-")
        stated = Stated(
            id=pair["id"],
            # All claims over one sentence are of one half.
            half="dev" if split_of(sentence) == "dev" else "test",
            text=pair["claim"],
            evidence=((pair["document"], pair["quote"]),),
            question=pair.get("question", ""),
        )
        yield stated, pair.get("kind", "")


def _judge(pair: tuple[Stated, str]) -> Judged:
    claim, kind = pair
    cited = passages(claim)
    check_claim("Anything.", cited)  # so that the passages are read
    started = time.process_time()
    objections = check_claim(claim.text, cited, claim.question)
    spent = 1000 * (time.process_time() - started)
    return Judged(claim, kind, objections, spent)


def figures(halves: dict[str, list[Judged]]) -> list[str]:
    kinds = sorted({one.kind for half in halves.values() for one in half if one.kind})
    rows = [
        ["**faithful, dropped**", *(_share(_of(half, "")) for half in halves.values())],
        ["**wrong, stopped**", *(_share(_wrong(half)) for half in halves.values())],
    ]
    for kind in kinds:
        rows.append([kind, *(_share(_of(half, kind)) for half in halves.values())])
    return table(["", *halves], rows)


def _of(judged: Sequence[Judged], kind: str) -> list[Judged]:
    return [one for one in judged if one.kind == kind]


def _wrong(judged: Sequence[Judged]) -> list[Judged]:
    return [one for one in judged if one.kind]


def _share(judged: Sequence[Judged]) -> str:
    """Of those objected to, with Wilson's 95 % interval: Wilson, JASA 22, 1927."""
    if not judged:
        return "-"
    rate = wilson_rate([bool(one.objections) for one in judged])
    part = sum(bool(one.objections) for one in judged)
    return f"{rate.value:.1%} ({part} of {len(judged)}; {rate.low:.1%} to {rate.high:.1%})"


def failures(judged: Sequence[Judged]) -> Iterator[str]:
    for one in judged:
        if not one.as_it_should:
            why = "; ".join(one.objections)
            yield f"{one.kind or 'FAITHFUL'} | {one.claim.id} | {one.claim.text} | {why}"


if __name__ == "__main__":
    main(sys.argv[1:])
