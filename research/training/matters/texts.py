"""The everyday matters that the small reader is taught with."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

TEXTS = Path(__file__).with_name("matters.jsonl")


class EverydayMatter(NamedTuple):
    matter: str
    """Its name, such as `probation-length`."""
    asks: Sequence[str]
    """How people ask."""
    says: Sequence[str]
    """How policies answer."""


def read_matters() -> list[EverydayMatter]:
    lines = TEXTS.read_text(encoding="utf-8").splitlines()
    return [EverydayMatter(**json.loads(line)) for line in lines]
