"""Evidence of cases, kept in a file: composing is measured on the same passages each time, and
refusing on passages that should not be answered from."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pydantic import ValidationError

from ombud.errors import LabError
from ombud.lab.runs.running import OnProgress, no_progress
from ombud.lab.runs.target import Target
from ombud.types import Answer, Case, Chunk, Hit, Question, Trace


class EvidenceTarget(Target, Protocol):
    """A target that can also answer from given passages."""

    async def ask_from(
        self, question: Question, plan: Mapping[str, Any], hits: Sequence[Hit], *, triage: bool
    ) -> Answer:
        """triage: whether the message is first looked at as any other is."""
        ...


class FrozenCase(NamedTuple):
    """Question, context and expected answer."""

    case: Case
    hits: tuple[Hit, ...]
    """What the search found, best first; empty where it found nothing."""


def question_of(case: Case) -> Question:
    return Question(
        text=case.question,
        asker=case.person,
        history=case.history,
        as_of=case.as_of,
    )


async def freeze_cases(
    cases: Sequence[Case],
    target: Target,
    plan: Mapping[str, Any],
    on_progress: OnProgress = no_progress,
) -> tuple[FrozenCase, ...]:
    """Search for each case, also for those that are to be denied."""
    frozen: list[FrozenCase] = []
    for number, case in enumerate(cases):
        on_progress("freeze", number, len(cases))
        hits, _ = await target.search(question_of(case), plan)
        frozen.append(FrozenCase(case, hits))
    on_progress("freeze", len(cases), len(cases))
    return tuple(frozen)


def frozen_text(frozen: Iterable[FrozenCase]) -> str:
    """Write JSON lines with a `case` and its `hits` with their passages."""
    lines: list[str] = []
    for one in frozen:
        hits = [hit.model_dump(mode="json", exclude_defaults=True) for hit in one.hits]
        case = one.case.model_dump(mode="json", exclude_defaults=True)
        lines.append(json.dumps({"case": case, "hits": hits}, ensure_ascii=False) + "\n")
    return "".join(lines)


def read_frozen(path: Path) -> tuple[FrozenCase, ...]:
    """Raises LabError naming file and line."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as failed:
        raise LabError(f"{path} cannot be read: {failed}.", hint="Check the path.") from failed
    frozen: list[FrozenCase] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            case = Case.model_validate(row["case"])
            hits = tuple(map(Hit.model_validate, row["hits"]))
        except (ValueError, KeyError, TypeError, ValidationError) as wrong:
            raise LabError(
                f"{path}, line {number}: no case with its evidence.",
                hint="`ombud lab freeze DATASET --out FILE` writes such lines.",
            ) from wrong
        frozen.append(FrozenCase(case, hits))
    return tuple(frozen)


class FrozenTarget:
    """A target that finds what was frozen, and answers from that alone. Raises LabError for a
    question that was not frozen."""

    def __init__(
        self, target: EvidenceTarget, frozen: Iterable[FrozenCase], *, triage: bool = True
    ) -> None:
        self.name = target.name
        self._target = target
        self._triage = triage
        self._hits: dict[str, tuple[Hit, ...]] = {}
        whole = sha256()
        for one in frozen:
            key = _key(question_of(one.case))
            self._hits[key] = one.hits
            whole.update(f"{key}{[hit.chunk.id for hit in one.hits]}".encode())
        self._digest = whole.hexdigest()[:16]

    def check(self, cases: Iterable[Case]) -> None:
        """Raises LabError where evidence of a case is missing, before anything is asked."""
        missing = [case.id for case in cases if _key(question_of(case)) not in self._hits]
        if missing:
            raise LabError(
                f"{len(missing)} cases have no frozen evidence, such as {missing[0]}: they are "
                "new, or were changed since.",
                hint="Freeze the dataset anew.",
            )

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        hits = self._found(question)
        return await self._target.ask_from(question, plan, hits, triage=self._triage)

    async def search(
        self, question: Question, plan: Mapping[str, Any]
    ) -> tuple[tuple[Hit, ...], Trace]:
        return self._found(question), Trace()

    def describe(self) -> dict[str, Any]:
        described = self._target.describe()
        return {**described, "evidence": self._digest, "triage": self._triage}

    def passages(self) -> Iterator[Chunk]:
        return self._target.passages()

    def text_of(self, document_id: str, version: str) -> str | None:
        return self._target.text_of(document_id, version)

    def variant(self, settings: Mapping[str, Any]) -> Target:
        raise LabError(
            f"What was frozen does not change with {', '.join(settings)}.",
            hint="Leave --evidence out to sweep the index.",
        )

    def _found(self, question: Question) -> tuple[Hit, ...]:
        key = _key(question)
        if key not in self._hits:
            raise LabError("This question has no frozen evidence.", hint="Freeze the dataset anew.")
        return self._hits[key]


def _key(question: Question) -> str:
    return sha256(question.model_dump_json().encode()).hexdigest()
