"""Does a chunker that knows a law's own delimiters find its rules better? New York City's Local Law
144, 61 cases.

Indexed are the act and the final rule, which together are the whole law, each passage once; the
reprint of both in LL1442.pdf is left out, so that a passage has one place. The delimiters are
chosen on dev."""

from collections.abc import Mapping, Sequence
from typing import Any

from corpora import DATA, needs, open_corpus, tell
from figures import Row, differences, figure, header, table
from measuring import average, measure, paired
from record import ROOT

from ombud.app import LocalTarget, Workspace
from ombud.lab import RecordedRun, read_cases, select_split

LAW = DATA / "ll144"
TOML = f"""[[source]]
name = "ll144"
path = "{LAW}"
include = ["LL144.pdf", "LL144_Definitions.pdf"]
"""
METRICS = ("page_recall@5", "quote_recall@1000w", "mrr")
ALSO = "words@5"
DEEP = 30
"""Passages asked for: short ones need more of them to fill 1,000 words."""
SECTION = "§ ?[0-9]"
DEFINED = '[A-Z][^.\\n]{1,90}\\. (?:The term )?[“"]'
SUBDIVISION = "\\([a-d]\\) |[a-d]\\. "
EXAMPLE = "Example(?: [0-9])?[:.]"
PATTERNS = {
    "sections": f"(?m)^(?:{SECTION})",
    "sections, definitions": f"(?m)^(?:{SECTION}|{DEFINED})",
    "sections, subdivisions": f"(?m)^(?:{SECTION}|{SUBDIVISION})",
    "sections, definitions, subdivisions": f"(?m)^(?:{SECTION}|{DEFINED}|{SUBDIVISION})",
    "sections, definitions, subdivisions, examples": (
        f"(?m)^(?:{SECTION}|{DEFINED}|{SUBDIVISION}|{EXAMPLE})"
    ),
}
"""Name -> expression that begins a chunk."""
CHUNKERS = ("structure", "sentence", "semantic")


def report() -> str:
    """The Markdown of research/results/retrieval-ll144.md; empty where the law is not at hand."""
    if not needs(LAW):
        return ""
    workspace = open_corpus("ll144", TOML)
    dev = {name: _asked(workspace, "dev", _pattern(name)) for name in PATTERNS}
    best = max(
        dev, key=lambda name: sum(average(dev[name], metric).value or 0 for metric in METRICS)
    )
    lines = [header("ll144", cases=len(_cases("")), best=best, pattern=PATTERNS[best])]
    lines += ["", "## The delimiters, on dev", "", *_table(dev)]
    for split in ("test", "dev"):
        runs = {name: _asked(workspace, split, {"index.chunker": name}) for name in CHUNKERS}
        runs["pattern"] = _asked(workspace, split, _pattern(best))
        lines += ["", f"## Chunkers, {split}, {len(_cases(split))} cases", "", *_table(runs)]
        lines += ["", *_against("structure", runs)]
    return "\n".join(lines) + "\n"


def _cases(split: str) -> Sequence[Any]:
    cases = read_cases(ROOT / "tests/data/ll144.jsonl")
    return select_split(cases, split) if split else cases


def _pattern(name: str) -> dict[str, Any]:
    return {"index.chunker": "pattern", "index.pattern": PATTERNS[name]}


def _asked(workspace: Workspace, split: str, changed: Mapping[str, Any]) -> RecordedRun:
    target = LocalTarget(workspace, tell).variant(changed)
    name = f"ll144 {split} {' '.join(changed.values())}"
    metrics = ", ".join((*METRICS, ALSO))
    return measure(
        name,
        target,
        workspace.store,
        _cases(split),
        metrics,
        plan={"k": DEEP},
        changed=changed,
        split=split,
    )


def _table(runs: Mapping[str, RecordedRun]) -> list[str]:
    """Each question stands for itself in the intervals: there are only two documents to draw
    from."""
    rows = []
    for name, one in runs.items():
        words = average(one, ALSO).value
        means = [average(one, metric) for metric in METRICS]
        rows.append(
            [name, *map(figure, means), f"{words:.0f}" if words else "–", str(means[0].valid)]
        )
    return table(["chunker", *METRICS, "words in the best 5", "n"], rows)


def _against(usual: str, runs: Mapping[str, RecordedRun]) -> list[str]:
    rows = [
        Row(name, metric, paired(runs[usual], one, metric))
        for name, one in runs.items()
        if name != usual
        for metric in METRICS
    ]
    return differences(f"against {usual}", rows)
