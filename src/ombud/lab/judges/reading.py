"""Rubric files: what a judge, or a person, is told about one metric."""

import tomllib
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ombud.errors import LabError
from ombud.types import Case

SHIPPED = Path(__file__).parent / "rubrics"
Input = Literal["question", "reference", "passages", "answer"]
INPUTS: tuple[Input, ...] = get_args(Input)


class Example(BaseModel):
    """An answer with its grade."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = ""
    reference: str = ""
    passages: str = ""
    answer: str = ""
    grade: int
    reason: str


class Rubric(BaseModel):
    """A judged metric, as `FAMILY/NAME.toml` describes it to judges and to people."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """Such as `hypa.absolute_correctness`."""
    what: str
    """One line: what is graded."""
    inputs: tuple[Input, ...]
    criteria: tuple[str, ...] = Field(min_length=1)
    """Questions that lead to the grade."""
    levels: dict[int, str] = Field(min_length=2)
    """Grade -> what it means."""
    scale: int = Field(1, ge=1)
    """A grade divided by this is the value: 100 where grades are per cent."""
    good: Example | None = None
    poor: Example | None = None
    edges: tuple[str, ...] = ()
    """What to do where it is not plain."""
    reason_first: bool = True
    expect: tuple[Literal["answer", "deny", "clarify", "handoff"], ...] = ("answer",)
    """Cases that it applies to; elsewhere there is no value."""
    types: tuple[str, ...] = ()
    """Of these types only; empty = of all."""
    refused: Literal["skip", "grade", "lowest"] = "skip"
    """What a refusal is: no value, graded like an answer, or the lowest grade without asking."""
    better: Literal["higher", "lower"] = "higher"
    criterion: str = ""
    """How a set of criteria for people calls it; empty = the name without its family."""

    @model_validator(mode="after")
    def _examples_have_a_grade_that_is_there(self) -> "Rubric":
        for example in (self.good, self.poor):
            if example and example.grade not in self.levels:
                raise ValueError(f"an example's grade {example.grade} is none of the levels")
        return self

    @property
    def unit(self) -> str:
        low, high = min(self.levels), max(self.levels)
        return f"{low / self.scale:g}-{high / self.scale:g}"

    @property
    def digest(self) -> str:
        """Identify the wording: verdicts under another wording are another measure."""
        return sha256(self.model_dump_json().encode()).hexdigest()[:12]

    def applies_to(self, case: Case) -> bool:
        return case.expect in self.expect and (not self.types or case.type in self.types)


def read_rubrics(folder: Path | None = None) -> dict[str, Rubric]:
    """Name -> rubric: those that ship, and those of a folder of the same shape, which replace them.

    Raises LabError for a file that is none."""
    rubrics = dict(_shipped())
    if folder and folder.is_dir():
        rubrics |= _of_folder(folder)
    return rubrics


@cache
def _shipped() -> dict[str, Rubric]:
    return _of_folder(SHIPPED)


def _of_folder(folder: Path) -> dict[str, Rubric]:
    rubrics: dict[str, Rubric] = {}
    for path in sorted(folder.glob("*/*.toml")):
        rubric = _read(path)
        rubrics[rubric.name] = rubric
    return rubrics


def _read(path: Path) -> Rubric:
    name = f"{path.parent.name}.{path.stem}"
    try:
        fields: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        return Rubric.model_validate({"name": name, **fields})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as wrong:
        raise LabError(
            f"The rubric {name} cannot be read: {wrong}.", hint="A rubric is a TOML file."
        ) from wrong
    except ValidationError as wrong:
        first = wrong.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise LabError(
            f"The rubric {name} is not one: {where}: {first['msg']}.",
            hint="`ombud lab show --rubrics` shows those that ship; copy one of them.",
        ) from wrong
