"""Questions from headings: what stands first under one answers what it announces."""

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from random import Random
from typing import NamedTuple

from ombud.lab.synthesis.pairs import PassageSection, QuestionAnswer, Wordings, make_pair, safe
from ombud.lab.synthesis.phrasing import (
    VAGUE,
    bare,
    content,
    data,
    determined,
    is_subject,
    listed,
    own,
    plain,
    sentence_spans,
)
from ombud.lab.synthesis.vocabulary import CorpusVocabulary
from ombud.types import Chunk

_RULES = re.compile(
    r"\b(?:must|shall|required|may not|not allowed|eligible|entitled|have to|policy)\b"
)
_ASKS = re.compile(
    r"(?:how|what|which|who|whom|whose|when|where|why|can|could|do|does|did|is|are|am|may|must|"
    r"should|will|would|has|have)\b",
    re.IGNORECASE,
)
_HOW_WORKS = re.compile(r"how (.+) works$", re.IGNORECASE)
_WHAT_TO = re.compile(r"(?:what|when|where|who) to\s", re.IGNORECASE)
_WHAT_IS = re.compile(r"(?:what|who|where|when) (?:is|are) ", re.IGNORECASE)
_HOW_DO_I = re.compile(r"how (?:do|can) I\W*$", re.IGNORECASE)
_OBJECT = re.compile(r"(?:a|an|the|your|our|my|all|any|up|out|in|on|off|for|from|with|at)$")
_NAMED = re.compile(r"^[\w-]+ing\s| (?:of|for|to|in|with) ")
_LIST_MARK = re.compile(r"\s*(?:[-*•+]|\(?\w{1,3}[.)])\s+(?:\[.\]\s*)?")
_EMPHASIS = "*_ "
LONG_ENOUGH = 20
LONGEST = 110
"""Words of a quote."""


class _Asked(NamedTuple):
    shape: str
    """Which templates."""
    fields: dict[str, str]
    """What fills them."""


def heading_questions(
    chunk: Chunk, sections: Sequence[PassageSection], vocabulary: CorpusVocabulary, chance: Random
) -> Iterator[QuestionAnswer]:
    for section in sections:
        span = _opening(chunk.text, section) if section.opens else None
        heading = bare(section.heading)
        if not span or not heading or vocabulary.is_name(heading):
            continue
        quote = chunk.text[span[0] : span[1]]
        if not _is_about(quote, heading):
            continue
        ruled = bool(_RULES.search(quote))
        asked = _asked(heading, section.parents, ruled, vocabulary)
        if not asked:
            continue
        wordings = _wordings(asked)
        yield make_pair(chunk, "heading", chance, wordings, quote=quote, answer=plain(quote))


def _is_about(text: str, heading: str) -> bool:
    """Whether what stands first under a heading speaks of it: many sections begin with something
    else."""
    if heading.lower() in data()["context"]:
        return True
    stems = {word[:5] for word in content(heading)}
    return not stems.isdisjoint(word[:5] for word in content(text))


def _wordings(asked: _Asked) -> Wordings:
    shape, fields = asked
    if shape == "question":
        return Wordings(_rephrased(fields["subject"]), [safe(fields["subject"]).lower()], fields)
    if shape in data()["context"]:
        return Wordings(data()["context"][shape], [f"{shape} {{parent}}"], fields)
    templates = data()["heading"]
    return Wordings(templates[shape], templates["terse"][shape], fields)


def _rephrased(question: str) -> list[str]:
    """A heading that is a question, as people would ask it."""
    asked = safe(question)
    for beginning, others in data()["rephrased"].items():
        if question.lower().startswith(f"{beginning} "):
            rest = asked[len(beginning) :]
            return [f"{other}{rest if other else rest.strip()}?" for other in others]
    return [f"{asked.strip()}?"]


def _asked(
    heading: str, parents: Sequence[str], ruled: bool, vocabulary: CorpusVocabulary
) -> _Asked | None:
    """None when the heading cannot be asked about. ruled: it stands above a rule."""
    parent = parent_of(parents, vocabulary)
    if heading.lower() in data()["context"]:
        return _Asked(heading.lower(), {"parent": parent}) if parent else None
    question = _as_question(heading)
    if question:
        return _Asked("question", {"subject": own(question)})
    action = as_action(heading, parents)
    if action:
        small = action[0].lower() + action[1:]
        return _Asked("action", {"subject": own(vocabulary.lowered(small))})
    if not is_subject(heading):
        return None
    return _asked_thing(own(vocabulary.lowered(heading)), parent, ruled, vocabulary)


