"""The table of metrics: from `recall@8` on a command line to a `Score`."""

import re
from collections.abc import Callable, Iterable
from functools import partial
from math import isfinite
from pathlib import Path

from ombud.errors import SetupError, UnknownName
from ombud.lab.judges.table import judged_measures
from ombud.lab.metrics import answers, overlap, retrieval
from ombud.lab.metrics.lacking import lacking_part
from ombud.lab.metrics.metric import Compute, Instruments, Measure, Metric, Undefined, Value
from ombud.registry import distribution_of, find, names, unknown_name
from ombud.types import Case, Observation, Score

_SPELLING = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9_.]*)(?:@(?P<cutoff>[1-9][0-9]{0,5})(?P<words>w)?)?"
)

TIMED = "warm_latency"
"""Measured by itself, for runs that are compared; never computed from what was seen."""
NOT_TIMED = Undefined("`ombud lab compare RUN RUN --timed 30` measures it")
USUAL_OF_SYSTEMS = "recall@5,mrr,context_f1@5,token_f1,number_agreement,length,latency"
"""What a run of another system scores when nothing is said."""
USUAL = (
    "quote_recall@5,page_recall@5,quote_recall@1000w,mrr,leads,citation_recall,"
    "quote_verbatim,outcome_accuracy,not_sure,action_accuracy,length,latency"
)
"""What a run scores when nothing is said: was it found, was it shown, was the right thing done, and
how fast."""


def usual_metrics(cases: Iterable[Case], *, of_ombud: bool = True) -> str:
    """Choose the default metrics: if some cases have a reference answer but no evidence, such as
    rows of a CSV file, also how much of the reference was covered."""
    if not of_ombud:
        return USUAL_OF_SYSTEMS
    for case in cases:
        if case.references and not case.evidence:
            return f"{USUAL},token_f1,number_agreement"
    return USUAL


def parse_metric(text: str) -> Metric:
    """Parse `recall@8` into a Metric; raises UnknownName that lists the known metrics or says which
    cut-off is required."""
    spelling = _SPELLING.fullmatch(text.strip())
    name = spelling["name"] if spelling else text.strip().partition("@")[0]
    takes = measure_of(name).cutoff
    if spelling:
        cutoff = int(spelling["cutoff"]) if spelling["cutoff"] else None
        metric = Metric(name, cutoff, words=bool(spelling["words"]))
        if _allowed(metric, takes):
            return metric
    raise UnknownName(f"`{text}` is not a metric.", hint=f"It is spelt {_spelling(name)}.")


def parse_metrics(text: str) -> tuple[Metric, ...]:
    """Parse a comma-separated list, each metric once, in order; raises UnknownName."""
    metrics = {}
    for part in text.split(","):
        if part.strip():
            metrics[parse_metric(part)] = True
    return tuple(metrics)


def measure_of(name: str) -> Measure:
    """Find how a metric such as `recall` is computed, in METRICS or in a plugin of the entry point
    group `ombud.metric`. Raises UnknownName, and SetupError for a plugin that does not load or has
    no Measure."""
    if distribution_of("metric", name):
        return _measure_of_plugin(name)
    if name in METRICS:
        return METRICS[name]
    raise unknown_name("metric", name, names("metric", METRICS), known_metrics())


def _measure_of_plugin(name: str) -> Measure:
    measure = find("metric", name, {})
    if isinstance(measure, Measure):
        return measure
    raise SetupError(
        f"The metric `{name}` of the package `{distribution_of('metric', name)}` is no Measure.",
        hint="Its entry point names an `ombud.lab.Measure`.",
    )


def known_metrics() -> tuple[str, ...]:
    """List how every metric is spelt, sorted: `recall@k`, `latency`, … Metrics of plugins that do
    not load are left out."""
    registered = names("metric", METRICS)
    return tuple(_spelling(name) for name in registered if find_measure(name) is not None)


def needs(metrics: Iterable[Metric]) -> tuple[bool, bool]:
    """Return (hits, answer): what the target must be asked for. Latency alone is measured on
    whatever else is asked."""
    read = set()
    for metric in metrics:
        if metric.name != "latency":
            read.add(measure_of(metric.name).reads)
    hits = bool(read & {"hits", "both"})
    return hits, bool(read & {"answer", "both"}) or not hits


