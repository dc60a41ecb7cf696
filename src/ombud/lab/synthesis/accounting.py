"""What became of every proposed case, and what the model replied so far."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ombud.lab.synthesis.assigning import KINDS, STRATA, Assignment
from ombud.lab.synthesis.cleaning import CHECKS, WITH_VECTORS
from ombud.store import StoredReply
from ombud.types import Case, CaseType

NO_REPLY = "no usable reply"
NOT_QUOTED = "quote not in the passage"
INCOMPLETE = "a field is missing"
NOT_SAID = "answer not in the passage"
SAID_AFTER_ALL = "answered by the documents after all"
ANOTHER_KIND = "not of its kind"
WRITTEN_CHECKS = (
    NO_REPLY, INCOMPLETE, NOT_QUOTED, NOT_SAID, SAID_AFTER_ALL, ANOTHER_KIND, *CHECKS
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SynthesisAccount:
    """Counts of what became of each proposed case: `proposed` is the sum of `fallen` and `kept`."""

    wanted: int
    proposed: int
    fallen: dict[str, int]
    """Check -> proposals that fell to it."""
    kept: int
    kinds: dict[str, int]
    """Type of question -> cases."""
    passages: int
    """Passages that were given."""
    strata: dict[str, int]
    """Size of the documents -> cases."""
    embedded: bool = False

    def as_text(self) -> str:
        """Write a few lines for the terminal."""
        lines = [f"{self.kept} of {self.wanted} cases, from {self.proposed} proposals"]
        if self.kept < self.wanted:
            lines.append(f"  fewer than wanted: the {self.passages} passages gave no more")
        for check, count in self.fallen.items():
            unchecked = check in WITH_VECTORS and not self.embedded
            lines.append(f"  {check}: {'not checked: no embedder' if unchecked else count}")
        lines.append(f"kinds: {_listed(self.kinds)}")
        lines.append(f"documents: {_listed(self.strata)}")
        return "\n".join(lines)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


@dataclass(frozen=True, slots=True)
class Synthesis:
    cases: tuple[Case, ...]
    account: SynthesisAccount


class Tally:
    """Counts the proposals of one synthesis, and says which types still lack cases."""

    def __init__(self, wanted: int, types: Sequence[CaseType]) -> None:
        self.wanted = wanted
        self.types = types
        self.asked = 0
        self.proposed = 0
        self.cases: list[Case] = []
        self._fallen: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self._strata: Counter[str] = Counter()

    @property
    def missing(self) -> int:
        return self.wanted - len(self.cases)

    def shares(self) -> Mapping[str, int]:
        """Return how many more cases each type needs until all types have equally many."""
        lacking: Counter[str] = Counter()
        for _ in range(self.missing):
            rarest = min(self.types, key=lambda name: self._kinds[name] + lacking[name])
            lacking[rarest] += 1
        return lacking

    def drop(self, check: str) -> None:
        self.proposed += 1
        self._fallen[check] += 1

    def keep(self, case: Case, assignment: Assignment) -> None:
        self.proposed += 1
        self.cases.append(case)
        self._kinds[assignment.type] += 1
        self._strata[assignment.stratum] += 1

    def result(self, passages: int, *, embedded: bool) -> Synthesis:
        account = SynthesisAccount(
            wanted=self.wanted,
            proposed=self.proposed,
            fallen={check: self._fallen[check] for check in WRITTEN_CHECKS},
            kept=len(self.cases),
            kinds={kind: self._kinds[kind] for kind in KINDS},
            passages=passages,
            strata={name: self._strata[name] for name in STRATA},
            embedded=embedded,
        )
        return Synthesis(tuple(sorted(self.cases, key=lambda case: case.id)), account)


class FileReplies:
    """Replies of models, one a line in a file beside the cases, so that no reply is paid for twice
    after an interruption. A last line that was cut off is asked for again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: dict[str, StoredReply] = {}
        self.tokens = 0
        """Of the replies that were made in this process, in and out."""
        self.price: float | None = 0.0
        """Theirs in US dollars; None where that of one is not known."""
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        for line in lines:
            try:
                row = json.loads(line)
                key = row.pop("key")
                self._kept[key] = StoredReply(**row)
            except (ValueError, TypeError, KeyError, AttributeError):
                continue

    def find(self, key: str) -> StoredReply | None:
        return self._kept.get(key)

    def keep(self, key: str, reply: StoredReply) -> None:
        self._kept[key] = reply
        self.tokens += reply.tokens_in + reply.tokens_out
        has_price = self.price is not None and reply.price is not None
        self.price = (self.price or 0.0) + (reply.price or 0.0) if has_price else None
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps({"key": key, **reply._asdict()}))
