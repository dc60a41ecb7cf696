"""The second call: claims that are not supported, written again, and nothing else."""

from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import NamedTuple

from ombud.answer.compose.drafts import LONGEST_CLAIM, Draft, DraftClaim, Repair
from ombud.answer.compose.prompting import harmless
from ombud.answer.proof.proving import Prover
from ombud.prompts import Prompt, load_sections

TASK = "repair"
WHOLE = ""
"""The one section of a file without sections."""


class RepairPrompt(NamedTuple):
    instructions: str
    message: str
    files: tuple[Prompt, ...]
    note: str
    """Why a file of the workspace is not used; empty where there is nothing to say."""


def repair_prompt(
    draft: Draft,
    problems: Mapping[int, str],
    prover: Prover,
    *,
    question: str,
    model: str,
    prompts: Path | None = None,
) -> RepairPrompt:
    """Return the prompt for the claims that fail: what is wrong, and the nearest sentences.

    problems: position of a claim -> what is wrong with it."""
    sections = load_sections(TASK, model, prompts)
    words = sections.words
    if WHOLE in words:
        # A file of the workspace without sections is the instructions; the form is ours.
        words = {**load_sections(TASK, model).words, "instructions": words[WHOLE]}
    claims: list[str] = []
    for place in sorted(problems):
        claim = draft.claims[place]
        filled = Template(words["claim"]).safe_substitute(
            number=str(place + 1),
            labels=", ".join(claim.passages) or "nothing",
            claim=harmless(claim.text[:LONGEST_CLAIM]),
            problem=problems[place],
            sentences="\n".join(_sentences(claim, prover, words["sentence"])),
        )
        claims.append(filled)
    message = Template(words["message"]).safe_substitute(
        question=harmless(question), claims="\n\n".join(claims)
    )
    instructions = (words["instructions"], words.get("language", ""))
    return RepairPrompt(
        instructions="\n\n".join(filter(None, instructions)),
        message=message,
        files=sections.files,
        note=sections.note,
    )


def _sentences(claim: DraftClaim, prover: Prover, line: str) -> list[str]:
    """Return the nearest sentence of each cited passage; of all passages where none is cited."""
    lines: list[str] = []
    for label, sentence in prover.nearest(claim).items():
        lines.append(Template(line).safe_substitute(label=label, text=harmless(sentence)))
    return lines


def mended(draft: Draft, repair: Repair, failing: Mapping[int, str]) -> Draft:
    """Return the draft with the claims that were written again in their places; those with an empty
    text are left out, and those that did not come back stay as they were."""
    again = {claim.number - 1: claim for claim in repair.claims}
    claims: list[DraftClaim] = []
    for place, claim in enumerate(draft.claims):
        repaired = again.get(place) if place in failing else None
        if repaired is None:
            claims.append(claim)
        elif repaired.text.strip():
            claims.append(
                DraftClaim(
                    text=repaired.text,
                    passages=repaired.passages or claim.passages,
                    quotes=repaired.quotes,
                )
            )
    return draft.model_copy(update={"claims": claims})
