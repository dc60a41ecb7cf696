"""Checks drafts: what would change, and whether the rules of `[publish]` allow it."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ombud.app import measuring
from ombud.app.publishing.answering import BothAnswers, ask_both
from ombud.app.publishing.changes import WORST_FIRST, FoundChanges, find_changes
from ombud.app.publishing.drafts import DraftChoices, PolicyDraft, read_drafts
from ombud.app.publishing.questions import (
    CheckQuestion,
    QuestionChoices,
    gather_questions,
    passages_of,
)
from ombud.app.publishing.sentences import ChangedSentence, changed_sentences
from ombud.app.publishing.shadow import overlay
from ombud.app.workspace import Workspace
from ombud.index import blocking
from ombud.messages import message
from ombud.settings import PublishSettings
from ombud.store import find_document, list_documents

OnProgress = Callable[[str, int, int], None]
LONGEST_WAIT = 120.0
"""Seconds to wait for the vocabulary of one index."""


class DraftCheck(NamedTuple):
    """The result of a check."""

    digest: str
    """Digest of what was checked: the drafts as they would be in their sources, the other
    documents, the settings. The verdict holds for nothing else."""
    made: datetime
    index_version: str
    drafts: tuple[PolicyDraft, ...]
    found: FoundChanges
    sentences: tuple[ChangedSentence, ...]
    """Sentences with figures that the drafts change, add or remove, whether or not a question asks
    for them."""
    notes: tuple[str, ...]
    reasons: tuple[str, ...]
    """Why it must not be published; empty = go."""
    seconds: Mapping[str, float]

    @property
    def go(self) -> bool:
        return not self.reasons

    @property
    def counts(self) -> dict[str, int]:
        """Return kind -> answers, by their worst change; worst first."""
        by_kind = Counter(change.kind for change in self.found.answers)
        return {kind: by_kind[kind] for kind in WORST_FIRST}


class StoredVerdict(NamedTuple):
    """The stored verdict of a check, without any text of documents or questions."""

    digest: str
    at: str
    go: bool
    reasons: tuple[str, ...]
    questions: int


def check_drafts(
    workspace: Workspace,
    paths: Sequence[Path],
    choices: DraftChoices,
    questions: QuestionChoices,
    *,
    concurrency: int = 4,
    on_progress: OnProgress = lambda *_: None,
) -> DraftCheck:
    """Ask the present index and the one with the drafts; the verdict is stored for
    `publish_drafts`. The live index stays as it is.

    Raises BadRequest and SourceError for invalid drafts, Busy while a sync runs.
    """
    clock = StepClock()
    drafts = read_drafts(workspace, paths, choices)
    digest = digest_of_check(workspace, drafts)
    index_version = workspace.engine.version()
    with overlay(workspace, drafts, on_progress) as shadow:
        clock.step("index")
        passages = passages_of(workspace, shadow, drafts)
        gathered = gather_questions(workspace, passages, questions)
        clock.step("questions")
        pairs = ask_by_day(
            workspace,
            shadow,
            drafts,
            gathered.asked,
            concurrency=concurrency,
            on_progress=on_progress,
        )
        clock.step("ask")
        text_of = cache(lambda uri: find_document(shadow.store, uri).text)
        changes = find_changes(pairs, drafts, text_of)
    clock.step("compare")
    sentences: list[ChangedSentence] = []
    for item in passages:
        if item.old:
            sentences += changed_sentences(item.new, item.old)
    notes = list(gathered.notes)
    for draft in drafts:
        notes += [f"{draft.path.name}: {note}" for note in draft.notes]
    check = DraftCheck(
        digest=digest,
        made=datetime.now(UTC),
        index_version=index_version,
        drafts=drafts,
        found=changes,
        sentences=tuple(sentences),
        notes=tuple(notes),
        reasons=reasons_against(changes, workspace.settings.publish),
        seconds=clock.seconds,
    )
    store_verdict(workspace, check)
    return check


def ask_by_day(
    workspace: Workspace,
    shadow: Workspace,
    drafts: Sequence[PolicyDraft],
    questions: Sequence[CheckQuestion],
    *,
    concurrency: int,
    on_progress: OnProgress,
) -> list[BothAnswers]:
    """Remove replaced documents from the shadow once no later question falls in their time:
    otherwise their words would count twice beside the drafts' and change answers near a
    threshold."""
    last_day = max(draft.begins for draft in drafts)
    earlier: list[CheckQuestion] = []
    later: list[CheckQuestion] = []
    for one in questions:
        (earlier if (one.question.as_of or last_day) < last_day else later).append(one)

    def ask(part: Sequence[CheckQuestion]) -> list[BothAnswers]:
        settle_sides(workspace, shadow)
        return asyncio.run(ask_both(workspace, shadow, part, concurrency, on_progress))

    pairs = ask(earlier) if earlier else []
    replaced = [draft.replaces.id for draft in drafts if draft.replaces]
    blocking(shadow.engine.delete(replaced))
    return [*pairs, *ask(later)]


def settle_sides(*sides: Workspace) -> None:
    """Wait for both sides' vocabularies and load both indexes into memory, so that neither
    unfinished spelling correction nor an engine's row order makes equal sides differ."""
    for side in sides:
        side.warm(LONGEST_WAIT)


