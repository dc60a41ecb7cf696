"""Cases made from passages without a model: proposed by rules, cleaned by checks, sampled by
document size."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from random import Random

from ombud.errors import LabError
from ombud.lab.metrics.metric import Embed
from ombud.lab.synthesis.cleaning import CHECKS, WITH_VECTORS, Sieve
from ombud.lab.synthesis.facts import has_facts
from ombud.lab.synthesis.pairs import KINDS, QuestionAnswer
from ombud.lab.synthesis.questions import propose
from ombud.lab.synthesis.vocabulary import CorpusVocabulary
from ombud.types import Case, Chunk, Passage, Person, Reference

Tell = Callable[[str, int, int], None]
"""(step, done, total), for a progress bar."""

NOT_NEEDED = "not needed"
STRATA = ("small", "medium", "large")
WAVE = 64
"""Questions that are embedded at a time."""
SAMPLE = 50
"""Passages against which relevance is measured."""


def _silent(step: str, done: int, total: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Account:
    """Where every proposed pair went: `proposed` is the sum of `fallen` and `kept`."""

    wanted: int
    proposed: int
    fallen: dict[str, int]
    """Check -> pairs that fell to it. `not needed`: their passage had its case already; they met no
    check."""
    kept: int
    kinds: dict[str, int]
    """Kind of question -> cases."""
    passages: int
    """Passages that were given."""
    language: int = 0
    """Passages left out because they are not in English; no pair was proposed from them."""
    unasked: int = 0
    """Passages looked at from which no rule could make a question."""
    strata: dict[str, int] = field(default_factory=dict)
    """Size of the documents -> cases."""
    embedded: bool = False

    def as_text(self) -> str:
        """A few lines for the terminal."""
        lines = [f"{self.kept} of {self.wanted} cases, from {self.proposed} proposed pairs"]
        if self.kept < self.wanted:
            lines.append(f"  fewer than wanted: the {self.passages} passages gave no more")
        for check, count in self.fallen.items():
            unchecked = check in WITH_VECTORS and not self.embedded
            lines.append(f"  {check}: {'not checked: no embedder' if unchecked else count}")
        if self.language:
            lines.append(
                f"  language: {self.language} passages are not in English and were left out"
            )
        if self.unasked:
            lines.append(f"  no question: {self.unasked} passages fit no rule")
        lines.append("kinds: " + ", ".join(f"{kind} {count}" for kind, count in self.kinds.items()))
        lines.append(
            "documents: " + ", ".join(f"{name} {count}" for name, count in self.strata.items())
        )
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Synthesis:
    cases: tuple[Case, ...]
    account: Account


def synthesise(
    chunks: Iterable[Chunk],
    size: int,
    *,
    seed: int = 0,
    embed: Embed | None = None,
    tell: Tell = _silent,
) -> Synthesis:
    """Up to `size` cases, one a passage at most, the same for the same passages and seed in
    whatever order they come.

    Documents of small, medium and large size get cases by their share of the words; inside a
    stratum they take turns. Passages that are not in English are left out. Too few passages give
    fewer cases, and the account says so. Raises LabError without passages or with a size below 1.
    """
    if size < 1:
        raise LabError(f"{size} cases cannot be made.", hint="Ask for 1 or more.")
    given = sorted({(chunk.uri, chunk.start, chunk.id): chunk for chunk in chunks}.items())
    if not given:
        raise LabError(
            "No passages to make cases from.", hint="Add documents and index them first."
        )
    english = [chunk for _, chunk in given if chunk.language == "en"]
    maker = _Maker(english, size, seed, embed, tell)
    if english:
        maker.fill(strata(english))
    cases = tuple(sorted((_case(pair) for pair in maker.kept), key=lambda case: case.id))
    account = Account(
        wanted=size,
        proposed=maker.proposed,
        fallen={check: maker.fallen[check] for check in (*CHECKS, NOT_NEEDED)},
        kept=len(cases),
        kinds={kind: sum(pair.kind == kind for pair in maker.kept) for kind in KINDS},
        passages=len(given),
        language=len(given) - len(english),
        unasked=maker.unasked,
        strata={name: maker.taken[name] for name in STRATA},
        embedded=embed is not None,
    )
    return Synthesis(cases, account)


def strata(chunks: Sequence[Chunk]) -> dict[str, dict[str, list[Chunk]]]:
    """Stratum -> uri -> passages: documents by their number of words, a third of them in each
    stratum."""
    documents: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        documents.setdefault(chunk.uri, []).append(chunk)
    ordered = sorted(documents, key=lambda uri: (_words(documents[uri]), uri))
    found: dict[str, dict[str, list[Chunk]]] = {name: {} for name in STRATA}
    for rank, uri in enumerate(ordered):
        found[STRATA[rank * len(STRATA) // len(ordered)]][uri] = documents[uri]
    return found


def _words(chunks: Iterable[Chunk]) -> int:
    return sum(len(chunk.text.split()) for chunk in chunks)


def quotas(size: int, weights: Mapping[str, int]) -> dict[str, int]:
    """`size` shared out by weight, largest remainders first."""
    total = sum(weights.values())
    exact = {name: size * weight / total if total else 0.0 for name, weight in weights.items()}
    shares = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (shares[name] - exact[name], name))
    for name in by_remainder[: size - sum(shares.values()) if total else 0]:
        shares[name] += 1
    return shares


def _random(seed: str) -> Random:
    return Random(seed)  # noqa: S311


def _mixed(chunks: Iterable[Chunk]) -> list[Chunk]:
    # Most passages offer their heading alone; taking turns keeps facts from being drowned.
    facts: list[Chunk] = []
    others: list[Chunk] = []
    for chunk in chunks:
        (facts if has_facts(chunk) else others).append(chunk)
    paired = [chunk for pair in zip(facts, others, strict=False) for chunk in pair]
    return paired + facts[len(others) :] + others[len(facts) :]


@dataclass(slots=True)
class _Turn:
    """A passage whose turn has come, and the pairs that it still has."""

    chunk: Chunk
    pairs: list[QuestionAnswer] | None = None


class _Maker:
    """One run: the queues of passages, the sieve, and the count of what became of every pair."""

    def __init__(
        self, chunks: Sequence[Chunk], size: int, seed: int, embed: Embed | None, tell: Tell
    ) -> None:
        self._size, self._seed, self._tell = size, seed, tell
        self._vocabulary = CorpusVocabulary(chunk.text for chunk in chunks)
        self._before = {
            after.id: front for front, after in pairwise(chunks) if front.uri == after.uri
        }
        sample = (
            _random(f"{seed} sample").sample(list(chunks), min(SAMPLE, len(chunks)))
            if embed
            else []
        )
        self._sieve = Sieve(embed, sample)
        self._kinds: Counter[str] = Counter()
        self.kept: list[QuestionAnswer] = []
        self.fallen: Counter[str] = Counter()
        self.taken: Counter[str] = Counter()
        self.proposed = self.unasked = 0

    def fill(self, by_stratum: Mapping[str, Mapping[str, list[Chunk]]]) -> None:
        """Take cases from every stratum up to its quota; what one cannot give, the others do."""
        queues = {name: self._queue(name, documents) for name, documents in by_stratum.items()}
        weights = {
            name: sum(map(_words, documents.values())) for name, documents in by_stratum.items()
        }
        while len(self.kept) < self._size and any(queues.values()):
            left = {name: max(1, weights[name]) for name, queue in queues.items() if queue}
            for name, quota in quotas(self._size - len(self.kept), left).items():
                self._take(name, queues[name], quota)
        for queue in queues.values():
            for turn in queue:
                self._fall(NOT_NEEDED, len(turn.pairs or ()))

    def _queue(self, name: str, documents: Mapping[str, list[Chunk]]) -> deque[_Turn]:
        """Passages in the order of their turns: the first of every document, then the second, …"""
        chance = _random(f"{self._seed} {name}")
        rows = [
            _mixed(chance.sample(chunks, len(chunks))) for _, chunks in sorted(documents.items())
        ]
        chance.shuffle(rows)
        longest = max(map(len, rows), default=0)
        return deque(_Turn(row[at]) for at in range(longest) for row in rows if at < len(row))

    def _take(self, name: str, queue: deque[_Turn], quota: int) -> None:
        while quota and queue:
            wave: list[tuple[_Turn, QuestionAnswer]] = []
            while queue and len(wave) < min(WAVE, quota):
                turn = queue.popleft()
                pair = self._next(turn)
                if pair:
                    wave.append((turn, pair))
            again = []
            for (turn, pair), measured in zip(
                wave, self._sieve.measure([pair for _, pair in wave]), strict=True
            ):
                # Another of the same wave may have been accepted since.
                check = self._sieve.by_words(pair) or self._sieve.by_meaning(pair, measured)
                if check:
                    self._fall(check, 1)
                    again.append(turn)
                    continue
                self._sieve.accept(pair, measured)
                self.kept.append(pair)
                self.taken[name] += 1
                self._kinds[pair.kind] += 1
                self._fall(NOT_NEEDED, len(turn.pairs or ()))
                quota -= 1
            queue.extendleft(turn for turn in reversed(again) if turn.pairs)
            self._tell("synthesise", len(self.kept), self._size)

    def _next(self, turn: _Turn) -> QuestionAnswer | None:
        """The passage's next pair that passes the checks of its words; the rarest kind of question
        comes first."""
        if turn.pairs is None:
            chance = _random(f"{self._seed} {turn.chunk.uri} {turn.chunk.start}")
            found = propose(turn.chunk, self._vocabulary, chance, self._before.get(turn.chunk.id))
            turn.pairs = [
                pair
                for kind in sorted(found, key=lambda kind: self._kinds[kind])
                for pair in found[kind]
            ]
            self.proposed += len(turn.pairs)
            self.unasked += not turn.pairs
        while turn.pairs:
            pair = turn.pairs.pop(0)
            check = self._sieve.by_words(pair)
            if not check:
                return pair
            self._fall(check, 1)
        return None

    def _fall(self, check: str, count: int) -> None:
        self.fallen[check] += count


def _case(pair: QuestionAnswer) -> Case:
    chunk = pair.chunk
    facts = "\0".join((chunk.uri, pair.quote, pair.question))
    return Case(
        id="syn-" + sha256(facts.encode()).hexdigest()[:12],
        question=pair.question,
        person=Person(country=chunk.countries[0] if chunk.countries else None),
        references=(Reference(text=pair.answer),),
        evidence=(Passage(document=chunk.uri, quote=pair.quote, grade=2, page=chunk.page_from),),
        tags=("synthetic", pair.kind, pair.style),
    )
