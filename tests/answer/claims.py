"""Faithful claims over the sample handbook, with the passages that bear them out."""

import json
import re
import tomllib
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from ombud.documents import chunk, front_matter, parse
from ombud.lab.cases.quotes import holds
from ombud.settings import IndexSettings
from ombud.types import Chunk, Document

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests/data"


class Stated(NamedTuple):
    """A claim with the documents and quotes that bear it out."""

    id: str
    half: str
    """dev or test."""
    text: str
    evidence: tuple[tuple[str, str], ...]
    """(uri, quote) each."""
    question: str = ""


def own_claims() -> list[Stated]:
    """Paraphrases over the sample handbook, written for this; the halves come from different
    documents."""
    lines = (DATA / "verifier-claims.jsonl").read_text(encoding="utf-8").splitlines()
    read = [json.loads(line) for line in lines]
    return [Stated(c["id"], c["half"], c["claim"], ((c["document"], c["quote"]),)) for c in read]


def gold_claims() -> list[Stated]:
    """Sentences of the sample's gold answers that its evidence says; dev and test as the contract
    splits cases."""
    left_out = {
        name
        for names in tomllib.loads((DATA / "verifier-derived.toml").read_text()).values()
        for name in names
    }
    found = []
    for path in sorted((ROOT / "sample/cases").glob("*.jsonl")):
        for case in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            split = int(sha256(case["id"].encode()).hexdigest()[:8], 16) % 10
            if (
                case["expect"] != "answer"
                or not case["evidence"]
                or case["id"] in left_out
                or split > 7
            ):
                continue
            evidence = tuple((item["document"], item["quote"]) for item in case["evidence"])
            for at, text in enumerate(_sentences(case["references"][0]["text"])):
                if f"{case['id']}#{at}" not in left_out and len(text.split()) > 1:
                    found.append(
                        Stated(
                            f"{case['id']}#{at}",
                            "test" if split > 5 else "dev",
                            text,
                            evidence,
                            case["question"],
                        )
                    )
    return found


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[a-z)%][.!?]) (?=[A-Z])", text)


def passages(claim: Stated) -> list[Chunk]:
    """The chunks that hold its quotes, as the index cuts documents; a quote over a border has both
    sides."""
    found: dict[str, Chunk] = {}
    for uri, quote in claim.evidence:
        chunks = _chunks(uri)
        held = [c for c in chunks if holds([c.text], quote)]
        if not held:  # it goes over a border, or on from a repeated table header
            words = set(re.findall(r"\w+", quote.lower()))
            held = sorted(
                chunks,
                key=lambda c: -len(words & set(re.findall(r"\w+", f"{c.header} {c.text}".lower()))),
            )
        found[held[0].id] = held[0]
    return list(found.values())


@cache
def _chunks(uri: str) -> list[Chunk]:
    path = ROOT / "sample" / uri
    data = path.read_bytes()
    facts = front_matter(data, uri)
    title, country = str(facts.get("title", "")), uri.split("/")[1].upper()
    blank = Document(
        id=sha256(uri.encode()).hexdigest()[:16],
        source="s",
        uri=uri,
        title=title,
        language="en",
        effective_from=facts.get("effective_from"),
        effective_to=facts.get("effective_to"),
        countries=() if country == "GLOBAL" else (country,),
    )
    document = parse(data, blank)
    return chunk(document, IndexSettings(), lambda text: len(text.split()) * 4 // 3)
