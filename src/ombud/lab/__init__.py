"""Measures from outside: cases, metrics, statistics. numpy is imported at the first statistic, not
before."""

from ombud.lab.cases.contamination import contaminated, contamination_note
from ombud.lab.cases.exchange import qrels_lines, read_qrels, read_rankings
from ombud.lab.cases.files import cases_text, parse_columns, read_cases
from ombud.lab.cases.quotes import normalise
from ombud.lab.cases.splits import OPEN, draw_sample, select_split, split_of
from ombud.lab.judges.asking import INVALID, Judge, JudgePolicy
from ombud.lab.judges.judging import StoredReplies
from ombud.lab.judges.reading import read_rubrics
from ombud.lab.judges.wording import rubric_text
from ombud.lab.metrics.losses import LOSSES
from ombud.lab.metrics.metric import Embed, Instruments, Measure, Metric, Undefined, Value
from ombud.lab.metrics.overlap import TEXT_METRICS
from ombud.lab.metrics.parsing import (
    METRICS,
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
    Risk,
    choose_threshold,
    decision_accuracy,
    decisions,
    risk_area,
    risk_coverage,
    undecided,
)
from ombud.lab.online.harvesting import (
    LIVE,
    Harvest,
    check_consent,
    harvest_questions,
    live_id,
    sample_answers,
    sample_live,
)
from ombud.lab.online.reading import live_answers
from ombud.lab.online.variants import (
    ExperimentScope,
    LiveFigure,
    VariantAdvice,
    advise,
    compare_variants,
    experiment_scopes,
)
from ombud.lab.people.agreeing import Agreement, agreement, agreement_table
from ombud.lab.people.alignment import JudgeAlignment, align, alignment_table
from ombud.lab.people.annotating import (
    AnnotationTask,
    annotation_key,
    annotation_sheet,
    corrected_grades,
    draw_tasks,
    grades_sheet,
    lowest_grades,
)
from ombud.lab.people.criteria import CriteriaSet, criteria_set
from ombud.lab.people.pooling import (
    pool_passages,
    pool_sheet,
    qrels_of_grades,
    read_grades,
    with_grades,
)
from ombud.lab.people.ratings import (
    FaultyCell,
    Rating,
    RatingSet,
    find_key,
    ratings_text,
    read_key,
    read_ratings,
    why_no_rating,
)
from ombud.lab.people.reviewing import (
    Reviewed,
    ReviewTask,
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
from ombud.lab.report.accounting import (
    PathCost,
    closing,
    costs_by_path,
    costs_table,
    judging_summary,
)
from ombud.lab.report.claims import ClaimOutcome
from ombud.lab.report.comparing import (
    LEVEL,
    CaseDifference,
    Contrast,
    RecordedRun,
    changes,
    compare_runs,
    direction,
    read_run,
)
from ombud.lab.report.drilldown import carries_quote
from ombud.lab.report.gating import Fall, FallLimits, Verdict, as_junit, check_gate, find_deviations
from ombud.lab.report.plotting import (
    Interval,
    Point,
    Series,
    draw_intervals,
    draw_lines,
    draw_scatter,
    image_address,
)
from ombud.lab.report.rendering import html_report, markdown_report, study_body, study_html
from ombud.lab.report.sides import leading_metric
from ombud.lab.report.studying import Plot, StudyPlots, draw_study
from ombud.lab.report.summary import GROUPS, MetricSummary, cluster_of, summarise
from ombud.lab.report.tables import (
    ContrastRow,
    contrast_table,
    figure,
    figures_table,
    interval,
    markdown_table,
    p_value,
)
from ombud.lab.report.trends import Step, compute_trend, draw_over_time, same_dataset
from ombud.lab.report.wording import (
    difference_words,
    figure_of,
    interval_of,
    interval_words,
    title_of,
    unit_of,
)
from ombud.lab.runs.freezing import (
    EvidenceTarget,
    FrozenTarget,
    freeze_cases,
    frozen_text,
    read_frozen,
)
from ombud.lab.runs.imports import import_run, read_answers
from ombud.lab.runs.records import export
from ombud.lab.runs.remote import RemoteTarget
from ombud.lab.runs.running import (
    RunOptions,
    digest_of,
    judge_metrics,
    no_judge,
    rescore,
    run_cases,
)
from ombud.lab.runs.sweeping import Cell, cell_label, parse_axes, parse_grid, part, sweep_points
from ombud.lab.runs.systems import SystemTarget, find_system
from ombud.lab.runs.target import Target
from ombud.lab.runs.timing import time_runs
from ombud.lab.statistics import Comparison, Mean, compare, holm, mean
from ombud.lab.synthesis.accounting import FileReplies
from ombud.lab.synthesis.cleaning import Cleaner
from ombud.lab.synthesis.writing import CaseWriter, WritingRequest
from ombud.lab.tuning.ablating import Ablation, ablate
from ombud.lab.tuning.designs import (
    Design,
    DesignOutcome,
    carry_out_design,
    read_design,
    sweep_design,
)
from ombud.lab.tuning.parts import component_parts, plan_parts, step_parts
from ombud.lab.tuning.reporting import Halves, Tuned, tune_halves
from ombud.lab.tuning.searching import TIMES, FinishedSearch, Trial, Tuning
