"""A chat model that reads triplets as they were recorded, sentence by sentence."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from answer.asking import Script
from ombud.models import Chat

Stated = tuple[str, str, str]
PASSAGE = re.compile(r'<passage number="(\d+)">\n(.*?)\n</passage>', re.DOTALL)
SENTENCE = re.compile(r"(.+?) ((?:must|may)(?: not)? \w+(?: over)?|means|is short for) (.+)\.")


def recorded_chat(*sentences: str) -> Chat:
    """A model that reads one triplet in each of these sentences where a passage holds it. They read
    "subject verb object."; what a document itself says in other words stands behind " = "."""
    triplets: dict[str, Stated] = {}
    for sentence in sentences:
        held, _, plain = sentence.partition(" = ")
        read = SENTENCE.fullmatch(plain or held)
        assert read, sentence
        triplets[sentence] = (read[1], read[2], read[3])
    return Script(_reading(triplets)).chat


def said(triplets: Sequence[Stated], number: int = 1) -> dict[str, Any]:
    """A reply with the triplets of one passage."""
    names = ("subject", "predicate", "object")
    rows = [dict(zip(names, triplet, strict=True)) for triplet in triplets]
    return {"passages": [{"number": number, "triplets": rows}]}


def _reading(triplets: Mapping[str, Stated]) -> Callable[[str], Any]:
    def read(prompt: str) -> dict[str, Any]:
        passages: list[Any] = []
        for number, text in PASSAGE.findall(prompt):
            held = [
                triplet
                for sentence, triplet in triplets.items()
                if sentence.partition(" = ")[0] in text
            ]
            passages += said(held, int(number))["passages"]
        return {"passages": passages} if passages else {"groups": []}

    return read
