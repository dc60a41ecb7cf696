"""What every database must do for the graph: a document's triplets come, change and go with it,
whole."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ombud.store import (
    Edge,
    Extracted,
    Graph,
    Name,
    Store,
    bury_documents,
    clear_graph,
    entity_names,
    forget_document,
    graph_digests,
    graph_rows_of,
    graph_stats,
    open_store,
    read_extracted,
    save_document,
    save_graph,
    save_same,
)
from ombud.types import Document, Triplet
from store.places import database, document, kept


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with database(request.param) as url:
        opened = open_store(url, tmp_path)
        yield opened
        opened.close()


def edge(of: Document, subject: str, predicate: str, thing: str, chunk: int = 0) -> Edge:
    triplet = Triplet(
        subject=subject, predicate=predicate, object=thing, chunk_id=f"{of.id}-{chunk:012}"
    )
    return Edge(triplet, of.id, subject.lower(), thing.lower())


def saved(
    store: Store,
    uri: str,
    *said: tuple[str, str, str],
    source: str = "hr",
    names: dict[str, str] | None = None,
) -> Document:
    made = document(uri, "text", source=source)
    save_document(store, made, kept())
    edges = [edge(made, *one) for one in said]
    known = [
        Name(made.id, key, key, 1.0) for one in edges for key in (one.subject_key, one.object_key)
    ]
    known += [Name(made.id, name, key, 0.5) for name, key in (names or {}).items()]
    assert save_graph(
        store, made.id, f"digest of {uri}", Extracted({f"{made.id}-{0:012}": "d"}, edges), known
    )
    return made


def around(store: Store, *keys: str, sources: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    found = Graph(store).around(keys, sources)
    return [(one.triplet.subject, one.triplet.predicate, one.triplet.object) for one in found]


def test_what_was_saved_comes_back(store: Store) -> None:
    made = saved(
        store,
        "a",
        ("Employees", "may carry over", "5 Tage 🎉 'quoted'"),
        ("HR", "must approve", "it"),
    )
    assert graph_digests(store) == {made.id: "digest of a"}
    found = read_extracted(store, made.id)
    assert found.chunks == {f"{made.id}-{0:012}": "d"}
    assert [tuple(one.triplet.model_dump().values())[:3] for one in found.edges] == [
        ("Employees", "may carry over", "5 Tage 🎉 'quoted'"),
        ("HR", "must approve", "it"),
    ]
    assert read_extracted(store, "0" * 16) == Extracted({}, [])
    assert around(store, "it") == [("HR", "must approve", "it")]
    assert around(store, "nothing") == []
    assert entity_names(store)["employees"] == "Employees"
    assert graph_stats(store) == {
        "documents": 1,
        "incomplete": 0,
        "triplets": 2,
        "entities": 4,
        "merged": 0,
    }


def test_saving_again_replaces(store: Store) -> None:
    made = saved(store, "a", ("Old", "is", "gone"), names={"ancient": "old"})
    saved(store, "b", ("Other", "is", "here"))
    saved(store, "a", ("New", "is", "there"))
    assert around(store, "old", "gone", "new") == [("New", "is", "there")]
    assert Graph(store).named(["ancient", "old"]) == []
    assert around(store, "other") == [("Other", "is", "here")]
    assert set(graph_digests(store)) == {
        made.id,
        *(key for key in graph_digests(store) if key != made.id),
    }


def test_buried_is_hidden_at_once_and_forgotten_is_gone(store: Store) -> None:
    gone = saved(store, "a", ("Secret", "is", "shared"), names={"~secret": "secret"})
    saved(store, "b", ("Open", "is", "shared"))
    bury_documents(store, [gone.id])
    assert around(store, "shared") == [("Open", "is", "shared")]
    assert Graph(store).named(["secret"]) == []
    assert Graph(store).sharing(["~secret"], 0.1) == []
    assert graph_rows_of(store, gone.id) > 0
    forget_document(store, [gone.id])
    assert graph_rows_of(store, gone.id) == 0
    assert graph_stats(store)["triplets"] == 1


def test_a_document_that_goes_while_it_is_read_stays_gone(store: Store) -> None:
    made = document("a", "text")
    save_document(store, made, kept())
    bury_documents(store, [made.id])
    assert not save_graph(store, made.id, "d", Extracted({}, [edge(made, "A", "is", "B")]), [])
    forget_document(store, [made.id])
    assert not save_graph(store, made.id, "d", Extracted({}, [edge(made, "A", "is", "B")]), [])
    assert graph_rows_of(store, made.id) == 0


def test_saving_and_deleting_at_once_leaves_nothing(store: Store) -> None:
    for number in range(8):
        made = document(f"d{number}", "text")
        save_document(store, made, kept())
        edges = [edge(made, f"S{n}", "is", f"O{n}") for n in range(20)]

        def save(made: Document = made, edges: list[Edge] = edges) -> None:
            save_graph(store, made.id, "d", Extracted({}, edges), [])

        def delete(made: Document = made) -> None:
            bury_documents(store, [made.id])
            forget_document(store, [made.id])

        both = [threading.Thread(target=work) for work in (save, delete)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        assert graph_rows_of(store, made.id) == 0


def test_only_the_wanted_sources_are_looked_at(store: Store) -> None:
    saved(store, "a", ("A", "is", "shared"))
    saved(store, "b", ("B", "is", "shared"), source="legal")
    assert around(store, "shared", sources=("legal",)) == [("B", "is", "shared")]
    assert len(around(store, "shared")) == 2


def test_many_keys_at_once(store: Store) -> None:
    saved(store, "a", *((f"S{n}", "is", f"O{n}") for n in range(1200)))
    assert len(around(store, *(f"s{n}" for n in range(1200)))) == 1200
    assert len(Graph(store).named([f"o{n}" for n in range(1200)])) == 1200


def test_entities_are_found_by_a_share_of_their_words(store: Store) -> None:
    made = saved(store, "a", ("Annual Cash Bonus", "is", "x"))
    third = [
        Name(made.id, f"~{word}", "annual cash bonus", 1 / 3)
        for word in ("annual", "cash", "bonus")
    ]
    whole = read_extracted(store, made.id)
    save_graph(store, made.id, "d", whole, third)
    found = Graph(store).sharing(["~cash", "~bonus"], 0.6)
    assert [(name.key, round(name.weight, 3)) for name in found] == [("annual cash bonus", 0.667)]
    assert len(Graph(store).sharing(["~annual", "~cash", "~bonus"], 1.0)) == 1
    assert Graph(store).sharing(["~bonus"], 0.6) == []


def test_entities_are_the_same_as_long_as_both_are_there(store: Store) -> None:
    saved(store, "a", ("boss", "must", "sign"))
    other = saved(store, "b", ("manager", "may", "sign"))
    saved(store, "c", ("superior", "may", "ask"))
    save_same(
        store, [("manager", "boss"), ("superior", "manager"), ("boss", "boss"), ("boss", "nobody")]
    )
    save_same(store, [("boss", "manager")])
    graph = Graph(store)
    assert graph.same(["boss", "sign"]) == {
        "sign": {"sign"},
        **{key: {"boss", "manager", "superior"} for key in ("boss", "manager", "superior")},
    }
    bury_documents(store, [other.id])
    forget_document(store, [other.id])
    assert graph.same(["boss"]) == {"boss": {"boss"}}
    assert graph_stats(store)["merged"] == 0


def test_clearing(store: Store) -> None:
    first = saved(store, "a", ("A", "is", "x"))
    saved(store, "b", ("B", "is", "x"))
    save_same(store, [("a", "b")])
    clear_graph(store, [first.id])
    assert around(store, "x") == [("B", "is", "x")]
    assert graph_stats(store)["merged"] == 0
    clear_graph(store)
    assert graph_stats(store) == dict.fromkeys(
        ("documents", "incomplete", "triplets", "entities", "merged"), 0
    )
