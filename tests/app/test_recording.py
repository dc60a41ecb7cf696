"""Which folders a sync runs: those of ombud.toml and those it was once pointed at."""

from pathlib import Path

import pytest

from app.conftest import Open
from ombud.app import Workspace, configured_sources, record_folder
from ombud.errors import BadRequest, BadSetting
from ombud.messages import message
from ombud.sources import FolderSource, Source
from ombud.store import RecordedSource

TOML = (
    '[[source]]\nname = "hr"\npath = "hr"\ncountry = "GB"\n[[source]]\nname = "law"\npath = "law"\n'
)


def record(workspace: Workspace, path: Path, name: str = "", country: str = "") -> FolderSource:
    source = record_folder(
        workspace.settings,
        workspace.store,
        RecordedSource(name=name, path=str(path), country=country),
        workspace.home,
    )
    assert isinstance(source, FolderSource)
    return source


def configured(workspace: Workspace, *names: str) -> dict[str, Path]:
    found = configured_sources(workspace.settings, workspace.home, workspace.store, names)
    return {s.name: s.path for s in found if isinstance(s, FolderSource)}


def folder(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "page.md").write_text("# Page\n\nText.\n", encoding="utf-8")
    return path


def country_of(source: Source) -> tuple[str, ...]:
    """What a document there is for, when it does not say so itself."""
    (ref,) = source.list()
    found: tuple[str, ...] = ref.facts["countries"]
    return found


def test_a_recorded_folder_runs_again_beside_the_configured_ones(
    open_home: Open, tmp_path: Path
) -> None:
    workspace = open_home(TOML)
    made = record(workspace, folder(tmp_path / "elsewhere" / "notes"))
    assert (made.name, made.path) == ("notes", tmp_path / "elsewhere" / "notes")
    assert configured(workspace) == {
        "hr": tmp_path / "hr",
        "law": tmp_path / "law",
        "notes": made.path,
    }
    assert configured(workspace, "law") == {"law": tmp_path / "law"}
    assert configured(workspace, "notes") == {"notes": made.path}


def test_an_unknown_name_lists_the_known(open_home: Open) -> None:
    with pytest.raises(BadRequest, match="`hrr`") as wrong:
        configured(open_home(TOML), "hrr")
    assert wrong.value.hint == message("admin.error_source_known", names="hr, law")
    with pytest.raises(BadRequest) as wrong:
        configured(open_home(), "x")
    assert wrong.value.hint == message("admin.error_source_known", names="–")


def test_the_name_is_given_or_the_folders_own(
    open_home: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = open_home()
    notes = folder(tmp_path / "notes")
    assert record(workspace, notes, "mine").name == "mine"
    assert record(workspace, tmp_path / "notes" / ".." / "notes").name == "notes"
    monkeypatch.chdir(notes)
    assert record(workspace, Path()).path == notes
    assert configured(workspace) == {"mine": notes, "notes": notes}


def test_the_same_name_for_another_folder_is_an_error_with_a_hint(
    open_home: Open, tmp_path: Path
) -> None:
    workspace = open_home(TOML)
    first = folder(tmp_path / "a" / "notes")
    record(workspace, first)
    assert record(workspace, first).path == first
    for other in (folder(tmp_path / "b" / "notes"), folder(tmp_path / "b" / "hr")):
        with pytest.raises(BadRequest, match=f"`{other.name}`") as wrong:
            record(workspace, other)
        assert "--source" in wrong.value.hint
    assert configured(workspace)["notes"] == first


def test_pointing_at_a_configured_folder_means_that_source(open_home: Open, tmp_path: Path) -> None:
    workspace = open_home(TOML)
    made = record(workspace, folder(tmp_path / "hr"))
    assert (made.name, country_of(made)) == ("hr", ("GB",))
    assert configured(workspace).keys() == {"hr", "law"}


def test_the_country_is_remembered(open_home: Open, tmp_path: Path) -> None:
    workspace = open_home()
    notes = folder(tmp_path / "notes")
    record(workspace, notes, country="FR")
    assert country_of(record(workspace, notes)) == ("FR",)
    assert country_of(record(workspace, notes, country="DE")) == ("DE",)
    (again,) = configured_sources(workspace.settings, workspace.home, workspace.store)
    assert country_of(again) == ("DE",)


def test_only_folders_are_recorded(open_home: Open, tmp_path: Path) -> None:
    workspace = open_home()
    (tmp_path / "a.md").write_text("x")
    with pytest.raises(BadRequest, match="is a file"):
        record(workspace, tmp_path / "a.md")
    with pytest.raises(BadRequest, match="does not exist"):
        record(workspace, tmp_path / "nowhere")
    assert configured(workspace) == {}


@pytest.mark.parametrize(("path", "name"), [(Path("/"), ""), (Path("/tmp"), "a/b")])
def test_a_name_that_cannot_begin_a_uri_is_refused(open_home: Open, path: Path, name: str) -> None:
    with pytest.raises(BadRequest, match="cannot name a source") as wrong:
        record(open_home(), path, name)
    assert "--source" in wrong.value.hint


@pytest.mark.parametrize(
    "toml",
    [
        '[[source]]\nname = "hr"\npath = "hr"\ncountry = "GBR"\n',
        '[[source]]\nname = "hr"\npath = "hr"\npatterns = { "a/**" = { titel = "x" } }\n',
        '[[source]]\nname = "hr"\npath = "hr"\naudience = { role = ["manager"] }\n',
    ],
)
def test_a_wrong_source_is_a_wrong_setting(open_home: Open, toml: str) -> None:
    with pytest.raises(BadSetting, match="source `hr`"):
        configured(open_home(toml))


def test_all_keys_of_a_source_arrive(open_home: Open, tmp_path: Path) -> None:
    toml = (
        '[[source]]\nname = "hr"\npath = "hr"\ncountry = ["GB", "IE"]\naudience = { roles = ["manager"] }\n'
        'include = ["*.md"]\nexclude = ["old/**"]\npatterns = { "us/**" = { country = "US" } }\n'
    )
    workspace = open_home(toml)
    for name in ("a.md", "b.txt", "old/c.md", "us/d.md"):
        (tmp_path / "hr" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "hr" / name).write_text("x")
    (source,) = configured_sources(workspace.settings, workspace.home, workspace.store)
    audience = {"roles": ("manager",)}
    assert {ref.uri: ref.facts for ref in source.list()} == {
        "hr/a.md": {"countries": ("GB", "IE"), "audience": audience},
        "hr/us/d.md": {"countries": ("US",), "audience": audience},
    }
