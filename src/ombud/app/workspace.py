"""A workspace: one `ombud.toml`, its data, and the parts that work on them.

It stores and opens parts; the work is in the services beside it: `asking`, `library`, `measuring`,
`audit`.
"""

import gc
import logging
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import date, datetime
from functools import cached_property, lru_cache, partial
from pathlib import Path
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any, TypeVar, cast
from zoneinfo import ZoneInfo

from ombud.answer import (
    AnswerParts,
    FineTunedEncoder,
    Persona,
    ResolveParts,
    Triage,
    TriageClassifier,
    open_encoder,
    read_ahead,
    read_contacts,
    read_personas,
    read_sensitive,
)
from ombud.app.audiences import KnownAudiences, SeenVersion
from ombud.app.flags import PROMPTS, check_flags
from ombud.errors import EngineError, MissingExtra, NotFound, SetupError, StoreError
from ombud.index import (
    Engine,
    GenerationPointer,
    HotEngine,
    blocking,
    open_backend,
    open_engine,
)
from ombud.models import (
    Budget,
    CachingEmbedder,
    Embedder,
    ModelRoles,
    Reader,
    is_remote,
    open_embedder,
    open_reader,
    open_reranker,
)
from ombud.private_files import make_private_folder, protect_folder
from ombud.prompts import problems as prompt_problems
from ombud.retrieve import SearchParts, Vocabularies, open_router, read_glossary
from ombud.settings import FILE, Flags, Settings, open_settings
from ombud.store import (
    Graph,
    Lease,
    Store,
    document_ids,
    find_document,
    list_abbreviations,
    open_store,
    take_lease,
)
from ombud.text import Calendar, forget_passages
from ombud.types import Answer, Chunk, Document, Plan

if TYPE_CHECKING:
    from ombud.ingest import IngestParts

logger = logging.getLogger(__name__)

PERSONAS = "personas"
"""Folder of a workspace with its own personas."""
DATA = ".ombud"
YOUNG, YOUNGER = 20_000, 20
"""Thresholds of Python's garbage collector for a settled process: objects, and collections of these
before older ones are examined."""
READ_AHEAD = 2_000
"""Largest index, in passages, whose sentences a server embeds in advance: about as many as
`CachingEmbedder` holds."""


Opened = TypeVar("Opened")


