"""Who may read what."""

from datetime import date
from typing import Any

import pytest

from index.makers import chunk
from ombud.index import Filter, is_visible
from ombud.index.visibility import may_read, reader_key
from ombud.types import Audience, Person

MANAGER = Person(
    roles=("manager", "buyer"), groups=("works council",), grade="7", contract="permanent"
)


@pytest.mark.parametrize(
    ("audience", "allowed"),
    [
        ({}, True),
        ({"roles": ("manager",)}, True),
        ({"roles": ("driver", "buyer")}, True),
        ({"roles": ("driver",)}, False),
        ({"roles": ("manager",), "grades": ("7", "8")}, True),
        ({"roles": ("manager",), "grades": ("8",)}, False),
        ({"roles": ("manager",), "contracts": ("permanent",), "groups": ("works council",)}, True),
        ({"roles": ()}, False),
        ({"departments": ("hr",)}, False),
        ({"roles": ("manager",), "departments": ("hr",)}, False),
        ({"roles": ("Manager",)}, False),
    ],
)
def test_inside_a_key_any_between_keys_all(audience: Audience, allowed: bool) -> None:
    assert may_read(audience, MANAGER) is allowed
    assert may_read(audience, None) is True
    assert may_read(audience, Person()) is (not audience)


@pytest.mark.parametrize(
    ("fields", "where", "seen"),
    [
        ({}, Filter(), True),
        ({"countries": ("GB",)}, Filter(), False),
        ({"countries": ("GB", "IE")}, Filter(countries=("IE",)), True),
        ({"countries": ("GB",)}, Filter(countries=None), True),
        ({"status": "draft"}, Filter(), False),
        ({"status": "draft"}, Filter(status=("draft",)), True),
        ({"effective_from": date(2024, 1, 2)}, Filter(as_of=date(2024, 1, 1)), False),
        ({"effective_from": date(2024, 1, 2)}, Filter(as_of=date(2024, 1, 2)), True),
        ({"effective_to": date(2024, 1, 2)}, Filter(as_of=date(2024, 1, 2)), True),
        ({"effective_to": date(2024, 1, 2)}, Filter(as_of=date(2024, 1, 3)), False),
        ({"effective_to": date(2024, 1, 2)}, Filter(), True),
    ],
)
def test_what_hides_a_chunk(fields: dict[str, Any], where: Filter, seen: bool) -> None:
    assert is_visible(chunk("a", **fields), where) is seen


def test_the_same_readers_have_the_same_key() -> None:
    one = reader_key(("GB", "IE"), {"roles": ("a", "b"), "grades": ("1",)}, "en")
    assert one == reader_key(("IE", "GB"), {"grades": ("1",), "roles": ("b", "a")}, "en")
    others = [
        reader_key(("GB",), {}, "en"),
        reader_key((), {}, "en"),
        reader_key((), {"roles": ()}, "en"),
    ]
    assert len({one, *others, reader_key((), {}, "fr")}) == 5
