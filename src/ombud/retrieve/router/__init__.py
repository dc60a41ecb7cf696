"""How many passages settle a question: one, two, or three and more. numpy at question time,
scikit-learn to train."""

from ombud.retrieve.router.classifying import (
    Routed,
    Router,
    class_of,
    classify,
    classify_by_model,
    open_router,
)
from ombud.retrieve.router.weights import router_weights_text as weights_text

__all__ = [
    "Compared",
    "Labelled",
    "Result",
    "Routed",
    "Router",
    "TrainingTools",
    "as_markdown",
    "class_of",
    "classify",
    "classify_by_model",
    "compare_routers",
    "fine_tune",
    "judge_by_folds",
    "judge_by_router",
    "judge_weights",
    "open_router",
    "read_labelled",
    "train",
    "weights_text",
]