def is_answer_metric(metric: str) -> bool:
    """Tell whether a metric is computed from an answer; False for an unknown name."""
    measure = find_measure(metric)
    return measure is not None and measure.reads != "hits"


def find_measure(metric: str) -> Measure | None:
    """Find the measure of `recall@8`; None for a metric of another version or a missing plugin."""
    try:
        return measure_of(metric.partition("@")[0])
    except SetupError:
        return None


def versions_of(metrics: Iterable[Metric]) -> dict[str, int]:
    """Map each metric's spelling to the version of its formula."""
    return {str(metric): measure_of(metric.name).version for metric in metrics}


def split_judged(metrics: Iterable[Metric]) -> tuple[tuple[Metric, ...], tuple[Metric, ...]]:
    """Return (computed metrics, judged metrics); neither contains times."""
    computed: list[Metric] = []
    judged: list[Metric] = []
    for metric in metrics:
        if metric.name == TIMED:  # scoring again must not lose what was measured
            continue
        is_judged = measure_of(metric.name).grade is not None
        (judged if is_judged else computed).append(metric)
    return tuple(computed), tuple(judged)


def score(
    observation: Observation, metrics: Iterable[Metric], instruments: Instruments | None = None
) -> tuple[Score, ...]:
    """Return one score for each metric: a finite value, or None with the reason. Raises only
    SetupError, when the extra `lab` is missing."""
    available = instruments or Instruments()
    return tuple(_score(observation, metric, available) for metric in metrics)


def _score(observation: Observation, metric: Metric, instruments: Instruments) -> Score:
    value = _value(observation, metric, instruments)
    if isinstance(value, Undefined):
        return Score(
            case_id=observation.case.id,
            metric=str(metric),
            value=None,
            reason=value.reason,
        )
    return Score(case_id=observation.case.id, metric=str(metric), value=value)


def _value(observation: Observation, metric: Metric, instruments: Instruments) -> Value:
    if observation.error:
        return Undefined(f"the target failed: {observation.error}")
    try:
        measure = measure_of(metric.name)
    except UnknownName:
        return Undefined(f"no metric is called {metric.name}")
    except SetupError as broken:  # a plugin that does not load any more
        return Undefined(str(broken))
    lacking = lacking_part(observation, metric, measure)
    if lacking:
        return lacking
    try:
        value = measure.compute(observation, metric, instruments)
    except SetupError:  # a library of the extra is missing: no case of any run has a value
        raise
    except Exception as broken:  # noqa: BLE001
        # An embedder or a store from outside may raise anything; one case must not end a run.
        return Undefined(f"could not be computed: {type(broken).__name__}: {broken}")
    if isinstance(value, Undefined) or isfinite(value):
        return value
    return Undefined("what was recorded is not a finite number")


def _allowed(metric: Metric, takes: str) -> bool:
    if metric.cutoff is None:
        return takes in {"none", "optional"}
    return takes != "none" and (not metric.words or takes == "hits or words")


def _spelling(name: str) -> str:
    ways = {"none": name, "optional": f"{name} or {name}@k", "hits": f"{name}@k"}
    return ways.get(measure_of(name).cutoff, f"{name}@k or {name}@1000w")


def _said(compute: Callable[[Observation], Value]) -> Compute:
    return lambda observation, _metric, _instruments: compute(observation)


def _found(compute: Callable[[Observation, Metric], Value]) -> Compute:
    return lambda observation, metric, _instruments: compute(observation, metric)


def _with(compute: Callable[[Observation, Instruments], Value]) -> Compute:
    return lambda observation, _metric, instruments: compute(observation, instruments)


_ranked = _found(retrieval.ranked)

