"""Measures from outside: cases, metrics, statistics. numpy is imported at the first statistic, not
before."""

from ombud.lab.cases.contamination import contaminated, contamination_note
from ombud.lab.cases.exchange import qrels_lines, read_qrels, read_rankings
from ombud.lab.cases.files import cases_text, read_cases
from ombud.lab.cases.quotes import normalise
from ombud.lab.cases.splits import draw_sample, select_split, split_of
from ombud.lab.judges.asking import INVALID, Judge, JudgePolicy
from ombud.lab.judges.judging import StoredReplies
from ombud.lab.judges.reading import Rubric, read_rubrics
from ombud.lab.judges.wording import rubric_text
from ombud.lab.metrics.losses import LOSSES
from ombud.lab.metrics.metric import Embed, Instruments, Measure, Metric, Undefined, Value
from ombud.lab.metrics.overlap import TEXT_METRICS
from ombud.lab.metrics.parsing import (
    METRICS,
    TIMED,
    USUAL,
    add_rubrics,
    parse_metric,
    parse_metrics,
    score,
    split_judged,
    usual_metrics,
)
from ombud.lab.metrics.rankings import score_rankings
from ombud.lab.metrics.risk import (
    Decision,
    Risk,
    choose_threshold,
    decision_accuracy,
    decisions,
    risk_area,
    risk_coverage,
    undecided,
)
from ombud.lab.online.harvesting import Harvest, check_consent, harvest_questions, rated_answers
from ombud.lab.online.reading import live_answers
from ombud.lab.online.thumbs import ThumbCorrelation, read_feedback, thumb_correlations
from ombud.lab.online.variants import (
    LiveAnswer,
    LiveFigure,
    VariantAdvice,
    advise,
    compare_variants,
)
from ombud.lab.people.agreeing import Agreement, Estimate, agreement
from ombud.lab.people.alignment import JudgeAlignment, align
from ombud.lab.people.annotating import (
    AnnotationResult,
    AnnotationTask,
    annotation_key,
    annotation_sheet,
    draw_tasks,
    ratings_sheet,
    read_annotations,
    read_key,
)
from ombud.lab.people.criteria import CriteriaSet, criteria_set, criteria_sets
from ombud.lab.people.overturning import (
    grades_sheet,
    lowest_grades,
    overturned_share,
    read_decisions,
)
from ombud.lab.people.pooling import (
    Grading,
    UnjudgedShare,
    pool_passages,
    pool_sheet,
    qrels_of_grades,
    read_grades,
    unjudged_share,
    with_grades,
)
from ombud.lab.people.powered import PoweredMean, powered_mean
from ombud.lab.people.preferring import (
    Preference,
    RatedAnswer,
    preference_lines,
    preferences_of_runs,
    preferences_of_thumbs,
    values_of_metric,
    values_of_ratings,
)
from ombud.lab.people.ratings import Rating, RatingSet, read_ratings
from ombud.lab.people.reviewing import (
    Reviewed,
    ReviewTask,
    apply_reviews,
    read_reviews,
    review_sheet,
    review_tasks,
    unreviewed,
)
from ombud.lab.people.rounds import (
    RoundReport,
    assign_raters,
    choose_on_topic,
    round_markdown,
    round_report,
    wilson_interval,
)
from ombud.lab.people.sheets import read_sheet, sheet_text
from ombud.lab.report.comparing import (
    CaseDifference,
    Contrast,
    RecordedRun,
    changes,
    compare_runs,
    direction,
    read_run,
)
from ombud.lab.report.costs import PathCost, costs_by_path
from ombud.lab.report.drilldown import carries_quote
from ombud.lab.report.gating import Fall, Verdict, as_junit, check_gate
from ombud.lab.report.rendering import html_report, markdown_report
from ombud.lab.report.studying import StudyPlots, draw_study
from ombud.lab.report.summary import GROUPS, MetricSummary, cluster_of, summarise, summary_markdown
from ombud.lab.report.trends import Step, compute_trend, same_dataset
from ombud.lab.report.wording import figure_of, interval_of, title_of
from ombud.lab.runs.freezing import (
    EvidenceTarget,
    FrozenCase,
    FrozenTarget,
    freeze_cases,
    frozen_text,
    read_frozen,
)
from ombud.lab.runs.records import export
from ombud.lab.runs.remote import RemoteTarget
from ombud.lab.runs.running import RunOptions, judge_metrics, no_judge, rescore, run_cases
from ombud.lab.runs.sweeping import (
    Cell,
    SweepPoint,
    cell_label,
    parse_axes,
    parse_grid,
    part,
    run_sweep,
    sweep_points,
)
from ombud.lab.runs.target import Target
from ombud.lab.runs.timing import time_runs
from ombud.lab.statistics import Comparison, Mean, compare, holm, mean
from ombud.lab.synthesis.choosing import Synthesis, synthesise
from ombud.lab.synthesis.cleaning import Cleaner
from ombud.lab.synthesis.writing import CaseWriter, FileReplies, WritingRequest
from ombud.lab.tuning.ablating import Ablation, ablate
from ombud.lab.tuning.noise import variance_of
from ombud.lab.tuning.parts import component_parts, plan_parts, step_parts
from ombud.lab.tuning.reporting import Halves, Nested, Tuned, tune_halves, tune_nested
from ombud.lab.tuning.searching import (
    TIMES,
    FinishedSearch,
    HeldOut,
    Trial,
    Tuning,
    best_of,
    search_best,
)
from ombud.lab.tuning.wavering import MetricNoise, measure_noise

