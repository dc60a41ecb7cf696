"""How many passages settle a question: one, two, or three and more. numpy at question time, scikit-learn to train."""

from ombud.retrieve.router.classifying import Routed, Router, class_of, classify, classify_by_model, open_router

__all__ = ["Routed", "Router", "class_of", "classify", "classify_by_model", "open_router"]
