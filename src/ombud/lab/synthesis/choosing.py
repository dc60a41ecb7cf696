"""Cases made from passages without a model: proposed by rules, cleaned by checks, sampled by
document size."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, pairwise, zip_longest
from random import Random

from ombud.errors import LabError
from ombud.lab.metrics.metric import Embed
from ombud.lab.synthesis.cleaning import CHECKS, WITH_VECTORS, Cleaner
from ombud.lab.synthesis.facts import has_facts
from ombud.lab.synthesis.pairs import KINDS, QuestionAnswer
from ombud.lab.synthesis.questions import propose
from ombud.lab.synthesis.vocabulary import CorpusVocabulary
from ombud.types import Case, Chunk, Passage, Person, Reference

OnProgress = Callable[[str, int, int], None]
"""(step, done, total), for a progress bar."""

NOT_NEEDED = "not needed"
STRATA = ("small", "medium", "large")
WAVE = 64
"""Questions that are embedded at a time."""
SAMPLE = 50
"""Passages against which relevance is measured."""


def _silent(step: str, done: int, total: int) -> None: ...


@dataclass(frozen=True, slots=True)
class SynthesisAccount:
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
            left_out = f"{self.language} passages are not in English and were left out"
            lines.append(f"  language: {left_out}")
        if self.unasked:
            lines.append(f"  no question: {self.unasked} passages fit no rule")
        lines.append(f"kinds: {_listed(self.kinds)}")
        lines.append(f"documents: {_listed(self.strata)}")
        return "\n".join(lines)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


@dataclass(frozen=True, slots=True)
class Synthesis:
    cases: tuple[Case, ...]
    account: SynthesisAccount


def synthesise(
    chunks: Iterable[Chunk],
    size: int,
    *,
    seed: int = 0,
    embed: Embed | None = None,
    on_progress: OnProgress = _silent,
) -> Synthesis:
    """Up to `size` cases, one a passage at most, the same for the same passages and seed in
    whatever order they come.

    Documents of small, medium and large size get cases by their share of the words; inside a
    stratum they take turns. Passages that are not in English are left out. Too few passages give
    fewer cases, and the account says so. Raises LabError without passages or with a size below 1.
    """
    if size < 1:
        raise LabError(f"{size} cases cannot be made.", hint="Ask for 1 or more.")
    passages = _in_order(chunks)
    if not passages:
        raise LabError(
            "No passages to make cases from.", hint="Add documents and index them first."
        )
    english = [chunk for chunk in passages if chunk.language == "en"]
    chooser = _Chooser(english, seed, embed)
    if english:
        chooser.fill(strata(english), size, on_progress)
    cases = list(map(_case, chooser.kept))
    account = SynthesisAccount(
        wanted=size,
        proposed=chooser.proposed,
        fallen=_counts(chooser.fallen, (*CHECKS, NOT_NEEDED)),
        kept=len(cases),
        kinds=_counts(chooser.kinds, KINDS),
        passages=len(passages),
        language=len(passages) - len(english),
        unasked=chooser.unasked,
        strata=_counts(chooser.taken, STRATA),
        embedded=embed is not None,
    )
    return Synthesis(tuple(sorted(cases, key=lambda case: case.id)), account)


def _counts(counter: Counter[str], names: Iterable[str]) -> dict[str, int]:
    """In the order of the names, also of those that were never counted."""
    return {name: counter[name] for name in names}


def _in_order(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Each once, by document and place."""
    by_place: dict[tuple[str, int, str], Chunk] = {}
    for chunk in chunks:
        by_place[chunk.uri, chunk.start, chunk.id] = chunk
    return [by_place[place] for place in sorted(by_place)]


def strata(chunks: Sequence[Chunk]) -> dict[str, dict[str, list[Chunk]]]:
    """Stratum -> uri -> passages: documents by their number of words, a third of them in each
    stratum."""
    documents: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        documents.setdefault(chunk.uri, []).append(chunk)
    ordered = sorted(documents, key=lambda uri: (_words(documents[uri]), uri))
    by_stratum: dict[str, dict[str, list[Chunk]]] = {name: {} for name in STRATA}
    for rank, uri in enumerate(ordered):
        number = rank * len(STRATA) // len(ordered)
        stratum = by_stratum[STRATA[number]]
        stratum[uri] = documents[uri]
    return by_stratum


def _words(chunks: Iterable[Chunk]) -> int:
    return sum(len(chunk.text.split()) for chunk in chunks)


def quotas(size: int, weights: Mapping[str, int]) -> dict[str, int]:
    """`size` shared out by weight, largest remainders first."""
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(weights, 0)
    shares: dict[str, int] = {}
    remainders: dict[str, float] = {}
    for name, weight in weights.items():
        exact = size * weight / total
        shares[name] = int(exact)
        remainders[name] = exact - shares[name]
    largest_first = sorted(weights, key=lambda name: (-remainders[name], name))
    for name in largest_first[: size - sum(shares.values())]:
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
    mixed = []
    for fact, other in zip(facts, others, strict=False):
        mixed += [fact, other]
    return mixed + facts[len(others) :] + others[len(facts) :]


@dataclass(slots=True)
class _Turn:
    """A passage whose turn has come, and the pairs that it still has."""

    chunk: Chunk
    pairs: list[QuestionAnswer] | None = None


