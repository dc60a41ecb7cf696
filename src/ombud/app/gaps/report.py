"""What is asked and not answered, where documents disagree, what is asked for and no longer in
force.

Written for the owner of the policies, so that nobody who asked can be told from it: nothing is
shown that fewer than `[audit] group_size` people stand behind, words of questions only as far as
`show_words` allows, and of sensitive conversations only how many there were. What documents say is
theirs and is shown."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from ombud.answer import term_weights
from ombud.app.audit.auditing import beginning_of
from ombud.app.gaps.grouping import group
from ombud.app.workspace import Workspace
from ombud.index import Filter
from ombud.retrieve import CONTRADICTING, find_contradictions, find_passages, query_terms
from ombud.store import StoredAnswer as KeptAnswer
from ombud.store import list_answers, list_documents
from ombud.text import analyse
from ombud.types import Answer, Chunk, Document, Evidence, Hit, Question

DAYS = 90
"""Looked back on, where nothing else is said."""
CLOSEST, SHOWN, EXAMPLES, WORDS = 3, 30, 3, 5
"""Passages of a group, groups of a list, questions and words of a group that are shown at most."""
WORD = re.compile(r"[^\W\d_]{2,}")
SEARCHED = 1000
"""Unanswered questions, the newest, that are searched for among documents out of force."""
ENOUGH = 0.5
"""Least share of a question's terms, by weight, that a passage out of force holds to have been
asked for."""
SNIPPET = 240


class CountedQuestion(NamedTuple):
    """One question that may be counted: not sensitive, not erased."""

    who: str
    """The person where one is known, else the conversation, else the answer itself."""
    question: Question
    answer: Answer


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


class Gaps(NamedTuple):
    since: date
    until: date
    group_size: int
    show_words: str
    questions: int
    """All but sensitive and erased ones."""
    outcomes: dict[str, int]
    sensitive: int | None
    """None: fewer than `group_size` people asked such a question."""
    erased: int
    unanswered: tuple[Topic, ...]
    unanswered_others: int
    """Questions that no group was large enough for."""
    contradictions: tuple[dict[str, Any], ...]
    out_of_force: tuple[dict[str, Any], ...]
    out_of_force_others: int
    """Documents that fewer people asked for."""
    asked: tuple[Topic, ...]
    asked_others: int


def find_gaps(workspace: Workspace, since: date | None = None) -> Gaps:
    """The report of the answers since that day, 90 days where none is given."""
    rules, today = workspace.settings.audit, workspace.today()
    first = since or today - timedelta(days=DAYS)
    rows = list(list_answers(workspace.store, beginning_of(workspace, first)))
    asked = [one for row in rows if (one := _asked(row))]
    delicate = [row for row in rows if row.sensitive and row.question]
    known = {document.id: document for document in list_documents(workspace.store)}
    shelf = _Shelf(_chunks(workspace, asked), known, rules.group_size, rules.show_words)
    unanswered, others = _topics(_unanswered(workspace, asked), shelf)
    most, rest = _topics(_by_document(asked), shelf, by_title=True)
    old, few = _out_of_force(workspace, asked, rules.group_size)
    return Gaps(
        since=first,
        until=today,
        group_size=rules.group_size,
        show_words=rules.show_words,
        questions=len(asked),
        outcomes=dict(Counter(outcome_of(one.answer) for one in asked)),
        sensitive=len(delicate)
        if len({_who(row) for row in delicate}) >= rules.group_size
        else None,
        erased=sum(row.question is None for row in rows),
        unanswered=tuple(unanswered[:SHOWN]),
        unanswered_others=others,
        contradictions=tuple(_contradictions(asked, shelf)),
        out_of_force=tuple(old[:SHOWN]),
        out_of_force_others=few,
        asked=tuple(most[:SHOWN]),
        asked_others=rest,
    )


def gaps_json(found: Gaps) -> dict[str, Any]:
    told = found._asdict() | {"since": found.since.isoformat(), "until": found.until.isoformat()}
    return told | {
        name: [topic._asdict() for topic in told[name]] for name in ("unanswered", "asked")
    }


def outcome_of(answer: Answer) -> str:
    """full, partial, unclear, `not in the documents` or outside."""
    if answer.outcome != "denied":
        return answer.outcome
    return {"clarify": "unclear", "none": "outside"}.get(answer.action, "not in the documents")


class _Shelf(NamedTuple):
    """What a topic is named from, and by which rules."""

    chunks: Mapping[str, Chunk]
    documents: Mapping[str, Document]
    least: int
    words: str


def _asked(row: KeptAnswer) -> CountedQuestion | None:
    if row.question is None or row.answer is None or row.sensitive:
        return None
    return CountedQuestion(_who(row), row.question, row.answer)


def _who(row: KeptAnswer) -> str:
    return (row.question.asker.id if row.question else "") or row.conversation_id or row.id


def _people(asked: Iterable[CountedQuestion]) -> int:
    return len({one.who for one in asked})


def _chunks(workspace: Workspace, asked: Sequence[CountedQuestion]) -> dict[str, Chunk]:
    """Passages of all the evidence that are still indexed."""
    wanted = dict.fromkeys(chunk for one in asked for chunk in one.answer.trace.evidence)
    return workspace.engine.get(list(wanted)) if wanted else {}


# Topics -------------------------------------------------------------------------------------------


def _unanswered(
    workspace: Workspace, asked: Sequence[CountedQuestion]
) -> list[list[CountedQuestion]]:
    """Those that were not answered whole, in groups that ask the same; what stays too small for
    itself is put together by the document that came closest."""
    least = workspace.settings.audit.group_size
    lacking = [one for one in asked if outcome_of(one.answer) not in ("full", "unclear")]
    by_text: dict[str, list[CountedQuestion]] = {}
    for one in lacking:
        by_text.setdefault(" ".join(one.question.text.split()).lower(), []).append(one)
    same = sorted(by_text.values(), key=lambda some: -_people(some))
    texts = [some[0].question.text for some in same]
    languages = [some[0].question.asker.language for some in same]
    groups = [
        [one for at in places for one in same[at]]
        for places in group(texts, languages, workspace.embedder)
    ]
    large = [some for some in groups if _people(some) >= least]
    small = [one for some in groups if _people(some) < least for one in some]
    return [*large, *_by_document(small)]


def _by_document(asked: Sequence[CountedQuestion]) -> list[list[CountedQuestion]]:
    """By the document that was cited first, or came closest; those without any are left alone."""
    found: dict[str, list[CountedQuestion]] = {}
    for one in asked:
        found.setdefault(_document(one) or f"-{len(found)}", []).append(one)
    return list(found.values())


def _document(one: CountedQuestion) -> str:
    cited = [citation.document_id for citation in one.answer.citations[:1]]
    closest = [chunk.partition("-")[0] for chunk in one.answer.trace.evidence[:1]]
    return next(iter((*cited, *closest)), "")


def _topics(
    groups: Sequence[Sequence[CountedQuestion]], shelf: _Shelf, *, by_title: bool = False
) -> tuple[list[Topic], int]:
    """(topics that enough people stand behind, questions of the others)."""
    large = [some for some in groups if _people(some) >= shelf.least]
    topics = sorted(
        (_topic(some, shelf, by_title) for some in large),
        key=lambda topic: (-topic.people, -topic.questions),
    )
    return topics, sum(map(len, groups)) - sum(map(len, large))


def _topic(asked: Sequence[CountedQuestion], shelf: _Shelf, by_title: bool) -> Topic:
    near: dict[str, set[str]] = {}
    documents: dict[str, set[str]] = {}
    for one in asked:
        for chunk in one.answer.trace.evidence[:CLOSEST]:
            near.setdefault(chunk, set()).add(one.who)
            documents.setdefault(chunk.partition("-")[0], set()).add(one.who)
    # One person's closest passage would tell what that person had in mind.
    passages = [
        shelf.chunks[chunk] for chunk in _shared(near, shelf.least) if chunk in shelf.chunks
    ][:CLOSEST]
    titles = [
        shelf.documents[i].title for i in _shared(documents, shelf.least) if i in shelf.documents
    ]
    if by_title:  # all of one document: cited first, or closest
        titles = [shelf.documents[i].title for i in (_document(asked[0]),) if i in shelf.documents]
    headings = [] if by_title and titles else [_heading(chunk) for chunk in passages[:1]]
    label = next(iter((*headings, *titles)), "Near no one document")
    return Topic(
        label,
        len(asked),
        _people(asked),
        dict(Counter(outcome_of(one.answer) for one in asked)),
        tuple(
            {"title": _heading(chunk), "uri": chunk.uri, "text": _snippet(chunk.text)}
            for chunk in passages
        ),
        _words(asked, shelf.least) if shelf.words != "none" else (),
        tuple(dict.fromkeys(one.question.text for one in asked))[:EXAMPLES]
        if shelf.words == "questions"
        else (),
    )


def _words(asked: Sequence[CountedQuestion], least: int) -> tuple[str, ...]:
    """What at least so many people said, in the form that most of them used; stop words and the
    like left out."""
    who: dict[str, set[str]] = {}
    forms: dict[str, Counter[str]] = {}
    for one in asked:
        for word in WORD.findall(one.question.text.lower()):
            for term in analyse(word, one.question.asker.language)[:1]:
                who.setdefault(term, set()).add(one.who)
                forms.setdefault(term, Counter())[word] += 1
    return tuple(forms[term].most_common(1)[0][0] for term in _shared(who, least)[:WORDS])


def _shared(who: Mapping[str, set[str]], least: int) -> list[str]:
    return sorted(
        (name for name in who if len(who[name]) >= least), key=lambda name: (-len(who[name]), name)
    )


def _heading(chunk: Chunk) -> str:
    return " · ".join(dict.fromkeys((chunk.title, *chunk.trail[-1:])))


def _snippet(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SNIPPET else f"{line[:SNIPPET].rsplit(' ', 1)[0]} …"


# What documents lack ------------------------------------------------------------------------------


def _contradictions(asked: Sequence[CountedQuestion], shelf: _Shelf) -> Iterator[dict[str, Any]]:
    """Where passages of one evidence disagree and still stand in the index; they are the documents'
    own fault, so they are told however few met them, but then not how many."""
    met: dict[tuple[str, str, str, str], set[str]] = {}
    kinds: dict[tuple[str, str, str, str], tuple[str, str]] = {}
    seen: dict[tuple[str, ...], tuple[tuple[str, str, str, str], ...]] = {}
    for one in asked:
        if not any(note.endswith(CONTRADICTING) for note in one.answer.trace.notes):
            continue
        ids = one.answer.trace.evidence
        if ids not in seen:
            hits = [
                Hit(chunk=shelf.chunks[chunk], score=0) for chunk in ids if chunk in shelf.chunks
            ]
            local = tuple(hit for hit in hits if hit.chunk.countries)
            found = find_contradictions(
                Evidence(local=local, shared=tuple(hit for hit in hits if not hit.chunk.countries))
            )
            seen[ids] = tuple((c.first, c.first_says, c.second, c.second_says) for c in found)
            kinds |= {
                (c.first, c.first_says, c.second, c.second_says): (c.kind, c.about) for c in found
            }
        for pair in seen[ids]:
            met.setdefault(pair, set()).add(one.who)
    for pair in sorted(met, key=lambda pair: (-len(met[pair]), pair)):
        first, first_says, second, second_says = pair
        sides = [
            {"title": _heading(shelf.chunks[chunk]), "uri": shelf.chunks[chunk].uri, "says": says}
            for chunk, says in ((first, first_says), (second, second_says))
        ]
        people = len(met[pair]) if len(met[pair]) >= shelf.least else None
        yield {
            "kind": kinds[pair][0],
            "about": kinds[pair][1],
            "people": people,
            "first": sides[0],
            "second": sides[1],
        }


def _out_of_force(
    workspace: Workspace, asked: Sequence[CountedQuestion], least: int
) -> tuple[list[dict[str, Any]], int]:
    """(documents not in force today that would have come first for what was not answered, how many
    too few asked for).

    Countries and permissions of the asker count as ever; only the day does not.
    """
    today, index = workspace.today(), workspace.index
    wanted: dict[str, set[str]] = {}
    chunks: dict[str, Chunk] = {}
    lacking = [one for one in asked if outcome_of(one.answer) not in ("full", "unclear")]
    for one in lacking[-SEARCHED:]:
        plan, country = one.answer.trace.plan, one.question.asker.country
        where = Filter(
            countries=(country,) if country else (), reader=one.question.asker, sources=plan.sources
        )
        hits = (
            find_passages(one.answer.trace.queries, plan, where, index).evidence.hits
            if one.answer.trace.queries
            else ()
        )
        if not hits or _in_force(best := hits[0].chunk, today):
            continue
        weights = term_weights(query_terms(one.question.text, index.engine), index.engine)
        held = set(
            analyse(" ".join((best.title, *best.trail, best.header, best.text)), best.language)
        )
        if sum(weights[term] for term in weights if term in held) >= ENOUGH * sum(weights.values()):
            wanted.setdefault(best.document_id, set()).add(one.who)
            chunks.setdefault(best.document_id, best)
    rows = [
        {
            "title": chunks[name].title,
            "uri": chunks[name].uri,
            "from": day.isoformat() if (day := chunks[name].effective_from) else None,
            "to": day.isoformat() if (day := chunks[name].effective_to) else None,
            "people": len(wanted[name]),
        }
        for name in _shared(wanted, least)
    ]
    return rows, len(wanted) - len(rows)


def _in_force(chunk: Chunk, today: date) -> bool:
    begun = not chunk.effective_from or chunk.effective_from <= today
    return begun and (not chunk.effective_to or today <= chunk.effective_to)
