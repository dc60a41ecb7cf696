"""Measures from outside: cases, metrics, statistics. numpy is imported at the first statistic, not before."""

from ombud.lab import plots
from ombud.lab.answers import outcome_class
from ombud.lab.cases import cases_text, read_cases, write_cases
from ombud.lab.comparing import (
    Change,
    Contrast,
    Recorded,
    changes,
    contrast,
    read_run,
    shared_cases,
)
from ombud.lab.exchange import (
    qrels_of,
    read_beir,
    read_qrels,
    read_rankings,
    write_beir,
    write_qrels,
    write_rankings,
)
from ombud.lab.gate import Fall, Verdict, as_junit, gate
from ombud.lab.losses import LOSSES, Shelf, locate
from ombud.lab.metrics import METRICS, USUAL, Measure, known_metrics, needs, parse_metric, parse_metrics, score
from ombud.lab.observation import Embed, Instruments, Metric, TextOf, Undefined, Value
from ombud.lab.quotes import first_words, holds, normalise, pieces, union
from ombud.lab.rankings import RANK_METRICS, Qrels, Rankings, score_rankings
from ombud.lab.records import FORMATS, export
from ombud.lab.remote import RemoteTarget
from ombud.lab.report import html_report, markdown_report
from ombud.lab.risk import Decision, Risk, accuracy, area, decisions, risk_coverage, threshold
from ombud.lab.running import Options, rescore, run_cases
from ombud.lab.splits import OPEN, SPLITS, Split, sample, select, split_of
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
from ombud.lab.summary import GROUPS, Group, Line, as_markdown, cluster_of, groups_of, summarise
from ombud.lab.sweep import Cell, Placed, label, parse_grid, points, sweep
from ombud.lab.synthesis import Account, Synthesis, synthesise
from ombud.lab.target import Target
from ombud.lab.trend import Step, same_dataset, trend
from ombud.types import Observation

__all__ = [
    "FORMATS",
    "GROUPS",
    "LOSSES",
    "METRICS",
    "OPEN",
    "RANK_METRICS",
    "SPLITS",
    "USUAL",
    "Account",
    "Cell",
    "Change",
    "Comparison",
    "Contrast",
    "Decision",
    "Embed",
    "Fall",
    "Group",
    "Instruments",
    "Line",
    "Mean",
    "Measure",
    "Metric",
    "Observation",
    "Options",
    "Placed",
    "Qrels",
    "Rankings",
    "Recorded",
    "RemoteTarget",
    "Risk",
    "Shelf",
    "Split",
    "Step",
    "Synthesis",
    "Target",
    "TextOf",
    "Undefined",
    "Value",
    "Verdict",
    "accuracy",
    "area",
    "as_junit",
    "as_markdown",
    "cases_text",
    "changes",
    "cluster_of",
    "cohens_d",
    "compare",
    "contrast",
    "decisions",
    "effect_size",
    "export",
    "first_words",
    "gate",
    "groups_of",
    "holds",
    "holm",
    "html_report",
    "interval",
    "known_metrics",
    "label",
    "locate",
    "markdown_report",
    "mcnemar",
    "mean",
    "needs",
    "normalise",
    "outcome_class",
    "parse_grid",
    "parse_metric",
    "parse_metrics",
    "permutation_test",
    "pieces",
    "plots",
    "points",
    "qrels_of",
    "read_beir",
    "read_cases",
    "read_qrels",
    "read_rankings",
    "read_run",
    "rescore",
    "risk_coverage",
    "run_cases",
    "same_dataset",
    "sample",
    "score",
    "score_rankings",
    "select",
    "shared_cases",
    "smallest_difference",
    "split_of",
    "summarise",
    "sweep",
    "synthesise",
    "threshold",
    "trend",
    "union",
    "write_beir",
    "write_cases",
    "write_qrels",
    "write_rankings",
]
