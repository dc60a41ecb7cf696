"""One vocabulary of metadata: what is understood, and that nothing half understood opens a document
to everyone."""

from datetime import date, datetime
from typing import Any

import pytest

from ombud.errors import SourceError
from ombud.sources import apply_metadata, normalise_metadata
from ombud.sources.metadata import METADATA_KEYS, read_yaml
from ombud.types import Document

MANY = {"supersedes": "s/old.md", "owner": "HR", "topic": "leave", "language": "fr"}
BLANK = Document(id="0" * 16, source="s", uri="s/a.md", title="")


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        ({"country": "gb"}, {"countries": ("GB",)}),
        ({"country": ["fr", "DE", "FR "]}, {"countries": ("DE", "FR")}),
        ({"country": []}, {"countries": ()}),
        ({"country": ""}, {"countries": ()}),
        ({"title": " Leave "}, {"title": "Leave"}),
        ({"title": 2024}, {"title": "2024"}),
        ({"effective_from": date(2025, 1, 31)}, {"effective_from": date(2025, 1, 31)}),
        ({"effective_to": "2025-01-31"}, {"effective_to": date(2025, 1, 31)}),
        (
            {"effective_to": datetime(2025, 1, 31, 18, 30)},  # noqa: DTZ001
            {"effective_to": date(2025, 1, 31)},
        ),
        ({"mandatory": True}, {"mandatory": True}),
        ({"status": "draft"}, {"status": "draft"}),
        (MANY, MANY),
        ({"audience": {"roles": "manager"}}, {"audience": {"roles": ("manager",)}}),
        (
            {"audience": {"roles": ["b", "a"], "grades": [5]}},
            {"audience": {"roles": ("a", "b"), "grades": ("5",)}},
        ),
        ({"audience": {}}, {"audience": {}}),
        ({"title": None, "country": None, "audience": None}, {}),
        ({"layout": "page", "tags": ["x"]}, {}),
    ],
)
def test_what_is_understood(given: dict[str, Any], understood: dict[str, Any]) -> None:
    assert normalise_metadata(given, "a.md", strict=False) == understood
    assert apply_metadata(BLANK, understood).model_dump(include=set(understood)) == understood


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"country": False}, "country = False"),
        ({"country": True}, "country = True"),
        ({"country": [False, "SE"]}, "country"),
        ({"country": [""]}, "country"),
        ({"country": "GBR"}, "`GBR`"),
        ({"country": "G1"}, "`G1`"),
        ({"country": "Germny"}, "country: `Germny` is not a country"),
        ({"country": ["GB", "Europe"]}, "`Europe`"),
        ({"country": {"GB": 1}}, "country"),
        ({"country": 0}, "country: `0`"),
        ({"audience": "managers"}, "audience is not a map"),
        ({"audience": ["manager"]}, "audience is not a map"),
        ({"audience": ""}, "audience is not a map"),
        ({"audience": False}, "audience is not a map"),
        ({"audience": {"role": ["manager"]}}, "no `role`"),
        ({"status": "final"}, "'final'"),
        ({"status": ["draft"]}, "status"),
        ({"mandatory": "yes"}, "'yes'"),
        ({"mandatory": 1}, "mandatory"),
        ({"title": ["a"]}, "title is not a text"),
        ({"title": True}, "title is not a text"),
        ({"language": False}, "language is not a text"),
        ({"owner": {"name": "x"}}, "owner is not a text"),
        ({"effective_from": "31.01.2025"}, "'31.01.2025'"),
        ({"effective_to": "2025-02-30"}, "'2025-02-30'"),
        ({"effective_to": ""}, "effective_to"),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_what_is_not_understood_is_an_error_that_names_place_and_value(
    given: dict[str, Any], words: str, strict: bool
) -> None:
    with pytest.raises(SourceError) as wrong:
        normalise_metadata(given, "gb/a.md", strict=strict)
    assert "gb/a.md" in str(wrong.value)
    assert words in str(wrong.value)


@pytest.mark.parametrize("written", ["Germany", "Deutschland", "allemagne", "de", " DE "])
def test_a_country_is_called_as_people_call_it(written: str) -> None:
    understood = normalise_metadata({"country": ["France", written]}, "a.md", strict=False)
    assert understood == {"countries": ("DE", "FR")}


def test_an_unquoted_norway_is_explained() -> None:
    values = read_yaml("country: NO", "no.md")
    with pytest.raises(SourceError) as wrong:
        normalise_metadata(values, "no.md", strict=False)
    assert "NO" in wrong.value.hint
    assert normalise_metadata(read_yaml("country: 'NO'", "no.md"), "no.md", strict=False) == {
        "countries": ("NO",)
    }


@pytest.mark.parametrize(
    "layer", [{"roles": None}, {"roles": []}, {"roles": [None]}, {"grades": [[1, 2]]}]
)
def test_an_audience_without_values_is_nobody_not_everybody(layer: dict[str, Any]) -> None:
    audience = normalise_metadata({"audience": layer}, "a.md", strict=True)["audience"]
    assert audience.keys() == layer.keys()
    assert not set(*audience.values()) & {"manager", "1", "2", ""}


@pytest.mark.parametrize(
    ("misspelt", "nearest"),
    [("titel", "title"), ("effective_form", "effective_from"), ("countries", "country")],
)
def test_an_unknown_key_names_the_nearest(misspelt: str, nearest: str) -> None:
    with pytest.raises(SourceError) as wrong:
        normalise_metadata({misspelt: "x"}, "ombud.yaml defaults", strict=True)
    assert f"`{misspelt}`" in str(wrong.value)
    assert wrong.value.hint == f"Did you mean `{nearest}`?"


def test_a_key_like_none_of_them_lists_them_all() -> None:
    with pytest.raises(SourceError) as wrong:
        normalise_metadata({"zzz": "x"}, "ombud.yaml", strict=True)
    assert all(key in wrong.value.hint for key in METADATA_KEYS)


LEVELS = "a: &a [x, x, x, x, x, x, x, x, x]\n"
BOMB = LEVELS + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "aliases"),
        ("a: &x {y: 1}\nb:\n  <<: *x\n", "aliases"),
        ("[" * 100_000, "brackets"),
        ("{" * 100_000, "brackets"),
        ("a: " + "x" * 300_000, "larger than 256 KiB"),
        ("a:\n b: 1\n  c: [", "line 3"),
        ("a: 2025-13-01", "not valid YAML"),
        ("a: !!bool maybe", "not valid YAML"),
        ("a: !!timestamp soon", "not valid YAML"),
        ('a: !!int ""', "not valid YAML"),
        ("a: !!python/object/apply:os.system ['true']", "not valid YAML"),
        ("a: \x00", "not valid YAML"),
        ("- " * 3000 + "x", "not valid YAML"),
    ],
)
def test_hostile_yaml_is_refused_with_a_sentence(text: str, words: str) -> None:
    with pytest.raises(SourceError) as wrong:
        read_yaml(text, "gb/ombud.yaml")
    assert "gb/ombud.yaml" in str(wrong.value)
    assert words in str(wrong.value)


@pytest.mark.parametrize("facts", [{"country": "GB"}, {"mandatory": "perhaps"}])
def test_facts_that_are_none_of_a_document_cost_that_document_only(facts: dict[str, Any]) -> None:
    document = Document(id="0" * 16, source="hr", uri="hr/a.md", title="")
    with pytest.raises(SourceError, match=f"a `{next(iter(facts))}` that cannot be"):
        apply_metadata(document, facts)
