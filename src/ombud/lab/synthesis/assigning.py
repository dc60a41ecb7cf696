"""What a chat model is to write: which kind of question, from which passages, in which style, for
whom.

Kinds are HyPA-RAG's eleven (Kalra et al. 2024), out of scope parted into off topic and
unanswerable, and two of ours: sensitive and incoherent."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, count, cycle, zip_longest
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple, get_args

from ombud.errors import UnknownName
from ombud.types import CaseType, Chunk, Person

STYLES = ("plain", "terse", "colloquial", "typos", "statement")
NOISY = ("terse", "typos")
"""Said so that a search finds it hard: nothing is asked of their likeness to a passage."""
STRATA = ("small", "medium", "large")
LEAST_WORDS = 25
"""Of a passage that a question can be made of."""


class CaseKind(NamedTuple):
    passages: int
    expect: Literal["answer", "deny", "clarify", "handoff"] = "answer"
    styles: Sequence[str] = STYLES
    """In which it can be said: a case that is told needs sentences."""


_TOLD = ("plain", "colloquial", "typos", "statement")
_SAID = ("plain",)
KINDS: Mapping[CaseType, CaseKind] = {
    "simple": CaseKind(1),
    "complex": CaseKind(2, styles=_TOLD),
    "distracting": CaseKind(1, styles=("plain", "colloquial", "statement")),
    "situational": CaseKind(1, styles=_TOLD),
    "double": CaseKind(2, styles=_TOLD),
    "conversational": CaseKind(1),
    "complex_situational": CaseKind(2, styles=_TOLD),
    "off_topic": CaseKind(0, "deny"),
    "unanswerable": CaseKind(1, "deny"),
    "vague": CaseKind(1, "clarify", styles=("terse", "colloquial")),
    "comparative": CaseKind(2, styles=_TOLD),
    "rule_conclusion": CaseKind(1, styles=_TOLD),
    "sensitive": CaseKind(0, "handoff", styles=("plain", "colloquial")),
    "incoherent": CaseKind(0, "deny", styles=_SAID),
}
THEMED: tuple[CaseType, ...] = ("off_topic", "sensitive", "incoherent")


class Assignment(NamedTuple):
    number: int
    type: CaseType
    style: str
    persona: str
    passages: tuple[Chunk, ...]
    """The source first; none for what no document is about."""
    stratum: str = ""
    theme: str = ""

    @property
    def kind(self) -> CaseKind:
        return KINDS[self.type]

    @property
    def is_noisy(self) -> bool:
        return self.style in NOISY or self.type in ("vague", *THEMED)

    @property
    def asker(self) -> Person:
        """Somebody who may read the source."""
        person = Person(persona=self.persona) if self.persona else Person()
        if not self.passages:
            return person
        source = self.passages[0]
        first: dict[str, str] = {}
        for name, values in source.audience.items():
            first[name] = values[0] if values else ""
        fields = {
            "country": source.countries[0] if source.countries else None,
            "roles": tuple(filter(None, (first.get("roles"),))),
            "groups": tuple(filter(None, (first.get("groups"),))),
            "grade": first.get("grades") or None,
            "contract": first.get("contracts") or None,
        }
        return person.model_copy(update=fields)


def chosen_types(names: Sequence[str]) -> tuple[CaseType, ...]:
    """All for none. Raises UnknownName."""
    all_types: tuple[CaseType, ...] = get_args(CaseType)
    for name in names:
        if name not in all_types:
            raise UnknownName(
                f"No type of question is called `{name}`.",
                hint=f"There are: {', '.join(all_types)}.",
            )
    return tuple(name for name in all_types if not names or name in names)


class Assigner:
    """Hands out what is to be written, a kind at a time: styles and personas in turn, passages by
    the size of their documents, each once as a source. The same for the same passages and seed."""

    def __init__(self, chunks: Sequence[Chunk], personas: Sequence[str], *, seed: int = 0) -> None:
        self._chance = Random(f"{seed} assign")  # noqa: S311
        self._sources = _sources([one for one in chunks if _can_be_asked(one)], self._chance)
        self._beside = _Beside(chunks)
        self._styles = {name: cycle(kind.styles) for name, kind in KINDS.items()}
        self._readers = cycle(personas or ("",))
        self._themes = {name: _told(name, self._chance) for name in THEMED}
        self._number = 0

    def next_of(self, name: CaseType) -> Assignment | None:
        """Return the next assignment of a type; None when the passages are used up."""
        stratum = theme = ""
        passages: tuple[Chunk, ...] = ()
        if name in THEMED:
            theme = next(self._themes[name])
        else:
            drawn = self._passages(name)
            if drawn is None:
                return None
            stratum, passages = drawn
        self._number += 1
        return Assignment(
            number=self._number,
            type=name,
            style=next(self._styles[name]),
            persona=next(self._readers),
            passages=passages,
            stratum=stratum,
            theme=theme,
        )

    def _passages(self, name: CaseType) -> tuple[str, tuple[Chunk, ...]] | None:
        for stratum, source in self._sources:
            if KINDS[name].passages == 1:
                return stratum, (source,)
            other = self._beside.one(source, self._chance, near=name != "double")
            if other:
                return stratum, (source, other)
        return None


def _can_be_asked(chunk: Chunk) -> bool:
    return chunk.language == "en" and len(chunk.text.split()) >= LEAST_WORDS


def _sources(chunks: Sequence[Chunk], chance: Random) -> Iterator[tuple[str, Chunk]]:
    """Yield (stratum, passage): strata by their share of the words, and in each the documents in
    turn."""
    if not chunks:
        return
    rows: dict[str, list[Chunk]] = {}
    words: dict[str, int] = {}
    for name, documents in strata(chunks).items():
        rows[name] = _in_turn(documents, chance)
        words[name] = _words(rows[name])
    turns: list[str] = []
    for name, share in quotas(len(chunks), words).items():
        turns += [name] * share
    chance.shuffle(turns)
    for name in turns:
        if rows[name]:
            yield name, rows[name].pop(0)
    for name, left in rows.items():
        for chunk in left:
            yield name, chunk


def strata(chunks: Sequence[Chunk]) -> dict[str, dict[str, list[Chunk]]]:
    """Map stratum -> uri -> passages: a third of the documents in each stratum, by their number of
    words."""
    documents: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        documents.setdefault(chunk.uri, []).append(chunk)
    ordered = sorted(documents, key=lambda uri: (_words(documents[uri]), uri))
    by_stratum: dict[str, dict[str, list[Chunk]]] = {name: {} for name in STRATA}
    for rank, uri in enumerate(ordered):
        stratum = STRATA[rank * len(STRATA) // len(ordered)]
        by_stratum[stratum][uri] = documents[uri]
    return by_stratum


def _words(chunks: Sequence[Chunk]) -> int:
    return sum(len(chunk.text.split()) for chunk in chunks)


def quotas(size: int, weights: Mapping[str, int]) -> dict[str, int]:
    """Divide `size` by weight, largest remainders first."""
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(weights, 0)
    exact = {name: size * weight / total for name, weight in weights.items()}
    shares = {name: int(share) for name, share in exact.items()}
    largest_first = sorted(weights, key=lambda name: (shares[name] - exact[name], name))
    for name in largest_first[: size - sum(shares.values())]:
        shares[name] += 1
    return shares


def _in_turn(documents: Mapping[str, list[Chunk]], chance: Random) -> list[Chunk]:
    """Yield a passage of every document, then a second one of each, …"""
    shuffled = [chance.sample(own, len(own)) for _, own in sorted(documents.items())]
    chance.shuffle(shuffled)
    return [chunk for chunk in chain(*zip_longest(*shuffled)) if chunk is not None]


class _Beside:
    """The second passage of a question that needs two."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._documents: dict[str, list[Chunk]] = {}
        for chunk in chunks:
            if _can_be_asked(chunk):
                self._documents.setdefault(chunk.uri, []).append(chunk)

    def one(self, source: Chunk, chance: Random, *, near: bool) -> Chunk | None:
        """near: of the same document, for what belongs together; else of another one for the same
        country. None where there is no such passage."""
        if near:
            own = self._documents[source.uri]
            place = own.index(source)
            around = [*own[place + 1 : place + 3], *own[max(0, place - 2) : place]]
            return chance.choice(around) if around else None
        others: list[Chunk] = []
        for uri, chunks in self._documents.items():
            if uri != source.uri and chunks[0].countries == source.countries:
                others.append(chunks[0])
        return chance.choice(others) if others else None


def _told(name: str, chance: Random) -> Iterator[str]:
    """Each theme once, then each told in another way, and so on."""
    listed = list(_themes()[name])
    chance.shuffle(listed)
    yield from listed
    for number in count(2):
        for theme in listed:
            yield f"{theme} (way {number} of telling it, unlike the obvious one)"


@cache
def _themes() -> dict[str, list[str]]:
    path = Path(__file__).with_name("themes.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
