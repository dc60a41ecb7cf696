"""The sets of criteria that people rate by, and what they are told of each."""

import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ombud.errors import BadRequest
from ombud.lab.judges.reading import Rubric, read_rubrics
from ombud.lab.judges.wording import rubric_text
from ombud.settings import nearest

_FILE = Path(__file__).parent / "criteria.toml"


class CriteriaSet(NamedTuple):
    """Criteria by which answers or pairs are rated, in the order in which raters see them."""

    name: str
    what: str
    rates: str
    """`answers`, or `pairs` of a question and an answer."""
    criteria: Mapping[str, Rubric]
    """Criterion -> what is told of it."""

    @property
    def levels(self) -> dict[str, Collection[float]]:
        """Criterion -> its values."""
        return {name: rubric.levels for name, rubric in self.criteria.items()}

    def guide(self) -> str:
        """Write what a rater reads before the first item, as Markdown."""
        parts = [f"# {self.what}"]
        for name, rubric in self.criteria.items():
            parts.append(f"## {name} ({rubric.unit})\n\n{rubric_text(rubric).strip()}")
        return "\n\n".join(parts) + "\n"


def criteria_set(name: str) -> CriteriaSet:
    """Raises BadRequest for another name."""
    sets = criteria_sets()
    if name not in sets:
        raise BadRequest(f"No set of criteria is called `{name}`.", hint=nearest(name, sets))
    return sets[name]


@cache
def criteria_sets() -> Mapping[str, CriteriaSet]:
    """Load the sets of criteria by name."""
    content = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    sets: dict[str, CriteriaSet] = {}
    for name, fields in content.items():
        criteria: dict[str, Rubric] = {}
        for row in fields["criteria"]:
            rubric = _rubric(name, row)
            criteria[rubric.name.partition(".")[2]] = rubric
        sets[name] = CriteriaSet(name, fields["what"], fields["rates"], criteria)
    return sets


def _rubric(family: str, row: Mapping[str, Any]) -> Rubric:
    if "rubric" in row:
        return read_rubrics()[row["rubric"]]
    return Rubric.model_validate({**row, "name": f"{family}.{row['name']}"})
