"""How well are documents read? Tables, headings, speed; against two programs that people would use
instead.

* Tables: the 40 US documents of the ICDAR 2013 competition that lie in ../shared. A neighbour
  relation is a pair of
  cells, one right of or below the other with only empty cells between; F1 over relations, their
  texts compared without spaces, case and most punctuation. Micro: over all relations; macro: the
  mean over documents.
* Headings: the share of the headings in docling's ground truth that are found, for digital PDFs and
  Word documents.
* Speed: pages a second of two parser processes, over the same 40 documents.

Writes docs/results/parsing.md. The peers are measured where they can be imported; they are no
dependency of ours:
    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install 'markitdown[pdf,docx]'
Run: python benchmarks/quality/parsing.py [/tmp/peers]
"""

import io
import os
import re
import sys
import threading
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pypdfium2 as pdfium  # type: ignore[import-untyped]

sys.path.append(str(Path(__file__).parents[1] / "speed"))
from record import ROOT, SHARED, commit, say

from ombud.documents import Worker, parse
from ombud.errors import SourceError
from ombud.settings import DocumentSettings
from ombud.types import Document

DOCUMENTS = SHARED.parent / "documents"
TABLES = DOCUMENTS / "icdar2013-us"
HEADINGS = DOCUMENTS / "docling"
TARGETS = {"micro": 0.80, "macro": 0.75, "headings": 0.98, "speed": 30.0}
RESAMPLES = 2000
Grid = list[list[str]]
Relations = Counter[tuple[str, str, str]]


class Parsed(NamedTuple):
    tables: list[Grid]
    headings: list[str]


class Score(NamedTuple):
    """Relations of one document."""

    right: int
    wanted: int
    found: int

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.wanted + self.found) if self.wanted + self.found else 1.0


Reader = Callable[[Path], Parsed]


def main() -> None:
    if not TABLES.is_dir():
        sys.exit(f"No documents in {TABLES}.")
    if len(sys.argv) > 1:
        # Behind our own packages, so that those stay as they are pinned.
        sys.path += [str(path) for path in Path(sys.argv[1]).glob("lib/python3*/site-packages")]
    truth = {path: list(_truth(path)) for path in sorted(TABLES.glob("*-str.xml"))}
    lone = [path.name for path in truth if not _source(path).exists()]
    wanted = {_source(path): grids for path, grids in truth.items() if _source(path).exists()}
    lines = [
        _HEADER.format(commit=commit(), n=len(wanted)),
        "",
        *_tables(wanted),
        "",
        "## Headings",
        "",
    ]
    lines += [*_headings(), "", "## Speed", "", *_speed(list(wanted))]
    lines += ["", "Skipped, for their PDF is not here: " + (", ".join(lone) or "none") + "."]
    target = ROOT / "docs/results/parsing.md"
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(target.read_text(encoding="utf-8"))


def _readers() -> dict[str, Reader | None]:
    """What is compared; None for a program that is not installed."""
    known: dict[str, Reader] = {
        "ombud": _by_ombud,
        "pdfplumber": _by_pdfplumber,
        "markitdown": _by_markitdown,
    }
    return {name: reader if find_spec(name) else None for name, reader in known.items()}


def _by_ombud(path: Path) -> Parsed:
    document = parse(
        path.read_bytes(), Document(id="x", source="s", uri=path.name, title="", language="en")
    )
    tables = [_cells(block.text.split("\n")) for block in document.blocks if block.kind == "table"]
    return Parsed(tables, [block.text for block in document.blocks if block.kind == "heading"])


def _by_pdfplumber(path: Path) -> Parsed:
    """Its tables with default settings; it knows no headings."""
    import pdfplumber

    with pdfplumber.open(io.BytesIO(path.read_bytes())) as document:
        tables = [table for page in document.pages for table in page.extract_tables()]
    return Parsed([[[cell or "" for cell in row] for row in table] for table in tables], [])


def _by_markitdown(path: Path) -> Parsed:
    from markitdown import MarkItDown  # type: ignore[import-not-found, unused-ignore]

    text: str = MarkItDown(enable_plugins=False).convert(str(path)).text_content
    return Parsed(list(_markdown_tables(text)), re.findall(r"^#+\s+(.+)$", text, re.MULTILINE))


def _markdown_tables(text: str) -> Iterator[Grid]:
    run: list[str] = []
    for line in (*text.split("\n"), ""):
        if line.lstrip().startswith("|"):
            run.append(line)
        elif run:
            yield _cells(run)
            run = []


