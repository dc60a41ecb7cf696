"""Answers questions and searches: plan, filter, answer, and storage of the answer."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from ombud.answer import (
    DEFAULT_PERSONA,
    AskRun,
    ElsewhereRules,
    EvidenceRun,
    OnEvent,
    SuppliedEvidence,
    check_components,
    follows_sensitive,
    guard_search,
    remote_names,
    resolve_question,
    rules_elsewhere,
    was_handed_over,
)
from ombud.app import measuring
from ombud.app.handoff.offers import offer_of
from ombud.app.handoff.turns import BegunTurn, begin_turn, interrupt_turn
from ombud.app.spending import path_of, with_calls
from ombud.app.workspace import Workspace
from ombud.cpu_time import run_apart
from ombud.deadlines import within
from ombud.errors import BadRequest, OmbudError, UnknownName
from ombud.index import Filter
from ombud.models import paid_by, recorded
from ombud.retrieve import (
    SearchParts,
    SearchResult,
)
from ombud.retrieve import search as search_index
from ombud.settings import Planned, plan_for
from ombud.store import (
    add_turn,
    is_sensitive_conversation,
    last_messages,
    read_answer,
)
from ombud.store import new_conversation as add_conversation
from ombud.types import (
    LONGEST_MESSAGE,
    MOST_MESSAGES,
    Answer,
    Chunk,
    Citation,
    Evidence,
    Message,
    Mode,
    Person,
    Plan,
    Question,
    ResolvedQuestion,
    Trace,
    recent_history,
)

MakeAnswer = Callable[..., Coroutine[Any, Any, tuple[Answer, str]]]
FallBack = Callable[[], Coroutine[Any, Any, Person]]
TURNS = 10
"""Turns of a stored conversation that an answer considers."""


class GuardedSearch(NamedTuple):
    """A resolved question, and the text that may leave this machine."""

    question: Question
    knowledge: SearchParts
    degraded: tuple[str, ...] = ()


async def ask(
    workspace: Workspace,
    question: Question,
    *,
    plan: Mapping[str, Any] | None = None,
    conversation_id: str | None = None,
    on_event: OnEvent | None = None,
    keep: bool = True,
    message_key: str = "",
    flow: Callable[..., AskRun] = AskRun,
    fall_back: FallBack | None = None,
) -> Answer:
    """Answer a question and store the answer.

    conversation_id: adds its last ten turns, unless the question brings its history. on_event:
    receives claims while a chat model still writes. message_key: UUID made by the sender; a
    repeated key in a conversation is the same question with the same answer. flow: AdvisorRun if an
    advisor asks for an employee. fall_back: gives another asker if this one may read nothing that
    answers. Raises UnknownName for an unknown persona, strategy or component,
    NotFound for a conversation, IllegalTransition for one that a person has taken over.
    """
    question = await asyncio.to_thread(with_history, workspace, question, conversation_id)
    is_private = was_handed_over(question.history)
    question = limit_history(question)
    make = partial(
        make_answer,
        workspace,
        plan=plan or {},
        conversation_id=conversation_id,
        is_private=is_private,
        keep=keep,
        flow=flow,
    )
    answer = partial(make_and_store, workspace, question, make, keep=keep, fall_back=fall_back)
    if not conversation_id or not keep:
        return await answer(on_event=on_event, begun=None)
    begin = partial(begin_turn, workspace, conversation_id, question.text, message_key)
    begun = asyncio.create_task(asyncio.to_thread(begin))
    answering = asyncio.create_task(
        answer(on_event=buffer_until_stored(on_event, begun), begun=begun)
    )
    try:
        turn = await asyncio.shield(begun)
        return turn.answer or await answering
    except BaseException:  # cancelled or failed, the question may be asked again
        answering.cancel()
        with suppress(OmbudError):
            await begun
            interrupt_turn(workspace, conversation_id)
        raise
    finally:
        answering.cancel()


async def ask_from(
    workspace: Workspace,
    question: Question,
    supplied: SuppliedEvidence,
    *,
    plan: Mapping[str, Any] | None = None,
    on_event: OnEvent | None = None,
) -> Answer:
    """Answer from supplied passages instead of a search, for the lab. The answer is not stored,
    because nobody received it."""
    flow = partial(EvidenceRun, supplied=supplied)
    return await ask(workspace, question, plan=plan, on_event=on_event, keep=False, flow=flow)


def buffer_until_stored(
    on_event: OnEvent | None, begun: "asyncio.Task[BegunTurn]"
) -> OnEvent | None:
    """Buffer events until the question is stored: a question that is refused has no events."""
    if on_event is None:
        return None
    tell = on_event
    buffered: list[tuple[str, dict[str, Any]]] = []

    def later(name: str, data: dict[str, Any]) -> None:
        if begun.done():
            tell(name, data)
        else:
            buffered.append((name, data))

    def release(_: "asyncio.Task[BegunTurn]") -> None:
        if not begun.cancelled() and begun.exception() is None and begun.result().answer is None:
            for name, data in buffered:
                tell(name, data)

    begun.add_done_callback(release)
    return later


async def make_and_store(
    workspace: Workspace,
    question: Question,
    make: MakeAnswer,
    *,
    keep: bool,
    on_event: OnEvent | None,
    begun: "asyncio.Task[BegunTurn] | None",
    fall_back: FallBack | None,
) -> Answer:
    """Make an answer and store it. begun: stores the question at the same time."""
    make = partial(make, on_event=on_this_loop(on_event))
    with within(workspace.settings.models.timeout_seconds):
        answer, reasoning = await run_apart(partial(make, question))
        if fall_back and not answer.is_answered:
            question = question.model_copy(update={"asker": await fall_back()})
            answer, reasoning = await run_apart(partial(make, question))
    if begun is not None:
        turn = await asyncio.shield(begun)
        if turn.answer:
            return turn.answer
        answer = answer.model_copy(update={"question_id": turn.question_id})
    if keep:
        await asyncio.to_thread(store_answer, workspace, question, answer, reasoning)
        for hear in workspace.listeners:
            hear(answer)
    return answer


async def make_answer(
    workspace: Workspace,
    question: Question,
    *,
    plan: Mapping[str, Any],
    conversation_id: str | None,
    is_private: bool,
    keep: bool,
    flow: Callable[..., AskRun],
    on_event: OnEvent | None,
) -> tuple[Answer, str]:
    """Answer without storing anything, and return the model's reasoning as well. Runs on its own
    thread, so it may read the store and process texts directly."""
    workspace.follow_index()
    is_private = is_private or is_conversation_private(workspace, conversation_id)
    resolved = resolve(workspace, question, is_private=is_private)
    planned = plan_of(workspace, resolved.asker, plan, served=keep)
    workspace.expect_reading(planned.plan)
    where = filter_of(resolved, planned.plan)
    parts = workspace.answering_for(planned.plan)
    with (
        workspace.reading_place(served=keep) as may_read,
        recorded() as calls,
        paid_by(question.asker),
    ):
        parts = parts._replace(may_read=may_read)
        run = flow(resolved, planned.plan, where, parts, on_event)
        answer = await run.answer()
        if answer.trace.queries and not answer.trace.evidence:
            workspace.check_index()
    hidden = hidden_note(run.elsewhere, planned.plan)
    dated = out_of_force_notes(workspace.today(), answer.citations)
    notes = (*answer.trace.notes, *hidden, *dated)
    trace = answer.trace.model_copy(update={"notes": notes, "variant": planned.variant})
    is_written = run.body is not None and run.body.is_written
    path = path_of(calls, answer.action, is_written=is_written)
    answer = answer.model_copy(
        update={"conversation_id": conversation_id, "trace": with_calls(trace, calls, path)}
    )
    offer = offer_of(answer, question, workspace.settings, workspace.store)
    return answer.model_copy(update={"offer": offer}), run.reasoning


def on_this_loop(on_event: OnEvent | None) -> OnEvent | None:
    """Call the listener on the loop of the caller, in order, whichever thread has news."""
    if on_event is None:
        return None
    loop, hear = asyncio.get_running_loop(), on_event

    def tell(name: str, data: dict[str, Any]) -> None:
        loop.call_soon_threadsafe(hear, name, data)

    return tell


async def search(
    workspace: Workspace,
    query: str,
    person: Person,
    *,
    k: int | None = None,
    mode: Mode | None = None,
    as_of: date | None = None,
    history: Sequence[Message] = (),
    plan: Mapping[str, Any] | None = None,
) -> tuple[Evidence, Trace]:
    """Return the passages alone, best first, and how they were retrieved. Raises UnknownName as
    `ask` does."""
    request = dict(plan or {})
    if k is not None:
        request["k"] = k
    if mode is not None:
        request["mode"] = mode
    check_history(history)
    question = Question(text=query, asker=person, history=tuple(history), as_of=as_of)
    is_private = was_handed_over(history)
    question = limit_history(question)
    with within(workspace.settings.models.timeout_seconds):
        return await run_apart(partial(search_passages, workspace, question, request, is_private))


async def search_passages(
    workspace: Workspace, question: Question, request: Mapping[str, Any], is_private: bool
) -> tuple[Evidence, Trace]:
    """Search on a thread of its own, as `make_answer` does."""
    workspace.follow_index()
    resolved = resolve(workspace, question, is_private=is_private)
    planned = plan_of(workspace, resolved.asker, request)
    where = filter_of(resolved, planned.plan)
    with recorded() as calls, paid_by(question.asker):
        guarded = check_search(workspace, resolved)
        result = await search_index(guarded.question, planned.plan, where, guarded.knowledge)
        if not result.evidence.hits:
            workspace.check_index()
        parts = workspace.answering_for(planned.plan)._replace(knowledge=guarded.knowledge)
        elsewhere = rules_elsewhere(guarded.question, result, where, parts)
    result = result._replace(degraded=(*guarded.degraded, *result.degraded))
    chunks = [hit.chunk for hit in result.evidence.hits]
    dated = out_of_force_notes(workspace.today(), chunks)
    hidden = hidden_note(elsewhere, planned.plan)
    notes = (*hidden, *dated)
    trace = search_trace(workspace, result, notes, planned.variant)
    return result.evidence, with_calls(trace, calls)


def plan_of(
    workspace: Workspace, person: Person, request: Mapping[str, Any], *, served: bool = True
) -> Planned:
    """Return the plan of a person's question. The persona comes from the request, else from the
    person, else from the settings. Raises UnknownName for an unknown persona or component."""
    planned = plan_for(workspace.flagged, person, request, served=served)
    for persona in (person.persona, planned.plan.persona):
        if persona not in workspace.personas:
            names = ", ".join(workspace.personas)
            raise UnknownName(f"No persona is called `{persona}`.", hint=f"Known: {names}.")
    check_components(planned.plan.components, workspace.prompts)
    if person.persona == DEFAULT_PERSONA or "persona" in request:
        return planned
    own_persona = planned.plan.model_copy(update={"persona": person.persona})
    return planned._replace(plan=own_persona)


def resolve(
    workspace: Workspace, question: Question, *, is_private: bool = False
) -> ResolvedQuestion:
    """Resolve the question once for all later steps. is_private: the conversation contains
    something sensitive."""
    wants_privacy = workspace.settings.models.sensitive != "allowed"
    if wants_privacy and not is_private and question.history:
        is_private = follows_sensitive(question.history, workspace.answering.triage)
    return resolve_question(question, workspace.resolving(), is_private=is_private)


def filter_of(resolved: ResolvedQuestion, plan: Plan) -> Filter:
    """Return what hides a passage from the asker: country, permissions, day and source."""
    return Filter(
        countries=resolved.countries,
        reader=resolved.asker,
        as_of=resolved.as_of,
        sources=plan.sources,
    )


def scope_of(workspace: Workspace, person: Person, as_of: date | None = None) -> Filter:
    """Return what hides a document from a person who asks no question."""
    return Filter(
        countries=(person.country,) if person.country else (),
        reader=person,
        as_of=as_of or workspace.today(),
    )


def new_conversation(workspace: Workspace, person: Person) -> str:
    return add_conversation(workspace.store, person)


def messages(workspace: Workspace, conversation_id: str) -> list[Message]:
    """Return the messages of a conversation. Raises NotFound."""
    return last_messages(workspace.store, conversation_id)


def stored_answer(workspace: Workspace, answer_id: str) -> Answer:
    """Return an answer. Raises NotFound."""
    return read_answer(workspace.store, answer_id)


def with_history(workspace: Workspace, question: Question, conversation_id: str | None) -> Question:
    """Add the earlier messages, either those of the question or the stored ones. Raises BadRequest
    for too many, NotFound for an unknown conversation."""
    check_history(question.history)
    if not conversation_id:
        return question
    turns = 0 if question.history else TURNS  # an unknown conversation is an error either way
    history = last_messages(workspace.store, conversation_id, turns)
    if question.history:
        return question
    return question.model_copy(update={"history": tuple(history)})


def limit_history(question: Question) -> Question:
    """Shorten the history to the turns that an answer considers."""
    return question.model_copy(update={"history": recent_history(question.history)})


def check_history(history: Sequence[Message]) -> None:
    if len(history) > MOST_MESSAGES:
        raise BadRequest(
            f"A question may bring at most {MOST_MESSAGES} earlier messages, not {len(history):,}.",
            hint="Send the latest ones.",
        )
    longest = max((len(message.content) for message in history), default=0)
    if longest > LONGEST_MESSAGE:
        raise BadRequest(
            f"An earlier message may have at most {LONGEST_MESSAGE:,} characters, not {longest:,}.",
            hint="Shorten it.",
        )


def store_answer(workspace: Workspace, question: Question, answer: Answer, reasoning: str) -> None:
    setup = measuring.setup(workspace)
    is_stored = answer.conversation_id is not None
    add_turn(workspace.store, question, answer, setup, reasoning, question_is_stored=is_stored)


def is_conversation_private(workspace: Workspace, conversation_id: str | None) -> bool:
    """Tell whether any message of the conversation was sensitive, even before the turns that are
    considered."""
    if not conversation_id or workspace.settings.models.sensitive == "allowed":
        return False
    return is_sensitive_conversation(workspace.store, conversation_id)


def check_search(workspace: Workspace, resolved: ResolvedQuestion) -> GuardedSearch:
    """Triage a search only if something could leave this machine."""
    knowledge = workspace.index
    if workspace.settings.models.sensitive == "allowed" or not remote_names(knowledge):
        return GuardedSearch(resolved.for_search(), knowledge)
    guarded = guard_search(resolved, workspace.answering)
    return GuardedSearch(guarded.question, guarded.parts.knowledge, guarded.degraded)


def hidden_note(elsewhere: ElsewhereRules, plan: Plan) -> tuple[str, ...]:
    """Note how many documents were left out because the asker has no country."""
    if not elsewhere.passages:
        return ()
    passages = f"{elsewhere.passages} of the best {plan.k} passages are of single countries"
    return (f"{passages}; name a country to see them.",)


def out_of_force_notes(today: date, passages: Sequence[Chunk | Citation]) -> tuple[str, ...]:
    """Warn that rules of another day may not be those of today."""
    notes: dict[str, None] = {}
    for passage in passages:
        name = f"{passage.title} ({passage.uri})"
        if passage.effective_to and passage.effective_to < today:
            notes[f"{name} is no longer in force: it ended on {passage.effective_to}."] = None
        elif passage.effective_from and passage.effective_from > today:
            notes[f"{name} is not yet in force: from {passage.effective_from} on."] = None
    return tuple(notes)


def search_trace(
    workspace: Workspace, result: SearchResult, notes: tuple[str, ...], variant: str
) -> Trace:
    seconds = {step: round(seconds, 4) for step, seconds in result.seconds.items()}
    return Trace(
        plan=result.plan,
        queries=result.queries,
        rankings=result.rankings,
        evidence=tuple(hit.chunk.id for hit in result.evidence.hits),
        seconds=seconds,
        index_version=workspace.engine.version(),
        degraded=result.degraded,
        notes=notes,
        variant=variant,
        **result.spent._asdict(),
    )
