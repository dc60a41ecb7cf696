"""A folder tree as a source: which files are documents, and what is known of each before it is
read."""

import os
from pathlib import Path
from typing import Any

import pytest

from ombud.errors import SourceError
from ombud.sources import FolderSource, Ref


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def uris(source: FolderSource) -> list[str]:
    return [ref.uri for ref in source.list()]


def only(source: FolderSource) -> Ref:
    (ref,) = source.list()
    return ref


def test_every_file_is_listed_by_its_path_below_the_source(tmp_path: Path) -> None:
    write(tmp_path, {"b.md": "bb", "a/z.pdf": "z", "a/b/c.html": "", "no-suffix": "x"})
    refs = FolderSource("hr", tmp_path).list()
    assert {ref.uri: ref.size for ref in refs} == {
        "hr/b.md": 2,
        "hr/a/z.pdf": 1,
        "hr/a/b/c.html": 0,
        "hr/no-suffix": 1,
    }
    assert all(
        Path(ref.place).read_bytes() == FolderSource("hr", tmp_path).read(ref) for ref in refs
    )


def test_hidden_files_and_sidecars_are_no_documents(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".hidden.md": "x",
            ".git/a.md": "x",
            "a/.b/c.md": "x",
            "ombud.yaml": "",
            "a/ombud.yaml": "",
        },
    )
    assert uris(FolderSource("hr", write(tmp_path, {"seen.md": "x"}))) == ["hr/seen.md"]


def test_a_source_below_a_hidden_folder_is_read(tmp_path: Path) -> None:
    assert uris(FolderSource("hr", write(tmp_path / ".private" / "docs", {"a.md": "x"}))) == [
        "hr/a.md"
    ]


def test_links_that_leave_the_tree_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"secret/salaries.md": "x", "docs/a.md": "x", "docs2/b.md": "x"})
    docs = tmp_path / "docs"
    (docs / "file.md").symlink_to(tmp_path / "secret" / "salaries.md")
    (docs / "up.md").symlink_to("../secret/salaries.md")
    (docs / "folder").symlink_to(tmp_path / "secret")
    (docs / "sibling.md").symlink_to(tmp_path / "docs2" / "b.md")
    (docs / "twice.md").symlink_to("up.md")
    (docs / "inside.md").symlink_to("a.md")
    assert uris(FolderSource("hr", docs)) == ["hr/a.md"]


def test_a_link_to_a_file_that_is_not_listed_itself_is_a_document(tmp_path: Path) -> None:
    write(tmp_path, {".store/5f2a": "x", "parts/policy.md": "x"})
    (tmp_path / "leave.md").symlink_to(".store/5f2a")
    (tmp_path / "policy.md").symlink_to("parts/policy.md")
    source = FolderSource("hr", tmp_path, exclude=["parts/**"])
    assert uris(source) == ["hr/leave.md", "hr/policy.md"]


def test_a_source_that_is_itself_a_link_is_read(tmp_path: Path) -> None:
    write(tmp_path / "real", {"a.md": "x"})
    (tmp_path / "real" / "b.md").symlink_to("a.md")
    (tmp_path / "link").symlink_to("real")
    assert uris(FolderSource("hr", tmp_path / "link")) == ["hr/a.md"]


@pytest.mark.parametrize("target", ["nowhere.md", "loop.md"])
def test_a_link_to_nothing_fails_alone(tmp_path: Path, target: str) -> None:
    (tmp_path / "loop.md").symlink_to(target)
    source = FolderSource("hr", write(tmp_path, {"good.md": "fine"}))
    good, bad = source.list()
    assert source.read(good) == b"fine"
    with pytest.raises(SourceError, match="cannot be read") as wrong:
        source.read(bad)
    assert wrong.value.hint


def test_a_pipe_is_refused_instead_of_waited_on(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    source = FolderSource("hr", tmp_path)
    with pytest.raises(SourceError, match="not a regular file"):
        source.read(only(source))


def test_a_file_that_vanished_since_it_was_listed_fails_alone(tmp_path: Path) -> None:
    source = FolderSource("hr", write(tmp_path, {"a.md": "x"}))
    ref = only(source)
    (tmp_path / "a.md").unlink()
    with pytest.raises(SourceError, match="No such file"):
        source.read(ref)


def test_a_name_that_is_not_utf8_becomes_a_uri_of_text(tmp_path: Path) -> None:
    for name in (b"caf\xe9.md", b"caf\xe8.md"):
        (tmp_path / os.fsdecode(name)).write_text("menu " + ascii(name))
    source = FolderSource("hr", tmp_path)
    read = {ref.uri: source.read(ref) for ref in source.list()}
    assert read == {
        r"hr/caf\xe9.md": rb"menu b'caf\xe9.md'",
        r"hr/caf\xe8.md": rb"menu b'caf\xe8.md'",
    }


def test_a_missing_folder_is_an_error_not_an_empty_list(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist") as wrong:
        FolderSource("hr", tmp_path / "gone").list()
    assert wrong.value.hint


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "x"})
    with pytest.raises(SourceError):
        FolderSource("hr", tmp_path / "a.md").list()


