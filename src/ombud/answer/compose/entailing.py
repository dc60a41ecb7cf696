"""A chat model's verdicts on what quotes, figures and names cannot decide, in one call.

It never lets a claim through whose quotes, figures or names are not in its passages."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from ombud.answer.compose.drafts import ListParser
from ombud.answer.compose.prompting import harmless
from ombud.answer.proof.proving import Prover
from ombud.errors import ModelError
from ombud.models import Chat, ChatReply, lean_form, list_of
from ombud.prompts import load_sections

TASK = "verify"
OnVerdict = Callable[[int], None]
"""Gets the position of a statement as soon as the model confirms it."""


class ClaimVerdict(BaseModel):
    model_config = ConfigDict(json_schema_extra=lean_form("number", "verdict"))

    number: int
    verdict: Literal["borne_out", "contradicted", "not_said"] = "not_said"


class Verdicts(BaseModel):
    model_config = ConfigDict(json_schema_extra=lean_form())

    claims: Annotated[list[ClaimVerdict], list_of(ClaimVerdict)] = []


class Statement(NamedTuple):
    """What is to be compared with passages."""

    text: str
    labels: tuple[str, ...]


class Verification(NamedTuple):
    supported: frozenset[int] = frozenset()
    """Positions of the statements that may be shown."""
    reply: ChatReply[Verdicts] | None = None
    """None where the model failed; nothing is supported then."""
    failed: str = ""
    """Why it failed."""


async def verify(
    statements: Sequence[Statement],
    prover: Prover,
    chat: Chat,
    *,
    question: str,
    seconds: float,
    prompts: Path | None = None,
    on_verdict: OnVerdict | None = None,
) -> Verification:
    """Ask a model which statements the passages that they cite support."""
    words = load_sections(TASK, chat.name, prompts).words
    if "claim" not in words:
        words = {**load_sections(TASK, chat.name).words, "instructions": words[""]}
    listener = _Listener(len(statements), on_verdict) if on_verdict else None
    try:
        reply = await chat.reply(
            words["instructions"],
            _message(statements, prover, question, words),
            Verdicts,
            temperature=0.0,
            seconds=seconds,
            on_text=listener.feed if listener else None,
        )
    except ModelError as failed:
        return Verification(failed=str(failed))
    supported: set[int] = set()
    for said in reply.value.claims:
        if said.verdict == "borne_out" and 1 <= said.number <= len(statements):
            supported.add(said.number - 1)
    return Verification(frozenset(supported), reply)


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
        for said in self._parser.read(piece):
            if said.verdict == "borne_out" and 1 <= said.number <= self._count:
                self._on_verdict(said.number - 1)


def _message(
    statements: Sequence[Statement], prover: Prover, question: str, words: Mapping[str, str]
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
    parts: list[str] = []
    for label, text in passages.items():
        line = Template(words["passage"]).safe_substitute(label=label, text=harmless(text))
        parts.append(line)
    parts.append(Template(words["question"]).safe_substitute(question=harmless(question)))
    return "\n\n".join([*parts, "\n".join(listed)])
