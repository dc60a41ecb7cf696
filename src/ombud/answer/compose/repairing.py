"""The second call: claims that are not supported, written again, and nothing else."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from string import Template
from typing import NamedTuple

from ombud.answer.compose.prompting import harmless, passage_lines, question_fields
from ombud.answer.languages.language import apology, name_of, question_language, written_in
from ombud.answer.proof.citing import Composed
from ombud.answer.proof.drafts import LONGEST_CLAIM, Draft, DraftClaim, Repair
from ombud.answer.proof.proving import Prover
from ombud.prompts import Prompt, load_sections
from ombud.types import Question

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
    question: Question,
    day: date,
    model: str,
    prompts: Path | None = None,
) -> RepairPrompt:
    """Return the prompt for the claims that fail: what is wrong, and the passages that they cite.

    problems: position of a claim -> what is wrong with it."""
    sections = load_sections(TASK, model, prompts)
    words = sections.words
    if WHOLE in words:
        # A file of the workspace without sections is the instructions; the form is ours.
        words = {**load_sections(TASK, model).words, "instructions": words[WHOLE]}
    claims: list[str] = []
    passages: dict[str, str] = {}
    for place in sorted(problems):
        claim = draft.claims[place]
        filled = Template(words["claim"]).safe_substitute(
            number=str(place + 1),
            labels=", ".join(claim.passages) or "nothing",
            claim=harmless(claim.text[:LONGEST_CLAIM]),
            problem=problems[place],
        )
        claims.append(filled)
        # One that cites nothing may be said by any of them.
        passages.update(prover.texts(claim.passages) or prover.texts(list(prover.labels)))
    message = Template(words["message"]).safe_substitute(
        question_fields(question, day),
        passages="\n\n".join(passage_lines(passages, words["passage"])),
        claims="\n\n".join(claims),
    )
    instructions = (words["instructions"], words.get("language", ""))
    return RepairPrompt(
        instructions="\n\n".join(filter(None, instructions)),
        message=message,
        files=sections.files,
        note=sections.note,
    )


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


def language_problem(draft: Draft, question: str) -> str:
    """Return what to tell a model that wrote in another language than that of the question; empty
    where it did not, or the question is too short to tell."""
    language = question_language(question)
    if not language or not draft.claims or written_in(draft.claims_text, language) == language:
        return ""
    wanted = name_of(language)
    return f"It is not in {wanted}, the language of the question. Write all of it in {wanted}."


def with_apology(composed: Composed, question: str) -> Composed:
    """Say before an answer that it is not in the language of the question, where it is not."""
    text = " ".join(claim.text for claim in composed.claims)
    language = question_language(question)
    if not text or not language:
        return composed
    sorry = apology("written", language, [written_in(text, language)])
    if not sorry:
        return composed
    return composed._replace(text=f"{sorry}\n\n{composed.text}")