class Workspace:
    """Opens its parts on first use; safe to use from several threads.

    data: folder of index and store, if not `.ombud/` of the home.
    """

    def __init__(
        self, home: Path, flags: Mapping[str, Any] | None = None, data: Path | None = None
    ) -> None:
        self.home, self.flags = home, dict(flags or {})
        self.settings: Settings = open_settings(home, flags)
        self.prompts = home / PROMPTS
        self._followed: Flags | None = None
        self.data = data or home / DATA
        protect_folder(self.data)
        self.missing_model: MissingExtra | None = None
        self.listeners: list[Callable[[Answer], None]] = []
        """Called with each answer that somebody received."""
        self.reading_places = max(1, (os.cpu_count() or 1) // 2)
        self._free_places = BoundedSemaphore(self.reading_places)

    @cached_property
    def store(self) -> Store:
        return open_store(self.settings.store.url, self.data)

    @cached_property
    def embedder(self) -> Embedder | None:
        """Return the embedder; None if there is none, in which case search uses words only and
        every trace says so."""
        try:
            opened = open_embedder(self.settings.models, self._models_folder)
        except MissingExtra as missing:
            self.missing_model = missing
            return None
        return CachingEmbedder(opened) if opened else None

    @property
    def _models_folder(self) -> Path:
        with suppress(OSError):
            make_private_folder(self.home / DATA)
        return self.home / DATA / "models"

    @cached_property
    def engine(self) -> Engine:
        embedder = self.embedder
        fingerprint, dimension = (embedder.fingerprint, embedder.dimension) if embedder else ("", 0)
        engine = open_engine(
            self.index_url,
            fingerprint=fingerprint,
            dimension=dimension,
            pointer=self.pointer,
            fresh_seconds=self.settings.index.oldest_view,
        )
        most = self.settings.index.hot_passages
        return HotEngine(engine, most, self._read_ahead) if most else engine

    def _read_ahead(self, ids: Sequence[str], passages: Iterator[Chunk]) -> None:
        """Embed all sentences of a small index with half a core. Sentences of a larger one are
        embedded when first retrieved, and so are texts that go to another machine."""
        is_far = self.embedder is not None and is_remote(self.embedder)
        if is_far or len(ids) > READ_AHEAD:
            return
        for chunk in passages:
            began = time.monotonic()
            read_ahead(chunk, self.embedder)
            time.sleep(time.monotonic() - began)

    @cached_property
    def newest_engine(self) -> Engine:
        """Return the present index, for changing it."""
        if not self.settings.index.oldest_view:
            return self.engine
        return open_engine(
            self.index_url,
            fingerprint=self.engine.fingerprint,
            dimension=self.embedder.dimension if self.embedder else 0,
            pointer=self.pointer,
        )

    def warm(self, seconds: float = 0.0) -> bool:
        """Load the index, the vocabulary and the small models, as a server does at its start,
        waiting up to so many seconds for each of the first two. Returns whether there is an
        index."""
        _ = self.triage_encoder
        if self.settings.plan.reader != "never" and not self.settings.models.chat:
            _ = self.reader
        if self.index.vocabularies:
            self.index.vocabularies.ready(seconds)
        engine = self.engine
        return isinstance(engine, HotEngine) and engine.warm(seconds)

    def settle(self) -> None:
        """Exempt present objects from garbage collection and collect less often, as after a
        server's start; collections took a tenth of a search among 100,000 passages."""
        gc.collect()
        gc.freeze()
        gc.set_threshold(YOUNG, YOUNGER, YOUNGER)

    def memory(self) -> float:
        """Return the megabytes that the index in memory takes or will take; 0 if it stays on
        disk."""
        engine = self.engine
        return engine.expected_bytes() / 1e6 if isinstance(engine, HotEngine) else 0.0

    @property
    def index_url(self) -> str:
        """Return engine and place: `lance:///var/ombud/index`, `lance:s3://bucket/ombud`."""
        settings = self.settings.index
        if settings.url:
            return f"{settings.engine}:{settings.url}"
        return f"{settings.engine}://{self.data / 'index'}"

    @property
    def cache(self) -> Path | None:
        """Return the folder of passages cached from object storage."""
        folder = self.settings.index.cache
        return self.home / folder if folder else None

    @cached_property
    def pointer(self) -> GenerationPointer:
        """Return the pointer to the live generation of the index."""
        settings = self.settings.index
        return GenerationPointer(
            self.store,
            open_backend(self.index_url, self.cache),
            place=settings.url,
            fresh_seconds=settings.oldest_view,
        )

    @cached_property
    def audiences(self) -> KnownAudiences:
        return KnownAudiences(self.store, version=lambda: self.engine.version())

    @cached_property
    def models(self) -> ModelRoles:
        """Return the chat models by role; the store counts their daily costs."""
        settings = self.settings.models
        budget = Budget(lambda: self.store, settings, self.today)
        return ModelRoles(settings, budget)

    @cached_property
    def index(self) -> SearchParts:
        _ = self._seen  # remembers the version before reading
        settings = self.settings
        abbreviations = list_abbreviations(self.store)
        has_graph = settings.index.graph != "none"
        return SearchParts(
            engine=self.engine,
            embedder=self.embedder,
            glossary=read_glossary(self.home / settings.answer.glossary, abbreviations),
            chat=self.models.chat("strategy"),
            seconds=settings.models.step_seconds,
            organisation=settings.general.name,
            prompts=self.prompts,
            cross_encoder=open_reranker(settings.models),
            graph=Graph(self.store) if has_graph else None,
            ranker=self.models.chat("rerank"),
            router=open_router(self._own_file(settings.models.router), self.embedder),
            vocabularies=Vocabularies(self.engine),
        )

    @property
    def reader(self) -> Reader | None:
        """Return the reader; None if there is none, it cannot be opened, or no model is wanted. It
        is opened on first use or by `warm`."""
        return self._opened(self._opening_reader, "_opening_reader")

    @property
    def triage_encoder(self) -> FineTunedEncoder | None:
        """Return the encoder of triage and follow-ups; None if it cannot be opened."""
        if self.settings.models.embedder != "minilm":
            return None
        return self._opened(self._opening_encoder, "_opening_encoder")

    def _opened(self, opening: "Future[Opened]", name: str) -> Opened:
        if opening.exception() is not None:  # the next question tries again
            vars(self).pop(name, None)
        return opening.result()

    def expect_reading(self, plan: Plan) -> None:
        """Start opening the models that this plan uses for every question, in parallel with earlier
        steps: the triage encoder and the reader."""
        if self.settings.models.embedder == "minilm":
            _ = self._opening_encoder
        if plan.reader == "always" and not self.settings.models.chat:
            _ = self._opening_reader

    @cached_property
    def _opening_reader(self) -> "Future[Reader | None]":
        return begin_opening(self._open_reader)

    @cached_property
    def _opening_encoder(self) -> "Future[FineTunedEncoder | None]":
        return begin_opening(lambda: self._open_taught(open_encoder, "encoder of triage"))

    def _open_reader(self) -> Reader | None:
        if self.embedder is None:
            return None
        return self._open_taught(open_reader, "small reader")

    def _open_taught(self, open_model: Callable[[Path], Opened | None], name: str) -> Opened | None:
        """Open a fine-tuned MiniLM; answers do without it if it is not installed."""
        try:
            return open_model(self._models_folder)
        except SetupError as failed:
            logger.warning("The %s cannot be used: %s", name, failed)
            return None

    @cached_property
    def answering(self) -> AnswerParts:
        settings = self.settings.answer
        triage = Triage(
            read_sensitive(self._own_file(settings.sensitive_terms)),
            TriageClassifier(lambda: self.triage_encoder),
            has_own_terms=bool(settings.sensitive_terms),
        )
        return AnswerParts(
            settings=self.settings,
            knowledge=self.index,
            chat=self.models.chat("compose"),
            verifier=self.models.chat("verify"),
            reader=lambda: self.reader,
            stored=lru_cache(maxsize=256)(self._stored_document),
            contacts=read_contacts(self.home / settings.contacts),
            personas=self.personas,
            triage=triage,
        )

    def resolving(self) -> ResolveParts:
        """Return what a question is resolved with."""
        general = self.settings.general
        classifier = self.answering.triage.classifier
        return ResolveParts(
            calendar=Calendar(
                today=self.today(),
                leave_year=month_and_day(general.leave_year),
                fiscal_year=month_and_day(general.fiscal_year),
            ),
            countries=self.audiences.current()["countries"],
            vocabularies=self.index.vocabularies,
            follow_ups=classifier.continues,
            asks_for_person=classifier.asks_for_person,
        )

    def follow_index(self) -> None:
        """Refresh cached data of the documents if another process has changed the index; checked
        for each question."""
        version = self.engine.version()
        if not self._seen.is_due(version):
            return
        forget_passages()
        abbreviations = list_abbreviations(self.store)
        glossary = read_glossary(self.home / self.settings.answer.glossary, abbreviations)
        self.index = self.index._replace(glossary=glossary)
        answering = self.answering
        self.answering = answering._replace(
            knowledge=answering.knowledge._replace(glossary=glossary),
            stored=lru_cache(maxsize=256)(self._stored_document),
        )

    @cached_property
    def _seen(self) -> SeenVersion:
        return SeenVersion(self.engine.version())

    def check_index(self) -> None:
        """Raise EngineError if the store has documents and the index has none, so that nobody is
        told that the documents do not answer."""
        if blocking(self.engine.stats()).chunks:
            return
        documents = sum(count > 0 for count in document_ids(self.store).values())
        if documents:
            raise EngineError(
                f"The index is missing: the store has {documents} documents, the index none.",
                hint="Check index.url and the network; if it is lost, `ombud index rebuild` makes "
                "it anew.",
            )

    def _own_file(self, name: str) -> Path | None:
        """Return a file that the settings name; None if they name none, so that the shipped one is
        used."""
        return self.home / name if name else None

    @cached_property
    def personas(self) -> Mapping[str, Persona]:
        """Return the shipped personas, overridden by those of the workspace. Raises BadSetting for
        an invalid file."""
        return read_personas(self.home / PERSONAS)

    @contextmanager
    def reading_place(self, *, served: bool) -> Iterator[bool]:
        """Tell, while a question is answered, whether the reader may run for it. Half as many
        questions as there are cores may use it at once, because it needs most of the CPU time and
        would double the wait of concurrent questions."""
        has_place = served and self._free_places.acquire(blocking=False)
        try:
            yield has_place or not served
        finally:
            if has_place:
                self._free_places.release()

    def answering_for(self, plan: Plan) -> AnswerParts:
        """Return the parts that answer a plan; a persona may have its own chat model."""
        parts = self.answering._replace(countries=self.audiences.current()["countries"])
        own_model = self.personas[plan.persona].model
        if own_model:
            parts = parts._replace(chat=self.models.chat("compose", own_model))
        return parts

    @property
    def ingest(self) -> "IngestParts":
        """Return the parts that write into the present index, even if an older view of it is
        served."""
        return self.ingest_into(self.newest_engine)

    def ingest_into(self, engine: Engine | None) -> "IngestParts":
        """Return the parts that write into another index, such as one that is being built; None: it
        follows later."""
        from ombud.ingest import IngestParts  # questions do not need that room

        return IngestParts(
            settings=self.settings,
            store=self.store,
            engine=cast(Engine, engine),
            embedder=self.embedder,
            chat=partial(self.models.chat, "extract"),
            prompts=self.prompts,
            originals=self.originals if self.settings.documents.originals else None,
        )

    @property
    def originals(self) -> Path:
        """Return the folder of originals whose pages can be shown."""
        return self.data / "originals"

    def follow(
        self, on_change: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Make plans follow changes of `ombud.toml`, as on a server; `on_change` receives a line
        for each. Raises BadSetting if the file is invalid already."""
        check = partial(check_flags, personas=self.personas, prompts=self.prompts)
        self._followed = Flags(self.home, self.flags, check=check, on_change=on_change, clock=clock)
        for line in prompt_problems(self.prompts):
            on_change(line)

    @property
    def flagged(self) -> Settings:
        """Return the settings with the present flags; the initial ones if nobody follows the
        file."""
        return self._followed.current() if self._followed else self.settings

    @cached_property
    def answering_lease(self) -> Lease:
        """Return the lease under which this process answers; if it is lost, its answers count as
        interrupted."""
        return take_lease(self.store, f"answers/{uuid.uuid4()}")

    def close(self) -> None:
        engine = self.__dict__.get("engine")
        if isinstance(engine, HotEngine):
            engine.close()
        if "models" in self.__dict__:
            self.models.close()
        if "answering_lease" in self.__dict__:
            with suppress(StoreError):
                self.answering_lease.release(forget=True)
        if "store" in self.__dict__:
            self.store.close()

    def today(self) -> date:
        """Return the date in the organisation's time zone."""
        zone = ZoneInfo(self.settings.general.timezone)
        return datetime.now(zone).date()

    def _stored_document(self, document_id: str, version: str) -> Document | None:
        try:
            return find_document(self.store, document_id, version)
        except NotFound:
            return None


def begin_opening(opening: Callable[[], Opened]) -> "Future[Opened]":
    """Start opening in a thread of its own."""
    beside = ThreadPoolExecutor(1, "open")
    try:
        return beside.submit(opening)
    finally:
        beside.shutdown(wait=False)


def create_workspace(folder: Path) -> Path:
    """Write a commented ombud.toml into `folder`. Raises SetupError if there is one already."""
    target = folder / FILE
    if target.exists():
        raise SetupError(f"{target} exists already.", hint="Edit it, or choose another folder.")
    template = Path(__file__).parent / "templates" / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        target.write_text(template.read_text(encoding="utf-8"), encoding="utf-8")
    except OSError as failed:
        raise SetupError(
            f"{folder} cannot be written: {failed.strerror}.", hint="Choose another folder."
        ) from failed
    return target


def month_and_day(text: str) -> tuple[int, int]:
    month, day = text.split("-")
    return int(month), int(day)
