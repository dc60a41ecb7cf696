"""Is the row of a table that a question names by its key in the first hit?

Tables in PDF, Word, Excel and HTML, of 20 to 500 rows, with ten questions each: twenty to build with
(dev) and ten others with wordings of their own (test). They lie beside the sample's handbook and
pages that name the same keys.
Writes research/results/rows.md. Run: make rows, or python benchmarks/quality/rows.py [dev] [test]
--misses names the questions whose row is not in the first hit."""

import asyncio
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from shutil import copytree
from typing import NamedTuple

sys.path.append(str(Path(__file__).parents[1] / "speed"))
from corpora import BENCH, open_corpus
from figures import origin, table, wilson_rate
from record import ROOT, say
from row_tables import BESIDE, KeyTable, RowQuestion, file_of, questions, tables

from ombud.app import Workspace, asking
from ombud.types import Chunk, Person

TOML = """[[source]]
name = "tables"
path = "tables"

[[source]]
name = "handbook"
path = "handbook"
"""
FIRST = (1, 3, 8)
"""Hits among which the row is looked for."""
HEADER = """# Rows by their key

Written by `make rows` at {origin}. A question names one row of a table by a code, grade, band,
country, number or range, as people type it; counted is how often that very row stands in the first
passage that is found. The tables are made by benchmarks/quality/row_tables.py (20 to 500 rows, in
PDF, Word, Excel and HTML) and lie beside the sample's handbook. Dev is what the search was built
with; the tables and wordings of test were not looked at. Intervals are Wilson's, 95 %."""


class Asked(NamedTuple):
    question: RowQuestion
    rank: int
    """Of the first hit that holds the row; 0 where none does."""


def main() -> None:
    splits = [name for name in sys.argv[1:] if not name.startswith("--")]
    results = {split: _asked(split) for split in splits or ("dev", "test")}
    if "--misses" in sys.argv:
        for asked in results.values():
            for question, rank in asked:
                if rank != 1:
                    say(f"{rank or '-'}  {question.file}: {question.text}")
    report = "\n".join(_report(results)) + "\n"
    if not splits:
        (ROOT / "research/results/rows.md").write_text(report, encoding="utf-8")
    print(report)


def _asked(split: str) -> list[Asked]:
    workspace = _workspace(split)
    asked = []
    for one in tables(split):
        for question in questions(one):
            search = asking.search(workspace, question.text, Person())
            evidence, _ = asyncio.run(search)
            chunks = [hit.chunk for hit in evidence.hits]
            asked.append(Asked(question, _rank(question, chunks)))
    return asked


def _workspace(split: str) -> Workspace:
    home = BENCH / f"rows-{split}"
    folder = home / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    for one in tables(split):
        # PDF and Word files hold the time at which they were made.
        if not (folder / one.name).is_file():
            (folder / one.name).write_bytes(file_of(one))
    for name, text in BESIDE.items():
        (folder / name).write_text(text, encoding="utf-8")
    copytree(ROOT / "sample/handbook", home / "handbook", dirs_exist_ok=True)
    return open_corpus(f"rows-{split}", TOML)


def _rank(question: RowQuestion, chunks: Sequence[Chunk]) -> int:
    for rank, chunk in enumerate(chunks, start=1):
        is_file = chunk.uri.endswith(question.file)
        if is_file and any(_holds(line, question.row) for line in chunk.text.split("\n")):
            return rank
    return 0


def _holds(line: str, row: Iterable[str]) -> bool:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return cells == list(row)


def _report(results: dict[str, list[Asked]]) -> list[str]:
    lines = [HEADER.format(origin=origin())]
    for split, asked in results.items():
        rows = [_line(f"all {len(asked)}", asked)]
        for one in tables(split):
            of_table = [row for row in asked if row.question.file == one.name]
            rows.append(_line(_name(one), of_table))
        head = ["table", *(f"in the first {most}" for most in FIRST)]
        lines += ["", f"## {split}", "", *table(head, rows)]
    return lines


def _name(one: KeyTable) -> str:
    return f"{one.name}, {len(one.rows)} rows"


def _line(name: str, asked: Sequence[Asked]) -> list[str]:
    figures = []
    for most in FIRST:
        rate = wilson_rate([0 < row.rank <= most for row in asked])
        figures.append(f"{rate.value:.3f} ({rate.low:.3f} to {rate.high:.3f})")
    return [name, *figures]


if __name__ == "__main__":
    main()
