"""What the assistant says in its own name. Calm, short, and never advice."""

from collections.abc import Mapping, Sequence

from ombud.answer.languages.language import in_any_language, sentence
from ombud.types import AnswerCondition

NOT_IN_DOCUMENTS = "I could not find this in the documents that apply to you."
BROKEN_OFF = (
    "My answer breaks off here, because the model that writes it stopped. The sources may say more."
)
LEFT_OUT_ONE = "One statement was left out because I could not check it against the documents."
LEFT_OUT_MORE = (
    "{count} statements were left out because I could not check them against the documents."
)
TOO_VAGUE = "I cannot tell what you would like to know. Please ask again with a little more detail."
OUTSIDE = "This is outside what I cover."
CALM = (
    "Thank you for telling me. This is something a person should help you with, not a machine, "
    "and they will treat it in confidence."
)
ASKED_BACK = "Could you say a little more"
WHICH_COUNTRY = "That depends on the country in which you work. Which one is it?"
OWN_RULES = "Your country may have rules of its own. Which one is it?"
CONDITIONS = "It depends on"
MARKS = {"met": "✓", "not_met": "✗", "unknown": "?"}
"""State of a condition -> its mark."""
POLICY_SAYS = "This is what the policy says:"
APPLIES = "you"
"""Beside the row of a table that applies to the asker."""
APPLIES_ASKED = "asked"
"""Beside the row that a question names without speaking of its asker."""
MORE_ROWS = "{count} more in this table."
MORE_ITEMS = "{count} more in this list."
"""Below a table or a list of which only some is shown."""
READ_AS = "I read “"
PERSON = "Of course. A person can take over from here."
PLEASANTRIES: Mapping[str, str] = {
    "greeting": "Hello. I answer questions about the policies of {organisation}, from its "
    "documents. What would you like to know?",
    "thanks": "You are welcome. Ask again whenever something else comes up.",
    "farewell": "Goodbye. Ask again whenever something else comes up.",
    "about": "I am an assistant, not a person. I answer questions about the policies of "
    "{organisation} from its documents, with the passage behind each sentence, and I say so when "
    "they do not answer. Ask in your own words, such as “How much annual leave do I have?”, or "
    "ask to talk to a person.",
}
NOT_SURE = "I am not sure. The closest passages say:"


def handoff(language: str = "en") -> str:
    """Return the reply to what a person should help with."""
    return sentence("handoff", language) or CALM


def emergency(number: str, language: str = "en") -> str:
    """Return whom to call first. number: of the country; empty where none is known."""
    if not number:
        return sentence("emergency", language)
    said = sentence("emergency_number", language) or sentence("emergency_number", "en")
    return said.replace("{number}", number)


def helplines(lines: Sequence[str], language: str = "en") -> str:
    """Return who listens, day and night. lines: name and number of each."""
    said = sentence("helplines", language) or sentence("helplines", "en")
    return said.replace("{lines}", "; ".join(lines))


def condolence(language: str = "en") -> str:
    return sentence("condolence", language) or sentence("condolence", "en")


def as_of(day: str, language: str = "en") -> str:
    """Return the day whose rules an answer states."""
    said = sentence("as_of", language) or sentence("as_of", "en")
    return said.replace("{day}", day)


def person(language: str = "en") -> str:
    """For who has asked for a person."""
    return sentence("person", language) or PERSON


def left_out(count: int, language: str = "en") -> str:
    """Return how many claims were left out because they failed the check."""
    if count == 1:
        return sentence("left_out_one", language) or LEFT_OUT_ONE
    said = sentence("left_out_more", language) or LEFT_OUT_MORE
    return said.replace("{count}", str(count))


def conditions(listed: Sequence[AnswerCondition], language: str = "en") -> str:
    """Return a checklist of what an answer depends on."""
    heading = sentence("conditions", language) or CONDITIONS
    lines = [f"- {MARKS[condition.state]} {condition.text}" for condition in listed]
    return "\n".join([f"**{heading}**", "", *lines])


