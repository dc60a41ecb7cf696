"""BEIR folders and TREC files: the formats in which retrieval collections are passed on.

BEIR: `corpus.jsonl` {_id, title, text}, `queries.jsonl` {_id, text}, `qrels/SPLIT.tsv` with a
header line.
TREC: qrels `query 0 document grade`, runs `query Q0 document rank score tag`, split by white space;
white space inside an id is written as %20, because the formats have no other way."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from math import isnan
from pathlib import Path
from typing import Any

from ombud.errors import LabError
from ombud.lab.metrics.rankings import Qrels, Rankings, ranked
from ombud.types import Case, Passage

_GRADE_HEADERS = {"score", "rel", "relevance", "grade"}


def qrels_of(cases: Iterable[Case]) -> dict[str, dict[str, int]]:
    """Map case id -> document uri -> highest grade; a case without evidence has no row."""
    judged: dict[str, dict[str, int]] = {}
    for case in cases:
        for item in case.evidence:
            grades = judged.setdefault(case.id, {})
            grades[item.document] = max(item.grade, grades.get(item.document, 0))
    return judged


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Read TREC qrels, or the tab-separated ones of BEIR; raises LabError naming file and line."""
    judged: dict[str, dict[str, int]] = {}
    for number, line in _lines(path):
        cells = line.split("\t") if "\t" in line else line.split()
        if number == 1 and cells[-1].strip().lower() in _GRADE_HEADERS:
            continue
        if len(cells) == 4:
            del cells[1]
        if len(cells) != 3:
            raise _wrong(path, number, "3 (BEIR) or 4 (TREC) columns are wanted")
        query, document, grade = (cell.strip() for cell in cells)
        if document in judged.setdefault(query, {}):
            raise _wrong(path, number, f"`{document}` is judged twice for query `{query}`")
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", grade):
            raise _wrong(path, number, f"the grade `{grade}` is not a whole number")
        judged[query][document] = int(grade)
    return judged


def qrels_lines(qrels: Qrels) -> Iterator[str]:
    """Format lines of TREC qrels, without line ends."""
    for query, grades in qrels.items():
        for document, grade in grades.items():
            yield f"{_id(query)} 0 {_id(document)} {grade}"


def read_rankings(path: Path) -> dict[str, dict[str, float]]:
    """Read a TREC run. Scores alone give the order; the rank column is ignored. Raises LabError
    naming file and line."""
    run: dict[str, dict[str, float]] = {}
    for number, line in _lines(path):
        cells = line.split()
        if len(cells) not in {5, 6}:
            raise _wrong(path, number, "6 columns are wanted: query Q0 document rank score tag")
        query, _, document, _, score = cells[:5]
        if document in run.setdefault(query, {}):
            raise _wrong(path, number, f"`{document}` is ranked twice for query `{query}`")
        run[query][document] = _score(score, path, number)
    return run


def run_lines(run: Rankings, tag: str = "ombud") -> Iterator[str]:
    """Format lines of a TREC run, without line ends."""
    for query, scores in run.items():
        for rank, document in enumerate(ranked(scores), start=1):
            yield f"{_id(query)} Q0 {_id(document)} {rank} {scores[document]!r} {_id(tag)}"


def read_beir(folder: Path, split: str = "test") -> tuple[Case, ...]:
    """Read one case a query of `qrels/SPLIT.tsv`, in the order of queries.jsonl; raises LabError.

    Evidence is whole documents (no quote): a corpus id is the document's uri. Grades above 2 become
    2, grade 0 and less is no evidence. Queries that the split does not judge are left out, as in
    BEIR."""
    judged = read_qrels(folder / "qrels" / f"{split}.tsv")
    queries = folder / "queries.jsonl"
    texts: dict[str, str] = {}
    for row in _rows(queries, ("_id", "text")):
        texts[row["_id"]] = row["text"]
    for query in judged:
        if query not in texts:
            raise LabError(f"{queries}: query `{query}` of the qrels is not in it.")
    return _judged_cases(texts, judged)


