"""How the shipped weights came about."""

from ombud.training.router.comparing import (
    RouterScores,
    compare_routers,
    judge_by_folds,
    judge_by_router,
    judge_weights,
    router_report,
)
from ombud.training.router.fine_tuning import fine_tune_router
from ombud.training.router.labelled import LabelledQuestion, read_labelled_questions
from ombud.training.router.training import RouterTrainingParts, train_router
from ombud.training.triage.judging import TriageScores, compare_triage, triage_report
from ombud.training.triage.labelled import read_labelled_messages
from ombud.training.triage.training import TriageTrainingParts

__all__ = [
    "LabelledQuestion",
    "RouterScores",
    "RouterTrainingParts",
    "TriageScores",
    "TriageTrainingParts",
    "compare_routers",
    "compare_triage",
    "fine_tune_router",
    "judge_by_folds",
    "judge_by_router",
    "judge_weights",
    "read_labelled_messages",
    "read_labelled_questions",
    "router_report",
    "train_router",
    "triage_report",
]
