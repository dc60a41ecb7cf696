"""What triage tells apart: the heads of its classifiers, and their classes."""

from collections.abc import Mapping
from typing import Literal, get_args

Label = Literal["ordinary", "sensitive", "out_of_scope"]
Head = Literal["sensitive", "danger", "topic", "scope"]
HEADS: tuple[Head, ...] = get_args(Head)
TOPICS = ("harassment", "wellbeing", "whistleblowing", "grievance", "family", "health-safety")
"""Classes of the head `topic`: whose contact a sensitive matter gets."""
SCOPES = ("inside", "off topic", "injection", "gibberish")
"""Classes of the head `scope`."""
CLASSES: Mapping[Head, int] = {
    "sensitive": 2,
    "danger": 2,
    "topic": len(TOPICS),
    "scope": len(SCOPES),
}
