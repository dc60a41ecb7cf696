"""Real questions of people as cases to be reviewed: with consent, without a word of who asked.

Nothing is taken of sensitive conversations, and of others no more than a first question (what
follows makes sense only with what was said before), its country and the passages that its answer
cited. Names, addresses and numbers of people are blanked."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Literal, NamedTuple

from ombud.errors import LabError
from ombud.lab.cases.contamination import ALIKE
from ombud.lab.metrics.overlap import answer_tokens
from ombud.lab.people.reviewing import HARVESTED
from ombud.lab.runs.systems import SystemReply
from ombud.masking import mask_secrets
from ombud.store import Store, StoredAnswer, list_answers
from ombud.text import redact
from ombud.types import Answer, Case, Observation, Passage, Person

LIVE = "live "
"""Prefix of the name of a run that holds a day's judged answers."""
LEAST_WORDS = 3
"""Of a question that is worth a review: fewer say nothing without what was on the screen."""


class Harvest(NamedTuple):
    cases: tuple[Case, ...]
    seen: int
    """Answers that were looked at."""
    left_out: dict[str, int]
    """Why -> how many."""
    answers: Mapping[str, Answer] = {}
    """Id of a case -> its live answer."""


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
    chosen: list[Case] = []
    answers: dict[str, Answer] = {}
    words: list[frozenset[str]] = []
    for _, row in rows:
        why = _why_not(row, topic)
        case = None if why else _case(row)
        if case is None or row.answer is None:
            left_out[why] += 1
            continue
        own = frozenset(answer_tokens(case.question))
        if _is_known(own, words):
            left_out["asked before"] += 1
        elif len(chosen) == size:
            left_out["more than asked for"] += 1
        else:
            chosen.append(case)
            answers[case.id] = row.answer
            words.append(own)
    cases = tuple(sorted(chosen, key=lambda case: case.id))
    return Harvest(cases, len(rows), left_out, answers)


def sample_answers(harvest: Harvest) -> tuple[Observation, ...]:
    """Observe the live answers to harvested questions, without who asked; raises LabError where
    there is none. Nobody has said what would have been right: the cases have neither reference nor
    evidence."""
    seen: list[Observation] = []
    for case in harvest.cases:
        bare = case.model_copy(update={"evidence": (), "expect": "answer"})
        answer = _without_asker(harvest.answers[case.id])
        seen.append(
            Observation(case=bare, answer=answer, seconds=answer.trace.seconds.get("total"))
        )
    if not seen:
        raise LabError(
            f"None of {harvest.seen} live answers can be taken.",
            hint="`ombud lab import --past-questions --out FILE` says why.",
        )
    return tuple(seen)


def sample_live(store: Store, share: float, since: str) -> Iterator[Observation]:
    """Yield a share of the first answers of conversations since a time (UTC, ISO 8601), drawn by
    their ids, without who asked. Passages are the ones that an answer cites."""
    for row in list_answers(store, since):
        digest = sha256(row.id.encode()).digest()
        if int.from_bytes(digest) >= share * 256 ** len(digest):
            continue
        case = None if _why_not(row, "") else _case(row)
        if case is None or row.answer is None:
            continue
        bare = {"id": live_id(row.id), "evidence": (), "expect": "answer"}
        cited = dict.fromkeys((one.uri, one.quote) for one in row.answer.citations)
        answer = _without_asker(row.answer)
        passages = SystemReply(
            answer=answer.text,
            contexts=tuple(quote for _, quote in cited),
            ids=tuple(uri for uri, _ in cited),
        )
        yield Observation(case=case.model_copy(update=bare), answer=answer, hits=passages.hits())


def live_id(answer_id: str) -> str:
    """Name the case of a live answer, by which nobody finds the answer without its id."""
    return f"live-{sha256(answer_id.encode()).hexdigest()[:16]}"


def _without_asker(answer: Answer) -> Answer:
    """Redact an answer and drop what repeats the question."""
    claims = [
        claim.model_copy(update={"text": redact(mask_secrets(claim.text))})
        for claim in answer.claims
    ]
    return answer.model_copy(
        update={
            "id": "",
            "conversation_id": None,
            "question_id": "",
            "text": redact(mask_secrets(answer.text)),
            "claims": tuple(claims),
            "missing": (),
            "conditions": (),
            "suggestions": (),
            "trace": answer.trace.model_copy(update={"queries": ()}),
        }
    )


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
    """Tell whether nearly all words are shared with one before (Jaccard)."""
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
    """Name what the assistant did: a proposal for whoever reviews it."""
    if answer.action == "handoff":
        return "handoff"
    if answer.action == "clarify":
        return "clarify"
    return "deny" if answer.outcome == "denied" else "answer"
