"""Files of cases, and what is said of broken ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from ombud.errors import LabError
from ombud.lab import read_cases

GOOD = {"id": "1", "question": "a"}


def file(folder: Path, text: str | bytes, name: str = "cases.jsonl") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def lines(*rows: Any) -> str:
    return "\n".join(json.dumps(row) for row in rows)


def failure(path: Path) -> tuple[str, str]:
    with pytest.raises(LabError) as wrong:
        read_cases(path)
    assert str(path) in str(wrong.value)
    return str(wrong.value).removeprefix(str(path)), wrong.value.hint
