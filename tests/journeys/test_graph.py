"""`ombud graph` as people run it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.recorded import said
from journeys.command import ombud, workspace
from models.serving import serving

FILES = {
    "gb/leave.md": "---\ncountry: GB\n---\n# Annual leave\n\nEmployees may carry over up to 5 days of annual leave.\n",
    "pay.md": "---\naudience: {roles: [manager]}\n---\n# Pay\n\nManagers must approve annual leave of deputies.\n",
    "tools.md": "# Tools\n\nAn employer must not use a tool without a bias audit.\n\n"
    "A bias audit must be renewed yearly.\n",
}
READ = [
    ("Employees", "may carry over", "up to 5 days of annual leave"),
    ("Managers", "must approve", "annual leave of deputies"),
    ("An employer", "must not use", "a tool without a bias audit"),
    ("A bias audit", "must be renewed", "yearly"),
]
"""What the model says of every passage; what is not in it is dropped."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with serving() as server:
        server.said = json.dumps(said(READ) | {"groups": []})
        toml = (
            f'[models]\nchat = "openai:extractor"\nbase_url = "{server.url}"\n'
            '[index]\ngraph = "model"\n'
        )
        made = workspace(tmp_path_factory.mktemp("home"), toml, FILES)
        assert ombud("sync", "docs", cwd=made).code == 0
        yield made


def test_a_term_is_shown_with_its_documents(home: Path) -> None:
    shown = ombud("graph", "show", "bias audits", cwd=home)
    assert shown.code == 0
    assert "bias audit\n  must be renewed: yearly\n      docs/tools.md" in shown.out
    far = ombud("graph", "show", "tool", "--depth", "2", cwd=home)
    assert "must not use: tool without a bias audit" in far.out


def test_the_same_as_json(home: Path) -> None:
    found = ombud("graph", "show", "annual leave", "--json", cwd=home).json
    assert found["term"] == "annual leave"
    assert found["left_out"] == 0
    assert {(row["subject"], row["uri"]) for row in found["triplets"]} == {
        ("Employees", "docs/gb/leave.md"),
        ("Managers", "docs/pay.md"),
    }


@pytest.mark.parametrize(
    ("who", "uris"),
    [
        (["--country", "GB"], {"docs/gb/leave.md"}),
        (["--country", "GB", "--role", "manager"], {"docs/gb/leave.md", "docs/pay.md"}),
        (["--role", "manager"], {"docs/pay.md"}),
    ],
)
def test_a_person_sees_what_they_may_read(home: Path, who: list[str], uris: set[str]) -> None:
    found = ombud("graph", "show", "annual leave", "--json", *who, cwd=home).json
    assert {row["uri"] for row in found["triplets"]} == uris


def test_what_is_not_there_is_said_with_what_is_near(home: Path) -> None:
    missing = ombud("graph", "show", "bias adit", cwd=home)
    assert (missing.code, missing.out) == (1, "")
    assert "The graph knows nothing called `bias adit`." in missing.err
    assert "bias audit" in missing.err
    hidden = ombud("graph", "show", "deputies", "--country", "GB", "--json", cwd=home)
    assert hidden.code == 1
    assert hidden.json["error"]["type"] == "NotFound"
    assert "deput" not in hidden.json["error"]["hint"].lower()


def test_a_workspace_without_a_graph_says_how_to_get_one(tmp_path: Path) -> None:
    made = workspace(tmp_path)
    ombud("sync", "docs", cwd=made)
    missing = ombud("graph", "show", "leave", cwd=made)
    assert missing.code == 1
    assert 'index.graph = "model"' in missing.err
    assert ombud("graph", "stats", "--json", cwd=made).json["triplets"] == 0


def test_stats(home: Path) -> None:
    found = ombud("graph", "stats", "--json", cwd=home).json
    assert found == {
        "read_by": "model",
        "documents": 3,
        "incomplete": 0,
        "triplets": 4,
        "entities": 8,
        "merged": 0,
    }
    assert "triplets" in ombud("graph", "stats", cwd=home).out
