"""Names find their classes, also those of installed plugins."""

import sys
from pathlib import Path

import pytest

from ombud.errors import MissingExtra, SetupError, UnknownName
from ombud.registry import find, names, open_part

BUILT_IN = {
    "ordered": "collections:OrderedDict",
    "gone": "no_such_package.inner:Thing",
    "own": "ombud.nowhere:Thing",
}


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, lines: str) -> None:
    """A distribution as pip leaves it: a .dist-info with entry points."""
    info = folder / "plugin_for_tests-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin-for-tests\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(lines)
    monkeypatch.syspath_prepend(str(folder))


def test_a_name_finds_what_it_stands_for() -> None:
    from collections import OrderedDict

    assert find("thing", "ordered", BUILT_IN) is OrderedDict


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(UnknownName, match="No thing is called `orderd`") as wrong:
        find("thing", "orderd", BUILT_IN)
    assert wrong.value.hint == "Did you mean `ordered`? Known: gone, ordered, own."
    with pytest.raises(UnknownName) as wrong:
        find("thing", "zzz", BUILT_IN)
    assert wrong.value.hint == "Known: gone, ordered, own."


def test_a_missing_package_says_the_pip_command() -> None:
    with pytest.raises(MissingExtra, match="needs the package `no_such_package`") as wrong:
        find("thing", "gone", BUILT_IN)
    assert wrong.value.hint == "pip install 'ombud[gone]'"


def test_a_missing_module_of_our_own_is_a_fault_and_said_as_one() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"ombud\.nowhere"):
        find("thing", "own", BUILT_IN)


def test_a_plugin_registers_under_the_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plugin_for_tests.py").write_text("class Engine:\n    pass\n")
    install(tmp_path, monkeypatch, "[ombud.part]\nmine = plugin_for_tests:Engine\n")
    assert find("part", "mine", {}).__module__ == "plugin_for_tests"
    with pytest.raises(UnknownName) as wrong:
        find("part", "other", {"lance": "x:y"})
    assert wrong.value.hint == "Known: lance, mine."
    with pytest.raises(UnknownName):
        find("chunker", "mine", {})
    assert names("part", {"lance": "x:y"}) == ("lance", "mine")
    sys.modules.pop("plugin_for_tests")


def test_a_plugin_that_is_gone_is_missing_even_when_its_name_begins_like_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "[ombud.engine]\nmine = ombud_plugin_gone:Engine\n")
    with pytest.raises(MissingExtra, match="`ombud_plugin_gone`") as wrong:
        find("engine", "mine", {})
    assert wrong.value.hint == "pip install --force-reinstall 'plugin-for-tests'"


@pytest.mark.parametrize(
    ("code", "attribute", "why"),
    [
        ("1 / 0\n", "Engine", "ZeroDivisionError: division by zero"),
        ("class Engine(\n", "Engine", "SyntaxError: "),
        ("class Engine: ...\n", "Motor", "AttributeError: .*Motor"),
    ],
)
def test_a_plugin_that_does_not_load_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, attribute: str, why: str
) -> None:
    (tmp_path / "broken_plugin_for_tests.py").write_text(code)
    install(tmp_path, monkeypatch, f"[ombud.engine]\nmine = broken_plugin_for_tests:{attribute}\n")
    said = f"The engine `mine` of the package `plugin-for-tests` does not load: {why}"
    with pytest.raises(SetupError, match=said) as wrong:
        find("engine", "mine", {})
    assert "pip uninstall 'plugin-for-tests'" in wrong.value.hint
    sys.modules.pop("broken_plugin_for_tests", None)


def install_another(folder: Path, name: str, lines: str) -> None:
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(lines)


def test_two_plugins_of_one_name_are_both_named_and_neither_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_another(tmp_path, "other-plugin", "[ombud.engine]\nmine = collections:Counter\n")
    install(tmp_path, monkeypatch, "[ombud.engine]\nmine = collections:OrderedDict\n")
    said = "The engine `mine` is in several packages: `other-plugin` and `plugin-for-tests`"
    with pytest.raises(SetupError, match=said) as wrong:
        find("engine", "mine", {})
    assert "pip uninstall 'other-plugin'" in wrong.value.hint


@pytest.mark.parametrize("code", ["raise SystemExit(4)\n", "raise RuntimeError('two\\nlines')\n"])
def test_a_plugin_that_ends_the_process_or_says_much_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    (tmp_path / "ending_plugin_for_tests.py").write_text(code)
    install(tmp_path, monkeypatch, "[ombud.engine]\nmine = ending_plugin_for_tests:Engine\n")
    with pytest.raises(SetupError, match=r"load: (SystemExit: 4|RuntimeError: two lines)$"):
        find("engine", "mine", {})


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("builtins:len", "The engine `mine` of the package `plugin-for-tests` failed: TypeError: "),
        ("builtins:str", "the engine `mine` of the package `plugin-for-tests` opens has no `open`"),
    ],
)
def test_a_plugin_that_opens_the_wrong_thing_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, said: str
) -> None:
    install(tmp_path, monkeypatch, f"[ombud.engine]\nmine = {value}\n")
    with pytest.raises(SetupError, match=said):
        open_part("engine", "mine", {}, 7, needs=("open",))


def test_what_a_part_of_ours_raises_is_left_as_it_is() -> None:
    with pytest.raises(TypeError):
        open_part("engine", "ours", {"ours": "builtins:len"}, 7, needs=("open",))
