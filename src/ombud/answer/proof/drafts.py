"""What the model that writes an answer gives: a draft, also while it is still being written."""

import json
import re
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from ombud.models import lean_form, list_of

MOST_CLAIMS = 40
LONGEST_CLAIM = 2000
"""Beyond is noise, and checking it would take seconds."""
LONGEST = 200_000
PENDING = 20_000
"""Characters of a draft that are read while it comes, and of them those of one claim."""
CLAIMS = re.compile(r'(?<!\\)"claims"\s*:\s*\[')
"""Where the claims begin: inside a JSON string the quotation marks would be escaped."""
GAP = re.compile(r"[\s,]*")


# The prompt says what each field is for; said again in the form it would be paid for twice.


class DraftClaim(BaseModel):
    model_config = ConfigDict(json_schema_extra=lean_form())

    text: str
    passages: list[str]
    """Labels of the passages that say it, such as L1 or G2."""
    quotes: list[str] = []
    """A few words of each passage that say it, word for word."""


class DraftCondition(BaseModel):
    """A fact on which the answer depends."""

    model_config = ConfigDict(json_schema_extra=lean_form())

    text: str
    passage: str
    quote: str
    state: Literal["met", "not_met", "unknown"] = "unknown"
    fact: str = ""
    """Words of the asker by which it is met or not met."""
    comparison: str = ""
    """The asker's figure beside that of the rule, such as "3 months >= 7 years"."""
    question: str = ""
    """What to ask where it is unknown."""
    choices: list[str] = []

    @property
    def statement(self) -> str:
        """Return what a verifier is to compare with the passage."""
        return f"Depends on: {self.text}"


class DraftSource(BaseModel):
    model_config = ConfigDict(json_schema_extra=lean_form())

    passage: str
    covers: str


class Draft(BaseModel):
    model_config = ConfigDict(json_schema_extra=lean_form("outcome", "claims"))

    reasoning: str = ""
    outcome: Literal["full", "partial", "denied", "vague"] = "partial"
    claims: Annotated[list[DraftClaim], list_of(DraftClaim)] = []
    missing: list[str] = []
    """What was asked and the passages do not say, as sentences."""
    conditions: Annotated[list[DraftCondition], list_of(DraftCondition)] = []
    suggestions: list[str] = []
    sources: Annotated[list[DraftSource], list_of(DraftSource)] = []

    @property
    def claims_text(self) -> str:
        """Return all claims as one text."""
        return " ".join(claim.text for claim in self.claims[:MOST_CLAIMS])


class RepairedClaim(BaseModel):
    model_config = ConfigDict(json_schema_extra=lean_form())

    number: int
    """As it was given."""
    text: str
    """Empty to leave the claim out."""
    passages: list[str]
    quotes: list[str] = []


class Repair(BaseModel):
    """Claims that could not be confirmed, written again."""

    model_config = ConfigDict(json_schema_extra=lean_form())

    claims: Annotated[list[RepairedClaim], list_of(RepairedClaim)] = []


Item = TypeVar("Item", bound=BaseModel)


class ListParser(Generic[Item]):
    """Reads the list `claims` of a reply piece by piece and gives each item once it is whole."""

    def __init__(self, kind: type[Item]) -> None:
        self._kind = kind
        self._text = ""
        self._is_over = False
        self._searched = 0
        """Characters in which the list does not begin."""
        self._at = 0
        """Where the next item begins; 0 before the list was found."""
        self._given = 0

    def read(self, piece: str) -> list[Item]:
        """Return the items that this piece completes, in order; none once the list is at its end,
        or is no list of such items."""
        if self._is_over:
            return []
        self._text += piece
        items: list[Item] = []
        # An item ends with a brace, and a list with a bracket.
        if "}" in piece or "]" in piece:
            items = self._whole_items()[: MOST_CLAIMS - self._given]
        self._given += len(items)
        if self._is_endless() or self._given >= MOST_CLAIMS:
            self._is_over = True
        return items

    def _is_endless(self) -> bool:
        pending = len(self._text) - self._at if self._at else 0
        return len(self._text) > LONGEST or pending > PENDING

    def _whole_items(self) -> list[Item]:
        if not self._at and not self._find_list():
            return []
        items: list[Item] = []
        while True:
            gap = GAP.match(self._text, self._at)
            start = gap.end() if gap else self._at
            if not self._text.startswith("{", start):
                self._is_over = start < len(self._text)
                return items
            try:
                value, self._at = json.JSONDecoder().raw_decode(self._text, start)
                items.append(self._kind.model_validate(value))
            except ValidationError:
                self._is_over = True
                return items
            except (ValueError, RecursionError):  # not whole yet
                return items

    def _find_list(self) -> bool:
        begins = CLAIMS.search(self._text, self._searched)
        if begins:
            self._at = begins.end()
            return True
        # What is looked for may have begun already.
        self._searched = max(0, len(self._text) - 100)
        return False
