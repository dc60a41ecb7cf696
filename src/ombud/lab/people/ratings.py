"""Ratings of people, from tables and from public yardsticks.

A table (CSV with a header, or JSON lines) has `item` and `value`, and may have `rater`, `criterion`
and `type`. Numbers only; a line without a value says that the rater gave none."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ombud.errors import BadRequest


class Rating(NamedTuple):
    item: str
    value: float
    rater: str = ""
    criterion: str = ""
    kind: str = ""
    """Type of the item, such as that of its question."""


class RatedText(NamedTuple):
    """What was rated: one answer, or two that were compared."""

    question: str
    reference: str
    answers: tuple[str, ...]


class RatingSet(NamedTuple):
    ratings: tuple[Rating, ...]
    missing: int = 0
    """Lines without a value."""
    texts: Mapping[str, RatedText] = {}
    """Item -> what was rated, where the file holds it."""
    origins: Mapping[str, tuple[str, str]] = {}
    """Item -> run and case of the answer, where the file names them."""


def read_ratings(path: Path) -> RatingSet:
    """Raises BadRequest for what is no table of ratings, naming the line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as failed:
        raise BadRequest(f"{path.name} cannot be read: {failed}.") from failed
    if path.suffix == ".json":
        return _yardstick(path, text)
    rows = _json_lines(path, text) if path.suffix == ".jsonl" else _csv(path, text)
    ratings: list[Rating] = []
    missing = 0
    origins: dict[str, tuple[str, str]] = {}
    for line, row in rows:
        value = row.get("value")
        if value is None or str(value).strip() == "":
            missing += 1
            continue
        ratings.append(_rating(path, line, row, value))
        if row.get("run") and row.get("case"):
            origins[ratings[-1].item] = (str(row["run"]), str(row["case"]))
    if not ratings:
        raise BadRequest(f"{path.name} holds no ratings.")
    return RatingSet(tuple(ratings), missing, origins=origins)


def _csv(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text))
    for needed in ("item", "value"):
        if needed not in (reader.fieldnames or ()):
            raise BadRequest(
                f"{path.name} has no column `{needed}`.",
                hint="Its first line names the columns: item, rater, criterion, value.",
            )
    for row in reader:
        yield reader.line_num, row


def _json_lines(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as wrong:
            raise BadRequest(f"{path.name}, line {number}: {wrong}.") from wrong
        if not isinstance(row, dict):
            raise BadRequest(f"{path.name}, line {number}: no object.")
        yield number, row


def _rating(path: Path, line: int, row: Mapping[str, Any], value: Any) -> Rating:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise BadRequest(f"{path.name}, line {line}: `{value}` is no number.")
    item = str(row.get("item") or "").strip()
    if not item:
        raise BadRequest(f"{path.name}, line {line}: no item is named.")
    return Rating(
        item=item,
        value=number,
        rater=str(row.get("rater") or "").strip(),
        criterion=str(row.get("criterion") or "").strip(),
        kind=str(row.get("type") or "").strip(),
    )


# Public yardsticks --------------------------------------------------------------------------------


def _yardstick(path: Path, text: str) -> RatingSet:
    try:
        content = json.loads(text)
        if isinstance(content, list):
            return _ragchecker(content)
        return _mtrag(content)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as wrong:
        raise BadRequest(
            f"{path.name} is no set of ratings that is known.",
            hint="Give CSV or JSON lines, or a file of RAGChecker's or MTRAG's human ratings.",
        ) from wrong


def _ragchecker(rows: Sequence[Mapping[str, Any]]) -> RatingSet:
    """Pairs of answers, each compared by two people (Ru et al. 2024, arXiv:2408.08067)."""
    ratings: list[Rating] = []
    texts: dict[str, RatedText] = {}
    seen: dict[str, int] = {}
    for row in rows:
        item = f"{row['dataset']}/{row['query_id']}/{row['instance_id']}"
        seen[item] = seen.get(item, 0) + 1
        answers = (row["model1"]["response"], row["model2"]["response"])
        texts[item] = RatedText(row["query"], row["gt_answer"], answers)
        for criterion in ("overall", "correctness", "completeness"):
            value = float(row[f"{criterion}_label"])
            rater = f"rater {seen[item]}"
            ratings.append(Rating(item, value, rater, criterion, str(row["dataset"])))
    return RatingSet(tuple(ratings), texts=texts)


def _mtrag(content: Mapping[str, Any]) -> RatingSet:
    """Answers in conversations, each rated by three people (Katsis et al. 2025,
    arXiv:2501.03468)."""
    tasks = {task["task_id"]: task for task in content["tasks"]}
    ratings: list[Rating] = []
    texts: dict[str, RatedText] = {}
    for found in content["evaluations"]:
        task = tasks[found["task_id"]]
        item = f"{found['task_id']}/{found['model_id']}"
        question = task["input"][-1]["text"]
        reference = task["targets"][0]["text"]
        texts[item] = RatedText(question, reference, (found["model_response"],))
        kind = "".join(task.get("Answerability") or [])
        for criterion in ("faithfulness", "appropriateness", "completeness", "naturalness"):
            for rater, given in found["annotations"].get(criterion, {}).items():
                value = _mtrag_value(given)
                if value is not None:
                    ratings.append(Rating(item, value, rater, criterion, kind))
    return RatingSet(tuple(ratings), texts=texts)


def _mtrag_value(given: Mapping[str, Any]) -> float | None:
    value = given.get("value")
    try:
        return float(str(value))
    except ValueError:
        return None
