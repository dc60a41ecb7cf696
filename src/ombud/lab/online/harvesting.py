"""Real questions of people as cases to be reviewed: with consent, without a word of who asked.

Nothing is taken of sensitive conversations, and of others no more than a first question (what
follows makes sense only with what was said before), its country and the passages that its answer
cited. Names, addresses and numbers of people are blanked."""

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Literal, NamedTuple

from ombud.errors import LabError
from ombud.lab.cases.contamination import ALIKE
from ombud.lab.metrics.overlap import answer_tokens
from ombud.lab.people.preferring import RatedAnswer, prompt_of
from ombud.lab.people.reviewing import HARVESTED
from ombud.masking import mask_secrets
from ombud.store import Store, StoredAnswer, list_answers, read_thumbs
from ombud.text import redact
from ombud.types import Answer, Case, Passage, Person

LEAST_WORDS = 3
"""Of a question that is worth a review: fewer say nothing without what was on the screen."""


class Harvest(NamedTuple):
    cases: tuple[Case, ...]
    seen: int
    """Answers that were looked at."""
    left_out: dict[str, int]
    """Why -> how many."""


def check_consent(agreed: bool) -> None:
    """Raises LabError where nobody has said that those who ask have agreed."""
    if not agreed:
        raise LabError(
            "Questions of people may not be taken: nothing says that they have agreed.",
            hint="Once they have, set `harvest = true` under [lab] in ombud.toml.",
        )


def harvest_questions(
    store: Store, size: int | None = None, *, seed: int = 0, since: str = "", topic: str = ""
) -> Harvest:
    """Up to `size` questions (all without it), drawn at random; no two of them nearly the same.

    since: time in UTC, ISO 8601. topic: of the answer, as contacts.toml names topics."""
    rows: list[tuple[str, StoredAnswer]] = []
    for row in list_answers(store, since):
        rows.append((sha256(f"{seed}/{row.id}".encode()).hexdigest(), row))
    rows.sort(key=lambda drawn: drawn[0])
    left_out: Counter[str] = Counter()
    kept: list[Case] = []
    words: list[frozenset[str]] = []
    for _, row in rows:
        why = _why_not(row, topic)
        case = None if why else _case(row)
        if case is None:
            left_out[why] += 1
            continue
        own = frozenset(answer_tokens(case.question))
        if _is_known(own, words):
            left_out["asked before"] += 1
        elif len(kept) == size:
            left_out["more than asked for"] += 1
        else:
            kept.append(case)
            words.append(own)
    return Harvest(tuple(sorted(kept, key=lambda case: case.id)), len(rows), left_out)


def _why_not(row: StoredAnswer, topic: str) -> str:
    """Empty where the question may be taken."""
    if row.question is None or row.answer is None:
        return "erased"
    if row.sensitive:
        return "sensitive"
    if row.question.history:
        return "in the middle of a conversation"
    if topic and row.answer.topic != topic:
        return "another topic"
    return "too short" if len(row.question.text.split()) < LEAST_WORDS else ""


def _is_known(words: frozenset[str], others: Iterable[frozenset[str]]) -> bool:
    """Whether nearly all words are shared with one before (Jaccard)."""
    for other in others:
        union = len(words | other)
        if union and len(words & other) / union >= ALIKE:
            return True
    return False


def _case(row: StoredAnswer) -> Case | None:
    if row.question is None or row.answer is None:
        return None
    text = redact(mask_secrets(" ".join(row.question.text.split())))
    country = row.question.asker.country
    digest = sha256(f"{text}\0{country or ''}".encode()).hexdigest()
    evidence: dict[tuple[str, str], Passage] = {}
    for citation in row.answer.citations:
        place = Passage(document=citation.uri, quote=citation.quote, page=citation.page)
        evidence[citation.uri, citation.quote] = place
    expect = _expected(row.answer)
    return Case(
        id=f"har-{digest[:12]}",
        question=text,
        person=Person(country=country),
        as_of=row.question.as_of,
        expect=expect,
        evidence=tuple(evidence.values()) if expect == "answer" else (),
        tags=tuple(filter(None, (HARVESTED, row.answer.topic))),
    )


def _expected(answer: Answer) -> Literal["answer", "deny", "clarify", "handoff"]:
    """What the assistant did: a proposal for whoever reviews it."""
    if answer.action == "handoff":
        return "handoff"
    if answer.action == "clarify":
        return "clarify"
    return "deny" if answer.outcome == "denied" else "answer"


def rated_answers(store: Store) -> Iterator[RatedAnswer]:
    """Answers with a thumb, without sensitive ones; who asked is blanked from the words."""
    thumbs = read_thumbs(store)
    for row in list_answers(store):
        if row.id not in thumbs or row.sensitive:
            continue
        if row.question is None or row.answer is None:
            continue
        asker = row.question.asker
        prompt = prompt_of(row.question.text, row.question.history)
        yield RatedAnswer(
            prompt=redact(mask_secrets(prompt)),
            audience=f"{asker.country or ''} {' '.join(sorted(asker.roles))}".strip(),
            answer=row.answer.text,
            thumb=thumbs[row.id],
        )
