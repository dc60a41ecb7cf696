"""Asking a workspace: the plan and the filter of a question, its answer, and what is kept of it."""

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
from ombud.errors import BadRequest, OmbudError, UnknownName
from ombud.index import Filter
from ombud.models import recorded
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
    read_reasoning,
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
TURNS = 10
"""Turns of a stored conversation that an answer looks back on."""


class _GuardedSearch(NamedTuple):
    """A question, and what it is searched for with."""

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
) -> Answer:
    """Answer, and keep the answer.

    conversation_id: adds its last ten turns, unless the question has history. on_event: gets claims
    while a chat model is still writing them. message_key: UUID of the sender; the same again in a
    conversation is the same question, and has the same answer. flow: AdvisorRun where an advisor
    asks for an employee. Raises UnknownName for a persona,
    strategy or component that does not exist, NotFound for a conversation, IllegalTransition for
    one that a person has taken over.
    """
    question = await asyncio.to_thread(_with_history, workspace, question, conversation_id)
    is_private = was_handed_over(question.history)
    question = _looking_back(question)
    make = partial(
        _make_answer,
        workspace,
        question,
        plan=plan or {},
        conversation_id=conversation_id,
        is_private=is_private,
        keep=keep,
        flow=flow,
    )
    answer = partial(_answer, workspace, question, make, keep=keep)
    if not conversation_id or not keep:
        return await answer(on_event=on_event, begun=None)
    begin = partial(begin_turn, workspace, conversation_id, question.text, message_key)
    begun = asyncio.create_task(asyncio.to_thread(begin))
    answering = asyncio.create_task(answer(on_event=_held(on_event, begun), begun=begun))
    try:
        turn = await asyncio.shield(begun)
        return turn.answer or await answering
    except BaseException:  # whoever stops it or whatever fails, it may be asked again
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
    """Answer from supplied passages instead of a search, for the lab. Nothing of it is kept: nobody
    was told it."""
    flow = partial(EvidenceRun, supplied=supplied)
    return await ask(workspace, question, plan=plan, on_event=on_event, keep=False, flow=flow)


def _held(on_event: OnEvent | None, begun: "asyncio.Task[BegunTurn]") -> OnEvent | None:
    """The same, told once the question is kept: one that may not be asked has no events."""
    if on_event is None:
        return None
    tell = on_event
    held: list[tuple[str, dict[str, Any]]] = []

    def later(name: str, data: dict[str, Any]) -> None:
        if begun.done():
            tell(name, data)
        else:
            held.append((name, data))

    def release(_: "asyncio.Task[BegunTurn]") -> None:
        if not begun.cancelled() and begun.exception() is None and begun.result().answer is None:
            for name, data in held:
                tell(name, data)

    begun.add_done_callback(release)
    return later


async def _answer(
    workspace: Workspace,
    question: Question,
    make: MakeAnswer,
    *,
    keep: bool,
    on_event: OnEvent | None,
    begun: "asyncio.Task[BegunTurn] | None",
) -> Answer:
    """begun: the keeping of the question, which goes on beside its answering."""
    make = partial(make, on_event=_on_this_loop(on_event))
    answer, reasoning = await run_apart(make)
    if begun is not None:
        turn = await asyncio.shield(begun)
        if turn.answer:
            return turn.answer
    if keep:
        await asyncio.to_thread(_keep, workspace, question, answer, reasoning)
        for hear in workspace.listeners:
            hear(answer)
    return answer