def find_trec(folder: Path) -> tuple[Path, Path] | None:
    """Find the topics and the qrels of a folder that holds a TREC collection; None for others."""
    files = sorted(file for file in folder.iterdir() if file.is_file())
    topics = [file for file in files if file.name.startswith(("topics", "queries."))]
    qrels = [file for file in files if file.name.startswith("qrels")]
    return (topics[0], qrels[0]) if topics and qrels else None


def read_trec(topics: Path, qrels: Path) -> tuple[Case, ...]:
    """Read one case a topic that is judged, in the order of the topics; raises LabError.

    Topics are lines `id <tab> text`, or TREC's <top> blocks, whose title asks."""
    judged = read_qrels(qrels)
    texts = dict(_topics(topics))
    for query in judged:
        if query not in texts:
            raise LabError(f"{topics}: topic `{query}` of {qrels.name} is not in it.")
    return _judged_cases(texts, judged)


def _judged_cases(texts: Mapping[str, str], judged: Qrels) -> tuple[Case, ...]:
    """Return a case for each question that is judged, in the order of the questions."""
    cases = []
    for query, text in texts.items():
        if query in judged:
            cases.append(Case(id=query, question=text, evidence=tuple(_passages(judged[query]))))
    return tuple(cases)


def _topics(path: Path) -> Iterator[tuple[str, str]]:
    lines = list(_lines(path))
    if any("<top>" in line for _, line in lines):
        yield from _topic_blocks(path, lines)
        return
    for place, line in lines:
        query, tab, text = line.partition("\t")
        if not tab or not text.strip():
            raise _wrong(path, place, "an id, a tab and a question are wanted")
        yield query.strip(), text.strip()


def _topic_blocks(path: Path, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    """Yield TREC's <top> blocks; a title may stand in the line below its mark."""
    number = ""
    in_title = False
    for place, line in lines:
        before, mark, rest = line.partition("<title>")
        if "<num>" in before:
            number = before.partition("<num>")[2].replace("Number:", "").partition("<")[0].strip()
        if not mark and not in_title:
            continue
        title = (rest if mark else line).replace("Topic:", "").partition("<")[0].strip()
        in_title = not title
        if title and not number:
            raise _wrong(path, place, "a title before its <num>")
        if title:
            yield number, title


def _passages(grades: Mapping[str, int]) -> Iterator[Passage]:
    for uri, grade in grades.items():
        if grade > 0:
            yield Passage(document=uri, quote="", grade=2 if grade > 1 else 1)


def _rows(path: Path, fields: tuple[str, ...]) -> Iterator[dict[str, str]]:
    for number, line in _lines(path):
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError) as wrong:
            raise _wrong(path, number, "not valid JSON") from wrong
        for field in fields:
            if not isinstance(row, dict) or not isinstance(row.get(field), str):
                raise _wrong(path, number, f"`{field}` is missing or not a text")
        yield row


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, without a byte order mark. Raises LabError."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as wrong:
        raise LabError(
            f"{path}: cannot be read: {wrong.strerror}.", hint="Check the path."
        ) from wrong
    except UnicodeDecodeError as wrong:
        raise LabError(
            f"{path}: not UTF-8 (byte {wrong.start}).", hint="Save the file as UTF-8."
        ) from wrong


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            yield number, line.rstrip("\r")


def _score(text: str, path: Path, number: int) -> float:
    try:
        value = float(text)
    except ValueError as wrong:
        raise _wrong(path, number, f"the score `{text}` is not a number") from wrong
    if isnan(value):
        raise _wrong(path, number, "the score is not a number")
    return value


def _wrong(path: Path, number: int, why: str) -> LabError:
    return LabError(f"{path}, line {number}: {why}.")


def _id(text: str) -> str:
    return "".join("%20" if sign.isspace() else sign for sign in text) or "%20"
