"""Metadata written into drafts: only its own lines change, or nothing is written."""

from datetime import date

import pytest
import yaml

from ombud.app.publishing.editing import with_front_matter, with_sidecar_entry
from ombud.documents import front_matter
from ombud.errors import BadRequest

CHANGES = {"status": "published", "effective_from": date(2027, 1, 1)}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# A\n", "---\nstatus: published\neffective_from: 2027-01-01\n---\n\n# A\n"),
        (
            "---\ntitle: A # ours\nstatus: draft\n---\n\n# A\n",
            "---\ntitle: A # ours\nstatus: published\neffective_from: 2027-01-01\n---\n\n# A\n",
        ),
        (
            "---\r\nstatus: draft\r\ntitle: A\r\n---\r\n# A\r\n",
            "---\r\ntitle: A\r\nstatus: published\r\neffective_from: 2027-01-01\r\n---\r\n# A\r\n",
        ),
        (
            "---\ndraft: true\n---\nA\n",
            "---\nstatus: published\neffective_from: 2027-01-01\n---\nA\n",
        ),
        (
            "\ufeff---\nstatus: draft\n---\nA\n",
            "\ufeff---\nstatus: published\neffective_from: 2027-01-01\n---\nA\n",
        ),
        (
            "---\n\nA rule that opens no mapping.\n",
            "---\nstatus: published\neffective_from: 2027-01-01\n---\n\n"
            "---\n\nA rule that opens no mapping.\n",
        ),
    ],
)
def test_the_head_of_a_markdown_file(before: str, after: str) -> None:
    assert with_front_matter(before.encode(), "a.md", CHANGES).decode() == after


def test_a_list_below_its_key_goes_with_it() -> None:
    text = "---\ncountry:\n  - GB\n  - FR\ntitle: A\n---\nA\n"
    written = with_front_matter(text.encode(), "a.md", {"country": ["DE"]})
    assert front_matter(written, "a.md") == {"title": "A", "country": ["DE"]}


@pytest.mark.parametrize("word", ["no", "NO", "true", "null", "a: b", "- x", "#1", "2026-01-01"])
def test_words_that_yaml_reads_otherwise_are_quoted(word: str) -> None:
    written = with_front_matter(b"A\n", "a.md", {"owner": word})
    assert front_matter(written, "a.md") == {"owner": word}


@pytest.mark.parametrize(
    "text", ["---\n{status: draft, title: A}\n---\nA\n", "\xff", "+++\nweight = 1\n+++\nA\n"]
)
def test_what_cannot_be_written_safely_is_not(text: str) -> None:
    with pytest.raises(BadRequest):
        with_front_matter(text.encode("latin-1"), "a.md", CHANGES)


@pytest.mark.parametrize(
    "before",
    [
        "",
        "# ours\ndefaults: {owner: people@example.com}\n",
        'files:\n  "gb/**":\n    country: GB  # all of it\n\n# the end\ndefaults:\n  topic: leave\n',
        "files:\n    a.pdf:\n        country: FR\n    b.pdf:\n        topic: pay\n",
    ],
)
def test_an_entry_of_a_sidecar_comes_last_and_leaves_the_rest(before: str) -> None:
    after = with_sidecar_entry(before, "a.pdf", "ombud.yaml", CHANGES)
    old = yaml.safe_load(before) or {}
    new = yaml.safe_load(after)
    own = new["files"].pop("a.pdf")
    kept = old.get("files", {}).pop("a.pdf", {})
    assert own == kept | CHANGES
    assert new["files"] == old.get("files", {})
    assert new.get("defaults") == old.get("defaults")
    assert list(yaml.safe_load(after)["files"])[-1] == "a.pdf"
    for line in before.splitlines():
        if "#" in line:
            assert line in after


def test_a_sidecar_in_one_line_is_left_alone() -> None:
    with pytest.raises(BadRequest, match="without risk"):
        with_sidecar_entry("files: {a.pdf: {country: GB}}\n", "b.pdf", "ombud.yaml", CHANGES)
