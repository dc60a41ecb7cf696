"""What a study is: rows to run, and claims that its rows can bear out or not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ombud.lab.report.claims import TestedClaim

Need = Literal[
    "", "chat model", "reranker", "chat model and reranker", "second chat model (--generator)"
]
NO_FIGURE = "without a figure"
"""Of a claim that a study states in words alone."""


@dataclass(frozen=True, slots=True)
class StudyAxes:
    """What a design takes from whoever carries it out."""

    sources: tuple[str, ...] = ()
    """Of the workspace, in the order in which a corpus grew: pages, then attachments, ..."""
    embedders: tuple[str, ...] = ()
    """Beside the workspace's own; each has an index of its own."""
    generators: tuple[str, ...] = ()
    """Chat models beside the workspace's own, as `provider:model`."""


@dataclass(frozen=True, slots=True)
class StudyRow:
    """One set-up of a study."""

    label: str
    cell: Mapping[str, Any]
    """As of a sweep: `plan.*`, `index.*`, `models.*`."""
    needs: Need = ""
    """Without it the row is shown and not run."""
    paper: tuple[str, ...] = ()
    """The study's own figures of this row, as published, in the order of its `paper_metrics`."""
    table: str = ""
    """Which of the study's tables it stands in."""


@dataclass(frozen=True, slots=True)
class StudyClaim(TestedClaim):
    judged: str = ""
    """The metric where a judge is set up; empty: `metric` there too."""
    found: str = ""
    """The metric where nothing is answered and only a search is measured; empty: none can tell."""


@dataclass(frozen=True, slots=True)
class Study:
    title: str
    about: str
    """What was studied, and how this design differs where it must."""
    metrics: tuple[str, ...]
    rows: tuple[StudyRow, ...]
    claims: tuple[StudyClaim, ...] = ()
    judged: tuple[str, ...] = ()
    """The study's own scores, given by a judge; where one is set up they lead."""
    paper_metrics: tuple[str, ...] = ()
    """What the study's own figures measure."""
    lines: str = ""
    """The table whose first metric is drawn by k, one line for the rest of a label."""
    groups: tuple[str, ...] = ()
    """Groups of cases by which metrics are shown for each row: type, country, tag, set."""
    medians: str = ""
    """The table whose rows are shown with mean and median, such as one row a reader."""
    grouped: tuple[str, ...] = ()
    """The metrics shown by group, and with medians; empty: the first."""
    contrasted: str = ""
    """A group, such as country, by which each claim is tested as well."""
    repeated: bool = False
    """The first row is run twice: how far do two runs of the same differ?"""
    timed: tuple[str, ...] = ()
    """Labels of the rows that are timed in turn, on the same questions."""
    saves: str = ""
    """Label of the row beside which it is shown what each row saves of `saved`."""
    saved: tuple[str, ...] = ("words@10", "tokens")
    own_tables: tuple[str, ...] = ()
    """Further tables of the study, in Markdown, with its figures beside ours."""
    notes: tuple[str, ...] = field(default=())
