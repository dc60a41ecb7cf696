"""Does ombud find and give the right answers on the sample handbook?

Asks every case of the dev and test splits (never the sealed one) in process, scores them with the lab's metrics, and
writes docs/results/handbook.md: means with 95 % bootstrap intervals clustered by document. Run after `make demo` has
indexed the sample: python benchmarks/quality/handbook.py
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from ombud.app import Workspace
from ombud.lab import (
    Instruments,
    Observation,
    cluster_of,
    interval,
    outcome_class,
    parse_metrics,
    read_cases,
    score,
    split_of,
)
from ombud.store import text_of
from ombud.types import Case, Question, Score

ROOT = Path(__file__).parents[2]
METRICS = parse_metrics(
    "quote_recall@5,page_recall@5,quote_recall@8,quote_recall@1000w,mrr,citation_recall,quote_verbatim,outcome_accuracy,length"
)
TABLE = ("| metric | mean | 95 % | n | target |", "|---|---|---|---|---|")
TARGETS = {"quote_recall@5": ".85", "page_recall@5": ".95", "quote_verbatim": "1.000", "outcome answer/deny": ".85"}


def main() -> None:
    cases = [c for path in sorted((ROOT / "sample/cases").glob("*.jsonl")) for c in read_cases(path)]
    cases = [c for c in cases if split_of(c.id) != "sealed"]
    observed = asyncio.run(_ask_all(Workspace(ROOT / "sample"), cases))
    lines = [_HEADER.format(commit=_commit(), n=len(cases)).rstrip()]
    groups = {
        "test, all": [o for o in observed if split_of(o.case.id) == "test"],
        "test, answerable": [o for o in observed if split_of(o.case.id) == "test" and o.case.expect == "answer"],
        "test, everyday wording": [
            o for o in observed if split_of(o.case.id) == "test" and "ordinary" in o.case.tags and o.case.evidence
        ],
        "test, told in other words": [
            o for o in observed if split_of(o.case.id) == "test" and "ordinary" not in o.case.tags and o.case.evidence
        ],
        "dev, all": [o for o in observed if split_of(o.case.id) == "dev"],
    }
    for name, group in groups.items():
        lines += [
            "",
            f"## {name} ({len(group)} cases)",
            "",
            "| metric | mean | 95 % | n | target |",
            "|---|---|---|---|---|",
        ]
        lines += [_line(metric, scores, cases) for metric, scores in _scores(group)]
    target = ROOT / "docs/results/handbook.md"
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(target.read_text(encoding="utf-8"))


async def _ask_all(workspace: Workspace, cases: Sequence[Case]) -> list[Observation]:
    observed = []
    for number, case in enumerate(cases, start=1):
        started = time.perf_counter()
        evidence, _ = workspace.search(case.question, case.person, as_of=case.as_of, history=case.history)
        question = Question(text=case.question, asker=case.person, history=case.history, as_of=case.as_of)
        answer = await workspace.ask(question)
        observed.append(Observation(case, evidence.hits, answer, time.perf_counter() - started))
        print(f"\r{number}/{len(cases)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return observed


def _scores(group: Sequence[Observation]) -> Iterable[tuple[str, list[Score]]]:
    workspace = Workspace(ROOT / "sample")
    instruments = Instruments(text_of=lambda i, digest: text_of(workspace.store, i, digest))
    rows = [s for o in group for s in score(o, METRICS, instruments)]
    for metric in METRICS:
        yield str(metric), [s for s in rows if s.metric == str(metric)]
    decided = [o for o in group if o.case.expect in ("answer", "deny") and o.answer]
    yield (
        "outcome answer/deny",
        [
            Score(case_id=o.case.id, metric="outcome", value=float(outcome_class(o.answer) == o.case.expect))
            for o in decided
            if o.answer
        ],
    )


def _line(metric: str, scores: Sequence[Score], cases: Sequence[Case]) -> str:
    by_id = {case.id: case for case in cases}
    valid = [s for s in scores if s.value is not None]
    if not valid:
        return f"| {metric} | none | | 0 of {len(scores)} | {TARGETS.get(metric, '')} |"
    values = [s.value or 0.0 for s in valid]
    between = interval(values, [cluster_of(by_id[s.case_id]) for s in valid])
    span = f"{between[0]:.3f} to {between[1]:.3f}" if between else ""
    mean = sum(values) / len(values)
    return f"| {metric} | {mean:.3f} | {span} | {len(valid)} of {len(scores)} | {TARGETS.get(metric, '')} |"


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


_HEADER = (ROOT / "benchmarks/quality/handbook_header.md").read_text(encoding="utf-8")

if __name__ == "__main__":
    main()
