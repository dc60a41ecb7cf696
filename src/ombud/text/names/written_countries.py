"""A country that somebody has written into a field: its name in whichever language, or its code."""

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from ombud.errors import BadRequest
from ombud.text.names.countries import called_countries, fold_name

CODES = Path(__file__).with_name("country_codes.toml")
WRONG_CODES = {"UK": "GB", "EL": "GR"}
"""Codes that are written for countries and stand for none in ISO 3166."""
_NEAR = 0.75
"""How much of a name must be the same to be proposed for one that is not known."""


@lru_cache
def country_list() -> Mapping[str, str]:
    """ISO 3166 alpha-2 code -> English name, by name."""
    names = tomllib.loads(CODES.read_text(encoding="utf-8"))
    return dict(sorted(names.items(), key=lambda pair: fold_name(pair[1])))


def read_country(written: str) -> str:
    """Its code, from a code or a whole name; empty for nothing. Never guessed: raises BadRequest
    for whatever is neither."""
    plain = " ".join(written.split())
    code = plain.upper()
    code = WRONG_CODES.get(code, code)
    if not code or code in country_list():
        return code
    known = _by_name()
    found = known.get(fold_name(plain))
    if found:
        return found
    near = get_close_matches(fold_name(plain)[:60], known, n=1, cutoff=_NEAR)
    meant = f"Did you mean {country_list()[known[near[0]]]}? " if near else ""
    raise BadRequest(
        f"`{plain[:40]}` is no country.",
        hint=f"{meant}Write the name of one, such as Great Britain, or its two letters, such as "
        "GB; or leave it empty.",
    )


@lru_cache
def _by_name() -> dict[str, str]:
    names = {fold_name(name): code for code, name in country_list().items()}
    return {**called_countries(), **names}
