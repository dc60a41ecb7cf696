"""What a study is: rows to run, and claims that its rows can bear out or not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Need = Literal["", "chat model", "reranker"]


@dataclass(frozen=True, slots=True)
class StudyRow:
    """One set-up of a study."""

    label: str
    cell: Mapping[str, Any]
    """As of a sweep: `plan.*`, `index.*`, `models.*`."""
    needs: Need = ""
    """Without it the row is shown and not run."""
    paper: str = ""
    """The study's own figure of this row, as printed; empty where it gave none that we know."""
    table: str = ""
    """Which of the study's tables it stands in."""


@dataclass(frozen=True, slots=True)
class StudyClaim:
    """One row is better than another in one metric."""

    said: str
    metric: str
    better: str
    """Label of a row."""
    worse: str
    is_known: bool = False
    """The study is known to say so; else its design asks it, and we do not know what it found."""


@dataclass(frozen=True, slots=True)
class Study:
    title: str
    about: str
    """What was studied, and how this design differs where it must."""
    metrics: tuple[str, ...]
    rows: tuple[StudyRow, ...]
    claims: tuple[StudyClaim, ...] = ()
    paper_metric: str = ""
    """What the study's own figures measure."""
    lines: str = ""
    """The table whose first metric is drawn by k, one line for the rest of a label."""
    groups: tuple[str, ...] = ()
    """Groups of cases by which the first metric is shown for each row: type, tag, persona."""
    repeated: bool = False
    """The first row is run twice: how far do two runs of the same differ?"""
    notes: tuple[str, ...] = field(default=())
