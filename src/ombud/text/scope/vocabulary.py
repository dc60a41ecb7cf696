"""The words of `scope.toml`."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def scope_words() -> dict[str, Any]:
    path = Path(__file__).with_name("scope.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
