"""Audiences of sources with permissions: they only ever get narrower."""

from ombud.sources.access import Principal, narrow, within
from ombud.types import Audience

NOBODY: Audience = {"groups": ("nobody",)}


def test_audiences_are_narrowed_key_by_key() -> None:
    assert narrow({}, {}, NOBODY) == {}
    assert narrow({"roles": ("manager",)}, {"groups": ("hr",)}, NOBODY) == {
        "roles": ("manager",),
        "groups": ("hr",),
    }
    assert narrow({"groups": ("hr", "it")}, {"groups": ("hr",)}, NOBODY) == {"groups": ("hr",)}
    assert narrow({"groups": ("it",)}, {"groups": ("hr",)}, NOBODY) == NOBODY
    assert narrow({"groups": ()}, {}, NOBODY) == NOBODY


def test_within_is_only_said_when_it_is_sure() -> None:
    assert within({}, {})
    assert within({"groups": ("hr",)}, {})
    assert within({"groups": ("hr",), "roles": ("x",)}, {"groups": ("hr", "it")})
    assert not within({}, {"groups": ("hr",)})
    assert not within({"groups": ("hr", "ops")}, {"groups": ("hr", "it")})
    assert not within({"roles": ("hr",)}, {"groups": ("hr",)})


def test_principals_of_two_kinds_never_meet() -> None:
    assert Principal("user", "x", "") != Principal("group", "x", "")