def _cells(lines: Iterable[str]) -> Grid:
    rows = (
        re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|")) for line in lines
    )
    return [row for row in rows if not all(re.fullmatch(r"\s*:?-+:?\s*", cell) for cell in row)]


def _tables(wanted: dict[Path, list[Grid]]) -> list[str]:
    lines = [
        "| reader | micro F1 | macro F1 | micro precision | micro recall | failed |",
        "|---|---|---|---|---|---|",
    ]
    for name, reader in _readers().items():
        say(f"tables: {name}")
        if reader is None:
            lines.append(f"| {name} | not installed | | | | |")
            continue
        scores, failed = [], 0
        for path, grids in wanted.items():
            parsed = _tried(reader, path)
            failed += parsed is None
            scores.append(_score(grids, parsed.tables if parsed else []))
        right, asked, found = (sum(column) for column in zip(*scores, strict=True))
        lines.append(
            f"| {name} | {_between(scores, _micro)} | {_between(scores, _macro)} "
            f"| {right / max(1, found):.3f} | {right / asked:.3f} | {failed} |"
        )
        if name == "ombud":
            worst = sorted(zip((s.f1 for s in scores), (p.stem for p in wanted), strict=True))[:6]
            verdict = (
                _verdict(_micro(scores), TARGETS["micro"]),
                _verdict(_macro(scores), TARGETS["macro"]),
            )
            said = ", ".join(f"{stem} {f1:.2f}" for f1, stem in worst)
    wants = f"Targets: micro {TARGETS['micro']:.2f} ({verdict[0]}), macro {TARGETS['macro']:.2f} ({verdict[1]})."
    return [*lines, "", f"{wants} Ours at its worst: {said}."]


def _tried(reader: Reader, path: Path) -> Parsed | None:
    try:
        return reader(path)
    except SourceError as wrong:
        say(f"{path.name}: {wrong}")
    except Exception as wrong:
        # Peers raise what they like; it counts as nothing found.
        say(f"{path.name}: {type(wrong).__name__}")
    return None


def _micro(scores: Sequence[Score]) -> float:
    asked = sum(score.wanted + score.found for score in scores)
    return 2 * sum(score.right for score in scores) / max(1, asked)


def _macro(scores: Sequence[Score]) -> float:
    return float(np.mean([score.f1 for score in scores]))


