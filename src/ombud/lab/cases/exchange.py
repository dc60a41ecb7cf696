"""BEIR folders and TREC files: the formats in which retrieval collections are passed on.

BEIR: `corpus.jsonl` {_id, title, text}, `queries.jsonl` {_id, text}, `qrels/SPLIT.tsv` with a
header line.
TREC: qrels `query 0 document grade`, runs `query Q0 document rank score tag`, split by white space;
white space inside an id is written as %20, because the formats have no other way."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from math import isnan
from pathlib import Path
from typing import Any

from ombud.errors import LabError
from ombud.lab.metrics.rankings import Qrels, Rankings, ranked
from ombud.types import Case, Passage

_GRADE_HEADERS = {"score", "rel", "relevance", "grade"}


def qrels_of(cases: Iterable[Case]) -> dict[str, dict[str, int]]:
    """Case id -> document uri -> its highest grade; a case without evidence has no row."""
    judged: dict[str, dict[str, int]] = {}
    for case in cases:
        for item in case.evidence:
            grades = judged.setdefault(case.id, {})
            grades[item.document] = max(item.grade, grades.get(item.document, 0))
    return judged


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """TREC qrels, or the tab separated ones of BEIR; raises LabError naming file and line."""
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


def write_qrels(path: Path, qrels: Qrels) -> None:
    """TREC qrels, in the order given."""
    _write(path, qrels_lines(qrels))


def qrels_lines(qrels: Qrels) -> Iterator[str]:
    """Lines of TREC qrels, without their ends."""
    for query, grades in qrels.items():
        for document, grade in grades.items():
            yield f"{_id(query)} 0 {_id(document)} {grade}"


def read_rankings(path: Path) -> dict[str, dict[str, float]]:
    """A TREC run; the rank column is not read, scores alone give the order. Raises LabError naming
    file and line."""
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


def write_rankings(path: Path, run: Rankings, tag: str = "ombud") -> None:
    """A TREC run, best first, ranks from 1."""
    _write(path, run_lines(run, tag))


def run_lines(run: Rankings, tag: str = "ombud") -> Iterator[str]:
    """Lines of a TREC run, without their ends."""
    for query, scores in run.items():
        for rank, document in enumerate(ranked(scores), start=1):
            yield f"{_id(query)} Q0 {_id(document)} {rank} {scores[document]!r} {_id(tag)}"


def read_beir(folder: Path, split: str = "test") -> tuple[Case, ...]:
    """One case a query of `qrels/SPLIT.tsv`, in the order of queries.jsonl; raises LabError.

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
    cases = []
    for query, text in texts.items():
        if query in judged:
            evidence = tuple(_passages(judged[query]))
            cases.append(Case(id=query, question=text, evidence=evidence))
    return tuple(cases)


def write_beir(
    folder: Path, cases: Iterable[Case], texts: Mapping[str, str] | None = None, split: str = "test"
) -> None:
    """A BEIR folder. texts: uri -> document text; without it the corpus holds the gold quotes of
    each document."""
    kept = tuple(cases)
    corpus = _corpus_of_quotes(kept) if texts is None else dict(texts)
    rows = ["query-id\tcorpus-id\tscore"]
    for query, grades in qrels_of(kept).items():
        for uri, grade in grades.items():
            rows.append(f"{_beir_id(query)}\t{_beir_id(uri)}\t{grade}")
            if uri not in corpus:
                raise LabError(f"The corpus has no text of `{uri}`, evidence of a case.")
    documents = [{"_id": uri, "title": "", "text": text} for uri, text in corpus.items()]
    queries = [{"_id": case.id, "text": case.question} for case in kept]
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    _write(folder / "corpus.jsonl", map(_json, documents))
    _write(folder / "queries.jsonl", map(_json, queries))
    _write(folder / "qrels" / f"{split}.tsv", rows)


def _corpus_of_quotes(cases: Iterable[Case]) -> dict[str, str]:
    quotes: dict[str, list[str]] = {}
    for case in cases:
        for item in case.evidence:
            quotes.setdefault(item.document, []).append(item.quote)
    corpus = {}
    for uri, texts in quotes.items():
        corpus[uri] = "\n\n".join(filter(None, texts))
    return corpus


def _beir_id(name: str) -> str:
    if re.search(r"[\t\n\r]", name):
        raise LabError(f"The id {name!r} has a tab or a line end, which BEIR cannot hold.")
    return name


def from_ragas(record: Mapping[str, Any]) -> dict[str, Any]:
    """A RAGAS record as the fields of a case: what was retrieved and answered in it is left out.

    Its contexts are evidence only where `reference_context_ids` name their documents. Raises
    LabError naming the field that is not of RAGAS's shape, such as the list of messages of a
    conversation."""
    question = record.get("user_input")
    reference = record.get("reference")
    case_id = record.get("id")
    contexts = record.get("reference_contexts") or []
    documents = record.get("reference_context_ids") or []
    shapes = (
        ("user_input", isinstance(question, str), "a text"),
        ("reference", isinstance(reference, str | None), "a text"),
        ("id", isinstance(case_id, str | int | None), "a text"),
        ("reference_contexts", _list_of(contexts, str), "a list of texts"),
        ("reference_context_ids", _list_of(documents, str | int), "a list of texts"),
    )
    for field, fits, wanted in shapes:
        if not fits:
            raise LabError(
                f"`{field}` is not {wanted}.",
                hint="A RAGAS record of one question, not of several turns.",
            )
    if case_id in {None, ""}:
        # As of a CSV row without a country: the same question has the same id, and so the same
        # split.
        case_id = "q-" + sha256(f"{question}\0".encode()).hexdigest()[:12]
    evidence = []
    for document, quote in zip(documents, contexts, strict=False):
        evidence.append({"document": str(document), "quote": quote})
    return {
        "id": str(case_id),
        "question": question,
        "references": [{"text": reference}] if reference else [],
        "evidence": evidence,
    }


def _list_of(values: Any, kind: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


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


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as wrong:
        raise LabError(
            f"{path}: cannot be read: {wrong.strerror}.", hint="Check the path."
        ) from wrong
    except UnicodeDecodeError as wrong:
        raise LabError(
            f"{path}: not UTF-8 (byte {wrong.start}).", hint="Save the file as UTF-8."
        ) from wrong
    for number, line in enumerate(text.split("\n"), 1):
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
    return re.sub(r"\s", "%20", text) or "%20"


def _json(row: Mapping[str, str]) -> str:
    return json.dumps(row, ensure_ascii=False)


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
