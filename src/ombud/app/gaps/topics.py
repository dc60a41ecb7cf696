"""Questions in topics: by what they ask, else by the document that came closest."""

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
"""Passages of a topic that are shown at most."""
EXAMPLES = 3
"""Questions of a topic that are shown at most."""
WORDS = 5
"""Words of a topic that are shown at most."""
WORD = re.compile(r"[^\W\d_]{2,}")
NO_DOCUMENT = "Near no one document"

Group = list[CountedQuestion]


class Topic(NamedTuple):
    label: str
    """A heading of the documents; words of theirs, not of those who asked."""
    questions: int
    people: int
    outcomes: dict[str, int]
    """full, partial, not in the documents, outside, unclear -> questions."""
    passages: tuple[dict[str, str], ...]
    """The closest: title, uri, text."""
    words: tuple[str, ...]
    """Words that enough people used, where the settings allow it."""
    examples: tuple[str, ...]
    """Questions, where the settings allow it."""


class Topics(NamedTuple):
    topics: list[Topic]
    """Those that enough people stand behind, the topics of most people first."""
    others: int
    """Questions of the others."""


def group_unanswered(
    questions: Sequence[CountedQuestion], embedder: Embedder | None, group_size: int
) -> list[Group]:
    """Those that were not answered whole, in groups that ask the same; what stays too small for
    itself is put together by the document that came closest."""
    same_words = _by_words(unanswered(questions))
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


def _by_words(questions: Sequence[CountedQuestion]) -> list[Group]:
    """Questions of the same words, whatever their case; those of most people first."""
    by_text: dict[str, Group] = {}
    for question in questions:
        text = " ".join(question.question.text.split()).lower()
        by_text.setdefault(text, []).append(question)
    return sorted(by_text.values(), key=lambda some: -people_behind(some))


def group_by_document(questions: Sequence[CountedQuestion]) -> list[Group]:
    """By the document that was cited first, or came closest; those without any are left alone."""
    groups: dict[str, Group] = {}
    for question in questions:
        name = question.first_document or f"-{len(groups)}"
        groups.setdefault(name, []).append(question)
    return list(groups.values())


def topics_of(groups: Sequence[Group], sources: Sources, *, by_title: bool = False) -> Topics:
    """by_title: each group is of one document and has its title for a label."""
    topics: list[Topic] = []
    others = 0
    for questions in groups:
        if people_behind(questions) >= sources.group_size:
            topics.append(_topic(questions, sources, by_title))
        else:
            others += len(questions)
    topics.sort(key=lambda topic: (-topic.people, -topic.questions))
    return Topics(topics, others)


def _topic(questions: Group, sources: Sources, by_title: bool) -> Topic:
    passages = _shared_passages(questions, sources)
    words: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    if sources.show_words != "none":
        words = _shared_words(questions, sources.group_size)
    if sources.show_words == "questions":
        texts = dict.fromkeys(question.question.text for question in questions)
        examples = tuple(texts)[:EXAMPLES]
    return Topic(
        label=_label(questions, passages, sources, by_title),
        questions=len(questions),
        people=people_behind(questions),
        outcomes=outcomes_of(questions),
        passages=tuple(map(_shown, passages)),
        words=words,
        examples=examples,
    )


def _shown(passage: Chunk) -> dict[str, str]:
    return {
        "title": heading_of(passage),
        "uri": passage.uri,
        "text": snippet_of(passage.text),
    }


def _shared_passages(questions: Group, sources: Sources) -> list[Chunk]:
    """One person's closest passage would tell what that person had in mind: those of several."""
    backers: Backers = {}
    for question in questions:
        for chunk_id in question.answer.trace.evidence[:CLOSEST]:
            backers.setdefault(chunk_id, set()).add(question.who)
    passages = []
    for chunk_id in shared_by(backers, sources.group_size):
        if chunk_id in sources.chunks:
            passages.append(sources.chunks[chunk_id])
    return passages[:CLOSEST]


def _label(questions: Group, passages: Sequence[Chunk], sources: Sources, by_title: bool) -> str:
    if by_title:
        document = sources.documents.get(questions[0].first_document)
        if document:
            return document.title
    if passages:
        return heading_of(passages[0])
    if by_title:
        return NO_DOCUMENT
    return _shared_title(questions, sources) or NO_DOCUMENT


def _shared_title(questions: Group, sources: Sources) -> str:
    backers: Backers = {}
    for question in questions:
        for chunk_id in question.answer.trace.evidence[:CLOSEST]:
            backers.setdefault(document_of(chunk_id), set()).add(question.who)
    for document_id in shared_by(backers, sources.group_size):
        if document_id in sources.documents:
            return sources.documents[document_id].title
    return ""


def _shared_words(questions: Group, group_size: int) -> tuple[str, ...]:
    """What at least so many people said, in the form that most of them used; stop words and the
    like left out."""
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
