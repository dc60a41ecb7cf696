"""What helps retrieval? One sweep a question, on the sample's cases and on our own over real
handbooks.

strategy without a model, mode, weighting, fusion and weights, late interaction, chunker and size,
several vectors, headings, tables; and, with texts that a strong model would have written (recorded
apart, see tests/data/recorded), the model's strategies. Settings are chosen on dev; the same cells
are then reported on test. Writes research/results/retrieval.md. Stopped in the middle, it goes on. Run:
make studies [STUDIES="strategy fusion"]"""

import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

sys.path += [str(Path(__file__).parents[1] / "speed"), str(Path(__file__).parents[2] / "tests")]
from baseline import handbooks, own_cases, run_cells
from corpora import as_read
from record import ROOT, SHARED, commit, say, source

from models.replaying import read_recorded, replay
from ombud.app import LocalTarget, Workspace
from ombud.lab import (
    Cell,
    Mean,
    RecordedRun,
    RunOptions,
    cell_label,
    compare_runs,
    parse_grid,
    parse_metrics,
    read_cases,
    select_split,
)
from ombud.types import Case

METRICS = "page_recall@5,quote_recall@5,quote_recall@1000w,mrr,latency"
COLUMNS = ("page_recall@5", "quote_recall@5", "quote_recall@1000w", "mrr")
RECORDED = ROOT / "tests/data/recorded"
TARGET = ROOT / "research/results/retrieval.md"


class Study(NamedTuple):
    name: str
    question: str
    grids: tuple[tuple[str, ...], ...]
    recorded: bool = False


SHARES = "".join(
    f'{{"sparse": {round(1 - dense, 1)}, "dense": {dense}}}, '
    for dense in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
).rstrip(", ")
STUDIES = (
    Study(
        "mode",
        "Words, vectors or both; BM25 or TF-IDF?",
        (("plan.mode=sparse", "plan.weighting=bm25,tfidf"), ("plan.mode=dense,hybrid",)),
    ),
    Study(
        "fusion",
        "How are the legs joined?",
        (("plan.fusion=rrf,combsum,weighted", f"plan.weights=[{SHARES}]"),),
    ),
    Study("late", "What does late interaction add?", (("plan.late=0,1,2,4",),)),
    Study(
        "chunker",
        "How are documents cut?",
        (
            ("index.chunker=structure", "index.chunk_tokens=128,256,400"),
            ("index.chunker=sentence,semantic,fixed",),
        ),
    ),
    Study(
        "form",
        "What is indexed of a passage?",
        (("index.header=true,false",), ("index.tables=markdown",)),
    ),
    Study(
        "model",
        "What do a model's texts add?",
        (
            (
                "plan.strategies=standard,understand,keywords,hyde,stepback,rewrite,reformulate,multi",
            ),
            ("plan.strategies=hyde", "plan.hyde_for=sparse,dense"),
            ("plan.strategies=understand+standard,hyde+keywords", "plan.strategy_mode=all"),
        ),
        recorded=True,
    ),
)


def main() -> None:
    chosen = [study for study in STUDIES if not sys.argv[1:] or study.name in sys.argv[1:]]
    head = (Path(__file__).parent / "studies_header.md").read_text(encoding="utf-8").rstrip()
    lines = [head.format(machine=f"{platform.machine()}, 2 cores", commit=commit())]
    corpora: list[tuple[str, Workspace, Sequence[Case]]] = []
    if SHARED.is_dir():
        corpora.append(("Real handbooks (US, UK, global)", handbooks(), own_cases()))
    corpora.append(
        ("The sample handbook", Workspace(ROOT / "sample"), read_cases(ROOT / "sample/cases"))
    )
    for study in chosen:
        lines += ["", f"## {study.question}"]
        for title, workspace, cases in corpora:
            if not study.recorded or workspace.home != ROOT / "sample":
                lines += _study(study, title, workspace, cases)
        if len(chosen) == len(STUDIES):
            TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def _study(study: Study, title: str, workspace: Workspace, whole: Sequence[Case]) -> list[str]:
    cells = [cell for axes in study.grids for cell in parse_grid(axes)]
    lines: list[str] = []
    with _model(workspace) if study.recorded else nullcontext(workspace) as asked:
        for split in ("dev", "test"):
            cases = select_split(whole, split)
            if study.recorded:
                known = read_recorded(RECORDED)
                cases = tuple(case for case in cases if case.question in known)
            say(f"{study.name}: {title}, {split}: {len(cases)} cases, {len(cells)} cells")
            target = LocalTarget(asked)
            named = f"{study.name} {title} {split} {source()}"
            options = RunOptions(parse_metrics(METRICS), "", title, split, study=named)
            recorded = run_cells(target, workspace, options, cells, cases)
            labelled = " (recorded)" if study.recorded else ""
            lines += [
                "",
                f"### {title}, {split}, {len(cases)} cases{labelled}",
                "",
                *_table(cells, recorded),
            ]
    return lines


@contextmanager
def _model(workspace: Workspace) -> Iterator[Workspace]:
    """The same workspace with a model behind it that says what was recorded."""
    known = as_read(read_recorded(RECORDED), workspace, own_cases())
    with replay(known) as server:
        models = {"chat": "openai:recorded", "base_url": server.url}
        flags = {"models": models, "plan": {"own_words": False}}  # each strategy alone
        asked = Workspace(workspace.home, flags)
        try:
            yield asked
        finally:
            asked.close()


def _table(cells: Sequence[Cell], recorded: Sequence[RecordedRun]) -> list[str]:
    """Every cell with its intervals, and its difference from the first on the two figures that
    decide."""
    lines = [
        f"| setting | {' | '.join(COLUMNS)} | seconds | against the first, page_recall@5 "
        "| quote_recall@1000w |",
        "|---|" + "---|" * (len(COLUMNS) + 3),
    ]
    for number, (cell, one) in enumerate(zip(cells, recorded, strict=True)):
        found = {line.metric: line.mean for line in one.summary(["overall"])}
        figures = " | ".join(_figure(found[name]) for name in COLUMNS)
        against = _against(recorded[0], one) if number else {}
        differences = " | ".join(
            against.get(name, "") for name in ("page_recall@5", "quote_recall@1000w")
        )
        lines.append(
            f"| {cell_label(cell)} | {figures} | {found['latency'].median:.3f} | {differences} |"
        )
    means = {line.metric: line.mean for line in recorded[0].summary(["overall"])}
    counts = " | ".join(f"{means[name].valid} of {means[name].total}" for name in COLUMNS)
    return [*lines, f"| n | {counts} | | | |"]


def _against(first: RecordedRun, other: RecordedRun) -> dict[str, str]:
    said = {}
    for row in compare_runs(first, other, ["overall"]):
        found = row.comparison
        if found.difference is not None and found.low is not None and found.high is not None:
            said[row.metric] = f"{found.difference:+.3f} ({found.low:+.3f} to {found.high:+.3f})"
    return said


def _figure(mean: Mean) -> str:
    if mean.value is None:
        return "–"
    if mean.low is None or mean.high is None:
        return f"{mean.value:.3f}"
    return f"{mean.value:.3f} ({mean.low:.3f} to {mean.high:.3f})"


if __name__ == "__main__":
    main()
