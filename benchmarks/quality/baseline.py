"""Where do we stand? Sparse, dense and hybrid search, 3 to 10 passages, on the sample and on real
handbooks.

Sweeps plan.mode and plan.k with the lab over the sample's cases and over the cases in tests/data,
whose pages are the public handbooks that lie in ../shared beside the repository (their part is left
out where they are not there), and writes research/results/baseline.md. Dev and test stand apart; the
sealed split is not touched. Stopped in the middle, it goes on. Run: make baseline"""

import asyncio
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "speed"))
from record import ROOT, SHARED, commit, say, source

from ombud.app import LocalTarget, Workspace, configured_sources
from ombud.ingest import sync_sources
from ombud.lab import (
    LOSSES,
    USUAL,
    Cell,
    Instruments,
    Mean,
    RecordedRun,
    RunOptions,
    Tuning,
    carry_out_design,
    cell_label,
    compare_runs,
    parse_grid,
    parse_metrics,
    read_cases,
    select_split,
    sweep_design,
)
from ombud.store import list_documents
from ombud.types import Case

GRID = ("plan.mode=sparse,dense,hybrid", "plan.k=3,5,8,10")
COLUMNS = ("quote_recall@1000w", "page_recall@5", "mrr", "citation_recall", "outcome_accuracy")
KIND_COLUMNS = ("quote_recall@5", "page_recall@5", "citation_recall", "outcome_accuracy")
TAGS = {"ordinary", "typo", "jargon", "story", "table", "colloquial", "abbreviation"}
HOME = ROOT / ".bench" / "handbooks"
"""A workspace over the shared handbooks; made once, kept for the next time."""
TOML = """[general]
name = "the handbooks"

[[source]]
name = "gsa-tts-us"
path = "{shared}/gsa-tts-us"
country = "US"

[[source]]
name = "clef-us"
path = "{shared}/clef-us"
country = "US"

[[source]]
name = "turing-reg-uk"
path = "{shared}/turing-reg-uk"
country = "GB"

[[source]]
name = "sourcegraph-global"
path = "{shared}/sourcegraph-global"
"""


def main() -> None:
    head = _HEADER.format(machine=f"{platform.machine()}, 2 cores", commit=commit())
    lines = [head]
    sample = Workspace(ROOT / "sample")
    lines += _corpus("The sample handbook", sample, read_cases(ROOT / "sample/cases"))
    if SHARED.is_dir():
        lines += _corpus("Real handbooks (US, UK, global)", handbooks(), own_cases())
    else:
        say(f"no handbooks in {SHARED}: their part is left out")
    target = ROOT / "research/results/baseline.md"
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(target.read_text(encoding="utf-8"))


def own_cases() -> list[Case]:
    return [
        case
        for path in sorted((ROOT / "tests/data").glob("handbooks-*.jsonl"))
        for case in read_cases(path)
    ]


def handbooks() -> Workspace:
    HOME.mkdir(parents=True, exist_ok=True)
    (HOME / "ombud.toml").write_text(TOML.format(shared=SHARED), encoding="utf-8")
    workspace = Workspace(HOME)
    sources = configured_sources(workspace.settings, workspace.home, workspace.store)
    for report in sync_sources(workspace.ingest, sources, on_progress=tell):
        counts = f"{report.added} added, {report.unchanged} unchanged"
        say(f"{report.name}: {counts}, {len(report.failed)} failed")
    return workspace


def _corpus(title: str, workspace: Workspace, whole: Sequence[Case]) -> list[str]:
    count = len(list_documents(workspace.store))
    lines = ["", f"## {title}: {count} documents"]
    cells = parse_grid(GRID)
    for split in ("test", "dev"):
        cases = select_split(whole, split)
        say(f"{title}, {split}: {len(cases)} cases")
        target = LocalTarget(workspace)
        # Rows that other code answered are not gone on with.
        study = f"baseline {title} {split} {source()}"
        # One at a time: with several, the seconds would be those of a queue.
        options = RunOptions(parse_metrics(USUAL), "", title, split, study=study, concurrency=1)
        recorded = run_cells(target, workspace, options, cells, cases)
        lines += [
            "",
            f"### {split}, {len(cases)} cases",
            "",
            *_table(cells, recorded),
            "",
            *_differences(recorded),
        ]
        usual = next(one for one in recorded if one.run.name == "mode=hybrid k=8")
        lines += ["", f"Hybrid, k = 8, {split}, by type and by tag:", "", *_kinds(usual)]
    return lines


