"""A workspace: one `ombud.toml`, the data beside it, and everything that can be asked of them."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property, lru_cache, partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

from ombud.answer import (
    DEFAULT_PERSONA,
    AnswerParts,
    OnEvent,
    Persona,
    answer_question,
    check_components,
    open_triage,
    read_contacts,
    read_personas,
    read_sensitive,
)
from ombud.app.choosing import Choices
from ombud.app.flags import PROMPTS, check_flags
from ombud.app.setup import named_files, setup_text
from ombud.app.spending import with_calls
from ombud.errors import MissingExtra, NotFound, SetupError, UnknownName
from ombud.index import Engine, Filter, is_visible, open_engine
from ombud.ingest import IngestParts, delete_documents
from ombud.models import (
    Budget,
    CachingEmbedder,
    Embedder,
    ModelRoles,
    open_embedder,
    open_reranker,
    recorded,
)
from ombud.prompts import digests as prompt_digests
from ombud.prompts import problems as prompt_problems
from ombud.retrieve import (
    SearchParts,
    SearchResult,
    contradiction_notes,
    find_passages,
    open_router,
    read_glossary,
    search,
)
from ombud.settings import FILE, FLAGS, Flags, Planned, Settings, load, plan_for
from ombud.store import (
    Graph,
    Store,
    add_turn,
    find_document,
    last_messages,
    list_abbreviations,
    list_documents,
    new_conversation,
    open_store,
    read_answer,
    read_reasoning,
)
from ombud.text import named_countries
from ombud.types import (
    Answer,
    Chunk,
    Citation,
    Document,
    Evidence,
    Message,
    Mode,
    Person,
    Plan,
    Query,
    Question,
    Trace,
)

TURNS = 10
"""Turns of a conversation that an answer looks back on."""
PERSONAS = "personas"
"""Folder of a workspace with its own personas."""
DATA = ".ombud"


class Workspace:
    """Opens its parts when they are first needed; safe to use from several threads.

    data: where index and store live, when not in `.ombud/` of the home.
    """

    def __init__(
        self, home: Path, flags: Mapping[str, Any] | None = None, data: Path | None = None
    ) -> None:
        self.home, self.flags = home, dict(flags or {})
        self.settings: Settings = load(home, flags)
        self.prompts = home / PROMPTS
        self._followed: Flags | None = None
        self.data = data or home / DATA
        self.missing_model: MissingExtra | None = None

    # Parts --------------------------------------------------------------------------------------

    @cached_property
    def store(self) -> Store:
        return open_store(self.settings.store.url, self.data)

    @cached_property
    def embedder(self) -> Embedder | None:
        """None where there is none: search is then by words only, and every trace says so."""
        try:
            opened = open_embedder(self.settings.models, self.home / DATA / "models")
            return CachingEmbedder(opened) if opened else None
        except MissingExtra as missing:
            self.missing_model = missing
            return None

    @cached_property
    def engine(self) -> Engine:
        embedder = self.embedder
        fingerprint, dimension = (embedder.fingerprint, embedder.dimension) if embedder else ("", 0)
        folder = self.data / "index"
        return open_engine(
            self.settings.index.engine, folder, fingerprint=fingerprint, dimension=dimension
        )

    @cached_property
    def _choices(self) -> Choices:
        return Choices(self.store, lambda: self.engine.version())

    @cached_property
    def models(self) -> ModelRoles:
        """The chat models by role; what they cost a day is counted in the store."""
        models = self.settings.models
        return ModelRoles(models, Budget(lambda: self.store, models.daily_budget, self.today))

    @cached_property
    def index(self) -> SearchParts:
        return SearchParts(
            self.engine,
            self.embedder,
            read_glossary(
                self.home / self.settings.answer.glossary, list_abbreviations(self.store)
            ),
            self.models.chat("strategy"),
            self.settings.models.search_seconds,
            self.settings.general.name,
            self.prompts,
            open_reranker(self.settings.models),
            Graph(self.store) if self.settings.index.graph != "none" else None,
            self.models.chat("rerank"),
            open_router(
                self.home / own if (own := self.settings.models.router) else None, self.embedder
            ),
        )

    @cached_property
    def answering(self) -> AnswerParts:
        terms, weights = self.settings.answer.sensitive_terms, self.settings.answer.triage
        sensitive = read_sensitive(self.home / terms if terms else None)
        return AnswerParts(
            self.settings,
            self.index,
            self.models.chat("compose"),
            lru_cache(256)(self._stored),
            read_contacts(self.home / self.settings.answer.contacts),
            sensitive,
            self.personas,
            open_triage(
                sensitive,
                self.embedder,
                self.home / weights if weights else None,
                own_terms=bool(terms),
            ),
        )

    @cached_property
    def personas(self) -> Mapping[str, Persona]:
        """Those that ship, and over them those of the workspace. Raises BadSetting for a file that
        is none."""
        return read_personas(self.home / PERSONAS)

    def answering_for(self, plan: Plan) -> AnswerParts:
        """The parts of an answer; a persona may have a chat model of its own."""
        own = self.personas[plan.persona].model
        return (
            self.answering._replace(chat=self.models.chat("compose", own))
            if own
            else self.answering
        )

    @property
    def ingest(self) -> IngestParts:
        return self.ingest_into(self.engine)

    def ingest_into(self, engine: Engine | None) -> IngestParts:
        """The same with another engine, such as one that is being built; None: one that comes
        later."""
        extract = partial(self.models.chat, "extract")
        return IngestParts(
            self.settings, self.store, cast(Engine, engine), self.embedder, extract, self.prompts
        )

    def follow(
        self, tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """From now on plans follow `ombud.toml`, as a server's do; tell gets a line for each change
        of it.

        Raises BadSetting where the file is wrong already.
        """
        check = partial(check_flags, personas=self.personas, prompts=self.prompts)
        self._followed = Flags(self.home, self.flags, check=check, tell=tell, clock=clock)
        for line in prompt_problems(self.prompts):
            tell(line)

    @property
    def flagged(self) -> Settings:
        """The settings with the flags of now; as they were at the beginning where nobody follows
        the file."""
        return self._followed.current() if self._followed else self.settings

    def close(self) -> None:
        if "models" in self.__dict__:
            self.models.close()
        if "store" in self.__dict__:
            self.store.close()

    # Asking -------------------------------------------------------------------------------------

    async def search(
        self,
        query: str,
        person: Person,
        *,
        k: int | None = None,
        mode: Mode | None = None,
        as_of: date | None = None,
        history: Sequence[Message] = (),
        plan: Mapping[str, Any] | None = None,
    ) -> tuple[Evidence, Trace]:
        chosen = {key: value for key, value in (("k", k), ("mode", mode)) if value is not None}
        whole, variant = self.planned(person, {**(plan or {}), **chosen})
        question = Question(text=query, asker=person, history=tuple(history), as_of=as_of)
        with recorded() as calls:
            found = await search(question, whole, self.filter(question, whole), self.index)
        hidden = await asyncio.to_thread(self._hidden, question, whole, found.queries)
        dated = self._out_of_force([hit.chunk for hit in found.evidence.hits])
        notes = (*hidden, *dated, *contradiction_notes(found.evidence))
        return found.evidence, with_calls(self._trace(found, notes, variant), calls)

    async def ask(
        self,
        question: Question,
        *,
        plan: Mapping[str, Any] | None = None,
        conversation_id: str | None = None,
        tell: OnEvent | None = None,
        keep: bool = True,
    ) -> Answer:
        """Answer and keep the answer. conversation_id adds its last ten turns unless the question
        has history.

        tell: gets claims while a chat model is still writing them.
        """
        if conversation_id and not question.history:
            history = tuple(last_messages(self.store, conversation_id, TURNS))
            question = question.model_copy(update={"history": history})
        elif conversation_id:
            last_messages(self.store, conversation_id, 0)
        whole, variant = self.planned(question.asker, plan or {})
        thought: list[str] = []
        with recorded() as calls:
            where, parts = self.filter(question, whole), self.answering_for(whole)
            answer = await answer_question(question, whole, where, parts, tell, thought.append)
        hidden = await asyncio.to_thread(self._hidden, question, whole, answer.trace.queries)
        notes = (*answer.trace.notes, *hidden, *self._out_of_force(answer.citations))
        trace = with_calls(
            answer.trace.model_copy(update={"notes": notes, "variant": variant}), calls
        )
        answer = answer.model_copy(update={"conversation_id": conversation_id, "trace": trace})
        if keep:
            said = "".join(thought)
            await asyncio.to_thread(
                lambda: add_turn(self.store, question, answer, self.setup(), said)
            )
        return answer

    def planned(self, person: Person, request: Mapping[str, Any]) -> Planned:
        """The plan of a person's question. Its persona is the one the request names, else the
        person's, else the settings'. Raises UnknownName for a persona or a component that does not
        exist."""
        planned = plan_for(self.flagged, person, request)
        for persona in (person.persona, planned.plan.persona):
            if persona not in self.personas:
                raise UnknownName(
                    f"No persona is called `{persona}`.", hint=f"Known: {', '.join(self.personas)}."
                )
        check_components(planned.plan.components, self.prompts)
        if person.persona == DEFAULT_PERSONA or "persona" in planned.plan.pinned:
            return planned
        return planned._replace(plan=planned.plan.model_copy(update={"persona": person.persona}))

    def filter(self, question: Question, plan: Plan) -> Filter:
        """Countries: the person's own and those that the question names."""
        own = (question.asker.country,) if question.asker.country else ()
        named = named_countries(question.text, self.choices()["countries"]) if question.text else ()
        return Filter(
            countries=tuple(dict.fromkeys((*own, *named))),
            reader=question.asker,
            as_of=question.as_of or self.today(),
            sources=plan.sources,
        )

    def today(self) -> date:
        return datetime.now(ZoneInfo(self.settings.general.timezone)).date()

    # Documents ----------------------------------------------------------------------------------

    def documents(self, person: Person | None, as_of: date | None = None) -> list[Document]:
        """Documents without text, as this person may see them; None = the operator, who sees
        all."""
        known = list_documents(self.store)
        if person is None:
            return known
        where = self.filter(Question(text="", asker=person, as_of=as_of), Plan())
        return [document for document in known if is_visible(document, where)]

    def document(
        self, document_id: str, person: Person | None, digest: str | None = None
    ) -> Document:
        """One document with its text; NotFound also where this person may not read it.

        Its dates do not hide it: a citation of last year's rule still opens.
        """
        document = find_document(self.store, document_id, digest)
        if person is not None:
            country = person.country
            where = Filter(countries=(country,) if country else (), reader=person)
            if not is_visible(document, where):
                raise NotFound(
                    f"There is no document `{document_id}`.",
                    hint="`ombud documents list` shows all.",
                )
        return document

    def delete(self, document_id: str) -> Document:
        document = find_document(self.store, document_id)
        delete_documents(self.ingest, [document.id])
        return document

    def choices(self) -> dict[str, list[str]]:
        """Countries and roles that documents are written for."""
        return self._choices.now()

    # Conversations and answers ------------------------------------------------------------------

    def new_conversation(self, person: Person) -> str:
        return new_conversation(self.store, person)

    def messages(self, conversation_id: str) -> list[Message]:
        return last_messages(self.store, conversation_id)

    def answer(self, answer_id: str) -> Answer:
        return read_answer(self.store, answer_id)

    def reasoning(self, answer_id: str) -> str:
        """What the model thought before it; for the operator, and shown to nobody who asks."""
        return read_reasoning(self.store, answer_id)

    # What the lab and the operator want to know -------------------------------------------------

    def describe(self) -> dict[str, Any]:
        settings = self.flagged
        config = settings.model_dump_json(include={"index", "models", "answer", *FLAGS})
        digest = sha256(config.encode())
        for path in named_files(self.home, settings):
            digest.update(path.read_bytes() if path.is_file() else b"")
        for persona in self.personas.values():
            digest.update(persona.model_dump_json().encode())
        return {
            "version": version("ombud"),
            "config_digest": digest.hexdigest()[:16],
            "plan": plan_for(settings, Person()).plan.model_dump(mode="json"),
            "prompts": prompt_digests(self.prompts),
            "models": {
                "embedder": self.engine.fingerprint or "none",
                "chat": settings.models.chat or "none",
            },
            "index_version": self.engine.version(),
        }

    def setup(self) -> str:
        """What answers here, as JSON that is the same as long as nothing changes: kept with every
        answer."""
        return setup_text(self.home, self.flagged, self.prompts, self.engine.fingerprint)

    def passages(self) -> Iterator[Chunk]:
        """Every chunk of the index, document by document."""
        ids = self.engine.chunk_ids()
        for start in range(0, len(ids), 500):
            found = self.engine.get(ids[start : start + 500])
            yield from (found[i] for i in ids[start : start + 500] if i in found)

    def ready(self) -> str:
        """Empty when questions can be answered; else why not."""
        return (
            ""
            if self.engine.stats().chunks
            else "No documents are indexed yet; run `ombud sync FOLDER`."
        )

    def _stored(self, document_id: str, digest: str) -> Document | None:
        try:
            return find_document(self.store, document_id, digest)
        except NotFound:
            return None

    def _hidden(self, question: Question, plan: Plan, queries: Sequence[Query]) -> tuple[str, ...]:
        """Without a country only global documents speak; say how much that left out."""
        if question.asker.country or not queries or not self.choices()["countries"]:
            return ()
        where = self.filter(question, plan).model_copy(update={"countries": None})
        found = find_passages(queries, plan, where, self.index)
        hidden = len(found.evidence.local)
        return (
            (
                f"{hidden} of the best {plan.k} passages are of single countries; name a country to see them.",
            )
            if hidden
            else ()
        )

    def _out_of_force(self, passages: Sequence[Chunk | Citation]) -> tuple[str, ...]:
        """Who asks for another day must not take what was the rule then for what it is now."""
        today, said = self.today(), dict[str, None]()
        for one in passages:
            name = f"{one.title} ({one.uri})"
            if one.effective_to and one.effective_to < today:
                said[f"{name} is no longer in force: it ended on {one.effective_to}."] = None
            elif one.effective_from and one.effective_from > today:
                said[f"{name} is not yet in force: from {one.effective_from} on."] = None
        return tuple(said)

    def _trace(self, found: SearchResult, notes: tuple[str, ...], variant: str) -> Trace:
        return Trace(
            plan=found.plan,
            queries=found.queries,
            rankings=found.rankings,
            evidence=tuple(hit.chunk.id for hit in found.evidence.hits),
            seconds={k: round(v, 4) for k, v in found.seconds.items()},
            index_version=self.engine.version(),
            degraded=found.degraded,
            notes=notes,
            variant=variant,
            **found.spent._asdict(),
        )


def create_workspace(folder: Path) -> Path:
    """Write a commented ombud.toml into `folder`; raises SetupError where one stands already."""
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
