"""What beside.py asks, and what the recorded model has to say to each question.

`drafts`: the shared handbooks' questions with a strong writer's drafts; each claim needs the gold
quotes that it states, else the sentence that tests/data/recorded/drafts-places.jsonl names (the
likeliest by shared words, read by one reader). Where the writer had nothing to say the case's
reference is the text. `apart`: cases written apart, whose references are the text. `unanswerable`:
what the documents do not say; the model says so. `wrong`: the same drafts with a recorded wrong
claim in the place of each that has one (of the half that nobody read), and unanswerable questions
to which the model invents one. Follow-ups are left out, for each pipeline has its own way with
them, and what has to be handed to a person."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from math import log
from typing import Any, NamedTuple

from baseline import own_cases
from record import ROOT

from models.grounded import Script, Statement
from ombud.lab import cluster_of, read_cases, select_split, split_of
from ombud.types import Case, Passage

RECORDED = ROOT / "tests/data/recorded"
ASKED = ROOT / "tests/data/asked"
HANDBOOKS = {
    "gsa-tts-us": ("tts", "gsa"),
    "turing-reg-uk": ("turing",),
    "sourcegraph-global": ("sg",),
    "clef-us": ("clef",),
}
"""Folder -> how the ids of its cases begin."""
WORD = re.compile(r"[a-z0-9]+")


class Asked(NamedTuple):
    id: str
    group: str
    """drafts | apart | unanswerable | wrong drafts | invented."""
    split: str
    """`dev`, `test`, or empty for cases on which nothing was chosen."""
    question: str
    country: str
    script: Script
    required: Sequence[int]
    """Statements of the script that a right answer holds, all of them."""
    cluster: str


def everything() -> list[Asked]:
    return [*drafted(), *apart(), *unanswerable(), *wrong_drafts(), *invented()]


def drafted() -> Iterator[Asked]:
    for case in _recorded_cases("answer"):
        claims = _texts("drafts-texts").get(case.id, {}).get("compose", {}).get("claims", [])
        keys = [f"{case.id}/{place}" for place in range(len(claims))]
        statements = [
            Statement(claim["text"], _needs(case, key))
            for key, claim in zip(keys, claims, strict=True)
        ]
        required = [at for at, key in enumerate(keys) if _states_gold(case, key)]
        if not statements:
            statements, required = [_reference(case)], [0]
        yield _asked(case, "drafts", statements, required)


def apart() -> Iterator[Asked]:
    for case in read_cases(ROOT / "tests/data/apart-handbooks.jsonl"):
        if case.expect == "answer" and not case.history:
            yield _asked(case, "apart", [_reference(case)], [0])


def unanswerable() -> Iterator[Asked]:
    for case in _unanswerable_cases():
        yield _asked(case, "unanswerable")


def wrong_drafts() -> Iterator[Asked]:
    """Only the claims over which a wrong one was recorded."""
    for one in drafted():
        wrong: list[Statement] = []
        for place, statement in enumerate(one.script.statements):
            said = _wrong_claims().get(f"{one.id}/{place}")
            wrong += [Statement(said, statement.needs)] if said else []
        if wrong:
            script = one.script._replace(statements=wrong)
            yield one._replace(group="wrong drafts", script=script, required=())


def invented() -> Iterator[Asked]:
    """The wrong claim of the same handbook that shares the rarest words with the question."""
    for case in _unanswerable_cases():
        begins = HANDBOOKS[_handbook(case)]
        claims = [text for key, text in _wrong_claims().items() if key.startswith(begins)]
        words = _words(case.question)
        nearest = max(claims, key=lambda text: (_shared_rarity(words, text), text))
        one = _asked(case, "invented")
        yield one._replace(script=one.script._replace(invented=nearest))


def _asked(
    case: Case,
    group: str,
    statements: Sequence[Statement] = (),
    required: Sequence[int] = (),
) -> Asked:
    understanding = _texts("texts").get(case.id, {}).get("understand")
    return Asked(
        id=case.id,
        group=group,
        split="" if group == "apart" else split_of(case.id),
        question=case.question,
        country=case.person.country or "",
        script=Script(statements, understanding),
        required=required,
        cluster=cluster_of(case),
    )


def _recorded_cases(expect: str) -> list[Case]:
    """Those for which something was recorded, without follow-ups."""
    given = _texts("drafts-given")
    cases = select_split(own_cases(), "open")
    return [one for one in cases if one.id in given and one.expect == expect and not one.history]


def _unanswerable_cases() -> list[Case]:
    near = select_split(read_cases(ASKED / "near.jsonl"), "open")
    plausible = [one for one in near if one.expect == "deny" and one.tags[1] in HANDBOOKS]
    return [*_recorded_cases("deny"), *plausible]


def _handbook(case: Case) -> str:
    if case.tags[1] in HANDBOOKS:
        return case.tags[1]
    begin = case.id.partition("-")[0]
    return next(name for name, begins in HANDBOOKS.items() if begin in begins)


def _reference(case: Case) -> Statement:
    needs = [_places(item) for item in case.evidence if item.grade == 2]
    return Statement(case.references[0].text, needs)


def _needs(case: Case, key: str) -> list[list[str]]:
    """The gold that a claim states, each with other places that say the same; else its own
    sentence."""
    place = _places_of_claims()[key]
    stated = [[*_places(case.evidence[at]), *place["also"]] for at in place["states"]]
    return stated or [place["also"]]


def _states_gold(case: Case, key: str) -> bool:
    return any(case.evidence[at].grade == 2 for at in _places_of_claims()[key]["states"])


def _places(item: Passage) -> list[str]:
    return [place.quote for place in item.places]


# What was recorded --------------------------------------------------------------------------------


@cache
def _texts(name: str) -> Mapping[str, dict[str, Any]]:
    return {row["id"]: row for row in _lines(name)}


@cache
def _places_of_claims() -> Mapping[str, dict[str, Any]]:
    return {row["key"]: row for row in _lines("drafts-places")}


@cache
def _wrong_claims() -> Mapping[str, str]:
    """Key of a draft's claim -> one wrong one over it, the first by its digest among those that
    nobody has read."""
    found: dict[str, tuple[str, str]] = {}
    for row in _lines("wrong-claims"):
        digest = sha256(row["claim"].encode()).hexdigest()
        if int(digest, 16) % 2 == 0:
            best = found.get(row["key"], (digest, row["claim"]))
            found[row["key"]] = min(best, (digest, row["claim"]))
    return {key: claim for key, (_, claim) in found.items()}


def _lines(name: str) -> list[dict[str, Any]]:
    text = (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.casefold()))


@cache
def _rarities() -> Mapping[str, float]:
    texts = [_words(text) for text in _wrong_claims().values()]
    held: dict[str, int] = {}
    for words in texts:
        for word in words:
            held[word] = held.get(word, 0) + 1
    return {word: log(len(texts) / count) for word, count in held.items()}


def _shared_rarity(words: frozenset[str], text: str) -> float:
    return sum(_rarities()[word] for word in words & _words(text))