def reasons_against(changes: FoundChanges, rules: PublishSettings) -> tuple[str, ...]:
    """List what the rules forbid, without quoting any document."""
    answers: Counter[str] = Counter()
    for change in changes.answers:
        if "elsewhere" in change.kinds:
            answers["fell"] += "fell" in change.kinds
        else:
            answers.update(change.kinds)
    reasons: list[str] = []
    if answers["failed"]:
        reasons.append(message("admin.check_failed", count=answers["failed"]))
    if 0 <= rules.refused < answers["refused"]:
        reasons.append(message("admin.check_refused", count=answers["refused"], most=rules.refused))
    if 0 <= rules.figures < answers["figures"]:
        reasons.append(message("admin.check_figures", count=answers["figures"], most=rules.figures))
    if rules.gate_fall and answers["fell"]:
        reasons.append(message("admin.check_fell", count=answers["fell"]))
    return tuple(reasons)


# The verdict --------------------------------------------------------------------------------------


def digest_of_check(workspace: Workspace, drafts: Sequence[PolicyDraft]) -> str:
    """Return a digest that stays the same as long as drafts, documents and settings do."""
    checked = {draft.uri for draft in drafts}
    parts: list[Any] = [
        measuring.describe(workspace)["config_digest"],
        workspace.settings.publish.model_dump(mode="json"),
    ]
    for draft in sorted(drafts, key=lambda draft: draft.uri):
        parts.append([draft.uri, sha256(draft.data).hexdigest(), dict(draft.metadata)])
    for document in list_documents(workspace.store):
        if document.uri not in checked:
            parts.append(document.model_dump(mode="json", exclude={"updated"}))
    return sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def stored_verdict(workspace: Workspace, digest: str) -> StoredVerdict | None:
    """Return the verdict of the last check of exactly this; None if there was none."""
    try:
        stored = json.loads(verdict_file(workspace, digest).read_text(encoding="utf-8"))
        return StoredVerdict(**{**stored, "reasons": tuple(stored["reasons"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def store_verdict(workspace: Workspace, check: DraftCheck) -> None:
    file = verdict_file(workspace, check.digest)
    file.parent.mkdir(parents=True, exist_ok=True)
    verdict = StoredVerdict(
        digest=check.digest,
        at=check.made.isoformat(timespec="seconds"),
        go=check.go,
        reasons=check.reasons,
        questions=len(check.found.answers),
    )
    draft = file.with_suffix(".part")
    draft.write_text(json.dumps(verdict._asdict()), encoding="utf-8")
    draft.replace(file)


def verdict_file(workspace: Workspace, digest: str) -> Path:
    return workspace.data / "publishing" / "checks" / f"{digest[:32]}.json"


class StepClock:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.monotonic()

    def step(self, name: str) -> None:
        now = time.monotonic()
        self.seconds[name] = round(now - self._last, 2)
        self._last = now