@pytest.mark.parametrize(
    ("include", "exclude", "listed"),
    [
        (["**/*"], [], ["a.md", "archive/b.md", "archive/old/c.pdf", "gb/d.md"]),
        (["**/*"], ["archive/**"], ["a.md", "gb/d.md"]),
        (["*.md"], [], ["a.md", "archive/b.md", "gb/d.md"]),
        (["gb/**", "*.pdf"], [], ["archive/old/c.pdf", "gb/d.md"]),
        (["**/*.{md,pdf}"], ["**/old/**", "gb/*"], ["a.md", "archive/b.md"]),
        (["nothing/**"], [], []),
    ],
)
def test_include_and_exclude(
    tmp_path: Path, include: list[str], exclude: list[str], listed: list[str]
) -> None:
    write(tmp_path, dict.fromkeys(["a.md", "archive/b.md", "archive/old/c.pdf", "gb/d.md"], "x"))
    source = FolderSource("hr", tmp_path, include=include, exclude=exclude)
    assert sorted(uri.removeprefix("hr/") for uri in uris(source)) == listed


# Precedence: nearest glob > its defaults > a sidecar further up > patterns > facts. Front matter,
# stronger than all of them, is laid over by ingest (tests/ingest/test_changes.py).

NEAR_GLOB = {"gb/ombud.yaml": "defaults: {country: DE}\nfiles:\n  'a.md': {country: FR}\n"}
NEAR_DEFAULTS = {"gb/ombud.yaml": "defaults: {country: DE}\nfiles:\n  'b.md': {country: FR}\n"}
FAR_GLOB = {"ombud.yaml": "defaults: {country: IT}\nfiles:\n  'gb/*': {country: ES}\n"}
FAR_DEFAULTS = {"ombud.yaml": "defaults: {country: IT}\nfiles:\n  'us/*': {country: ES}\n"}
PATTERN = {"gb/**": {"country": "US"}}
FACTS = {"country": "GB"}


@pytest.mark.parametrize(
    ("sidecars", "patterns", "facts", "countries"),
    [
        ({}, {}, {}, None),
        ({}, {}, FACTS, ("GB",)),
        ({}, PATTERN, FACTS, ("US",)),
        ({}, {"us/**": {"country": "US"}}, FACTS, ("GB",)),
        ({}, {"gb/**": {"country": "US"}, "*.md": {"country": "CA"}}, FACTS, ("CA",)),
        (FAR_DEFAULTS, PATTERN, FACTS, ("IT",)),
        (FAR_GLOB, PATTERN, FACTS, ("ES",)),
        (FAR_GLOB | NEAR_DEFAULTS, PATTERN, FACTS, ("DE",)),
        (FAR_GLOB | NEAR_GLOB, PATTERN, FACTS, ("FR",)),
        ({"gb/ombud.yaml": "defaults: {country: []}"}, PATTERN, FACTS, ()),
        ({"gb/ombud.yaml": "defaults: {title: T}"}, PATTERN, FACTS, ("US",)),
        ({"gb/ombud.yaml": "defaults: {country: null}"}, {}, FACTS, ("GB",)),
        (
            {"gb/ombud.yaml": "files: {'*.md': {country: CA}, 'a.md': {country: FR}}"},
            {},
            {},
            ("FR",),
        ),
        ({"us/ombud.yaml": "defaults: {country: US}"}, {}, {}, None),
    ],
)
def test_precedence(
    tmp_path: Path,
    sidecars: dict[str, str],
    patterns: dict[str, Any],
    facts: dict[str, Any],
    countries: tuple[str, ...] | None,
) -> None:
    write(tmp_path, {"gb/a.md": "x"} | sidecars)
    assert (
        only(FolderSource("hr", tmp_path, facts=facts, patterns=patterns)).facts.get("countries")
        == countries
    )


