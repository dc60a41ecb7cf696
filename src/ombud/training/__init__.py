"""How the shipped weights came about: the complexity router, triage, confidence, the spans that are
underlined, and stories. Each has its make target: `make router`, `make triage`, `make confidence`,
`make spans`, `make stories`."""

from ombud.training.confidence import QuestionSignals, train_confidence
from ombud.training.linear import TrainingEmbedder
from ombud.training.matters.vectors import matter_bank, read_matters
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
from ombud.training.router.training import train_router
from ombud.training.spans import QuestionSpans, train_spans, underlined_among_best
from ombud.training.stories import judge_stories, story_messages, train_stories
from ombud.training.triage.held_out import HeldOutLogits
from ombud.training.triage.judging import (
    TriageScores,
    compare_triage,
    triage_report,
    wilson_rate,
)
from ombud.training.triage.labelled import read_labelled_messages
from ombud.training.triage.training import SecondOpinion

__all__ = [
    "HeldOutLogits",
    "LabelledQuestion",
    "QuestionSignals",
    "QuestionSpans",
    "RouterScores",
    "SecondOpinion",
    "TrainingEmbedder",
    "TriageScores",
    "compare_routers",
    "compare_triage",
    "fine_tune_router",
    "judge_by_folds",
    "judge_by_router",
    "judge_stories",
    "judge_weights",
    "matter_bank",
    "read_labelled_messages",
    "read_labelled_questions",
    "read_matters",
    "router_report",
    "story_messages",
    "train_confidence",
    "train_router",
    "train_spans",
    "train_stories",
    "triage_report",
    "underlined_among_best",
    "wilson_rate",
]