__all__ = [
    "GROUPS",
    "INVALID",
    "LOSSES",
    "METRICS",
    "TEXT_METRICS",
    "TIMED",
    "TIMES",
    "USUAL",
    "Ablation",
    "Agreement",
    "AnnotationResult",
    "AnnotationTask",
    "CaseDifference",
    "CaseWriter",
    "Cell",
    "Cleaner",
    "Comparison",
    "Contrast",
    "CriteriaSet",
    "Decision",
    "Embed",
    "Estimate",
    "EvidenceTarget",
    "Fall",
    "FileReplies",
    "FinishedSearch",
    "FrozenCase",
    "FrozenTarget",
    "Grading",
    "Halves",
    "Harvest",
    "HeldOut",
    "Instruments",
    "Judge",
    "JudgeAlignment",
    "JudgePolicy",
    "LiveAnswer",
    "LiveFigure",
    "Mean",
    "Measure",
    "Metric",
    "MetricNoise",
    "MetricSummary",
    "Nested",
    "PathCost",
    "PoweredMean",
    "Preference",
    "RatedAnswer",
    "Rating",
    "RatingSet",
    "RecordedRun",
    "RemoteTarget",
    "ReviewTask",
    "Reviewed",
    "Risk",
    "RoundReport",
    "Rubric",
    "RunOptions",
    "Step",
    "StoredReplies",
    "StudyPlots",
    "SweepPoint",
    "Synthesis",
    "Target",
    "ThumbCorrelation",
    "Trial",
    "Tuned",
    "Tuning",
    "Undefined",
    "UnjudgedShare",
    "Value",
    "VariantAdvice",
    "Verdict",
    "WritingRequest",
    "ablate",
    "add_rubrics",
    "advise",
    "agreement",
    "align",
    "annotation_key",
    "annotation_sheet",
    "apply_reviews",
    "as_junit",
    "assign_raters",
    "best_of",
    "carries_quote",
    "cases_text",
    "cell_label",
    "changes",
    "check_consent",
    "check_gate",
    "choose_on_topic",
    "choose_threshold",
    "cluster_of",
    "compare",
    "compare_runs",
    "compare_variants",
    "component_parts",
    "compute_trend",
    "contaminated",
    "contamination_note",
    "costs_by_path",
    "criteria_set",
    "criteria_sets",
    "decision_accuracy",
    "decisions",
    "direction",
    "draw_sample",
    "draw_study",
    "draw_tasks",
    "export",
    "figure_of",
    "freeze_cases",
    "frozen_text",
    "grades_sheet",
    "harvest_questions",
    "holm",
    "html_report",
    "interval_of",
    "judge_metrics",
    "live_answers",
    "lowest_grades",
    "markdown_report",
    "mean",
    "measure_noise",
    "no_judge",
    "normalise",
    "overturned_share",
    "parse_axes",
    "parse_grid",
    "parse_metric",
    "parse_metrics",
    "part",
    "plan_parts",
    "pool_passages",
    "pool_sheet",
    "powered_mean",
    "preference_lines",
    "preferences_of_runs",
    "preferences_of_thumbs",
    "qrels_lines",
    "qrels_of_grades",
    "rated_answers",
    "ratings_sheet",
    "read_annotations",
    "read_cases",
    "read_decisions",
    "read_feedback",
    "read_frozen",
    "read_grades",
    "read_key",
    "read_qrels",
    "read_rankings",
    "read_ratings",
    "read_reviews",
    "read_rubrics",
    "read_run",
    "read_sheet",
    "rescore",
    "review_sheet",
    "review_tasks",
    "risk_area",
    "risk_coverage",
    "round_markdown",
    "round_report",
    "rubric_text",
    "run_cases",
    "run_sweep",
    "same_dataset",
    "score",
    "score_rankings",
    "search_best",
    "select_split",
    "sheet_text",
    "split_judged",
    "split_of",
    "step_parts",
    "summarise",
    "summary_markdown",
    "sweep_points",
    "synthesise",
    "thumb_correlations",
    "time_runs",
    "title_of",
    "tune_halves",
    "tune_nested",
    "undecided",
    "unjudged_share",
    "unreviewed",
    "usual_metrics",
    "values_of_metric",
    "values_of_ratings",
    "variance_of",
    "wilson_interval",
    "with_grades",
]
