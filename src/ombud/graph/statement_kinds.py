"""What kind of statement a predicate makes, and the colours of each kind by day and by night."""

import re
from collections.abc import Mapping
from typing import NamedTuple


class StatementKind(NamedTuple):
    name: str
    """Class of its marks."""
    legend: str
    pattern: re.Pattern[str]


KINDS = (
    StatementKind(
        "no",
        "prohibited",
        re.compile(
            r"\b(?:(?:must|may|shall|can|should|only) not"
            r"|not (?:allowed|permitted|eligible|entitled)"
            r"|cannot|never|prohibit\w*|forbidden|unlawful)\b"
        ),
    ),
    StatementKind(
        "must",
        "required",
        re.compile(
            r"\b(?:must|shall|(?<!not )ha(?:s|ve) to|(?<!not )needs?|requires?d?|should"
            r"|responsible)\b"
        ),
    ),
    StatementKind(
        "may",
        "allowed",
        re.compile(r"\b(?:may|can|allowed|permitted|entitled?s?|eligible|not (?:have|need) to)\b"),
    ),
    StatementKind(
        "is",
        "defined",
        re.compile(
            r"\b(?:means?|is short for|is defined|refers? to|is about|includes?|stands for)\b"
        ),
    ),
    StatementKind("other", "stated", re.compile("")),
)
"""The first whose pattern fits a predicate counts."""

FONTS = "Inter,ui-sans-serif,system-ui,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
DAY = {
    "ground": "#fbfaf7",
    "card": "#fff",
    "edge": "#e6e1d8",
    "ink": "#22252a",
    "quiet": "#656560",
    "term": "#0b5d57",
    "on": "#fff",
    "no": "#b3261e",
    "must": "#1f5fa8",
    "may": "#1d7a4c",
    "is": "#7d3a66",
    "other": "#5f6368",
}
NIGHT = {
    "ground": "#181816",
    "card": "#242421",
    "edge": "#383732",
    "ink": "#eae7e1",
    "quiet": "#a8a59d",
    "term": "#6bcdc1",
    "on": "#08211e",
    "no": "#ff9a8f",
    "must": "#8fbef5",
    "may": "#7fd3a4",
    "is": "#e6a9cd",
    "other": "#b5b8bc",
}


def kind_of(predicate: str) -> str:
    return next(kind.name for kind in KINDS if kind.pattern.search(predicate))


def style_sheet() -> str:
    """Both palettes keep 4.5 : 1 between words and their ground."""
    rules = [
        f".ombud-graph{{font-family:{FONTS}}}",
        ".head,.does{font-weight:600}.on-term{font-weight:650}",
        ".link{fill:none;stroke-width:1.4;stroke-opacity:.55}",
        _colours(DAY),
        f"@media (prefers-color-scheme:dark){{{_colours(NIGHT)}}}",
    ]
    return "".join(rules)


def _colours(palette: Mapping[str, str]) -> str:
    rules = [
        f".ombud-graph .ground{{fill:{palette['ground']}}}",
        f".ombud-graph text{{fill:{palette['ink']}}}",
        f".ombud-graph .card{{fill:{palette['card']};stroke:{palette['edge']}}}",
        f".ombud-graph .quiet{{fill:{palette['quiet']}}}",
        f".ombud-graph .term{{fill:{palette['term']}}}",
        f".ombud-graph .on-term{{fill:{palette['on']}}}",
    ]
    for kind in KINDS:
        colour = palette[kind.name]
        rules.append(f".ombud-graph .{kind.name},.ombud-graph .t-{kind.name}{{fill:{colour}}}")
        rules.append(f".ombud-graph .l-{kind.name}{{stroke:{colour}}}")
    return "".join(rules)