async def _make_answer(
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
    """Answer without keeping anything, and return the model's reasoning beside it.

    Runs on a thread of its own: it may read the store and work on texts without a detour."""
    workspace.follow_index()
    is_private = is_private or _is_known_private(workspace, conversation_id)
    resolved = resolve(workspace, question, is_private=is_private)
    planned = plan_of(workspace, resolved.asker, plan, served=keep)
    workspace.expect_reading(planned.plan)
    where = filter_of(resolved, planned.plan)
    parts = workspace.answering_for(planned.plan)
    with workspace.reading_place(served=keep) as may_read, recorded() as calls:
        parts = parts._replace(may_read=may_read)
        run = flow(resolved, planned.plan, where, parts, on_event)
        answer = await run.answer()
        if answer.trace.queries and not answer.trace.evidence:
            workspace.check_index()
    hidden = _hidden_note(run.elsewhere, planned.plan)
    dated = _out_of_force_notes(workspace.today(), answer.citations)
    notes = (*answer.trace.notes, *hidden, *dated)
    trace = answer.trace.model_copy(update={"notes": notes, "variant": planned.variant})
    is_written = run.body is not None and run.body.is_written
    path = path_of(calls, answer.action, is_written=is_written)
    answer = answer.model_copy(
        update={"conversation_id": conversation_id, "trace": with_calls(trace, calls, path)}
    )
    offer = offer_of(answer, question, workspace.settings.handoff, workspace.store)
    return answer.model_copy(update={"offer": offer}), run.reasoning


def _on_this_loop(on_event: OnEvent | None) -> OnEvent | None:
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
    """The passages alone, best first, and how they were found. Raises UnknownName as `ask` does."""
    request = dict(plan or {})
    if k is not None:
        request["k"] = k
    if mode is not None:
        request["mode"] = mode
    _check_history(history)
    question = Question(text=query, asker=person, history=tuple(history), as_of=as_of)
    is_private = was_handed_over(history)
    question = _looking_back(question)
    return await run_apart(partial(_search, workspace, question, request, is_private))


async def _search(
    workspace: Workspace, question: Question, request: Mapping[str, Any], is_private: bool
) -> tuple[Evidence, Trace]:
    """Runs on a thread of its own, as `_make_answer` does."""
    workspace.follow_index()
    resolved = resolve(workspace, question, is_private=is_private)
    planned = plan_of(workspace, resolved.asker, request)
    where = filter_of(resolved, planned.plan)
    with recorded() as calls:
        guarded = _guarded(workspace, resolved)
        result = await search_index(guarded.question, planned.plan, where, guarded.knowledge)
        if not result.evidence.hits:
            workspace.check_index()
        parts = workspace.answering_for(planned.plan)._replace(knowledge=guarded.knowledge)
        elsewhere = rules_elsewhere(guarded.question, result, where, parts)
    result = result._replace(degraded=(*guarded.degraded, *result.degraded))
    chunks = [hit.chunk for hit in result.evidence.hits]
    dated = _out_of_force_notes(workspace.today(), chunks)
    hidden = _hidden_note(elsewhere, planned.plan)
    notes = (*hidden, *dated)
    trace = _search_trace(workspace, result, notes, planned.variant)
    return result.evidence, with_calls(trace, calls)


def plan_of(
    workspace: Workspace, person: Person, request: Mapping[str, Any], *, served: bool = True
) -> Planned:
    """The plan of a person's question.

    Its persona is the one that the request names, else the person's, else the settings'. Raises
    UnknownName for a persona or a component that does not exist.
    """
    planned = plan_for(workspace.flagged, person, request, served=served)
    for persona in (person.persona, planned.plan.persona):
        if persona not in workspace.personas:
            known = ", ".join(workspace.personas)
            raise UnknownName(f"No persona is called `{persona}`.", hint=f"Known: {known}.")
    check_components(planned.plan.components, workspace.prompts)
    if person.persona == DEFAULT_PERSONA or "persona" in planned.plan.pinned:
        return planned
    own_persona = planned.plan.model_copy(update={"persona": person.persona})
    return planned._replace(plan=own_persona)


def resolve(
    workspace: Workspace, question: Question, *, is_private: bool = False
) -> ResolvedQuestion:
    """Return the question as everything after it reads it. is_private: the conversation is known
    to hold something sensitive."""
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
    """Raises NotFound."""
    return last_messages(workspace.store, conversation_id)


def stored_answer(workspace: Workspace, answer_id: str) -> Answer:
    """Raises NotFound."""
    return read_answer(workspace.store, answer_id)


def stored_reasoning(workspace: Workspace, answer_id: str) -> str:
    """What the model thought before it; for the operator, and shown to nobody who asks."""
    return read_reasoning(workspace.store, answer_id)


def _with_history(
    workspace: Workspace, question: Question, conversation_id: str | None
) -> Question:
    """The question with the messages before it, those that it brings or those that are stored.
    Raises BadRequest for more than a conversation has, NotFound for an unknown conversation."""
    _check_history(question.history)
    if not conversation_id:
        return question
    turns = 0 if question.history else TURNS  # an unknown conversation is an error either way
    history = last_messages(workspace.store, conversation_id, turns)
    if question.history:
        return question
    return question.model_copy(update={"history": tuple(history)})


def _looking_back(question: Question) -> Question:
    """The question with as much of its history as an answer looks back on."""
    return question.model_copy(update={"history": recent_history(question.history)})


def _check_history(history: Sequence[Message]) -> None:
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


def _keep(workspace: Workspace, question: Question, answer: Answer, reasoning: str) -> None:
    setup = measuring.setup(workspace)
    is_asked = answer.conversation_id is not None
    add_turn(workspace.store, question, answer, setup, reasoning, is_asked=is_asked)


def _is_known_private(workspace: Workspace, conversation_id: str | None) -> bool:
    """Also where what was sensitive lies further back than the turns that are looked at."""
    if not conversation_id or workspace.settings.models.sensitive == "allowed":
        return False
    return is_sensitive_conversation(workspace.store, conversation_id)


def _guarded(workspace: Workspace, resolved: ResolvedQuestion) -> _GuardedSearch:
    """What is not answered needs triage only where something could leave this machine."""
    knowledge = workspace.index
    if workspace.settings.models.sensitive == "allowed" or not remote_names(knowledge):
        return _GuardedSearch(resolved.for_search(), knowledge)
    guarded = guard_search(resolved, workspace.answering)
    return _GuardedSearch(guarded.question, guarded.parts.knowledge, guarded.degraded)


def _hidden_note(elsewhere: ElsewhereRules, plan: Plan) -> tuple[str, ...]:
    """Without a country only global documents speak; say how much that left out."""
    if not elsewhere.passages:
        return ()
    passages = f"{elsewhere.passages} of the best {plan.k} passages are of single countries"
    return (f"{passages}; name a country to see them.",)


def _out_of_force_notes(today: date, passages: Sequence[Chunk | Citation]) -> tuple[str, ...]:
    """Who asks for another day must not take what was the rule then for what it is now."""
    notes: dict[str, None] = {}
    for passage in passages:
        name = f"{passage.title} ({passage.uri})"
        if passage.effective_to and passage.effective_to < today:
            notes[f"{name} is no longer in force: it ended on {passage.effective_to}."] = None
        elif passage.effective_from and passage.effective_from > today:
            notes[f"{name} is not yet in force: from {passage.effective_from} on."] = None
    return tuple(notes)


def _search_trace(
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
