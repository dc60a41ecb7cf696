"""How much of the embedder's speed is left to a whole sync?

A sync reads, parses, cuts, analyses, embeds and commits; nearly all of its work should be
embedding. For each corpus (the sample handbook of Markdown, HTML, PDF and DOCX; a real Markdown
handbook of 250 pages where it lies beside the repository) this alternates, in one process:

    sync      `sync` of the folder into a fresh workspace, the embedder already open
    embedder  `windows` of exactly the texts that this sync embedded, in one call: the fastest it
    can

and prints chunks/s of both, the median of the pairs' ratios and the most memory that the process
had during the syncs. Target: ratio >= .90. `cpu ratio` is the same of processor seconds, the
parser's process included: it is what the ratio becomes when other programs keep every core busy.

With --pages N it syncs so many new pages instead, each of 120 words of the handbooks.
Run: python ingest.py [--repeat N] [--pages N]
"""

import argparse
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from record import ROOT, SHARED, keep, print_table, say, spread, verdict

from ombud.app import Workspace, create_workspace, library
from ombud.ingest import SyncReport, sync_sources
from ombud.ingest.rows import searchable
from ombud.models import Embedder, open_embedder
from ombud.settings import IndexSettings
from ombud.sources import FolderSource

TARGET = 0.90
CORPORA = {"sample": (ROOT / "sample/handbook", ""), "gsa-tts-us": (SHARED / "gsa-tts-us", "US")}


WORDS, PARAGRAPH = 120, 40
"""Of a page that is made, and of its paragraphs."""


class Pair(NamedTuple):
    chunks: int
    sync: float
    """Seconds."""
    embedder: float
    sync_cpu: float
    embedder_cpu: float
    peak_mb: float
    """Most memory of the process until the sync had ended."""

    @property
    def ratio(self) -> float:
        return self.embedder / self.sync

    @property
    def cpu_ratio(self) -> float:
        return self.embedder_cpu / self.sync_cpu


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, help="syncs of each corpus")
    parser.add_argument("--corpus", choices=sorted(CORPORA), action="append", help="only this one")
    parser.add_argument("--pages", type=int, default=0, help="new pages, made of the handbooks")
    options = parser.parse_args(arguments)
    corpora = dict(CORPORA)
    with tempfile.TemporaryDirectory(prefix="ombud-bench-") as made:
        if options.pages:
            _make_pages(Path(made), options.pages)
            corpora = {f"{options.pages} pages": (Path(made), "")}
        _report(corpora, options.corpus or list(corpora), options.repeat)


def _report(corpora: dict[str, tuple[Path, str]], names: Sequence[str], repeat: int) -> None:
    rows = []
    for name in names:
        folder, country = corpora[name]
        if not folder.is_dir():
            say(f"{name}: {folder} is not there, left out")
            continue
        pairs = [_measure(name, folder, country, number) for number in range(repeat)]
        ratio = median(p.ratio for p in pairs)
        synced, alone = [p.chunks / p.sync for p in pairs], [p.chunks / p.embedder for p in pairs]
        said = f">= {TARGET:.2f} {verdict(ratio, TARGET, most=False)}"
        shares = [spread([p.ratio for p in pairs], 3), spread([p.cpu_ratio for p in pairs], 3)]
        peak = max(p.peak_mb for p in pairs)
        rows.append(
            [name, pairs[0].chunks, spread(synced), spread(alone), *shares, f"{peak:.0f}", said]
        )
        keep("ingest", {"corpus": name, "chunks": pairs[0].chunks, "ratio": round(ratio, 3), "target": TARGET,
                        "peak_mb": round(peak), "cpu_ratio": round(median(p.cpu_ratio for p in pairs), 3),
                        "sync_per_s": [round(v, 1) for v in synced],
                        "embedder_per_s": [round(v, 1) for v in alone]}, len(pairs))  # fmt: skip
    print_table(
        [
            "corpus",
            "chunks",
            "sync chunks/s",
            "embedder chunks/s",
            "ratio",
            "cpu ratio",
            "peak MB",
            "target",
        ],
        rows,
    )


def _measure(name: str, folder: Path, country: str, number: int) -> Pair:
    home = Path(tempfile.mkdtemp(prefix="ombud-bench-"))
    try:
        create_workspace(home)
        workspace = Workspace(home)
        embedder = workspace.embedder
        if embedder is None:
            raise SystemExit("There is no embedding model; `ombud doctor` says how to install it.")
        parts = workspace.ingest
        embedder.embed(["warm"])
        source = FolderSource(name, folder, facts={"country": country} if country else {})
        reports: list[SyncReport] = []
        synced, synced_cpu = _timed(lambda: reports.extend(sync_sources(parts, [source])))
        for failure in (f for report in reports for f in report.failed if not number):
            say(f"left out: {failure.uri}: {failure.reason}")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        texts = [searchable(chunk, IndexSettings()) for chunk in library.passages(workspace)]
        # Another one: the workspace's remembers what the sync has read.
        fresh = open_embedder(workspace.settings.models, workspace.data / "models")
        assert fresh
        fresh.embed(["warm"])
        alone, alone_cpu = _timed(lambda: _read(fresh, texts))
        workspace.close()
    finally:
        shutil.rmtree(home, ignore_errors=True)
    pair = Pair(len(texts), synced, alone, synced_cpu, alone_cpu, peak)
    say(
        f"{name} {number + 1}: {pair.chunks} chunks, {synced:.1f} s, embedder alone {alone:.1f} s: {pair.ratio:.3f}"
    )
    return pair


def _read(embedder: Embedder, texts: Sequence[str]) -> None:
    """In pieces that keep all cores busy; nothing is kept of them."""
    for start in range(0, len(texts), 5000):
        embedder.read(texts[start : start + 5000])


def _make_pages(folder: Path, count: int) -> None:
    """Windows over the texts of the handbooks, no two alike."""
    words = [
        word
        for handbook in (ROOT / "sample/handbook", SHARED)
        for file in sorted(handbook.rglob("*.md"))
        for word in file.read_text(encoding="utf-8", errors="replace").split()
        if word.isascii()
    ]
    stride = min(WORDS, max(1, (len(words) - WORDS) // count))
    for number in range(count):
        page = words[number * stride : number * stride + WORDS]
        parts = [" ".join(page[at : at + PARAGRAPH]) for at in range(0, len(page), PARAGRAPH)]
        text = "\n\n".join([f"# Page {number}: {' '.join(page[:4])}", *parts])
        (folder / f"{number // 500:02}").mkdir(exist_ok=True)
        (folder / f"{number // 500:02}" / f"{number:05}.md").write_text(text, encoding="utf-8")


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and seconds of the processor with those of processes that have ended."""
    cpu, started = sum(os.times()[:4]), time.perf_counter()
    work()
    return time.perf_counter() - started, sum(os.times()[:4]) - cpu


if __name__ == "__main__":
    main(sys.argv[1:])
