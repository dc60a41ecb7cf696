"""Do we find what RAGLite finds? The same questions over the same handbooks, with the same vectors.

RAGLite was the best of ten in a first comparison: multi-vector chunks, BM25 and vectors fused 25 to
75. It runs in an environment of its own (it is no dependency of ours), asked through
raglite_child.py:

    python3 -m venv /tmp/raglite
    /tmp/raglite/bin/pip install raglite duckdb-extension-fts duckdb-extension-vss

Rows: ombud with its defaults; RAGLite's search over our chunks with our vectors; RAGLite with its
own chunks. All see only what the asker may see; none has a reranker or a chat model. Prints dev;
`--split test` measures test as well and writes research/results/retrieval-peers.md. The first run
indexes for some minutes.
Run: make peers, or python benchmarks/quality/peers.py [--raglite /tmp/raglite] [--split dev|test]
[--sizes 2048 1024]"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ombud.app import library
from ombud.index import blocking

sys.path.append(str(Path(__file__).parents[1] / "speed"))
from baseline import TOML, own_cases
from corpora import needs, open_corpus
from figures import Row, differences, figure, header, table
from measuring import average, measure, paired
from raglite_target import SIZE, Own, Raglite
from record import ROOT, SHARED, say

from ombud.app import LocalTarget, Workspace
from ombud.ingest.rows import searchable
from ombud.lab import RecordedRun, cluster_of, read_cases, select_split

METRICS = ("page_recall@5", "quote_recall@1000w", "mrr")
ALSO = "words@5"
DEEP = 20
"""Passages asked of each: enough to fill 1,000 words; RAGLite fuses twice as many of each leg."""
OURS = "ombud"
APART = "apart"
"""Cases written for this comparison alone, by people who have never seen a search; nothing was
chosen on them."""
SENSITIVE = "sensitive"


def main() -> None:
    arguments = argparse.ArgumentParser(description="RAGLite beside ombud")
    arguments.add_argument("--raglite", type=Path, default=Path("/tmp/raglite"))
    arguments.add_argument("--split", choices=("dev", "test"), default="dev")
    arguments.add_argument(
        "--sizes", type=int, nargs="+", default=[SIZE], help="characters of RAGLite's own chunks"
    )
    given = arguments.parse_args()
    python = given.raglite / "bin/python"
    if not needs(SHARED) or not needs(python):
        return
    workspace = open_corpus("peers", TOML.format(shared=SHARED))
    splits = (APART, "test", "dev") if given.split == "test" else ("dev",)
    runs = {split: _runs(workspace, python, split, given.sizes) for split in splits}
    lines = [header("peers", sizes=" and ".join(map(str, given.sizes)), deep=DEEP)]
    for split, found in runs.items():
        lines += [
            "",
            f"## {split}, {len(found[OURS].cases)} cases",
            "",
            *_table(found),
            "",
            *_against(found),
        ]
        if split == APART:
            lines += [
                "",
                "Sensitive stories, told in words that the policy does not use:",
                "",
                *_table(_told(found)),
            ]
    written = "\n".join(lines) + "\n"
    if given.split == "test":
        (ROOT / "research/results/retrieval-peers.md").write_text(written, encoding="utf-8")
    print(written)


def _runs(
    workspace: Workspace, python: Path, split: str, sizes: Sequence[int]
) -> dict[str, RecordedRun]:
    cases = (
        read_cases(ROOT / "tests/data/apart-handbooks.jsonl")
        if split == APART
        else select_split(own_cases(), split)
    )
    metrics = ", ".join((*METRICS, ALSO))
    plan = {"k": DEEP}
    runs = {
        OURS: measure(
            f"peers ombud {split}",
            LocalTarget(workspace),
            workspace.store,
            cases,
            metrics,
            plan=plan,
            split=split,
        )
    }
    for name, peer in _peers(workspace, python, sizes):
        say(f"{name}, {split}")
        try:
            runs[name] = measure(
                f"peers {name} {split}",
                peer,
                workspace.store,
                cases,
                metrics,
                plan=plan,
                split=split,
                concurrency=1,
            )
        finally:
            peer.close()
    return runs


def _peers(workspace: Workspace, python: Path, sizes: Sequence[int]) -> list[tuple[str, Raglite]]:
    embedder = workspace.embedder
    if embedder is None:
        sys.exit("There is no embedding model; `ombud doctor` says how to install it.")
    documents = [one for one in library.documents(workspace, None) if one.status == "published"]
    rows = sorted(
        blocking(workspace.engine.rows([one.id for one in documents])),
        key=lambda row: (row.chunk.uri, row.chunk.start),
    )
    own = [
        Own(row.chunk, searchable(row.chunk, workspace.settings.index), row.vectors) for row in rows
    ]
    files = {one.uri: SHARED / one.uri for one in documents}
    peers = [("RAGLite, our chunks", Raglite(python, embedder, own=own))]
    for size in sizes:
        cut = Raglite(python, embedder, files=files, documents=documents, size=size)
        peers.append((f"RAGLite, its chunks of {size}", cut))
    return peers


def _told(runs: Mapping[str, RecordedRun]) -> dict[str, RecordedRun]:
    """Only the cases with that tag."""
    told = {}
    for name, one in runs.items():
        kept = tuple(seen for seen in one.observations if SENSITIVE in seen.case.tags)
        ids = {seen.case.id for seen in kept}
        told[name] = replace(
            one, observations=kept, scores=tuple(s for s in one.scores if s.case_id in ids)
        )
    return told


def _table(runs: Mapping[str, RecordedRun]) -> list[str]:
    rows = []
    for name, one in runs.items():
        clusters = [cluster_of(case) for case in one.cases]
        means = [average(one, metric, clusters) for metric in METRICS]
        words = average(one, ALSO).value or 0.0
        rows.append(
            [name, *map(figure, means), f"{words:.0f}", f"{means[0].valid} of {means[0].total}"]
        )
    return table(["", *METRICS, "words in the best 5", "n"], rows)


def _against(runs: Mapping[str, RecordedRun]) -> list[str]:
    """ombud minus the other, and what that says."""
    rows: list[Row] = []
    said: list[str] = []
    for name in [name for name in runs if name != OURS]:
        clusters = [cluster_of(case) for case in runs[name].cases]
        mine = [
            Row(name, metric, paired(runs[name], runs[OURS], metric, clusters))
            for metric in METRICS
        ]
        said.append(f"against {name} {_verdict(mine[:2])}")
        rows += mine
    return [
        *differences("ombud against", rows),
        "",
        f"Better, and nowhere below: {'; '.join(said)}.",
    ]


def _verdict(rows: Sequence[Row]) -> str:
    """Page and quote recall: one with its interval above 0, the other not below."""
    found = [row.comparison for row in rows]
    better = any(one.low is not None and one.low > 0 for one in found)
    below = any(one.difference is None or one.difference < 0 for one in found)
    return "met" if better and not below else "MISSED"


if __name__ == "__main__":
    main()
