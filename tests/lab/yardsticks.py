"""Human ratings that others have published, to hold judges and our figures against."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ombud.lab import Rating


class RatedText(NamedTuple):
    """What was rated: one answer, or two that were compared."""

    question: str
    reference: str
    answers: tuple[str, ...]


Labels = tuple[list[Rating], dict[str, RatedText]]
"""The ratings, and item -> what was rated."""


def read_ragchecker(path: Path) -> Labels:
    """Pairs of answers, each compared by two people (Ru et al. 2024, arXiv:2408.08067)."""
    rows = json.loads(path.read_text(encoding="utf-8"))
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
    return ratings, texts


def read_mtrag(path: Path) -> Labels:
    """Answers in conversations, each rated by three people (Katsis et al. 2025,
    arXiv:2501.03468)."""
    content = json.loads(path.read_text(encoding="utf-8"))
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
    return ratings, texts


def _mtrag_value(given: Mapping[str, Any]) -> float | None:
    value = given.get("value")
    try:
        return float(str(value))
    except ValueError:
        return None
