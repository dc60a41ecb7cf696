"""Cases that a chat model writes from passages, and a second look at each before it is kept."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from ombud.errors import LabError
from ombud.lab.cases.quotes import normalise
from ombud.lab.judges.asking import Judge, NoVerdictError
from ombud.lab.runs.failing import most_telling
from ombud.lab.synthesis.assigning import KINDS, Assigner, Assignment, chosen_types
from ombud.lab.synthesis.choosing import STRATA, Synthesis, SynthesisAccount, reader_of
from ombud.lab.synthesis.cleaning import CHECKS, Cleaner
from ombud.lab.synthesis.pairs import QuestionAnswer
from ombud.store import KeptReply
from ombud.types import Case, CaseType, Chunk, Message, Passage, Person, Reference

NO_REPLY = "no usable reply"
NOT_QUOTED = "quote not in the passage"
INCOMPLETE = "a field is missing"
NOT_SAID = "answer not in the passage"
SAID_AFTER_ALL = "answered by the documents after all"
ANOTHER_KIND = "not of its kind"
WRITTEN_CHECKS = (
    NO_REPLY, INCOMPLETE, NOT_QUOTED, NOT_SAID, SAID_AFTER_ALL, ANOTHER_KIND, *CHECKS[1:]
)  # fmt: skip
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


class FileReplies:
    """What models replied, a line each in a file beside the cases: whatever is stopped, no reply is
    paid for twice. A last line that was cut off is asked for again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: dict[str, KeptReply] = {}
        self.tokens = 0
        """Of the replies that were made in this process, in and out."""
        self.price: float | None = 0.0
        """Theirs in US dollars; None where that of one is not known."""
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        for line in lines:
            try:
                row = json.loads(line)
                key = row.pop("key")
                self._kept[key] = KeptReply(**row)
            except (ValueError, TypeError, KeyError, AttributeError):
                continue

    def find(self, key: str) -> KeptReply | None:
        return self._kept.get(key)

    def keep(self, key: str, reply: KeptReply) -> None:
        self._kept[key] = reply
        self.tokens += reply.tokens_in + reply.tokens_out
        known = self.price is not None and reply.price is not None
        self.price = (self.price or 0.0) + (reply.price or 0.0) if known else None
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps({"key": key, **reply._asdict()}))


@dataclass(frozen=True, slots=True)
class WritingRequest:
    """What is wanted. readers: persona -> who that is, in words."""

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
        """Up to `size` cases. Stopped, the same call goes on: what was replied is remembered.

        Raises LabError without passages and UnknownName for a type; ModelError where a model cannot
        be asked."""
        if not chunks:
            raise LabError(
                "No passages to make cases from.", hint="Add documents and index them first."
            )
        readers = dict(request.readers or {})
        types = chosen_types(request.types)
        assigner = Assigner(chunks, sorted(readers), seed=request.seed)
        tally = _Tally(request.size, types)
        gate = asyncio.Semaphore(request.concurrency)
        while tally.missing and tally.proposed < SURPLUS * request.size:
            wave = _wave(assigner, tally)
            if not wave:
                break
            for proposal in await self._proposals(wave, readers, gate, tally, on_progress):
                tally.take(self._cleaned(proposal))
        cases = tuple(sorted(tally.cases, key=lambda case: case.id))
        return Synthesis(cases, tally.account(len(chunks), embedded=self._cleaner.embeds))

    async def _proposals(
        self,
        wave: Sequence[Assignment],
        readers: Mapping[str, str],
        gate: asyncio.Semaphore,
        tally: "_Tally",
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
            found = await self._critic.ask(
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
        if expected == "answer" and not (found.answered and found.supported):
            return proposal.drop(NOT_SAID)
        if expected == "deny" and found.answered:
            return proposal.drop(SAID_AFTER_ALL)
        return proposal if found.fits else proposal.drop(ANOTHER_KIND)

    async def _evidence(self, proposal: _Proposal) -> Sequence[Chunk]:
        """The passages that it was written from, and for what nothing may answer what the assistant
        finds besides."""
        own = proposal.assignment.passages
        if proposal.assignment.kind.expect != "deny" or not self._search:
            return own
        found = await self._search(proposal.written.question, _asker(proposal.assignment))
        known = {chunk.id for chunk in own}
        return [*own, *(chunk for chunk in found if chunk.id not in known)]

    def _cleaned(self, proposal: _Proposal) -> _Proposal:
        """The checks of rules, in the order of the assignments: others may have been kept since."""
        if proposal.fallen:
            return proposal
        pair = _as_pair(proposal.assignment, proposal.written)
        (vectors,) = self._cleaner.measure([pair]) if pair.chunk.text else (None,)
        check = self._cleaner.check_wording(pair)
        if not check and not proposal.assignment.is_noisy:
            check = self._cleaner.check_meaning(pair, vectors)
        if check:
            return proposal.drop(check)
        self._cleaner.accept(pair, vectors)
        return proposal


class _Tally:
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
        """How many more cases of each type, so that all come to as many."""
        lacking: Counter[str] = Counter()
        for _ in range(self.missing):
            rarest = min(self.types, key=lambda name: self._kinds[name] + lacking[name])
            lacking[rarest] += 1
        return lacking

    def take(self, proposal: _Proposal) -> None:
        self.proposed += 1
        if proposal.fallen:
            self._fallen[proposal.fallen] += 1
            return
        self.cases.append(_case(proposal.assignment, proposal.written))
        self._kinds[proposal.assignment.type] += 1
        self._strata[proposal.assignment.stratum] += 1

    def account(self, passages: int, *, embedded: bool) -> SynthesisAccount:
        return SynthesisAccount(
            wanted=self.wanted,
            proposed=self.proposed,
            fallen={check: self._fallen[check] for check in WRITTEN_CHECKS},
            kept=len(self.cases),
            kinds={kind: self._kinds[kind] for kind in KINDS},
            passages=passages,
            strata={name: self._strata[name] for name in STRATA},
            embedded=embedded,
        )


def _wave(assigner: Assigner, tally: _Tally) -> list[Assignment]:
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
    """Every quote stands in a passage, and every passage that an answer needs is quoted."""
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
    shown: list[str] = []
    for chunk in passages:
        trail = " > ".join((chunk.title, *chunk.trail))
        text = "\n".join(filter(None, (trail, chunk.header, chunk.text)))
        shown.append(f"<passage>\n{_CLOSING.sub('', text)}\n</passage>")
    return "\n".join(shown)


def _as_pair(assignment: Assignment, written: WrittenCase) -> QuestionAnswer:
    """For the checks of rules. What was written from no passage has an empty one."""
    passages = assignment.passages
    chunk = passages[0] if passages else _NOWHERE
    return QuestionAnswer(
        chunk=chunk,
        kind=assignment.type,
        style=assignment.style,
        question=written.question,
        wording=" ".join((*written.earlier, written.question)),
        quote="\n".join(written.quotes),
        answer=written.answer,
    )


_NOWHERE = Chunk(id="", document_id="", title="", uri="", digest="", text="", start=0, end=0)


def _asker(assignment: Assignment) -> Person:
    person = reader_of(assignment.passages[0]) if assignment.passages else Person()
    named = {"persona": assignment.persona} if assignment.persona else {}
    return person.model_copy(update=named)


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
        person=_asker(assignment),
        history=tuple(history),
        expect=expect,
        references=(reference,) if expect == "answer" else (),
        evidence=tuple(evidence),
        tags=tuple(tags),
    )
