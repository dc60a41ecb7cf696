"""A chat model's word on claims that the rules can neither confirm nor refute, all in one call.

It never lets one through that the rules refute."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from ombud.answer.compose.drafts import DraftClaim
from ombud.answer.compose.prompting import harmless
from ombud.answer.proof.proving import Prover
from ombud.errors import ModelError
from ombud.models import Chat, ChatReply, lean_form, list_of
from ombud.prompts import load_sections

TASK = "verify"


class ClaimVerdict(BaseModel):
    model_config = ConfigDict(json_schema_extra=lean_form("number", "verdict"))

    number: int
    verdict: Literal["borne_out", "contradicted", "not_said"] = "not_said"


class Verdicts(BaseModel):
    model_config = ConfigDict(json_schema_extra=lean_form())

    claims: Annotated[list[ClaimVerdict], list_of(ClaimVerdict)] = []


class Entailed(NamedTuple):
    borne_out: frozenset[int] = frozenset()
    """Positions, in what was given, of the claims that may be shown."""
    reply: ChatReply[Verdicts] | None = None
    """None where the model failed; nothing is borne out then."""


async def verify(
    claims: Sequence[DraftClaim],
    prover: Prover,
    chat: Chat,
    *,
    question: str,
    seconds: float,
    prompts: Path | None = None,
) -> Entailed:
    """What the model makes of the claims and the passages that they cite, whole ones: what a rule
    could not decide seldom stands in a single sentence."""
    words = load_sections(TASK, chat.name, prompts).words
    if "claim" not in words:
        words = {**load_sections(TASK, chat.name).words, "instructions": words[""]}
    try:
        reply = await chat.reply(
            words["instructions"],
            _message(claims, prover, question, words),
            Verdicts,
            temperature=0.0,
            seconds=seconds,
        )
    except ModelError:
        return Entailed()
    borne_out: set[int] = set()
    for said in reply.value.claims:
        if said.verdict == "borne_out" and 1 <= said.number <= len(claims):
            borne_out.add(said.number - 1)
    return Entailed(frozenset(borne_out), reply)


def _message(
    claims: Sequence[DraftClaim], prover: Prover, question: str, words: Mapping[str, str]
) -> str:
    """Each passage once, then the claims."""
    passages: dict[str, str] = {}
    listed: list[str] = []
    for number, claim in enumerate(claims, start=1):
        passages.update(prover.cited_texts(claim))
        listed.append(
            Template(words["claim"]).safe_substitute(
                number=str(number),
                labels=", ".join(claim.passages),
                claim=harmless(" ".join(claim.text.split())),
            )
        )
    parts: list[str] = []
    for label, text in passages.items():
        line = Template(words["passage"]).safe_substitute(label=label, text=harmless(text))
        parts.append(line)
    parts.append(Template(words["question"]).safe_substitute(question=harmless(question)))
    return "\n\n".join([*parts, "\n".join(listed)])