def policy_says(language: str) -> str:
    return sentence("policy_says", language) or POLICY_SAYS


def not_sure(language: str) -> str:
    return sentence("not_sure", language) or NOT_SURE


def pleasantry(kind: str, organisation: str, language: str = "en") -> str:
    """To who greets, thanks, takes leave or asks what this is. kind: as in PLEASANTRIES."""
    said = sentence(kind, language) or PLEASANTRIES[kind]
    return said.replace("{organisation}", organisation or "your organisation")


def off_topic(organisation: str, language: str = "en") -> str:
    outside = sentence("outside", language)
    if outside:
        return outside.replace("{organisation}", organisation)
    return (
        f"{OUTSIDE} I answer questions about the policies of {organisation}: "
        "leave, pay, travel, conduct and the like. Ask me about one of those."
    )


def unread(key: str, language: str) -> str:
    """Of a question in a language that the embedder does not know. key: `unread`, `closest` or
    `answered`."""
    return sentence(key, language) or sentence(key, "en")


def clarify(choices: Sequence[str]) -> str:
    if not choices:
        return f"{ASKED_BACK} about what you would like to know?"
    listed = _listed(choices)
    return f"{ASKED_BACK}? For instance, would you like to know:\n\n{listed}"


def which_country(names: Sequence[str], language: str) -> str:
    """names: of the countries whose documents speak of what is asked."""
    asked = sentence("which_country", language) or WHICH_COUNTRY
    return f"{asked}\n\n{_listed(names)}"


def own_rules(language: str) -> str:
    return sentence("own_rules", language) or OWN_RULES


def not_stated(missing: Sequence[str], closest: Sequence[str], language: str = "en") -> str:
    """missing: words of the question that no passage has. closest: where the nearest passages
    stand."""
    not_found = sentence("not_found", language)
    if not_found:
        return f"{not_found}\n\n{_listed(closest)}\n\n" if closest else not_found
    said = [NOT_IN_DOCUMENTS]
    if missing:
        words = [f"“{word}”" for word in missing]
        said.append(f"The passages that come closest do not mention {_either(words)}.")
    if not closest:
        return " ".join(said)
    listed = _listed(closest)
    return f"{' '.join(said)} What they are about:\n\n{listed}\n\n"


def turn_to() -> str:
    """Whom to turn to where the organisation has named nobody."""
    return (
        "Please turn to your HR team, to a manager whom you trust or to your employee "
        "representatives."
    )


def staying_unknown(name: str) -> str:
    """For a reporter who wants to stay unknown. name: a contact that takes reports without a name;
    empty where there is none."""
    reveals = "An e-mail shows your name and address to whoever reads it."
    if name:
        return f"{reveals} {name} takes reports without a name."
    return f"{reveals} Ask first how a report without a name can be made."


def own_record(name: str, shown_below: bool) -> str:
    where = " The contact below shows or knows it." if shown_below else ""
    return f"I see documents, not personal data: {name} is nothing that I can look up.{where}"


def read_as(words: Sequence[tuple[str, str]]) -> str:
    """words: each that was mistyped, and what it was read as."""
    pairs = ", “".join(f"{typed}” as “{meant}”" for typed, meant in words)
    return f"{READ_AS}{pairs}."


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _either(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def closing(action: str, contact_known: bool, language: str = "en") -> str:
    if action != "contact":
        return ""
    if contact_known:
        return sentence("contact", language) or "The contact below can help."
    return sentence("no_contact", language) or "Please ask your HR team."


# What was said before, read again -----------------------------------------------------------------


def is_turned_away(text: str) -> bool:
    """Whether an earlier answer was a hand-over, or said that this is outside."""
    outside = [said.partition(".")[0] for said in in_any_language("outside")]
    return text.startswith((OUTSIDE, *outside)) or is_handed_over(text)


def is_handed_over(text: str) -> bool:
    """Whether an earlier answer offered a person for what is sensitive."""
    return any(calm in text for calm in (CALM, *in_any_language("handoff")))