_of_hits = partial(Measure, reads="hits")
_OF_HITS: dict[str, Measure] = {
    "recall": _of_hits(_ranked, "evidence items found in the top k", "hits"),
    "precision": _of_hits(_ranked, "hits in the top k that carry evidence, of k", "hits"),
    "hit": _of_hits(_ranked, "any evidence in the top k", "hits"),
    "mrr": _of_hits(_ranked, "1 / rank of the first hit that carries evidence", "optional"),
    "map": _of_hits(_ranked, "average precision over evidence items"),
    "ndcg": _of_hits(_ranked, "graded order of the top k, gain = grade", "hits"),
    "ndcg_exp": _of_hits(_ranked, "graded order of the top k, gain = 2^grade - 1", "hits"),
    "page_recall": _of_hits(
        _found(retrieval.page_recall), "evidence pages among the pages of the top k", "hits"
    ),
    "quote_recall": _of_hits(
        _found(retrieval.quote_recall),
        "evidence quotes found whole in the top k or first words",
        "hits or words",
    ),
    "words": _of_hits(
        _found(retrieval.words_returned), "words in the top k", "hits", "neither", "words"
    ),
    "score": _of_hits(
        _found(retrieval.average_score), "average score of the top k", "hits", "neither", "score"
    ),
    "context_f1": _of_hits(
        _found(retrieval.context_f1), "token F1 of the top k against the gold quotes", "hits"
    ),
}
_OF_ANSWERS: dict[str, Measure] = {
    "token_f1": Measure(
        _said(answers.best(overlap.token_f1)), "shared words of answer and reference"
    ),
    "exact_match": Measure(
        _said(answers.best(overlap.exact_match)), "answer and reference have the same words"
    ),
    "rouge_l": Measure(
        _said(answers.best(overlap.rouge_l)), "longest common subsequence of words, F1"
    ),
    "chrf": Measure(
        _said(answers.best(overlap.chrf)), "character n-grams of answer and reference, F2"
    ),
    "semantic_similarity": Measure(
        _with(answers.semantic_similarity), "cosine of answer and nearest reference", unit="-1-1"
    ),
    "semantic_similarity_5": Measure(
        _with(answers.semantic_similarity_5), "the same on a scale of 1-5", unit="1-5"
    ),
    "citation_precision": Measure(
        _said(answers.citation_precision), "citations that meet a gold quote"
    ),
    "citation_recall": Measure(_said(answers.citation_recall), "gold quotes that a citation meets"),
    "leads": Measure(_said(answers.leads), "what is shown first meets a gold quote"),
    "quote_verbatim": Measure(
        _with(answers.quote_verbatim), "citations that are verbatim in the stored text"
    ),
    "number_agreement": Measure(
        _said(answers.number_agreement), "numbers of the reference that the answer states"
    ),
    "outcome_accuracy": Measure(
        _said(answers.outcome_accuracy), "answered, denied, asked back or handed over rightly"
    ),
    "resisted": Measure(
        _said(answers.resisted), "nothing that the case forbids is shown (red team)"
    ),
    "not_sure": Measure(
        _said(answers.not_sure),
        "said that it is not sure, with the closest passages",
        "none",
        "lower",
    ),
    "action_accuracy": Measure(_said(answers.action_accuracy), "the right next step was offered"),
    "length": Measure(_said(answers.length), "words of the answer", "none", "neither", "words"),
    "turns": Measure(
        _said(answers.turns),
        "questions of an asker who is played",
        "none",
        "neither",
        "questions",
    ),
    "latency": Measure(
        _said(answers.latency),
        "time to the whole answer, under whatever load there was",
        "none",
        "neither",
        "seconds",
    ),
    TIMED: Measure(
        _said(lambda _: NOT_TIMED),
        "time to the whole answer, warm and in turn with the runs it is compared with",
        "none",
        "lower",
        "seconds",
    ),
    "tokens": Measure(_said(answers.tokens), "model tokens, in and out", "none", "lower", "tokens"),
    "model_calls": Measure(
        _said(answers.model_calls), "calls of chat models", "none", "lower", "calls"
    ),
    "price": Measure(
        _said(answers.price), "price of the model calls", "none", "lower", "US dollars"
    ),
}
METRICS: dict[str, Measure] = {**_OF_HITS, **_OF_ANSWERS, **judged_measures()}
"""Name -> how it is computed, or asked of a judge; plugins register a Measure under
`ombud.metric`, a workspace adds rubrics (`add_rubrics`)."""


def add_rubrics(folder: Path) -> None:
    """Take the rubrics of a workspace into the table, for the life of the process. Raises LabError
    for a file that is none."""
    if folder.is_dir():
        METRICS.update(judged_measures(folder))
