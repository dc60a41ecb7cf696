"""What the assistant says in its own name. Calm, short, and never advice."""

from collections.abc import Sequence

from ombud.messages import find_message, in_all_languages, is_message, message
from ombud.types import AnswerCondition

MARKS = {"met": "✓", "not_met": "✗", "unknown": "?"}
"""State of a condition -> its mark."""


def emergency(number: str, language: str = "en") -> str:
    """Return whom to call first. number: of the country; empty where none is known."""
    if not number:
        return message("answer.emergency", language)
    return message("answer.emergency_number", language, number=number)


def conditions(listed: Sequence[AnswerCondition], language: str = "en") -> str:
    """Return a checklist of what an answer depends on."""
    heading = message("answer.conditions", language)
    lines = [f"- {MARKS[condition.state]} {condition.text}" for condition in listed]
    return "\n".join([f"**{heading}**", "", *lines])


def service_question(length: str, language: str) -> tuple[str, tuple[str, str]]:
    """Return how to ask for somebody's length of service, and the replies to choose from.

    length: that a rule asks for, such as "7 years"."""
    less = message("answer.service_less", language, length=length)
    more = message("answer.service_more", language, length=length)
    return message("answer.service_asked", language), (less, more)


def group_question(group: str, language: str) -> tuple[str, tuple[str, str]]:
    """Return how to ask whether somebody is of a group of people, and the replies yes and no."""
    yes = message("answer.group_yes", language, group=group)
    no = message("answer.group_no", language, group=group)
    return message("answer.group_asked", language, group=group), (yes, no)


def is_reply(text: str) -> bool:
    """Tell whether a message is a reply that `group_question` offers."""
    return is_message(text, "answer.group_yes", "answer.group_no")


def not_sure(language: str, missing: Sequence[str] = (), page: str = "") -> str:
    """Introduce closest passages that may not answer; `missing` and `page` are as in
    `not_stated`."""
    parts = [message("answer.not_sure", language)]
    if missing and page:
        parts.append(not_mentioned(missing, language, page))
    parts.append(message("answer.closest_passages", language))
    return " ".join(filter(None, parts))


def clarify(choices: Sequence[str], language: str) -> str:
    if not choices:
        return message("answer.clarify", language)
    return f"{message('answer.clarify_choices', language)}\n\n{_listed(choices)}"


def which_country(names: Sequence[str], language: str) -> str:
    """Ask which country is meant. names: countries whose documents speak of the subject."""
    return f"{message('answer.which_country', language)}\n\n{_listed(names)}"


def not_stated(
    missing: Sequence[str], closest: Sequence[str], language: str = "en", page: str = ""
) -> str:
    """Say that the documents do not answer.

    missing: terms of the question that no passage has. closest: headings of the nearest passages.
    page: title of the page on the subject."""
    parts = [message("answer.not_found", language)]
    if missing:
        parts.append(not_mentioned(missing, language, page))
    if closest:
        parts.append(find_message("answer.they_are_about", language))
    opening = " ".join(filter(None, parts))
    return f"{opening}\n\n{_listed(closest)}\n\n" if closest else opening


def not_mentioned(missing: Sequence[str], language: str = "en", page: str = "") -> str:
    """Name the terms that no passage has; `page` is as in `not_stated`. Empty in a language that
    cannot say so."""
    if not find_message("answer.page_lacks", language):
        return ""
    *others, last = (message("answer.quoted_word", language, word=word) for word in missing)
    words = last
    if others:
        words = message("answer.either", language, first=", ".join(others), last=last)
    if page:
        return message("answer.page_lacks", language, page=page, words=words)
    return message("answer.passages_lack", language, words=words)


def staying_unknown(name: str, language: str) -> str:
    """Explain how to report anonymously. name: a contact that takes anonymous reports; may be
    empty."""
    way = message("answer.ask_about_anonymous", language)
    if name:
        way = message("answer.takes_anonymous", language, name=name)
    return f"{message('answer.email_reveals', language)} {way}"


def own_record(kind: str, has_contact: bool, language: str) -> str:
    """Say that a figure of the asker's own is in no document. kind: such as `own-leave`."""
    name = message("answer.record_" + kind.removeprefix("own-"), language)
    sentence = message("answer.own_record", language, record=name)
    sentence = sentence[:1].upper() + sentence[1:]
    if has_contact:
        sentence = f"{sentence} {message('answer.own_record_contact', language)}"
    return sentence


def read_as(words: Sequence[tuple[str, str]], language: str) -> str:
    """Tell the user which typos were corrected: pairs of the typed word and its correction."""
    pairs: list[str] = []
    for typed, correction in words:
        pairs.append(message("answer.read_word", language, typed=typed, correction=correction))
    return message("answer.read_as", language, words=", ".join(pairs))


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


# What was said before, read again -----------------------------------------------------------------


def is_turned_away(text: str) -> bool:
    """Tell whether an earlier answer was a handoff or an out-of-scope refusal."""
    outside = [refusal.partition(".")[0] for refusal in in_all_languages("answer.outside")]
    return text.startswith(tuple(outside)) or is_handed_over(text)


def is_handed_over(text: str) -> bool:
    """Tell whether an earlier answer offered a person for a sensitive matter."""
    calm = in_all_languages("answer.handoff", "answer.handoff_earlier")
    return any(sentence in text for sentence in calm)
