"""Who may read a page: restrictions of every level, intersected, and nobody where something is not
known."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ombud.errors import SourceError
from ombud.sources.access import NotShown
from ombud.sources.confluence.access import MOST_NAMES, NOBODY, Restrictions, audience
from ombud.types import Audience

Levels = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""Content id -> (groups, users)."""


def said(
    groups: tuple[str, ...], users: tuple[str, ...] = (), limit: int = 100, start: int = 0
) -> dict[str, Any]:
    rows = {
        "group": [{"name": g, "id": f"id-{g}"} for g in groups],
        "user": [{"accountId": u} for u in users],
    }
    return {
        "restrictions": {
            k: {"results": v[start : start + limit], "limit": limit} for k, v in rows.items()
        }
    }


def allowed(levels: Levels, groups: Mapping[str, str] | None = None, limit: int = 100) -> Audience:
    known = Restrictions(lambda content, start: said(*levels[content], limit, start))
    return audience(known.readers(levels), groups or {})


def test_no_restriction_anywhere_is_everybody() -> None:
    assert allowed({"page": ((), ()), "over": ((), ())}) == {}


def test_an_empty_level_inherits() -> None:
    assert allowed({"page": ((), ()), "over": (("hr",), ())}) == {"groups": ("hr",)}
    assert allowed({"page": (("hr",), ()), "over": ((), ())}) == {"groups": ("hr",)}


def test_every_level_must_let_a_reader_through() -> None:
    levels = {"page": (("hr", "it"), ("ann",)), "over": (("hr",), ("ann", "bob")), "top": ((), ())}
    assert allowed(levels) == {"groups": ("confluence-user:ann", "hr")}


def test_two_levels_that_share_no_one_are_nobody() -> None:
    assert allowed({"page": (("hr",), ()), "over": (("it",), ())}) == NOBODY


def test_people_are_groups_of_their_own() -> None:
    assert allowed({"page": ((), ("5b10:ff",))}) == {"groups": ("confluence-user:5b10:ff",)}


def test_groups_are_renamed_by_name_or_id() -> None:
    levels = {"page": (("hr-all", "it", "ops"), ())}
    assert allowed(levels, {"hr-all": "hr", "id-it": "tech"}) == {"groups": ("hr", "ops", "tech")}


def test_two_groups_there_that_are_one_here_are_still_two() -> None:
    levels = {"page": (("hr-uk",), ()), "over": (("hr-ie",), ())}
    assert allowed(levels, {"hr-uk": "hr", "hr-ie": "hr"}) == NOBODY


def test_a_group_named_like_a_person_gives_nothing() -> None:
    assert allowed({"page": (("confluence-user:ann", "confluence-nobody"), ())}) == NOBODY


def test_long_restrictions_are_read_to_their_end() -> None:
    users = tuple(f"u{number}" for number in range(25))
    found = allowed({"page": (("a", "b", "c"), users)}, limit=10)
    assert len(found["groups"]) == 28


def test_a_server_that_repeats_itself_is_not_asked_for_ever() -> None:
    asked: list[int] = []

    def ask(content: str, start: int) -> dict[str, Any]:
        asked.append(start)
        return said(("a", "b"), limit=2)

    assert audience(Restrictions(ask).readers(["page"]), {}) == {"groups": ("a", "b")}
    assert asked == [0, 2]


def test_a_restriction_without_end_is_an_error() -> None:
    def ask(content: str, start: int) -> dict[str, Any]:
        return said(tuple(f"g{start + number}" for number in range(1000)), limit=1000)

    with pytest.raises(SourceError, match=str(MOST_NAMES)):
        Restrictions(ask).readers(["page"])


def test_each_level_is_asked_for_once() -> None:
    asked: list[str] = []

    def ask(content: str, start: int) -> dict[str, Any]:
        asked.append(content)
        return said(())

    known = Restrictions(ask)
    for page in ("a", "b"):
        known.readers([page, "over"])
    assert asked == ["a", "over", "b"]


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {},
        {"restrictions": {}},
        {"restrictions": {"user": {"results": []}}},
        {"restrictions": {"group": {"results": []}}},
        {"restrictions": {"user": {"results": []}, "group": {"size": 0}}},
        {"restrictions": {"user": {"results": [{}]}, "group": {"results": []}}},
        {"restrictions": {"user": {"results": ["ann"]}, "group": {"results": []}}},
        {"_expandable": {"restrictions": ""}},
    ],
)
def test_an_answer_that_does_not_say_it_all_says_nothing(answer: Any) -> None:
    with pytest.raises(NotShown):
        Restrictions(lambda *_: answer).readers(["page"])


NAMES = st.sets(st.sampled_from("abcd"), max_size=3).map(lambda names: tuple(sorted(names)))


@given(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=4), NAMES, st.sampled_from("abcd"))
def test_nobody_gets_in_whom_a_level_keeps_out(
    levels: list[tuple[tuple[str, ...], tuple[str, ...]]], groups: tuple[str, ...], user: str
) -> None:
    found = allowed({str(number): level for number, level in enumerate(levels)})
    has = {*groups, f"confluence-user:{user}"}
    if found and has & set(found["groups"]):
        assert all(not (g or u) or set(groups) & set(g) or user in u for g, u in levels)
    if not found:
        assert not any(g or u for g, u in levels)