def _between(scores: Sequence[Score], mean: Callable[[Sequence[Score]], float]) -> str:
    """A mean and its 95 % interval over resampled documents."""
    draw = np.random.default_rng(7)
    made = [
        mean([scores[i] for i in draw.integers(0, len(scores), len(scores))])
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(made, (0.025, 0.975))
    return f"{mean(scores):.3f} ({low:.3f} to {high:.3f})"


def _verdict(value: float, target: float) -> str:
    return "met" if value >= target else "MISSED"


def _source(truth: Path) -> Path:
    return truth.with_name(truth.name.removesuffix("-str.xml") + ".pdf")


def _truth(path: Path) -> Iterator[Grid]:
    """The tables of a document; a cell that spans several places stands in its first."""
    for region in ElementTree.parse(path).getroot().iter("region"):
        cells = {
            (int(cell.get("start-row", 0)), int(cell.get("start-col", 0))): cell.findtext("content")
            or ""
            for cell in region.iter("cell")
        }
        if cells:
            height, width = max(row for row, _ in cells) + 1, max(column for _, column in cells) + 1
            yield [
                [cells.get((row, column), "") for column in range(width)] for row in range(height)
            ]


def _score(wanted: Iterable[Grid], found: Iterable[Grid]) -> Score:
    asked = sum((_relations(grid) for grid in wanted), Relations())
    made = sum((_relations(grid) for grid in found), Relations())
    return Score((asked & made).total(), asked.total(), made.total())


def _relations(grid: Grid) -> Relations:
    rows = [[_plain(cell) for cell in row] for row in grid]
    width = max((len(row) for row in rows), default=0)
    columns = [[row[at] if at < len(row) else "" for row in rows] for at in range(width)]
    made: Relations = Counter()
    for direction, cells_in_line in (("right", rows), ("below", columns)):
        for line in cells_in_line:
            filled = [cell for cell in line if cell]
            made.update((one, other, direction) for one, other in pairwise(filled))
    return made


def _plain(text: str) -> str:
    """Letters, digits, and the marks that change a number."""
    return re.sub(
        r"[^\w%§€$£.,+-]", "", unicodedata.normalize("NFKC", text.replace("<br>", " ")).casefold()
    )


def _headings() -> list[str]:
    """Only documents whose truth is here; the truth for pictures of text is none."""
    kinds = {".pdf": "digital PDF", ".docx": "Word"}
    pairs = [
        (path, _headings_of(path)) for path in sorted(HEADINGS.iterdir()) if path.suffix in kinds
    ]
    pairs = [(path, names) for path, names in pairs if names]
    lines = [f"| reader | {' | '.join(kinds.values())} | missed |", "|---|---|---|---|"]
    verdicts: list[str] = []
    for name, reader in _readers().items():
        say(f"headings: {name}")
        cells: list[str] = []
        missed: list[str] = []
        for suffix in kinds:
            right = total = 0
            for path, names in pairs:
                if path.suffix != suffix or reader is None:
                    continue
                parsed = _tried(reader, path)
                left = Counter(map(_bare, names)) - Counter(
                    map(_bare, parsed.headings if parsed else [])
                )
                right, total = right + len(names) - left.total(), total + len(names)
                missed += [f"{path.name}: {heading}" for heading in left][:6]
            cells.append(f"{right / total:.3f} ({right} of {total})" if total else "not installed")
            if name == "ombud" and total:
                verdicts.append(f"{kinds[suffix]} {_verdict(right / total, TARGETS['headings'])}")
        shown = "; ".join(missed) if name == "ombud" else ""
        if name == "pdfplumber" and reader:
            cells = ["knows none", "reads none"]
        lines.append(f"| {name} | {' | '.join(cells)} | {shown} |")
    return [*lines, "", f"Target: {TARGETS['headings']:.2f} each: {', '.join(verdicts)}."]


def _headings_of(path: Path) -> list[str]:
    folder = HEADINGS / "groundtruth"
    truth = next(
        (p for p in (folder / f"{path.name}.md", folder / f"{path.stem}.md") if p.exists()), None
    )
    return (
        re.findall(r"^#+\s+(.+)$", truth.read_text(encoding="utf-8"), re.MULTILINE) if truth else []
    )


def _bare(heading: str) -> str:
    """Letters and digits only: "1.2. Scope" is "1.2 Scope"."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", heading).casefold())


def _speed(paths: list[Path]) -> list[str]:
    say("speed")
    pages = sum(_pages(path) for path in paths)
    lines = [
        "| parser processes | pages a second | pages a second of processor time | pages |",
        "|---|---|---|---|",
    ]
    best = 0.0
    for processes in (1, 2):
        seconds, busy = _timed(paths, processes)
        best = pages / seconds
        lines.append(f"| {processes} | {best:.1f} | {pages / busy:.1f} | {pages} |")
    verdict = _verdict(best, TARGETS["speed"])
    load = Path("/proc/loadavg").read_text(encoding="ascii").split()[0]
    return [
        *lines,
        "",
        f"Target: {TARGETS['speed']:.0f} on two cores ({verdict}). The machine was shared: load {load}.",
    ]


def _pages(path: Path) -> int:
    document = pdfium.PdfDocument(path)
    try:
        return len(document)
    finally:
        document.close()


def _timed(paths: list[Path], processes: int) -> tuple[float, float]:
    """(seconds from the first document to the last, seconds of processor time), parsers started and
    warm."""
    workers = [Worker(DocumentSettings()) for _ in range(processes)]
    try:
        for worker in workers:
            _send(worker, paths[0])
        waiting = sorted(paths, key=lambda path: path.stat().st_size)
        threads = [threading.Thread(target=_drain, args=(worker, waiting)) for worker in workers]
        start, used = time.perf_counter(), sum(map(_used, workers))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - start, sum(map(_used, workers)) - used
    finally:
        for worker in workers:
            worker.close()


def _used(worker: Worker) -> float:
    """Processor time that a parser process has had, its threads included."""
    process = worker._process
    if process is None:
        return 0.0
    fields = (
        Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    )
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _drain(worker: Worker, waiting: list[Path]) -> None:
    while waiting:
        try:
            path = waiting.pop()
        except IndexError:
            return
        _send(worker, path)


def _send(worker: Worker, path: Path) -> Any:
    return worker.parse(
        path.read_bytes(), Document(id="x", source="s", uri=path.name, title="", language="en")
    )


_HEADER = (Path(__file__).parent / "parsing_header.md").read_text(encoding="utf-8").rstrip()

if __name__ == "__main__":
    main()
