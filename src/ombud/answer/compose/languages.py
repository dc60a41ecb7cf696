"""Which language a draft should be in, and what is said where it is not."""

from ombud.answer.compose.drafts import Draft
from ombud.answer.languages.language import apology, asked_in, name_of, written_in
from ombud.answer.proof.citing import Composed


def language_problem(draft: Draft, question: str) -> str:
    """Return what to tell a model that wrote in another language than that of the question; empty
    where it did not, or the question is too short to tell."""
    asked = asked_in(question)
    if not asked or not draft.claims or written_in(draft.claims_text, asked) == asked:
        return ""
    wanted = name_of(asked)
    return f"It is not in {wanted}, the language of the question. Write all of it in {wanted}."


def with_apology(composed: Composed, question: str) -> Composed:
    """Say before an answer that it is not in the language of the question, where it is not."""
    text = " ".join(claim.text for claim in composed.claims)
    asked = asked_in(question)
    if not text or not asked:
        return composed
    sorry = apology("written", asked, [written_in(text, asked)])
    if not sorry:
        return composed
    return composed._replace(text=f"{sorry}\n\n{composed.text}")
