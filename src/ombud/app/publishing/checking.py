"""A check of drafts: what would change, and whether the rules of `[publish]` let it."""

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
from ombud.settings import PublishSettings
from ombud.store import find_document, list_documents

OnProgress = Callable[[str, int, int], None]
LONGEST_WAIT = 120.0
"""Seconds for the words of one index."""


class DraftCheck(NamedTuple):
    """What a check has found."""

    digest: str
    """Of what was checked: the drafts as they would stand in their sources, the documents beside
    them, the settings. A verdict holds for nothing else."""
    made: datetime
    index_version: str
    drafts: tuple[PolicyDraft, ...]
    found: FoundChanges
    sentences: tuple[ChangedSentence, ...]
    """With figures, that the drafts change, add or take out, asked for or not."""
    notes: tuple[str, ...]
    reasons: tuple[str, ...]
    """Why it may not be; empty = go."""
    seconds: Mapping[str, float]

    @property
    def go(self) -> bool:
        return not self.reasons

    @property
    def counts(self) -> dict[str, int]:
        """Kind -> answers, by their worst change; worst first."""
        by_kind = Counter(change.kind for change in self.found.answers)
        return {kind: by_kind[kind] for kind in WORST_FIRST}


class KeptVerdict(NamedTuple):
    """What is remembered of a check: no word of a document or a question."""

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
    """Ask the index as it is and as it would be with the drafts; the verdict is kept for
    `publish_drafts`. What serves is left as it is.

    Raises BadRequest and SourceError for drafts that cannot be, Busy while a sync runs."""
    clock = _Clock()
    drafts = read_drafts(workspace, paths, choices)
    digest = digest_of_check(workspace, drafts)
    index_version = workspace.engine.version()
    with overlay(workspace, drafts, on_progress) as shadow:
        clock.step("index")
        passages = passages_of(workspace, shadow, drafts)
        gathered = gather_questions(workspace, passages, questions, on_progress)
        clock.step("questions")
        asked = _ask_by_day(
            workspace,
            shadow,
            drafts,
            gathered.asked,
            concurrency=concurrency,
            on_progress=on_progress,
        )
        clock.step("ask")
        text_of = cache(lambda uri: find_document(shadow.store, uri).text)
        found = find_changes(asked, drafts, text_of)
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
        found=found,
        sentences=tuple(sentences),
        notes=tuple(notes),
        reasons=reasons_against(found, workspace.settings.publish),
        seconds=clock.seconds,
    )
    _keep(workspace, check)
    return check


def _ask_by_day(
    workspace: Workspace,
    shadow: Workspace,
    drafts: Sequence[PolicyDraft],
    questions: Sequence[CheckQuestion],
    *,
    concurrency: int,
    on_progress: OnProgress,
) -> list[BothAnswers]:
    """What the drafts replace leaves the shadow once nobody asks for a day on which it is in force:
    its words would count twice beside the drafts', and turn answers near a threshold whatever the
    drafts say."""
    last_day = max(draft.begins for draft in drafts)
    earlier: list[CheckQuestion] = []
    later: list[CheckQuestion] = []
    for one in questions:
        (earlier if (one.question.as_of or last_day) < last_day else later).append(one)

    def ask(part: Sequence[CheckQuestion]) -> list[BothAnswers]:
        _settle(workspace, shadow)
        return asyncio.run(ask_both(workspace, shadow, part, concurrency, on_progress))

    asked = ask(earlier) if earlier else []
    replaced = [draft.replaces.id for draft in drafts if draft.replaces]
    blocking(shadow.engine.delete(replaced))
    return [*asked, *ask(later)]


def _settle(*sides: Workspace) -> None:
    """Wait for the words that mistyped ones are read by: a question that comes before they are
    there is taken as typed, and would tell two sides apart that are alike. So would an index on
    disk, whose scores depend on how its rows came there; both sides are searched in memory."""
    for side in sides:
        side.warm(LONGEST_WAIT)


def reasons_against(found: FoundChanges, rules: PublishSettings) -> tuple[str, ...]:
    """What the rules do not let pass, in words without a word of any document."""
    answers: Counter[str] = Counter()
    for change in found.answers:
        if "elsewhere" in change.kinds:
            answers["fell"] += "fell" in change.kinds
        else:
            answers.update(change.kinds)
    reasons: list[str] = []
    if answers["failed"]:
        reasons.append(f"{_said(answers['failed'], 'question')} could not be asked.")
    limits = (
        ("refused", answers["refused"], f"{_said(answers['refused'], 'answer')} newly refused"),
        (
            "figures",
            answers["figures"],
            f"{_said(answers['figures'], 'answer')} with other figures",
        ),
    )
    for rule, count, words in limits:
        most = getattr(rules, rule)
        if 0 <= most < count:
            reasons.append(f"{words}; {most} allowed (publish.{rule}).")
    if rules.gate_fall and answers["fell"]:
        fallen = f"{_said(answers['fell'], 'case')} right now and wrong with the drafts"
        reasons.append(f"{fallen} (publish.gate_fall).")
    return tuple(reasons)


def _said(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


# The verdict --------------------------------------------------------------------------------------


def digest_of_check(workspace: Workspace, drafts: Sequence[PolicyDraft]) -> str:
    """The same as long as drafts, documents and settings are."""
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


def kept_verdict(workspace: Workspace, digest: str) -> KeptVerdict | None:
    """Of the last check of just this; None where there was none."""
    try:
        stored = json.loads(_verdict_file(workspace, digest).read_text(encoding="utf-8"))
        return KeptVerdict(**{**stored, "reasons": tuple(stored["reasons"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _keep(workspace: Workspace, check: DraftCheck) -> None:
    file = _verdict_file(workspace, check.digest)
    file.parent.mkdir(parents=True, exist_ok=True)
    verdict = KeptVerdict(
        digest=check.digest,
        at=check.made.isoformat(timespec="seconds"),
        go=check.go,
        reasons=check.reasons,
        questions=len(check.found.answers),
    )
    draft = file.with_suffix(".part")
    draft.write_text(json.dumps(verdict._asdict()), encoding="utf-8")
    draft.replace(file)


def _verdict_file(workspace: Workspace, digest: str) -> Path:
    return workspace.data / "publishing" / "checks" / f"{digest[:32]}.json"


class _Clock:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.monotonic()

    def step(self, name: str) -> None:
        now = time.monotonic()
        self.seconds[name] = round(now - self._last, 2)
        self._last = now
