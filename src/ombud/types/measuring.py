"""Cases, what a target did with them, and scores."""

from datetime import date, datetime
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, Literal

from pydantic import Field, model_validator

from ombud.types.answers import Answer, Hit, Trace
from ombud.types.asking import Message, Person
from ombud.types.records import Record


class Reference(Record):
    text: str
    persona: str | None = None


class Passage(Record):
    """Evidence of a case: survives re-chunking because it is text, not a chunk id."""

    document: str
    quote: str
    grade: Literal[1, 2] = 2
    page: int | None = None
    also: tuple["Passage", ...] = ()
    """Other places that say the same: any one of them is as good as this."""

    @property
    def places(self) -> tuple["Passage", ...]:
        return (self, *self.also)


CaseType = Literal[
    "simple",
    "complex",
    "distracting",
    "situational",
    "double",
    "conversational",
    "complex_situational",
    "off_topic",
    "unanswerable",
    "vague",
    "comparative",
    "rule_conclusion",
    "sensitive",
    "incoherent",
]


class Goal(Record):
    """The aim of an asker who is played by a model."""

    wanted: str
    """Such as `to know on which day the payslip comes, and whom to ask if it does not`."""
    about: str = ""
    """Who they are, what they know and how they write."""
    turns: int = Field(4, ge=1, le=20)
    """Questions that they ask at most."""


class Case(Record):
    id: str
    question: str
    type: CaseType = "simple"
    person: Person = Person()
    history: tuple[Message, ...] = ()
    as_of: date | None = None
    expect: Literal["answer", "deny", "clarify", "handoff"] = "answer"
    references: tuple[Reference, ...] = ()
    evidence: tuple[Passage, ...] = ()
    tags: tuple[str, ...] = ()
    goal: Goal | None = None
    """Of an asker who goes on after the question, played by a model."""
    forbidden: tuple[str, ...] = ()
    """What no answer may hold: a planted secret, the prompt's words, text of another scope."""


class PlayedTurn(Record):
    """A question of an asker who is played, and its answer."""

    question: str
    answer: Answer

    def messages(self) -> tuple[Message, Message]:
        return (
            Message(role="user", content=self.question),
            Message(role="assistant", content=self.answer.text),
        )


class Score(Record):
    case_id: str
    metric: str
    value: float | None
    """None: it could not be computed, and `reason` says why. Never NaN, never silently dropped."""
    reason: str = ""
    by: str = ""
    """Model or person who gave it; empty for arithmetic."""


class Observation(Record):
    """The record of one case and what a target did with it: all that a metric reads, stored so that
    it can be scored again."""

    case: Case
    hits: tuple[Hit, ...] | None = None
    """Best first; None when nothing was searched, empty when nothing was found."""
    answer: Answer | None = None
    seconds: float | None = None
    """Until the whole answer, or, where nothing was asked, until the hits were there."""
    error: str = ""
    """What the target said when it failed; then no metric has a value."""
    trace: Trace | None = None
    """Of the search, where nothing was answered."""
    lost: str = ""
    """Where the evidence was lost on its way into the answer, such as `not retrieved`; empty when
    it was not."""
    lacks: tuple[str, ...] = ()
    """What the target does not give, such as `ids`: metrics that need it have no value."""
    turns: tuple[PlayedTurn, ...] = ()
    """Of a case with a goal, in order; `answer` is that of the last."""

    def at_turn(self, number: int) -> "Observation":
        """Return what would have been seen if the conversation had ended with this turn."""
        messages: list[Message] = []
        for earlier in self.turns[:number]:
            messages += earlier.messages()
        turn = self.turns[number]
        history = (*self.case.history, *messages)
        case = self.case.model_copy(update={"history": history, "question": turn.question})
        return self.model_copy(update={"case": case, "answer": turn.answer})


class Run(Record):
    """A pass of a dataset through a target; its observations and scores are read by its id."""

    id: str
    name: str
    dataset: str
    """How the folder or file of its cases is called. An absolute path becomes a name and
    `dataset_path`, also one of a run that was stored when paths were."""
    dataset_path: str = Field("", exclude=True)
    """Where that was on the machine that measured. The store keeps it, to find the cases again;
    nothing shows it."""
    dataset_digest: str = ""
    """Of the cases asked, in their order."""
    split: str = ""
    target: str = "local"
    config: dict[str, Any] = {}
    """What the target says of itself, and the plan fields and index settings that this run
    changed."""
    digest: str = ""
    """Of dataset, target and config: runs with the same digest did the same."""
    study: str = ""
    """The sweep it belongs to."""
    cases: int = 0
    state: Literal["running", "done"] = "running"
    started: datetime | None = None
    ended: datetime | None = None
    notes: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _name_the_dataset(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        path = str(fields.get("dataset", ""))
        for kind in (PurePosixPath, PureWindowsPath):
            if kind(path).is_absolute() and kind(path).name:
                return {**fields, "dataset": kind(path).name, "dataset_path": path}
        return fields
