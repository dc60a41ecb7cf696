"""Every metric that a judge gives, by name."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from ombud.lab.judges import statements
from ombud.lab.judges.asking import Judge
from ombud.lab.judges.conversations import CONVERSATION
from ombud.lab.judges.grading import NO_SEARCH, by_rubric
from ombud.lab.judges.reading import Rubric, read_rubrics
from ombud.lab.metrics.metric import Grade, Judgement, Measure, Undefined, judged
from ombud.types import Observation

WOMBAT = (
    "wombat.context_completeness",
    "wombat.context_relevancy",
    "wombat.recall",
    "wombat.precision",
    "wombat.redundancy",
    "wombat.out_of_scope",
)
PERSONA = (
    "persona.context_relevance",
    "persona.faithfulness",
    "persona.answer_relevance",
    "persona.meaning",
    "persona.completeness",
    "persona.addressing",
    "persona.length",
)
GOOD = 4
"""Grade from which on an answer counts as correct (HyPA-RAG)."""
_VERSION = 1
"""Of the formulas below; the rubrics' words count by themselves."""


def judged_measures(folder: Path | None = None) -> dict[str, Measure]:
    """Name -> measure; folder: rubrics of a workspace, which stand before those that ship."""
    rubrics = read_rubrics(folder)
    table = {name: _of_rubric(rubric) for name, rubric in rubrics.items()}
    table |= _RAGAS
    return table | _joined(table)


def _of_rubric(rubric: Rubric) -> Measure:
    return judged(
        CONVERSATION.get(rubric.name, by_rubric)(rubric),
        rubric.what,
        version=_number(rubric.digest),
        unit=rubric.unit,
        better=rubric.better,
        reads="both" if "passages" in rubric.inputs else "answer",
    )


_RAGAS: dict[str, Measure] = {
    "ragas.faithfulness": judged(
        statements.faithfulness,
        "statements of the answer that the passages support",
        version=_VERSION,
        reads="both",
    ),
    "ragas.answer_relevancy": judged(
        statements.answer_relevancy,
        "cosine of the question and three that the answer would answer",
        version=_VERSION,
        unit="-1-1",
    ),
    "ragas.context_recall": judged(
        statements.context_recall,
        "statements of the reference that the passages support",
        version=_VERSION,
        reads="both",
    ),
    "ragas.context_precision": judged(
        statements.context_precision,
        "mean of precision at the ranks of passages that helped",
        version=_VERSION,
        reads="both",
    ),
}


def _joined(table: Mapping[str, Measure]) -> dict[str, Measure]:
    """Return the metrics made of others' values; their verdicts are asked for once."""
    grades = {name: measure.grade for name, measure in table.items() if measure.grade}
    lower = {name for name, measure in table.items() if measure.better == "lower"}

    def join(
        parts: Sequence[str],
        combine: Callable[[Sequence[float]], float],
        what: str,
        unit: str = "0-1",
    ) -> Measure:
        members = {name: grades[name] for name in parts}
        digests = [str(table[name].version) for name in parts]
        return judged(
            _together(members, lower, combine, whole=combine is _harmonic),
            what,
            version=_number(sha256(" ".join(digests).encode()).hexdigest()),
            unit=unit,
            reads="both",
        )

    return {
        "wombat.composite": join(
            WOMBAT,
            _mean,
            "mean of its six parts, those that apply, weight 1 each; redundancy as 1 - redundancy",
        ),
        "persona.comprehensive": join(PERSONA, _mean, "mean of its seven parts", "1-5"),
        "persona.pairwise": join(PERSONA[3:], _mean, "likeness to a gold answer, of four", "1-5"),
        "ragas.context_f1": join(
            ("ragas.context_precision", "ragas.context_recall"),
            _harmonic,
            "harmonic mean of context precision and recall",
        ),
        "hypa.good": join(
            ("hypa.absolute_correctness",),
            _is_good,
            f"whether absolute correctness is at or above {GOOD}",
        ),
    }


def _together(
    parts: Mapping[str, Grade],
    lower: set[str],
    combine: Callable[[Sequence[float]], float],
    *,
    whole: bool,
) -> Grade:
    """whole: without one of its parts it has no value."""

    async def grade(observation: Observation, judge: Judge) -> Judgement:
        values: list[float] = []
        words: list[str] = []
        missing: list[Undefined] = []
        for name, part in parts.items():
            judgement = await part(observation, judge)
            if isinstance(judgement.value, Undefined):
                missing.append(judgement.value)
                continue
            values.append(1 - judgement.value if name in lower else judgement.value)
            words.append(f"{name.partition('.')[2]} {judgement.value:g}")
        if NO_SEARCH in missing:
            return Judgement(NO_SEARCH)
        if missing and (whole or not values):
            return Judgement(missing[0])
        return Judgement(combine(values), ", ".join(words))

    return grade


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _harmonic(values: Sequence[float]) -> float:
    first, second = values
    return 2 * first * second / (first + second) if first + second else 0.0


def _is_good(values: Sequence[float]) -> float:
    return float(values[0] >= GOOD)


def _number(digest: str) -> int:
    """Convert a digest to an integer, as the store keeps versions."""
    return int(digest[:7], 16)
