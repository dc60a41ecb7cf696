"""Which part of an observation a metric reads: where the target does not give it, there is no
value, never 0."""

from collections.abc import Mapping

from ombud.lab.metrics.metric import Measure, Metric, Undefined
from ombud.lab.metrics.rankings import RANK_METRICS
from ombud.types import Observation

_TEXT_OF_EVIDENCE = ("ids", "contexts")
_READS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(RANK_METRICS, _TEXT_OF_EVIDENCE),
    "quote_recall": _TEXT_OF_EVIDENCE,
    "page_recall": ("ids",),
    "words": ("contexts",),
    "context_f1": ("contexts",),
    "score": ("scores of passages",),
    **dict.fromkeys(
        ("citation_precision", "citation_recall", "leads", "quote_verbatim"), ("citations",)
    ),
    "outcome_accuracy": ("outcome",),
    **dict.fromkeys(("not_sure", "action_accuracy"), ("next steps",)),
    "tokens": ("tokens",),
    "model_calls": ("model calls",),
    "price": ("price",),
    "latency": (),
    "turns": (),
    "warm_latency": (),
}
_USUAL: Mapping[str, tuple[str, ...]] = {
    "answer": ("answer",),
    "hits": _TEXT_OF_EVIDENCE,
    "both": ("answer", *_TEXT_OF_EVIDENCE),
}
"""Of metrics that are not in the table, such as likeness to a reference, or a plugin's."""


def lacking_part(observation: Observation, metric: Metric, measure: Measure) -> Undefined | None:
    """Explain why the metric cannot be measured on this target; None if it can."""
    if not observation.lacks or measure.grade is not None:
        return None
    for part in _READS.get(metric.name, _USUAL[measure.reads]):
        if part in observation.lacks and not _is_spared(part, observation, metric):
            return not_given(part)
    return None


def not_given(part: str) -> Undefined:
    return Undefined(f"not measured: the target gives no {part}")


def _is_spared(part: str, observation: Observation, metric: Metric) -> bool:
    """Evidence without quotes is whole documents, which are found by their ids alone."""
    quoted = any(item.quote.strip() for item in observation.case.evidence)
    return part == "contexts" and metric.name in RANK_METRICS and not quoted
