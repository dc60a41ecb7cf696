"""Groups questions into topics, by content or else by the closest document."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ombud.app.gaps.counted import (
    Backers,
    CountedQuestion,
    Sources,
    document_of,
    heading_of,
    outcomes_of,
    people_behind,
    shared_by,
    snippet_of,
    unanswered,
)
from ombud.app.gaps.grouping import group
from ombud.models import Embedder
from ombud.text import analyse
from ombud.types import Chunk

CLOSEST = 3
"""Largest number of passages of a topic."""
EXAMPLES = 3
"""Largest number of example questions of a topic."""
WORDS = 5
"""Largest number of words of a topic."""
WORD = re.compile(r"[^\W\d_]{2,}")
NO_DOCUMENT = "Near no one document"

Group = list[CountedQuestion]


class Topic(NamedTuple):
    """Questions about one matter."""

    label: str
    """A heading of the documents, so that it is not the askers' wording."""
    questions: int
    people: int
    outcomes: dict[str, int]
    """full, partial, not in the documents, outside, unclear -> questions."""
    passages: tuple[dict[str, str], ...]
    """The closest passages: title, uri, text."""
    words: tuple[str, ...]
    """Words that enough people used, if the settings allow it."""
    examples: tuple[str, ...]
    """Questions, if the settings allow it."""


class Topics(NamedTuple):
    """Topics of a report."""

    topics: list[Topic]
    """Topics with enough people, most people first."""
    others: int
    """Questions of all other topics."""


def group_unanswered(
    questions: Sequence[CountedQuestion], embedder: Embedder | None, group_size: int
) -> list[Group]:
    """Group questions without a full answer by content; small groups are merged by their closest
    document."""
    same_words = group_by_words(unanswered(questions))
    texts = [some[0].question.text for some in same_words]
    languages = [some[0].question.asker.language for some in same_words]
    large: list[Group] = []
    small: Group = []
    for positions in group(texts, languages, embedder):
        together: Group = []
        for position in positions:
            together += same_words[position]
        if people_behind(together) >= group_size:
            large.append(together)
        else:
            small += together
    return [*large, *group_by_document(small)]


def group_by_words(questions: Sequence[CountedQuestion]) -> list[Group]:
    """Group questions with the same words, ignoring case; most people first."""
    by_text: dict[str, Group] = {}
    for question in questions:
        text = " ".join(question.question.text.split()).lower()
        by_text.setdefault(text, []).append(question)
    return sorted(by_text.values(), key=lambda some: -people_behind(some))


def group_by_document(questions: Sequence[CountedQuestion]) -> list[Group]:
    """Group questions by the first cited or closest document; questions without one are left
    out."""
    groups: dict[str, Group] = {}
    for question in questions:
        name = question.first_document or f"-{len(groups)}"
        groups.setdefault(name, []).append(question)
    return list(groups.values())


def topics_of(groups: Sequence[Group], sources: Sources, *, by_title: bool = False) -> Topics:
    """Make topics of groups. by_title: each group is about one document, whose title is the
    label."""
    topics: list[Topic] = []
    others = 0
    for questions in groups:
        if people_behind(questions) >= sources.group_size:
            topics.append(topic_of(questions, sources, by_title))
        else:
            others += len(questions)
    topics.sort(key=lambda topic: (-topic.people, -topic.questions))
    return Topics(topics, others)


def topic_of(questions: Group, sources: Sources, by_title: bool) -> Topic:
    passages = shared_passages(questions, sources)
    words: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    if sources.show_words != "none":
        words = shared_words(questions, sources.group_size)
    if sources.show_words == "questions":
        texts = dict.fromkeys(question.question.text for question in questions)
        examples = tuple(texts)[:EXAMPLES]
    return Topic(
        label=topic_label(questions, passages, sources, by_title),
        questions=len(questions),
        people=people_behind(questions),
        outcomes=outcomes_of(questions),
        passages=tuple(map(passage_json, passages)),
        words=words,
        examples=examples,
    )


def passage_json(passage: Chunk) -> dict[str, str]:
    return {
        "title": heading_of(passage),
        "uri": passage.uri,
        "text": snippet_of(passage.text),
    }


def shared_passages(questions: Group, sources: Sources) -> list[Chunk]:
    """Return passages close to questions of several people, because one person's would reveal what
    they had in mind."""
    backers: Backers = {}
    for question in questions:
        for chunk_id in question.answer.trace.evidence[:CLOSEST]:
            backers.setdefault(chunk_id, set()).add(question.who)
    passages = []
    for chunk_id in shared_by(backers, sources.group_size):
        if chunk_id in sources.chunks:
            passages.append(sources.chunks[chunk_id])
    return passages[:CLOSEST]


def topic_label(
    questions: Group, passages: Sequence[Chunk], sources: Sources, by_title: bool
) -> str:
    if by_title:
        document = sources.documents.get(questions[0].first_document)
        if document:
            return document.title
    if passages:
        return heading_of(passages[0])
    if by_title:
        return NO_DOCUMENT
    return shared_title(questions, sources) or NO_DOCUMENT


def shared_title(questions: Group, sources: Sources) -> str:
    backers: Backers = {}
    for question in questions:
        for chunk_id in question.answer.trace.evidence[:CLOSEST]:
            backers.setdefault(document_of(chunk_id), set()).add(question.who)
    for document_id in shared_by(backers, sources.group_size):
        if document_id in sources.documents:
            return sources.documents[document_id].title
    return ""


def shared_words(questions: Group, group_size: int) -> tuple[str, ...]:
    """Return words that enough people used, in their most frequent form, without stop words."""
    backers: Backers = {}
    forms: dict[str, Counter[str]] = {}
    for question in questions:
        language = question.question.asker.language
        for word in WORD.findall(question.question.text.lower()):
            for term in analyse(word, language)[:1]:
                backers.setdefault(term, set()).add(question.who)
                forms.setdefault(term, Counter())[word] += 1
    words = []
    for term in shared_by(backers, group_size)[:WORDS]:
        [(word, _)] = forms[term].most_common(1)
        words.append(word)
    return tuple(words)
