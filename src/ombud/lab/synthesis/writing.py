"""Cases that a chat model writes from passages, and a second look at each before it is kept."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from pydantic import BaseModel

from ombud.errors import LabError
from ombud.lab.cases.quotes import normalise
from ombud.lab.judges.asking import Judge, NoVerdictError
from ombud.lab.runs.failing import most_telling
from ombud.lab.synthesis.accounting import (
    ANOTHER_KIND,
    INCOMPLETE,
    NO_REPLY,
    NOT_QUOTED,
    NOT_SAID,
    SAID_AFTER_ALL,
    Synthesis,
    Tally,
)
from ombud.lab.synthesis.assigning import Assigner, Assignment, chosen_types
from ombud.lab.synthesis.cleaning import Cleaner
from ombud.types import Case, Chunk, Message, Passage, Person, Reference

LONGEST = 1500
"""Characters of a message: more is no question but an essay."""
SURPLUS = 4
"""Proposals for each case that is wanted, at most: a model that gives worse is no help."""

_CLOSING = re.compile(r"</?\s*(?:passage|message|answer)\s*>", re.IGNORECASE)
"""What a passage may not end by itself."""

OnProgress = Callable[[str, int, int], None]
Search = Callable[[str, Person], Awaitable[Sequence[Chunk]]]
"""The best passages that the assistant finds for a question."""


class WrittenCase(BaseModel):
    earlier: list[str]
    question: str
    answer: str
    quotes: list[str]


_NOTHING = WrittenCase(earlier=[], question="", answer="", quotes=[])


class Criticism(BaseModel):
    reason: str
    answered: bool
    supported: bool
    fits: bool


@dataclass(frozen=True, slots=True)
class WritingRequest:
    """The cases to write. readers: persona -> description of the reader."""

    size: int
    types: Sequence[str] = ()
    readers: Mapping[str, str] | None = None
    seed: int = 0
    concurrency: int = 4


class _Proposal(NamedTuple):
    assignment: Assignment
    written: WrittenCase
    fallen: str = ""
    """The check that it fell to."""

    def drop(self, check: str) -> "_Proposal":
        return self._replace(fallen=check)


class CaseWriter:
    """Asks the writer for one case at a time and the critic whether it holds.

    writer, critic: asked as judges are: typed, once, remembered. search: what the assistant finds,
    for cases that nothing is to answer; without it the critic sees their source alone. cleaner:
    remembers what was kept."""

    def __init__(
        self,
        writer: Judge,
        critic: Judge,
        words: Mapping[str, str],
        cleaner: Cleaner,
        *,
        search: Search | None = None,
    ) -> None:
        self._writer, self._critic, self._words = writer, critic, words
        self._cleaner, self._search = cleaner, search

    async def write(
        self,
        chunks: Sequence[Chunk],
        request: WritingRequest,
        on_progress: OnProgress = lambda *_: None,
    ) -> Synthesis:
        """Write up to `size` cases. If it is stopped, the same call continues with the stored
        replies.

        Raises LabError without passages and UnknownName for a type; ModelError where a model cannot
        be asked."""
        if not chunks:
            raise LabError(
                "No passages to make cases from.", hint="Add documents and index them first."
            )
        readers = dict(request.readers or {})
        types = chosen_types(request.types)
        assigner = Assigner(chunks, sorted(readers), seed=request.seed)
        tally = Tally(request.size, types)
        gate = asyncio.Semaphore(request.concurrency)
        while tally.missing and tally.proposed < SURPLUS * request.size:
            wave = _wave(assigner, tally)
            if not wave:
                break
            for proposal in await self._proposals(wave, readers, gate, tally, on_progress):
                # In the order of the assignments: each meets all that were kept before it.
                check = proposal.fallen or self._clean(proposal)
                if check:
                    tally.drop(check)
                else:
                    case = _case(proposal.assignment, proposal.written)
                    tally.keep(case, proposal.assignment)
        return tally.result(len(chunks), embedded=self._cleaner.embeds)

    async def _proposals(
        self,
        wave: Sequence[Assignment],
        readers: Mapping[str, str],
        gate: asyncio.Semaphore,
        tally: Tally,
        on_progress: OnProgress,
    ) -> list[_Proposal]:
        async def propose(assignment: Assignment) -> _Proposal:
            async with gate:
                proposal = await self._written(assignment, readers)
                if not proposal.fallen:
                    proposal = await self._criticised(proposal)
            tally.asked += 1
            on_progress("synthesise", min(tally.asked, tally.wanted), tally.wanted)
            return proposal

        tasks: list[asyncio.Task[_Proposal]] = []
        try:
            async with asyncio.TaskGroup() as group:
                for assignment in wave:
                    tasks.append(group.create_task(propose(assignment)))
        except BaseExceptionGroup as several:
            raise most_telling(several) from several
        return [task.result() for task in tasks]

    async def _written(self, assignment: Assignment, readers: Mapping[str, str]) -> _Proposal:
        style = self._words[f"style-{assignment.style}"]
        try:
            written = await self._writer.ask(
                "case",
                WrittenCase,
                wanted=self._kind(assignment),
                style=style,
                reader=readers.get(assignment.persona, "an employee"),
                passages=_shown(assignment.passages),
            )
        except NoVerdictError:
            return _Proposal(assignment, _NOTHING, NO_REPLY)
        proposal = _Proposal(assignment, written)
        if not _is_whole(assignment, written):
            return proposal.drop(INCOMPLETE)
        return proposal if _is_quoted(assignment, written) else proposal.drop(NOT_QUOTED)

    def _kind(self, assignment: Assignment) -> str:
        words = self._words[f"type-{assignment.type.replace('_', '-')}"]
        return words.replace("$theme", assignment.theme)

    async def _criticised(self, proposal: _Proposal) -> _Proposal:
        assignment, written = proposal.assignment, proposal.written
        answer = written.answer if assignment.kind.expect == "answer" else ""
        try:
            verdict = await self._critic.ask(
                "fitting",
                Criticism,
                wanted=self._kind(assignment),
                question="\n".join((*written.earlier, written.question)),
                answer=answer,
                passages=_shown(await self._evidence(proposal)),
            )
        except NoVerdictError:
            return proposal.drop(NO_REPLY)
        expected = assignment.kind.expect
        if expected == "answer" and not (verdict.answered and verdict.supported):
            return proposal.drop(NOT_SAID)
        if expected == "deny" and verdict.answered:
            return proposal.drop(SAID_AFTER_ALL)
        return proposal if verdict.fits else proposal.drop(ANOTHER_KIND)

    async def _evidence(self, proposal: _Proposal) -> Sequence[Chunk]:
        """Return the passages that the case was written from and, for a question that nothing may
        answer, those that the assistant finds besides."""
        own = proposal.assignment.passages
        if proposal.assignment.kind.expect != "deny" or not self._search:
            return own
        hits = await self._search(proposal.written.question, proposal.assignment.asker)
        own_ids = {chunk.id for chunk in own}
        return [*own, *(chunk for chunk in hits if chunk.id not in own_ids)]

    def _clean(self, proposal: _Proposal) -> str:
        """Name the cleaner's check that the proposal fails; empty if it is kept."""
        assignment, written = proposal.assignment, proposal.written
        return self._cleaner.check(
            " ".join((*written.earlier, written.question)),
            assignment.passages[0] if assignment.passages else None,
            relevant=not assignment.is_noisy,
        )


