"""How well are documents read? Tables, headings, speed; against two programs that people would use
instead.

* Tables: the 40 US documents of the ICDAR 2013 competition that lie in ../shared. A neighbour
  relation is a pair of cells, one right of or below the other with only empty cells between; F1
  over relations, their texts compared without spaces, case and most punctuation. Micro: over all
  relations; macro: the mean over documents.
* Headings: the share of the headings in docling's ground truth that are found, for digital PDFs and
  Word documents.
* Speed: pages a second of two parser processes, over the same 40 documents; of other formats the
  processor time of a document, over those that lie in ../shared and the sample's handbook.

Writes research/results/parsing.md. The peers are measured where they can be imported; they are no
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
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import chain, pairwise, zip_longest
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
WORST = 6
"""Documents that are named for their score."""
KINDS = {".pdf": "digital PDF", ".docx": "Word"}
"""Ending of a file whose headings are known -> what it is called."""
OTHER_FORMATS = (".docx", ".eml", ".html", ".md", ".msg", ".odt", ".pptx", ".xlsx")
TURNS = 5
"""Times that documents of other formats are read."""
OURS = "ombud"
Grid = list[list[str]]
Relations = Counter[tuple[str, str, str]]
_HEADING = re.compile(r"^#+\s+(.+)$", re.MULTILINE)
_RULE = re.compile(r"\s*:?-+:?\s*")


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
    wanted: dict[Path, list[Grid]] = {}
    lone = []
    for truth in sorted(TABLES.glob("*-str.xml")):
        source = _source(truth)
        if source.exists():
            wanted[source] = list(_truth(truth))
        else:
            lone.append(truth.name)
    lines = [_HEADER.format(commit=commit(), n=len(wanted)), "", *_tables(wanted)]
    lines += ["", "## Headings", "", *_headings()]
    lines += ["", "## Speed", "", *_speed(list(wanted))]
    lines += ["", "Skipped, for their PDF is not here: " + (", ".join(lone) or "none") + "."]
    target = ROOT / "research/results/parsing.md"
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(target.read_text(encoding="utf-8"))


def _readers() -> dict[str, Reader | None]:
    """What is compared; None for a program that is not installed."""
    readers: dict[str, Reader] = {
        OURS: _by_ombud,
        "pdfplumber": _by_pdfplumber,
        "markitdown": _by_markitdown,
    }
    return {name: reader if find_spec(name) else None for name, reader in readers.items()}


def _facts(path: Path) -> Document:
    return Document(id="x", source="s", uri=path.name, title="", language="en")


def _by_ombud(path: Path) -> Parsed:
    document = parse(path.read_bytes(), _facts(path))
    tables = []
    headings = []
    for block in document.blocks:
        if block.kind == "table":
            tables.append(_cells(block.text.split("\n")))
        elif block.kind == "heading":
            headings.append(block.text)
    return Parsed(tables, headings)


def _by_pdfplumber(path: Path) -> Parsed:
    """Its tables with default settings; it knows no headings."""
    import pdfplumber

    tables = []
    with pdfplumber.open(io.BytesIO(path.read_bytes())) as document:
        for page in document.pages:
            for table in page.extract_tables():
                tables.append([_without_none(row) for row in table])
    return Parsed(tables, [])


def _without_none(row: Sequence[str | None]) -> list[str]:
    return [cell or "" for cell in row]


def _by_markitdown(path: Path) -> Parsed:
    from markitdown import MarkItDown  # type: ignore[import-not-found, unused-ignore]

    text: str = MarkItDown(enable_plugins=False).convert(str(path)).text_content
    return Parsed(list(_markdown_tables(text)), _HEADING.findall(text))


def _markdown_tables(text: str) -> Iterator[Grid]:
    run: list[str] = []
    for line in (*text.split("\n"), ""):
        if line.lstrip().startswith("|"):
            run.append(line)
        elif run:
            yield _cells(run)
            run = []


def _cells(lines: Iterable[str]) -> Grid:
    """The cells of a Markdown table, without the rule below its header."""
    grid = []
    for line in lines:
        inside = line.strip().removeprefix("|").removesuffix("|")
        row = re.split(r"(?<!\\)\|", inside)
        if not all(map(_RULE.fullmatch, row)):
            grid.append(row)
    return grid


def _tables(wanted: dict[Path, list[Grid]]) -> list[str]:
    lines = [
        "| reader | micro F1 | macro F1 | micro precision | micro recall | failed |",
        "|---|---|---|---|---|---|",
    ]
    verdict = ""
    for name, reader in _readers().items():
        say(f"tables: {name}")
        if reader is None:
            lines.append(f"| {name} | not installed | | | | |")
            continue
        scores, failed = _scores(reader, wanted)
        lines.append(_table_line(name, scores, failed))
        if name == OURS:
            verdict = _verdict_on_tables(scores, list(wanted))
    return [*lines, "", verdict]


def _scores(reader: Reader, wanted: dict[Path, list[Grid]]) -> tuple[list[Score], int]:
    """(the score of each document, how many could not be read)."""
    scores = []
    failed = 0
    for path, grids in wanted.items():
        parsed = _tried(reader, path)
        if parsed is None:
            failed += 1
            parsed = Parsed([], [])
        scores.append(_score(grids, parsed.tables))
    return scores, failed


def _table_line(name: str, scores: Sequence[Score], failed: int) -> str:
    right, wanted, found = (sum(column) for column in zip(*scores, strict=True))
    precision = right / max(1, found)
    recall = right / wanted
    return (
        f"| {name} | {_between(scores, _micro)} | {_between(scores, _macro)} "
        f"| {precision:.3f} | {recall:.3f} | {failed} |"
    )


def _verdict_on_tables(scores: Sequence[Score], paths: Sequence[Path]) -> str:
    micro = _verdict(_micro(scores), TARGETS["micro"])
    macro = _verdict(_macro(scores), TARGETS["macro"])
    ranked = sorted((score.f1, path.stem) for score, path in zip(scores, paths, strict=True))
    worst = ", ".join(f"{stem} {f1:.2f}" for f1, stem in ranked[:WORST])
    return (
        f"Targets: micro {TARGETS['micro']:.2f} ({micro}), macro {TARGETS['macro']:.2f} ({macro}). "
        f"Ours at its worst: {worst}."
    )


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
    means = []
    for _ in range(RESAMPLES):
        positions = draw.integers(0, len(scores), len(scores))
        means.append(mean([scores[position] for position in positions]))
    low, high = np.quantile(means, (0.025, 0.975))
    return f"{mean(scores):.3f} ({low:.3f} to {high:.3f})"


def _verdict(value: float, target: float) -> str:
    return "met" if value >= target else "MISSED"


def _source(truth: Path) -> Path:
    return truth.with_name(truth.name.removesuffix("-str.xml") + ".pdf")


def _truth(path: Path) -> Iterator[Grid]:
    """The tables of a document; a cell that spans several places stands in its first."""
    for region in ElementTree.parse(path).getroot().iter("region"):
        cells = {}
        for cell in region.iter("cell"):
            place = int(cell.get("start-row", 0)), int(cell.get("start-col", 0))
            cells[place] = cell.findtext("content") or ""
        if cells:
            yield _grid(cells)


def _grid(cells: dict[tuple[int, int], str]) -> Grid:
    """(row, column) -> text, as rows; blanks where nothing stands."""
    height = max(row for row, _ in cells) + 1
    width = max(column for _, column in cells) + 1
    grid = [[""] * width for _ in range(height)]
    for (row, column), text in cells.items():
        grid[row][column] = text
    return grid


def _score(wanted: Iterable[Grid], found: Iterable[Grid]) -> Score:
    true_relations = _relations_of_all(wanted)
    found_relations = _relations_of_all(found)
    right = true_relations & found_relations
    return Score(right.total(), true_relations.total(), found_relations.total())


def _relations_of_all(grids: Iterable[Grid]) -> Relations:
    relations = Relations()
    for grid in grids:
        rows = [list(map(_plain, row)) for row in grid]
        columns = list(zip_longest(*rows, fillvalue=""))
        relations += _relations("right", rows)
        relations += _relations("below", columns)
    return relations


def _relations(direction: str, lines: Iterable[Sequence[str]]) -> Relations:
    """Neighbours in the lines of one direction."""
    relations = Relations()
    for line in lines:
        filled = [cell for cell in line if cell]
        for one, other in pairwise(filled):
            relations[one, other, direction] += 1
    return relations


def _plain(text: str) -> str:
    """Letters, digits, and the marks that change a number."""
    normal = unicodedata.normalize("NFKC", text.replace("<br>", " "))
    return re.sub(r"[^\w%§€$£.,+-]", "", normal.casefold())


class Recall(NamedTuple):
    """Headings of the documents of one kind."""

    right: int = 0
    wanted: int = 0
    missed: tuple[str, ...] = ()


def _headings() -> list[str]:
    """Only documents whose truth is here; the truth for pictures of text is none."""
    lines = [f"| reader | {' | '.join(KINDS.values())} | missed |", "|---|---|---|---|"]
    verdicts: list[str] = []
    for name, reader in _readers().items():
        say(f"headings: {name}")
        recalls = {suffix: _recall(reader, suffix) for suffix in KINDS}
        cells = list(map(_shown_recall, recalls.values()))
        if name == "pdfplumber" and reader:
            cells = ["knows none", "reads none"]
        missed = ""
        if name == OURS:
            verdicts = _verdicts_on_headings(recalls)
            missed = "; ".join(chain.from_iterable(recall.missed for recall in recalls.values()))
        lines.append(f"| {name} | {' | '.join(cells)} | {missed} |")
    return [*lines, "", f"Target: {TARGETS['headings']:.2f} each: {', '.join(verdicts)}."]


def _recall(reader: Reader | None, suffix: str) -> Recall:
    """How many headings a reader finds in the files of one kind."""
    if reader is None:
        return Recall()
    right = 0
    wanted = 0
    missed: list[str] = []
    for path in sorted(HEADINGS.glob(f"*{suffix}")):
        names = _headings_of(path)
        if not names:
            continue
        parsed = _tried(reader, path)
        found = Counter(map(_bare, parsed.headings if parsed else []))
        left = Counter(map(_bare, names)) - found
        right += len(names) - left.total()
        wanted += len(names)
        missed += [f"{path.name}: {heading}" for heading in left][:WORST]
    return Recall(right, wanted, tuple(missed))


def _shown_recall(recall: Recall) -> str:
    if not recall.wanted:
        return "not installed"
    return f"{recall.right / recall.wanted:.3f} ({recall.right} of {recall.wanted})"


def _verdicts_on_headings(recalls: dict[str, Recall]) -> list[str]:
    verdicts = []
    for suffix, recall in recalls.items():
        if recall.wanted:
            verdict = _verdict(recall.right / recall.wanted, TARGETS["headings"])
            verdicts.append(f"{KINDS[suffix]} {verdict}")
    return verdicts


def _headings_of(path: Path) -> list[str]:
    for name in (f"{path.name}.md", f"{path.stem}.md"):
        truth = HEADINGS / "groundtruth" / name
        if truth.exists():
            return _HEADING.findall(truth.read_text(encoding="utf-8"))
    return []


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
    target = f"Target: {TARGETS['speed']:.0f} on two cores ({verdict})."
    return [*lines, "", f"{target} The machine was shared: load {load}.", "", *_other_formats()]


def _other_formats() -> list[str]:
    """Milliseconds of processor time that a document takes, by its format."""
    lines = ["| format | documents | ms of processor time each |", "|---|---|---|"]
    by_ending: dict[str, list[Path]] = defaultdict(list)
    for folder in (DOCUMENTS, ROOT / "sample/handbook"):
        for path in sorted(folder.rglob("*.*")):
            if path.suffix in OTHER_FORMATS:
                by_ending[path.suffix].append(path)
    for ending, paths in sorted(by_ending.items()):
        list(map(_by_ombud, paths))  # loads what the format needs
        start = time.process_time()
        for _ in range(TURNS):
            list(map(_by_ombud, paths))
        each = 1000 * (time.process_time() - start) / TURNS / len(paths)
        lines.append(f"| `{ending}` | {len(paths)} | {each:.1f} |")
    return lines


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
    status = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii")
    fields = status.rpartition(")")[2].split()
    user, system = int(fields[11]), int(fields[12])
    return (user + system) / os.sysconf("SC_CLK_TCK")


def _drain(worker: Worker, waiting: list[Path]) -> None:
    while waiting:
        try:
            path = waiting.pop()
        except IndexError:
            return
        _send(worker, path)


def _send(worker: Worker, path: Path) -> Any:
    return worker.parse(path.read_bytes(), _facts(path))


_HEADER = (Path(__file__).parent / "parsing_header.md").read_text(encoding="utf-8").rstrip()

if __name__ == "__main__":
    main()
