"""What the assistant says in its own name. Calm, short, and never advice."""

import re
from collections.abc import Mapping, Sequence

from ombud.answer.triage.sensitive import Matter

NOT_IN_DOCUMENTS = "I could not find this in the documents that apply to you."
BROKEN_OFF = (
    "My answer breaks off here, because the model that writes it stopped. The sources may say more."
)
TOO_VAGUE = "I cannot tell what you would like to know. Please ask again with a little more detail."
OUTSIDE = "This is outside what I cover."
CALM = (
    "Thank you for telling me. This is something a person should help you with, not a machine, "
    "and they will treat it in confidence."
)
ASKED_BACK = "Could you say a little more"
POLICY_SAYS = "This is what the policy says:"
APPLIES = "you"
"""Beside the row of a table that applies to the asker."""
READ_AS = "I read this as:"
NOT_SURE = "I am not sure. The closest passages say:"

SHORT = 5
"""Words up to which a question is said again whole."""


def handoff(matter: Matter, country: str | None, emergency: Mapping[str, str]) -> str:
    everywhere = emergency.get("", "")
    first = emergency.get(country or "", everywhere) if matter.danger else ""
    return f"{first}\n\n{CALM}" if first else CALM


def off_topic(organisation: str) -> str:
    return (
        f"{OUTSIDE} I answer questions about the policies of {organisation}: "
        "leave, pay, travel, conduct and the like. Ask me about one of those."
    )


def clarify(choices: Sequence[str]) -> str:
    if not choices:
        return f"{ASKED_BACK} about what you would like to know?"
    listed = _listed(choices)
    return f"{ASKED_BACK}? For instance, would you like to know:\n\n{listed}"


def not_stated(missing: Sequence[str], closest: Sequence[str]) -> str:
    """missing: words of the question that no passage has. closest: where the nearest passages
    stand."""
    said = [NOT_IN_DOCUMENTS]
    if missing:
        words = [f"“{word}”" for word in missing]
        said.append(f"The passages that come closest do not mention {_either(words)}.")
    if not closest:
        return " ".join(said)
    listed = _listed(closest)
    return f"{' '.join(said)} What they are about:\n\n{listed}\n\n"


def precedence(kind: str, local: str, everywhere: str) -> str:
    """Which of two figures counts. kind: `override` (the country's) or `below_floor` (the global
    one). Without figures the sentence names the rule alone."""
    if kind == "override":
        if local and everywhere:
            return (
                f"**{local}**: the rule of your country counts, the global page says {everywhere}."
            )
        return "The rule of your country counts before the global one."
    if local and everywhere:
        return f"**{everywhere}**: the global minimum applies, the local page says {local}."
    return "The global minimum applies; the local page gives less."


def own_record(name: str, shown_below: bool) -> str:
    where = " The contact below shows or knows it." if shown_below else ""
    return f"I see documents, not personal data: {name} is nothing that I can look up.{where}"


def read_as(text: str, words: Sequence[str]) -> str:
    """text: the question as it was meant, empty where it is not to be said whole; words: those of
    it that were mistyped."""
    whole = text.strip().rstrip("?!. ")
    is_short = 0 < len(whole.split()) <= SHORT
    meant = whole if is_short else ", ".join(words)
    return f"{READ_AS} {meant}."


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _either(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def closing(action: str, contact_known: bool) -> str:
    if action != "contact":
        return ""
    return "The contact below can help." if contact_known else "Please ask your HR team."


# What was said before, read again -----------------------------------------------------------------


def is_turned_away(text: str) -> bool:
    """Whether an earlier answer was a hand-over, or said that this is outside."""
    return CALM in text or text.startswith(OUTSIDE)


def is_own(text: str) -> bool:
    """Whether an earlier answer was the assistant's own wording and nothing of the documents."""
    return text.startswith((NOT_IN_DOCUMENTS, ASKED_BACK, TOO_VAGUE))


def without_own(text: str) -> str:
    """An earlier answer without what the assistant said around the documents' words."""
    without_reading = re.sub(rf"\n*{READ_AS} .*", "", text)
    return without_reading.replace(NOT_SURE, "").strip()