def _wave(assigner: Assigner, tally: Tally) -> list[Assignment]:
    shares = tally.shares()
    wave: list[Assignment] = []
    for name in tally.types:
        for _ in range(shares[name]):
            assignment = assigner.next_of(name)
            if assignment:
                wave.append(assignment)
    return wave


def _is_whole(assignment: Assignment, written: WrittenCase) -> bool:
    question = written.question.strip()
    if not question or len(question) > LONGEST:
        return False
    needs_earlier = assignment.type == "conversational"
    if needs_earlier != bool(written.earlier) or len(written.earlier) % 2:
        return False
    return assignment.kind.expect != "answer" or bool(written.answer.strip() and written.quotes)


def _is_quoted(assignment: Assignment, written: WrittenCase) -> bool:
    """Tell whether every quote stands in a passage, and every passage that an answer needs is
    quoted."""
    if assignment.kind.expect not in ("answer", "clarify"):
        return True
    places = [_place(quote, assignment.passages) for quote in written.quotes]
    if None in places:
        return False
    return assignment.kind.expect == "clarify" or len(set(places)) == len(assignment.passages)


def _place(quote: str, passages: Sequence[Chunk]) -> int | None:
    wanted = normalise(quote)
    for place, chunk in enumerate(passages):
        if wanted and wanted in normalise(chunk.text):
            return place
    return None


def _shown(passages: Sequence[Chunk]) -> str:
    blocks: list[str] = []
    for chunk in passages:
        trail = " > ".join((chunk.title, *chunk.trail))
        text = "\n".join(filter(None, (trail, chunk.header, chunk.text)))
        blocks.append(f"<passage>\n{_CLOSING.sub('', text)}\n</passage>")
    return "\n".join(blocks)


def _case(assignment: Assignment, written: WrittenCase) -> Case:
    expect = assignment.kind.expect
    history: list[Message] = []
    for number, text in enumerate(written.earlier):
        history.append(Message(role="assistant" if number % 2 else "user", content=text))
    evidence: list[Passage] = []
    for quote in dict.fromkeys(written.quotes if expect in ("answer", "clarify") else ()):
        place = _place(quote, assignment.passages)
        if place is not None:
            chunk = assignment.passages[place]
            evidence.append(Passage(document=chunk.uri, quote=quote, page=chunk.page_from))
    facts = json.dumps([assignment.type, written.model_dump()], sort_keys=True)
    tags = ["synthetic", "written", assignment.style]
    if assignment.is_noisy:
        tags.append("noisy")
    reference = Reference(text=written.answer, persona=assignment.persona or None)
    return Case(
        id="syn-" + sha256(facts.encode()).hexdigest()[:12],
        question=written.question.strip(),
        type=assignment.type,
        person=assignment.asker,
        history=tuple(history),
        expect=expect,
        references=(reference,) if expect == "answer" else (),
        evidence=tuple(evidence),
        tags=tuple(tags),
    )