class _Chooser:
    """One run: the queues of passages, the checks, and the count of what became of every pair."""

    def __init__(self, chunks: Sequence[Chunk], seed: int, embed: Embed | None) -> None:
        self._seed = seed
        self._vocabulary = CorpusVocabulary(chunk.text for chunk in chunks)
        self._before: dict[str, Chunk] = {}
        for before, chunk in pairwise(chunks):
            if before.uri == chunk.uri:
                self._before[chunk.id] = before
        sample: list[Chunk] = []
        if embed:
            chance = _random(f"{seed} sample")
            sample = chance.sample(list(chunks), min(SAMPLE, len(chunks)))
        self._cleaner = Cleaner(embed, sample)
        self.kept: list[QuestionAnswer] = []
        self.kinds: Counter[str] = Counter()
        self.taken: Counter[str] = Counter()
        self.fallen: Counter[str] = Counter()
        self.proposed = 0
        self.unasked = 0

    def fill(
        self,
        by_stratum: Mapping[str, Mapping[str, list[Chunk]]],
        size: int,
        on_progress: OnProgress,
    ) -> None:
        """Take cases from every stratum up to its quota; what one cannot give, the others do."""
        queues = {}
        weights = {}
        for name, documents in by_stratum.items():
            queues[name] = self._queue(name, documents)
            weights[name] = max(1, sum(map(_words, documents.values())))
        while len(self.kept) < size and any(queues.values()):
            waiting = {}
            for name, queue in queues.items():
                if queue:
                    waiting[name] = weights[name]
            for name, quota in quotas(size - len(self.kept), waiting).items():
                for _ in self._take(name, queues[name], quota):
                    on_progress("synthesise", len(self.kept), size)
        for turn in chain.from_iterable(queues.values()):
            self._count_fallen(NOT_NEEDED, len(turn.pairs or ()))

    def _queue(self, name: str, documents: Mapping[str, list[Chunk]]) -> deque[_Turn]:
        """Passages in the order of their turns: the first of every document, then the second, …"""
        chance = _random(f"{self._seed} {name}")
        rows = []
        for _, chunks in sorted(documents.items()):
            rows.append(_mixed(chance.sample(chunks, len(chunks))))
        chance.shuffle(rows)
        queue: deque[_Turn] = deque()
        for turns in zip_longest(*rows):
            for chunk in filter(None, turns):
                queue.append(_Turn(chunk))
        return queue

    def _take(self, name: str, queue: deque[_Turn], quota: int) -> Iterator[int]:
        """Up to `quota` cases of a stratum; yields after each wave how many it gave."""
        while quota and queue:
            wave = self._next_wave(queue, min(WAVE, quota))
            vectors = self._cleaner.measure([pair for _, pair in wave])
            again = []
            accepted = 0
            for (turn, pair), measured in zip(wave, vectors, strict=True):
                # Another of the same wave may have been accepted since.
                check = self._cleaner.check_words(pair)
                check = check or self._cleaner.check_meaning(pair, measured)
                if check:
                    self._count_fallen(check, 1)
                    again.append(turn)
                    continue
                self._cleaner.accept(pair, measured)
                self._keep(pair, name)
                self._count_fallen(NOT_NEEDED, len(turn.pairs or ()))
                accepted += 1
            quota -= accepted
            for turn in reversed(again):
                if turn.pairs:
                    queue.appendleft(turn)
            yield accepted

    def _next_wave(self, queue: deque[_Turn], most: int) -> list[tuple[_Turn, QuestionAnswer]]:
        wave: list[tuple[_Turn, QuestionAnswer]] = []
        while queue and len(wave) < most:
            turn = queue.popleft()
            pair = self._next_pair(turn)
            if pair:
                wave.append((turn, pair))
        return wave

    def _next_pair(self, turn: _Turn) -> QuestionAnswer | None:
        """The passage's next pair that passes the checks of its words; the rarest kind of question
        comes first."""
        if turn.pairs is None:
            turn.pairs = self._propose(turn.chunk)
            self.proposed += len(turn.pairs)
            self.unasked += not turn.pairs
        while turn.pairs:
            pair = turn.pairs.pop(0)
            check = self._cleaner.check_words(pair)
            if not check:
                return pair
            self._count_fallen(check, 1)
        return None

    def _propose(self, chunk: Chunk) -> list[QuestionAnswer]:
        chance = _random(f"{self._seed} {chunk.uri} {chunk.start}")
        by_kind = propose(chunk, self._vocabulary, chance, self._before.get(chunk.id))
        pairs = []
        for kind in sorted(by_kind, key=lambda kind: self.kinds[kind]):
            pairs += by_kind[kind]
        return pairs

    def _keep(self, pair: QuestionAnswer, stratum: str) -> None:
        self.kept.append(pair)
        self.taken[stratum] += 1
        self.kinds[pair.kind] += 1

    def _count_fallen(self, check: str, count: int) -> None:
        self.fallen[check] += count


def reader_of(chunk: Chunk) -> Person:
    """Somebody who may read the passage."""
    first: dict[str, str] = {}
    for name, values in chunk.audience.items():
        first[name] = values[0] if values else ""
    return Person(
        country=chunk.countries[0] if chunk.countries else None,
        roles=tuple(filter(None, (first.get("roles"),))),
        groups=tuple(filter(None, (first.get("groups"),))),
        grade=first.get("grades") or None,
        contract=first.get("contracts") or None,
    )


def _case(pair: QuestionAnswer) -> Case:
    chunk = pair.chunk
    facts = "\0".join((chunk.uri, pair.quote, pair.question))
    return Case(
        id="syn-" + sha256(facts.encode()).hexdigest()[:12],
        question=pair.question,
        person=reader_of(chunk),
        references=(Reference(text=pair.answer),),
        evidence=(
            Passage(
                document=chunk.uri,
                quote=pair.quote,
                grade=2,
                page=chunk.page_from,
            ),
        ),
        tags=("synthetic", pair.kind, pair.style),
    )
