"""Which language a draft should be in, and what is said where it could not be."""

from collections.abc import Set

from ombud.answer.compose.drafts import Draft
from ombud.answer.languages.language import apology, asked_in, name_of, written_in
from ombud.answer.proof.citing import Composed


def language_problem(
    draft: Draft, question: str, passage_languages: Set[str], *, none_proven: bool
) -> str:
    """Why the draft should be written in another language: that of the question, or, where claims
    in it cannot be checked because no passage is in it, that of the passages. Empty where it should
    not.

    none_proven: of the claims."""
    asked = asked_in(question)
    if not asked or not draft.claims:
        return ""
    written = written_in(draft.claims_text, asked)
    answerable = asked in passage_languages
    if none_proven and not answerable and written not in passage_languages:
        names = " or ".join(name_of(code) for code in sorted(passage_languages))
        return (
            f"it cannot be checked, for the passages are not in {name_of(written)}; "
            f"write it in {names}"
        )
    if answerable and written != asked:
        wanted = name_of(asked)
        return f"it is not in {wanted}, the language of the question; write all of it in {wanted}"
    return ""


def with_apology(composed: Composed, question: str, passage_languages: Set[str]) -> Composed:
    """The answer, and before it that it is not in the language of the question, where it could not
    be."""
    text = " ".join(claim.text for claim in composed.claims)
    asked = asked_in(question)
    if not text or asked in passage_languages:
        return composed
    sorry = apology("written", asked, [written_in(text, asked)])
    if not sorry:
        return composed
    return composed._replace(text=f"{sorry}\n\n{composed.text}")
