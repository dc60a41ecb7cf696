"""Teaches the small reader: questions over openly licensed texts first, then our own over handbooks.

Our own (src/ombud/training/reader/examples.jsonl) hold no text of a handbook: passages are laid out
again from ../shared as the chunker cuts them. Organisations in HELD_OUT teach nothing; what the
reader does on them is printed. Writes src/ombud/models/reader/delta.npz; with --share S a learning
curve's point instead, which writes nothing. Needs torch. Run: make reader"""

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "speed"))
import torch
from asked import HANDBOOKS, open_workspaces
from corpora import BENCH, DATA
from record import ROOT, say
from tokenizers import Tokenizer

from ombud.answer import AnswerSpan, candidate_spans, passage_of
from ombud.app import library
from ombud.models.embed.minilm import PACKAGE
from ombud.models.embed.onnx_graph import read_safetensors
from ombud.models.reader import write_delta
from ombud.training.reader import (
    ReadingExample,
    squad_examples,
    without_answers,
)
from ombud.training.reader.examples import WordSearch, words_of
from ombud.training.reader.fitting import ReadingScores, encoded, fit, scored
from ombud.training.reader.network import ReaderNetwork
from ombud.types import Chunk, Evidence, Hit

OWN = ROOT / "src/ombud/training/reader/examples.jsonl"
DELTA = ROOT / "src/ombud/models/reader/delta.npz"
KEPT = BENCH / "reader"
HELD_OUT = ("sample", "turing-reg-uk", "clef-us")
GENERIC = (
    ("squadshifts_new_wiki", True),
    ("squadshifts_amazon_reviews", False),
    ("squadshifts_reddit", False),
)
"""File of ../shared/data/reading, and whether others come from the same article."""
MOST_GENERIC = 30_000
GENERIC_RATE = 1e-4
OWN_RATE = 5e-5
CUT = 0.4
"""Share of the answered that are also taught without what answers."""
OTHER = 0.6
"""Share of the answered that are also taught with a passage of another page."""
AFTER = 0.15
"""Share that is taught behind another question on the same page, as a later turn is read."""
OTHERS = range(1, 8)
"""Ranks, by words, of passages that look like an answer and are of another page."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0, help="of our own examples, by page")
    parser.add_argument("--epochs", type=int, default=2, help="over our own examples")
    parser.add_argument(
        "--own-only", action="store_true", help="without the generic examples; writes nothing"
    )
    chosen = parser.parse_args()
    torch.set_num_threads(2)
    KEPT.mkdir(parents=True, exist_ok=True)
    own, held_out = own_examples(chosen.share)
    say(f"{len(own)} examples of our own to learn from, {len(held_out)} held out")
    weights, tokenizer = embedder_weights()
    if chosen.own_only:
        network = ReaderNetwork(weights)
    else:
        network = taught_in_general(weights, tokenizer)
    tested = encoded(held_out, tokenizer)
    if not chosen.own_only:
        say(f"generic only, held out: {told(scored(network, tested))}")
    if chosen.share:
        rows = encoded(own, tokenizer, random.Random(2))
        fit(network, rows, rate=OWN_RATE, warm=0.1, seed=2, epochs=chosen.epochs, on_step=say)
        say(f"with {chosen.share:.0%} of our own, held out: {told(scored(network, tested))}")
    if chosen.own_only:
        return
    learnt = {name: value.numpy() for name, value in network.state_dict().items()}
    target = DELTA if chosen.share == 1.0 else KEPT / f"delta-{chosen.share}.npz"
    digest = write_delta(weights, learnt, target)
    say(f"{target}: {target.stat().st_size} bytes, sha256 {digest}")


def told(scores: ReadingScores) -> str:
    return (
        f"a sentence that answers first {scores.first:.3f}, AUC {scores.auc:.3f}, "
        f"beside near misses {scores.auc_near:.3f}"
    )


def embedder_weights() -> tuple[Mapping[str, Any], Any]:
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("The embedding model is not installed.")
    model = Path(spec.submodule_search_locations[0], "model")
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return read_safetensors(model / "model.safetensors"), tokenizer


def taught_in_general(weights: Mapping[str, Any], tokenizer: Any) -> ReaderNetwork:
    """The network after the generic examples; kept, as that is most of the time."""
    network = ReaderNetwork(weights)
    kept = KEPT / "generic.pt"
    if kept.is_file():
        network.load_state_dict(torch.load(kept))
        return network
    examples: list[ReadingExample] = []
    for number, (name, by_article) in enumerate(GENERIC):
        path = DATA / "reading" / f"{name}.json"
        examples += squad_examples(path, name, by_article=by_article, seed=number)
    random.Random(4).shuffle(examples)
    rows = encoded(examples[:MOST_GENERIC], tokenizer, random.Random(1))
    fit(network, rows, rate=GENERIC_RATE, warm=0.06, seed=1, on_step=say)
    torch.save(network.state_dict(), kept)
    return network


def own_examples(share: float) -> tuple[list[ReadingExample], list[ReadingExample]]:
    """To learn from, and of organisations that are held out. share: of the pages."""
    HANDBOOKS["clef-us"] = "US"
    of_page: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for line in OWN.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        of_page[row["organisation"], row["uri"]].append(row)
    pages = sorted(of_page)
    random.Random(5).shuffle(pages)
    taught = [page for page in pages if page[0] not in HELD_OUT]
    kept = set(taught[: round(share * len(taught))])
    own: list[ReadingExample] = []
    held_out: list[ReadingExample] = []
    passages = passages_by_organisation()
    rng = random.Random(6)
    searches = {name: search_of(found) for name, found in passages.items()}
    for page in pages:
        organisation, uri = page
        for row in of_page[page]:
            spans = passages[organisation].get((uri, row["start"], row["end"]))
            if spans is None:
                raise SystemExit(f"{uri}: another text than was asked about; chunker or source?")
            example = laid_out(row, spans)
            if organisation in HELD_OUT:
                held_out.append(example)
            elif page in kept:
                if rng.random() < AFTER:
                    before = rng.choice(of_page[page])["question"]
                    example = example._replace(question=f"{before}\n{example.question}")
                own.append(example)
                own += beside(example, uri, passages[organisation], searches[organisation], rng)
    return own, held_out


Passages = Mapping[tuple[str, int, int], Sequence[AnswerSpan]]
"""(uri, start, end) -> its spans."""


def passages_by_organisation() -> dict[str, Passages]:
    found: dict[str, Passages] = {}
    for name, workspace in open_workspaces().items():
        of_chunk: dict[tuple[str, int, int], Sequence[AnswerSpan]] = {}
        for chunk in library.passages(workspace):
            spans = spans_of(chunk)
            if spans:
                of_chunk[chunk.uri, chunk.start, chunk.end] = spans
        found[name] = of_chunk
    return found


def spans_of(chunk: Chunk) -> list[AnswerSpan]:
    return candidate_spans(Evidence(shared=(Hit(chunk=chunk, score=1.0),)))


def laid_out(row: Mapping[str, Any], spans: Sequence[AnswerSpan]) -> ReadingExample:
    passage = passage_of(spans)
    wanted = [tuple(answer) for answer in row["answers"]]
    places = [n for n, span in enumerate(spans) if (span.start, span.end) in wanted]
    if len(places) != len(wanted):
        raise SystemExit(f"{row['uri']}: sentences were cut otherwise when this was asked.")
    return ReadingExample(
        question=row["question"],
        heading=passage.heading,
        pieces=passage.pieces,
        answering=places,
        kind="answered" if places else "near",
        group=row["uri"],
    )


def search_of(passages: Passages) -> tuple[Sequence[tuple[str, int, int]], WordSearch]:
    places = list(passages)
    texts: list[list[str]] = []
    for place in places:
        passage = passage_of(passages[place])
        texts.append(words_of(f"{passage.heading} {' '.join(passage.pieces)}"))
    return places, WordSearch(texts)


def beside(
    example: ReadingExample,
    uri: str,
    passages: Passages,
    search: tuple[Sequence[tuple[str, int, int]], WordSearch],
    rng: random.Random,
) -> Iterator[ReadingExample]:
    """The passage without what answers, and one of another page that has words of the question."""
    if not example.answering:
        return
    cut = without_answers(example)
    if cut and rng.random() < CUT:
        yield cut
    places, found = search
    ranked = found.best(words_of(example.question), max(OTHERS) + 1)
    others = [places[ranked[n]] for n in OTHERS if n < len(ranked)]
    others = [place for place in others if place[0] != uri]
    if others and rng.random() < OTHER:
        passage = passage_of(passages[rng.choice(others)])
        yield example._replace(
            heading=passage.heading, pieces=passage.pieces, answering=(), kind="other"
        )


if __name__ == "__main__":
    main()