def test_keys_of_all_layers_come_together(tmp_path: Path) -> None:
    above = "defaults: {owner: HR, topic: leave, title: Far}"
    near = "defaults: {title: Near}\nfiles:\n  '**/*.md': {audience: {roles: [manager]}}"
    write(tmp_path, {"ombud.yaml": above, "x/ombud.yaml": near, "x/y/z/a.md": "x"})
    assert only(FolderSource("hr", tmp_path, facts={"country": "GB"})).facts == {
        "countries": ("GB",),
        "owner": "HR",
        "topic": "leave",
        "title": "Near",
        "audience": {"roles": ("manager",)},
    }


def test_a_file_whose_name_looks_like_a_pattern_can_be_named(tmp_path: Path) -> None:
    write(tmp_path, {"ombud.yaml": "files: {'a[1].md': {title: One}}", "a[1].md": "x"})
    assert only(FolderSource("hr", tmp_path)).facts == {"title": "One"}


@pytest.mark.parametrize(
    ("sidecar", "words"),
    [
        ("defaults: {titel: x}", "`titel`"),
        ("files: {'*.md': {contry: GB}}", "`contry`"),
        ("default: {title: x}", "more than `defaults` and `files`"),
        ("- a\n- b", "more than `defaults` and `files`"),
        ("defaults: [title]", "expected a map, found list"),
        ("files: {'*.md': GB}", "expected a map, found str"),
        ("defaults: {country: NO}", "country = False"),
        ("defaults: {audience: everyone}", "audience is not a map"),
        ("a: &a [1]\ndefaults: *a", "aliases"),
        ("defaults: {title: x", "not valid YAML"),
        ("files: {'" + "{a,b}" * 11 + "': {title: x}}", "too many"),
    ],
)
def test_a_wrong_sidecar_stops_the_listing_and_is_named(
    tmp_path: Path, sidecar: str, words: str
) -> None:
    write(tmp_path, {"gb/ombud.yaml": sidecar, "gb/a.md": "x"})
    with pytest.raises(SourceError) as wrong:
        FolderSource("hr", tmp_path).list()
    assert words in str(wrong.value)


def test_a_misspelt_sidecar_key_names_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, {"ombud.yaml": "defaults: {contry: GB}", "a.md": "x"})
    with pytest.raises(SourceError) as wrong:
        FolderSource("hr", tmp_path).list()
    assert wrong.value.hint == "Did you mean `country`?"


@pytest.mark.parametrize("content", [b"", b"# nothing yet\n", b"defaults:\nfiles:\n"])
def test_an_empty_sidecar_says_nothing(tmp_path: Path, content: bytes) -> None:
    write(tmp_path, {"a.md": "x"})
    (tmp_path / "ombud.yaml").write_bytes(content)
    assert only(FolderSource("hr", tmp_path)).facts == {}


def test_a_sidecar_that_cannot_be_read_does_not_count_as_absent(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "x"})
    (tmp_path / "ombud.yaml").write_bytes(b"defaults: {title: caf\xe9}")
    with pytest.raises(SourceError, match="cannot be read") as wrong:
        FolderSource("hr", tmp_path).list()
    assert "ombud.yaml" in str(wrong.value)
    assert "UTF-8" in wrong.value.hint


@pytest.mark.parametrize(
    "options",
    [
        {"facts": {"country": "GBR"}},
        {"patterns": {"a/**": {"titel": "x"}}},
        {"facts": {"audience": "all"}},
    ],
)
def test_wrong_settings_of_a_source_name_the_source(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    with pytest.raises(SourceError, match="source `hr`"):
        FolderSource("hr", tmp_path, **options)


def test_links_that_are_not_followed_are_named(tmp_path: Path) -> None:
    write(tmp_path, {"secret/salaries.md": "x", "docs/a.md": "x"})
    docs = tmp_path / "docs"
    (docs / "file.md").symlink_to(tmp_path / "secret" / "salaries.md")
    (docs / "folder").symlink_to(tmp_path / "secret")
    (docs / "inside.md").symlink_to("a.md")
    source = FolderSource("hr", docs)
    assert uris(source) == ["hr/a.md"]
    assert {left.uri: left.why for left in source.left_out} == {
        "hr/file.md": "it is a link out of the folder",
        "hr/folder": "links to folders are not followed",
        "hr/inside.md": "it is a link to hr/a.md",
    }
    (docs / "folder").unlink()
    source.list()
    assert {left.uri for left in source.left_out} == {"hr/file.md", "hr/inside.md"}