def _asked_thing(
    subject: str, parent: str, ruled: bool, vocabulary: CorpusVocabulary
) -> _Asked | None:
    last = subject.rsplit(maxsplit=1)[-1].lower()
    if _is_document(last) and not _NAMED.search(subject):
        shape = "paper" if last in listed("papers") else "working"
        return _Asked(shape, {"subject": determined(subject)})
    if len(subject.split()) == 1:
        return _asked_within(subject, parent)
    shape = "rules" if ruled else "general"
    return _Asked(shape, {"subject": vocabulary.with_article(subject)})


def _asked_within(subject: str, parent: str) -> _Asked | None:
    """One word alone says too little: it is asked about within what stands above it."""
    small = subject.lower()
    if small in listed("verbs") - listed("nouns_too"):
        return None
    if not parent or small in parent.lower():
        return None
    return _Asked("within", {"subject": subject, "parent": parent})


def _is_document(noun: str) -> bool:
    return noun in listed("papers") | listed("workings")


def _as_question(heading: str) -> str:
    """The heading as a whole question without its mark, or nothing."""
    text = heading.removesuffix("?").strip()
    if not _asks_for_something(text):
        return ""
    works = _HOW_WORKS.match(text)
    if works:
        return f"How does {works[1]} work"
    if _WHAT_TO.match(text):
        asking, rest = text.split(" to ", 1)
        return f"{asking} should I {rest}"
    return text if heading.endswith("?") or _WHAT_IS.match(text) else ""


def _asks_for_something(text: str) -> bool:
    if not 3 <= len(text.split()) <= 16 or not _ASKS.match(text):
        return False
    if VAGUE.search(text) or "?" in text:
        return False
    words = content(re.sub(r"['’]s\b", "", text))
    return not all(word in listed("generic") for word in words)


def as_action(heading: str, parents: Sequence[str]) -> str:
    """What one does, when the heading says to do it: `Request a laptop`, `How to book travel`."""
    text = re.sub(r"^how to\s+", "", heading, flags=re.IGNORECASE)
    words = text.lower().split()
    if not 2 <= len(words) <= 10 or VAGUE.search(text) or text.endswith("?"):
        return ""
    if not (listed("banned") | listed("finite")).isdisjoint(words):
        return ""
    told_how = text != heading or bool(parents and _HOW_DO_I.match(parents[-1]))
    if told_how and not words[0].endswith("ing"):
        return text
    return text if _is_command(words) else ""


def _is_command(words: Sequence[str]) -> bool:
    """Whether it begins with a verb, and not with a noun that is written alike."""
    verb, after = words[:2]
    if verb not in listed("verbs") or after in {"of", "and", "or", "&", "vs"}:
        return False
    return verb not in listed("nouns_too") or bool(_OBJECT.match(after))


def _opening(text: str, section: PassageSection) -> tuple[int, int] | None:
    """Span of the first full sentences, with the list that they announce."""
    spans = _without_labels(text, sentence_spans(text, section.start, section.end))
    if not spans:
        return None
    start, end = spans[0]
    if text[start] == "|":
        return None
    in_list = _is_item(text, start)
    for begin, stop in spans[1:5]:
        announced = text[start:end].rstrip(_EMPHASIS).endswith(":")
        is_item = _is_item(text, begin)
        in_list |= announced and is_item
        is_announced = announced or (in_list and is_item)
        if not is_announced and not _is_short(text, start, end, begin):
            break
        if not _fits(text, start, begin, stop):
            break
        end = stop
    return start, end


def _without_labels(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    return list(dropwhile(lambda span: _is_label(text[span[0] : span[1]]), spans))


def _fits(text: str, start: int, begin: int, stop: int) -> bool:
    """Whether a quote from `start` may go on with what stands between `begin` and `stop`."""
    return text[begin] != "|" and len(text[start:stop].split()) <= LONGEST


def _is_short(text: str, start: int, end: int, begin: int) -> bool:
    """Whether the quote so far wants the next sentence too, which begins in the same paragraph."""
    return len(text[start:end].split()) < LONG_ENOUGH and "\n\n" not in text[end:begin]


def _is_label(line: str) -> bool:
    ending = line.rstrip(_EMPHASIS)[-1:]
    return len(line.split()) < 6 and ending not in {".", "!", "?"}


def _is_item(text: str, start: int) -> bool:
    """Whether a list mark stands in front."""
    line = text.rfind("\n", 0, start) + 1
    return bool(_LIST_MARK.fullmatch(text[line:start]))


def _is_thing(name: str) -> bool:
    return bool(name) and is_subject(name) and not as_action(name, ())


def parent_of(headings: Sequence[str], vocabulary: CorpusVocabulary) -> str:
    """The nearest heading that names a thing, as it would stand in a sentence; empty without
    one."""
    for heading in reversed(headings):
        name = bare(heading)
        if not _is_thing(name) or vocabulary.is_name(name):
            continue
        subject = own(vocabulary.lowered(name))
        last = subject.rsplit(maxsplit=1)[-1].lower()
        return determined(subject) if _is_document(last) else vocabulary.with_article(subject)
    return ""