def _table(cells: Sequence[Cell], recorded: Sequence[RecordedRun]) -> list[str]:
    lines = [
        f"| setting | {' | '.join(COLUMNS)} | seconds |",
        "|---|" + "---|" * (len(COLUMNS) + 1),
    ]
    for cell, one in zip(cells, recorded, strict=True):
        found = {line.metric: line.mean for line in one.summary(["overall"])}
        figures = [_figure(found[name]) for name in COLUMNS]
        lines.append(
            f"| {cell_label(cell)} | {' | '.join(figures)} | {found['latency'].median:.3f} |"
        )
    means = [line.mean for line in recorded[-1].summary(["overall"]) if line.metric in COLUMNS]
    return [*lines, f"| n | {' | '.join(f'{mean.valid} of {mean.total}' for mean in means)} | |"]


def _differences(recorded: Sequence[RecordedRun]) -> list[str]:
    """Hybrid against each leg alone, at the default of eight passages."""
    at = {one.run.name: one for one in recorded}
    lines = [
        "| hybrid, k = 8, against | metric | difference | 95 % | p (Holm) | detectable |",
        "|---|---|---|---|---|---|",
    ]
    for mode in ("sparse", "dense"):
        for row in compare_runs(at[f"mode={mode} k=8"], at["mode=hybrid k=8"], ["overall"]):
            found = row.comparison
            if row.metric not in COLUMNS or found.difference is None:
                continue
            if found.low is None or found.high is None:
                continue
            between = f"{found.low:+.3f} to {found.high:+.3f}"
            least = f"{found.detectable:.3f}" if found.detectable else ""
            lines.append(
                f"| {mode} | {row.metric} | {found.difference:+.3f} | {between} "
                f"| {row.adjusted:.3f} | {least} |"
            )
    return lines


def _kinds(one: RecordedRun) -> list[str]:
    """What is hard: types of questions, ordinary wording, typos, stories."""
    lines = [
        f"| cases | n | {' | '.join(KIND_COLUMNS)} |",
        "|---|---|" + "---|" * len(KIND_COLUMNS),
    ]
    rows = [row for row in one.summary(["type", "tag"]) if row.group == "type" or row.name in TAGS]
    for name in dict.fromkeys((row.group, row.name) for row in rows):
        found = {row.metric: row.mean for row in rows if (row.group, row.name) == name}
        figures = " | ".join(_figure(found[metric]) for metric in KIND_COLUMNS)
        lines.append(f"| {' '.join(name)} | {found['outcome_accuracy'].total} | {figures} |")
    lost = [seen.lost for seen in one.observations]
    return [*lines, "", "Lost: " + ", ".join(f"{what} {lost.count(what)}" for what in LOSSES) + "."]


def _figure(mean: Mean) -> str:
    if mean.value is None:
        return "–"
    if mean.low is None or mean.high is None:
        return f"{mean.value:.3f}"
    return f"{mean.value:.3f} ({mean.low:.3f} to {mean.high:.3f})"


def run_cells(
    target: LocalTarget,
    workspace: Workspace,
    options: RunOptions,
    cells: Sequence[Cell],
    cases: Sequence[Case],
) -> list[RecordedRun]:
    """Run every cell over the cases and return the runs in the order of the cells; one that was
    stopped goes on."""
    tuning = Tuning(
        target,
        workspace.store,
        options,
        objectives=(),
        axes={},
        instruments=lambda variant: Instruments(text_of=variant.text_of),
        on_progress=tell,
    )
    design = sweep_design(options.study, list(map(str, options.metrics)), cells)
    rows = asyncio.run(carry_out_design(tuning, design, cases)).rows
    return [rows[cell_label(cell)] for cell in cells]


def tell(step: str, done: int, total: int) -> None:
    if step != "score" and done % 50 == 0:
        say(f"{step} {done}/{total}")


_HEADER = (Path(__file__).parent / "baseline_header.md").read_text(encoding="utf-8").rstrip()

if __name__ == "__main__":
    main()
