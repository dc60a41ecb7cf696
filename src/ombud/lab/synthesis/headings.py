"""Questions from headings: what stands first under one answers what it announces."""

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from ombud.lab.synthesis.pairs import PassageSection, QuestionAnswer, make_pair, safe
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
        ruled = bool(
            re.search(
                r"\b(?:must|shall|required|may not|not allowed|eligible|entitled|have to|policy)\b",
                quote,
            )
        )
        asked = _asked(heading, section.parents, ruled, vocabulary)
        if asked:
            shape, fields = asked
            ask, terse = _templates(shape, fields)
            yield make_pair(
                chunk, "heading", chance, ask, terse, quote=quote, answer=plain(quote), **fields
            )


def _is_about(text: str, heading: str) -> bool:
    """Whether what stands first under a heading speaks of it: many sections begin with something
    else."""
    if heading.lower() in data()["context"]:
        return True
    stems = {word[:5] for word in content(heading)}
    return not stems.isdisjoint(word[:5] for word in content(text))


def _templates(shape: str, fields: Mapping[str, str]) -> tuple[Sequence[str], Sequence[str]]:
    if shape == "question":
        begins = next(
            (b for b in data()["rephrased"] if fields["subject"].lower().startswith(f"{b} ")), ""
        )
        rest = safe(fields["subject"])[len(begins) :]
        starts = data()["rephrased"].get(begins, [""])
        return [f"{start}{rest if start else rest.strip()}?" for start in starts], [
            safe(fields["subject"]).lower()
        ]
    if shape in data()["context"]:
        return data()["context"][shape], [f"{shape} {{parent}}"]
    return data()["heading"][shape], data()["heading"]["terse"][shape]


def _asked(
    heading: str, parents: Sequence[str], ruled: bool, vocabulary: CorpusVocabulary
) -> tuple[str, dict[str, str]] | None:
    """(shape of the question, what fills its templates); None when the heading cannot be asked
    about."""
    parent = parent_of(parents, vocabulary)
    if heading.lower() in data()["context"]:
        return (heading.lower(), {"parent": parent}) if parent else None
    question = _as_question(heading)
    if question:
        return "question", {"subject": own(question)}
    action = as_action(heading, parents)
    if action:
        return "action", {"subject": own(vocabulary.lowered(action[0].lower() + action[1:]))}
    if not is_subject(heading):
        return None
    subject = own(vocabulary.lowered(heading))
    last = subject.rsplit(maxsplit=1)[-1].lower()
    if last in listed("papers") | listed("workings") and not re.search(
        r"^[\w-]+ing\s| (?:of|for|to|in|with) ", subject
    ):
        return "paper" if last in listed("papers") else "working", {"subject": determined(subject)}
    if len(subject.split()) == 1:
        if last in listed("verbs") - listed("nouns_too"):
            return None
        inside = parent and subject.lower() not in parent.lower()
        return ("within", {"subject": subject, "parent": parent}) if inside else None
    return "rules" if ruled else "general", {"subject": vocabulary.with_article(subject)}


_ASKS = re.compile(
    r"(?:how|what|which|who|whom|whose|when|where|why|can|could|do|does|did|is|are|am|may|must|should|will|would|has|"
    r"have)\b",
    re.IGNORECASE,
)


def _as_question(heading: str) -> str:
    """The heading as a whole question without its mark, or nothing."""
    text = heading.removesuffix("?").strip()
    if (
        not 3 <= len(text.split()) <= 16
        or VAGUE.search(text)
        or "?" in text
        or not _ASKS.match(text)
    ):
        return ""
    if all(word in listed("generic") for word in content(re.sub(r"['’]s\b", "", text))):
        return ""
    works = re.match(r"how (.+) works$", text, re.IGNORECASE)
    if works:
        return f"How does {works[1]} work"
    if re.match(r"(?:what|when|where|who) to\s", text, re.IGNORECASE):
        wh, rest = text.split(" to ", 1)
        return f"{wh} should I {rest}"
    marked = heading.endswith("?") or re.match(
        r"(?:what|who|where|when) (?:is|are) ", text, re.IGNORECASE
    )
    return text if marked else ""


def as_action(heading: str, parents: Sequence[str]) -> str:
    """What one does, when the heading says to do it: `Request a laptop`, `How to book travel`."""
    text = re.sub(r"^how to\s+", "", heading, flags=re.IGNORECASE)
    found = [word.lower() for word in text.split()]
    if not 2 <= len(found) <= 10 or VAGUE.search(text) or text.endswith("?"):
        return ""
    if any(word in listed("banned") or word in listed("finite") for word in found):
        return ""
    how_to = text != heading or bool(
        parents and re.match(r"how (?:do|can) I\W*$", parents[-1], re.IGNORECASE)
    )
    verb = found[0] in listed("verbs") and found[1] not in {"of", "and", "or", "&", "vs"}
    doubtful = found[0] in listed("nouns_too") and not re.match(
        r"(?:a|an|the|your|our|my|all|any|up|out|in|on|off|for|from|with|at)$", found[1]
    )
    return text if (how_to and not found[0].endswith("ing")) or (verb and not doubtful) else ""


def _opening(text: str, section: PassageSection) -> tuple[int, int] | None:
    """Span of the first full sentences, with the list that they announce."""
    spans = sentence_spans(text, section.start, section.end)
    while spans and _is_label(text[slice(*spans[0])]):
        spans = spans[1:]
    if not spans or text[spans[0][0]] == "|":
        return None
    start, end = spans[0]
    listing = _in_list(text, start)
    for begin, stop in spans[1:5]:
        long_enough = len(text[start:end].split()) >= 20
        announced = text[start:end].rstrip("*_ ").endswith(":")
        listing = listing or (announced and _in_list(text, begin))
        goes_on = (
            announced
            or (listing and _in_list(text, begin))
            or (not long_enough and "\n\n" not in text[end:begin])
        )
        if text[begin] == "|" or not goes_on or len(text[start:stop].split()) > 110:
            break
        end = stop
    return start, end


def _is_label(line: str) -> bool:
    return len(line.split()) < 6 and line.rstrip("*_ ")[-1:] not in set(".!?")


def _in_list(text: str, start: int) -> bool:
    return bool(
        re.fullmatch(
            r"\s*(?:[-*•+]|\(?\w{1,3}[.)])\s+(?:\[.\]\s*)?",
            text[text.rfind("\n", 0, start) + 1 : start],
        )
    )


def parent_of(parents: Sequence[str], vocabulary: CorpusVocabulary) -> str:
    for heading in reversed(parents):
        found = bare(heading)
        if (
            found
            and is_subject(found)
            and not vocabulary.is_name(found)
            and not as_action(found, ())
        ):
            subject = own(vocabulary.lowered(found))
            last = subject.rsplit(maxsplit=1)[-1].lower()
            paper = last in listed("papers") | listed("workings")
            return determined(subject) if paper else vocabulary.with_article(subject)
    return ""
