"""A chat model's verdicts on what quotes, figures and names cannot decide, in one call.

It never lets a claim through whose quotes, figures or names are not in its passages."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from string import Template
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from ombud.answer.compose.prompting import harmless, passage_lines, question_fields
from ombud.answer.proof.drafts import ListParser
from ombud.answer.proof.proving import Prover
from ombud.errors import ModelError
from ombud.models import Chat, ChatReply, lean_form, list_of
from ombud.prompts import load_sections
from ombud.types import Question

TASK = "verify"
LONGEST_PROBLEM = 200
"""Characters of it that the writer of the claim is told."""
OnVerdict = Callable[[int], None]
"""Gets the position of a statement as soon as the model confirms it."""


class ClaimVerdict(BaseModel):
    model_config = ConfigDict(json_schema_extra=lean_form("number", "verdict"))

    number: int
    verdict: Literal["borne_out", "not_said"] = "not_said"
    problem: str = ""
    """What the passages do not say, where it is not borne out."""


class Verdicts(BaseModel):
    model_config = ConfigDict(json_schema_extra=lean_form())

    claims: Annotated[list[ClaimVerdict], list_of(ClaimVerdict)] = []


class Statement(NamedTuple):
    """A statement to be compared with passages."""

    text: str
    labels: tuple[str, ...]


class Verification(NamedTuple):
    supported: frozenset[int] = frozenset()
    """Positions of the statements that may be shown."""
    problems: Mapping[int, str] = {}
    """Position -> what is wrong with it, of others."""
    reply: ChatReply[Verdicts] | None = None
    """None where the model failed; nothing is supported then."""


async def verify(
    statements: Sequence[Statement],
    prover: Prover,
    chat: Chat,
    *,
    question: Question,
    day: date,
    seconds: float,
    prompts: Path | None = None,
    on_verdict: OnVerdict | None = None,
) -> Verification:
    """Ask a model whether statements are grounded (groundedness): which of them the passages that
    they cite support for this asker and day."""
    words = load_sections(TASK, chat.name, prompts).words
    if "claim" not in words:
        words = {**load_sections(TASK, chat.name).words, "instructions": words[""]}
    listener = _Listener(len(statements), on_verdict) if on_verdict else None
    try:
        reply = await chat.reply(
            words["instructions"],
            _message(statements, prover, words, question_fields(question, day)),
            Verdicts,
            temperature=0.0,
            seconds=seconds,
            on_text=listener.feed if listener else None,
        )
    except ModelError:
        return Verification()
    supported: set[int] = set()
    problems: dict[int, str] = {}
    for verdict in reply.value.claims:
        if not 1 <= verdict.number <= len(statements):
            continue
        if verdict.verdict == "borne_out":
            supported.add(verdict.number - 1)
        else:
            problems[verdict.number - 1] = verdict.problem[:LONGEST_PROBLEM]
    return Verification(frozenset(supported), problems, reply)


class _Listener:
    """Passes verdicts on while the model writes."""

    def __init__(self, count: int, on_verdict: OnVerdict) -> None:
        self._count = count
        self._on_verdict = on_verdict
        self._loop = asyncio.get_running_loop()
        self._parser = ListParser(ClaimVerdict)

    def feed(self, piece: str | None) -> None:
        """Read a piece, from any thread. None is a break: another reply begins."""
        self._loop.call_soon_threadsafe(self._take, piece)

    def _take(self, piece: str | None) -> None:
        if piece is None:
            self._parser = ListParser(ClaimVerdict)
            return
        for verdict in self._parser.read(piece):
            if verdict.verdict == "borne_out" and 1 <= verdict.number <= self._count:
                self._on_verdict(verdict.number - 1)


def _message(
    statements: Sequence[Statement],
    prover: Prover,
    words: Mapping[str, str],
    fields: Mapping[str, str],
) -> str:
    """Return each passage once, then the statements."""
    passages: dict[str, str] = {}
    listed: list[str] = []
    for number, statement in enumerate(statements, start=1):
        passages.update(prover.texts(statement.labels))
        listed.append(
            Template(words["claim"]).safe_substitute(
                number=str(number),
                labels=", ".join(statement.labels),
                claim=harmless(" ".join(statement.text.split())),
            )
        )
    parts = passage_lines(passages, words["passage"])
    parts.append(Template(words["question"]).safe_substitute(fields))
    return "\n\n".join([*parts, "\n".join(listed)])
