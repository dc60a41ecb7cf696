"""How long does a search take at 1k, 20k and 100k chunks?

Timed is `retrieve.search`, from the question to the fused evidence: embedding the question, both
legs, fusion. The corpora are those of `corpus.py` (real text, mostly derived vectors; see there).
Questions are those of the sample's cases, each asked once a setting, after some others that are not
timed:

    filters     an asker's country, roles and grade, today's rules only, both scopes: what a
    workspace does
    unfiltered  one scope: every country, every reader, any day, any status

Targets: filters at 100k p50 <= 30 ms and p95 <= 50 ms, unfiltered at 100k p50 <= 15 ms, either at
20k p50 <= 10 ms. The first run builds and caches the corpora (minutes). Run: python search.py
[--quick] [--questions N]"""

import argparse
import asyncio
import itertools
import sys
import time
from collections.abc import Sequence
from statistics import median

from corpus import open_corpus
from record import ROOT, keep, percentile, print_table, say, verdict

from ombud.app import Workspace, asking
from ombud.index import Filter
from ombud.lab import read_cases, split_of
from ombud.retrieve import search
from ombud.types import Person, Question

SIZES = (1_000, 20_000, 100_000)
SETTINGS = ("filters", "unfiltered")
WARM_UP = 20
EVERYTHING = Filter(countries=None, reader=None, status=("draft", "published", "withdrawn"))
TARGETS = {
    ("filters", 100_000): (30.0, 50.0),
    ("unfiltered", 100_000): (15.0,),
    ("filters", 20_000): (10.0,),
    ("unfiltered", 20_000): (10.0,),
}
"""Milliseconds: p50, p95."""
ASKERS = (Person(country="GB", grade="G6"), Person(country="US", roles=("manager",)), Person(country="FR"),
          Person(country="DE", roles=("manager",), grade="G7"))  # fmt: skip


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="1k chunks only")
    parser.add_argument(
        "--questions", type=int, default=200, help="how many each setting is timed with"
    )
    options = parser.parse_args(arguments)
    questions = sample_questions(options.questions + WARM_UP)
    rows = []
    for size in SIZES[:1] if options.quick else SIZES:
        for setting in SETTINGS:
            workspace = open_corpus(
                size
            )  # anew: a workspace remembers the vectors of what it was asked
            say(f"{size:,} chunks, {setting}")
            totals, steps = _time(workspace, questions, setting)
            p50, p95 = percentile(totals, 0.5), percentile(totals, 0.95)
            targets = zip((p50, p95), TARGETS.get((setting, size), ()), strict=False)
            said = ", ".join(f"<= {limit:.0f} {verdict(value, limit)}" for value, limit in targets)
            rows.append(
                [
                    f"{size:,}",
                    setting,
                    f"{p50:.1f}",
                    f"{p95:.1f}",
                    *(f"{median(s):.1f}" for s in steps),
                    said,
                ]
            )
            keep("search", {"chunks": size, "setting": setting, "p50_ms": round(p50, 2), "p95_ms": round(p95, 2),
                            "embed_ms": round(median(steps[0]), 2), "legs_ms": round(median(steps[1]), 2),
                            "fuse_ms": round(median(steps[2]), 2)}, len(totals))  # fmt: skip
            workspace.close()
    print_table(
        ["chunks", "setting", "p50 ms", "p95 ms", "embed", "legs", "fuse", "targets p50, p95"], rows
    )


def sample_questions(most: int) -> list[Question]:
    cases = [
        case
        for path in sorted((ROOT / "sample/cases").glob("*.jsonl"))
        for case in read_cases(path)
    ]
    texts = dict.fromkeys(case.question for case in cases if split_of(case.id) != "sealed")
    chosen = list(texts)[:: max(1, len(texts) // most)][:most]
    return [
        Question(text=text, asker=asker)
        for text, asker in zip(chosen, itertools.cycle(ASKERS), strict=False)
    ]


def _time(
    workspace: Workspace, questions: Sequence[Question], setting: str
) -> tuple[list[float], list[list[float]]]:
    """Milliseconds of each search, and of its steps."""
    totals: list[float] = []
    steps: list[list[float]] = [[], [], []]
    for number, question in enumerate(questions):
        plan = asking.plan_of(workspace, question.asker, {}).plan
        resolved = asking.resolve(workspace, question)
        where = asking.filter_of(resolved, plan) if setting == "filters" else EVERYTHING
        started = time.perf_counter()
        found = asyncio.run(search(question, plan, where, workspace.index))
        seconds = time.perf_counter() - started
        if number >= WARM_UP:
            totals.append(1000 * seconds)
            for step, name in zip(steps, ("embed", "search", "fuse"), strict=True):
                step.append(1000 * found.seconds[name])
    return totals, steps


if __name__ == "__main__":
    main(sys.argv[1:])
