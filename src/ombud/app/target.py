"""The workspace as a target of the lab: the usual search and answers, without storing them."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from ombud.answer import SuppliedEvidence
from ombud.app import asking, library, measuring
from ombud.app.sources import configured_sources
from ombud.app.workspace import Workspace
from ombud.errors import BadRequest, LabError
from ombud.ingest import SyncReport, sync_sources
from ombud.settings import IndexSettings, nearest
from ombud.store import text_of
from ombud.types import Answer, Chunk, Hit, Question, Trace

OnProgress = Callable[[str, int, int], None]
VARIED_MODELS = ("models.chat", "models.embedder")


class LocalTarget:
    """A target in this process. on_progress: (step, done, total) of an index that is built for a
    variant."""

    name = "local"

    def __init__(self, workspace: Workspace, on_progress: OnProgress = lambda *_: None) -> None:
        self.workspace, self._on_progress = workspace, on_progress

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        return await asking.ask(self.workspace, question, plan=plan, keep=False)

    async def ask_from(
        self, question: Question, plan: Mapping[str, Any], hits: Sequence[Hit], *, triage: bool
    ) -> Answer:
        supplied = SuppliedEvidence(tuple(hits), triage)
        return await asking.ask_from(self.workspace, question, supplied, plan=plan)

    async def search(
        self, question: Question, plan: Mapping[str, Any]
    ) -> tuple[tuple[Hit, ...], Trace]:
        if plan.get("k") == 0:
            return (), Trace()
        day, turns = question.as_of, question.history
        evidence, trace = await asking.search(
            self.workspace, question.text, question.asker, as_of=day, history=turns, plan=plan
        )
        return evidence.hits, trace

    def describe(self) -> dict[str, Any]:
        return measuring.describe(self.workspace)

    def passages(self) -> Iterator[Chunk]:
        return library.passages(self.workspace)

    def text_of(self, document_id: str, version: str) -> str | None:
        return text_of(self.workspace.store, document_id, version)

    def variant(self, settings: Mapping[str, Any]) -> "LocalTarget":
        """Return a target with other `index.*` settings, `models.embedder` or `models.chat`, on an
        index in `.ombud/variants/`.

        The index is stored, and only changed documents are indexed later. Raises BadRequest for
        another setting, LabError if one of the workspace's documents cannot be indexed.
        """
        if not settings:
            return self
        section = self.workspace.settings.index.beside()
        models = self.workspace.settings.models.model_dump()
        for key, value in settings.items():
            if key in VARIED_MODELS:
                models[key.removeprefix("models.")] = value
            else:
                section[index_field(key)] = value
        flags = {**self.workspace.flags, "models": models}
        if "models.chat" in settings and self.workspace.settings.models.roles.get("compose"):
            raise BadRequest(
                "`models.chat` writes no answers here: models.roles.compose names another model.",
                hint="Take that line out of ombud.toml for as long as models are compared.",
            )
        if set(settings) == {"models.chat"}:
            other = Workspace(self.workspace.home, flags, data=self.workspace.data)
            return LocalTarget(other, self._on_progress)
        flags |= {"index": section, "store": {"url": ""}}
        recipe = json.dumps([section, self._embedder(models["embedder"])], sort_keys=True)
        digest = sha256(recipe.encode()).hexdigest()[:12]
        data = self.workspace.data / "variants" / digest
        shadow = Workspace(self.workspace.home, flags, data=data)
        self._fill(shadow)
        return LocalTarget(shadow, self._on_progress)

    def _embedder(self, name: str) -> str:
        if name != self.workspace.settings.models.embedder:
            return name
        return self.workspace.embedder.fingerprint if self.workspace.embedder else ""

    def _fill(self, shadow: Workspace) -> None:
        """Sync a variant's index with the documents of the workspace's index, and no others."""
        main = self.workspace
        reports = sync_sources(
            shadow.ingest,
            configured_sources(main.settings, main.home, main.store),
            allow_deletes=True,
            on_progress=self._on_progress,
        )
        documents = {document.uri for document in library.documents(main, None)}
        missing = set(documents)
        for document in library.documents(shadow, None):
            missing.discard(document.uri)
            if document.uri not in documents:
                library.delete_document(shadow, document.id)
        if missing:
            reason = first_reason(reports, missing)
            failure = f"such as {min(missing)}: {reason}"
            raise LabError(
                f"{len(missing)} documents of the index cannot be indexed again: {failure}",
                hint="Run `ombud sync` first, so that index and sources agree.",
            )


def index_field(key: str) -> str:
    section, _, field = key.partition(".")
    if section != "index" or field not in IndexSettings.model_fields:
        fields = [*VARIED_MODELS, *(f"index.{name}" for name in IndexSettings.model_fields)]
        raise BadRequest(f"`{key}` cannot be varied.", hint=nearest(key, fields))
    return field


def first_reason(reports: Sequence[SyncReport], missing: Collection[str]) -> str:
    """Explain why the first of the missing documents could not be indexed."""
    for report in reports:
        for failure in report.failed:
            if failure.uri in missing:
                return failure.reason
    return "it is gone"
