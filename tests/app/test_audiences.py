"""Whom documents are written for, kept while nothing changes."""

from collections.abc import Iterator

import pytest

from copies import open_copy
from ombud.app.audiences import SECONDS, KnownAudiences
from ombud.store import Store, SyncStamp, save_document
from ombud.types import Document


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = open_copy(tmp_path_factory.mktemp("store"))
    yield opened
    opened.close()


def add(store: Store, identity: str, country: str, role: str = "") -> None:
    audience = {"roles": (role,)} if role else {}
    document = Document(
        id=identity,
        source="s",
        uri=identity,
        title="T",
        language="en",
        countries=(country,),
        audience=audience,
    )
    save_document(store, document, SyncStamp("f", "r", None, 1))


def test_what_a_sync_adds_is_known_with_the_index_that_has_it(store: Store) -> None:
    version = ["1"]
    audiences = KnownAudiences(store, lambda: version[0], lambda: 0.0)
    add(store, "a", "GB")
    assert audiences.current() == {"countries": ["GB"], "roles": [], "grades": [], "contracts": []}
    version[0] = "2"
    add(store, "b", "FR", "manager")
    assert audiences.current() == {
        "countries": ["FR", "GB"],
        "roles": ["manager"],
        "grades": [],
        "contracts": [],
    }


def test_what_the_store_learns_after_the_index_is_known_soon(store: Store) -> None:
    clock = [0.0]
    audiences = KnownAudiences(store, lambda: "1", lambda: clock[0])
    assert audiences.current() == {"countries": [], "roles": [], "grades": [], "contracts": []}
    add(store, "a", "GB")
    clock[0] = SECONDS
    assert audiences.current()["countries"] == ["GB"]
