"""Measures from outside: cases, metrics, statistics. numpy is imported at the first statistic, not before."""

from ombud.lab.answers import outcome_class
from ombud.lab.cases import read_cases, write_cases
from ombud.lab.exchange import qrels_of, read_beir, read_qrels, read_run, write_beir, write_qrels, write_run
from ombud.lab.metrics import METRICS, Measure, known_metrics, parse_metric, parse_metrics, score
from ombud.lab.observation import Embed, Instruments, Metric, Observation, TextOf, Undefined, Value
from ombud.lab.quotes import first_words, holds, normalise, pieces, union
from ombud.lab.rankings import RANK_METRICS, Qrels, Rankings, score_rankings
from ombud.lab.splits import SPLITS, Split, select, split_of
from ombud.lab.statistics import (
    Comparison,
    Mean,
    cohens_d,
    compare,
    effect_size,
    holm,
    interval,
    mcnemar,
    mean,
    permutation_test,
    smallest_difference,
)
from ombud.lab.summary import Line, as_markdown, cluster_of, summarise

__all__ = [
    "METRICS",
    "RANK_METRICS",
    "SPLITS",
    "Comparison",
    "Embed",
    "Instruments",
    "Line",
    "Mean",
    "Measure",
    "Metric",
    "Observation",
    "Qrels",
    "Rankings",
    "Split",
    "TextOf",
    "Undefined",
    "Value",
    "as_markdown",
    "cluster_of",
    "cohens_d",
    "compare",
    "effect_size",
    "first_words",
    "holds",
    "holm",
    "interval",
    "known_metrics",
    "mcnemar",
    "mean",
    "normalise",
    "outcome_class",
    "parse_metric",
    "parse_metrics",
    "permutation_test",
    "pieces",
    "qrels_of",
    "read_beir",
    "read_cases",
    "read_qrels",
    "read_run",
    "score",
    "score_rankings",
    "select",
    "smallest_difference",
    "split_of",
    "summarise",
    "union",
    "write_beir",
    "write_cases",
    "write_qrels",
    "write_run",
]
