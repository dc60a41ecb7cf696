"""The house stands: imports go down, doors are doors, rooms stay small, words stay in prompts."""

import ast
from pathlib import Path

import pytest

from ombud import errors

ROOT = Path(__file__).parents[1] / "src" / "ombud"
FLOORS = [
    {"errors", "types"},
    {"settings", "registry", "prompts", "store"},
    {"models", "text", "charts"},
    {"sources", "documents", "index", "graph", "handoff", "lab"},
    {"retrieve", "ingest"},
    {"answer"},
    {"app", "training"},
    {"channels"},
    {"web"},
    {"cli"},
    {"__main__"},
]
FLOOR = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
FILES = sorted(ROOT.rglob("*.py"))
each_file = pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def own_imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name for name in names if name.split(".")[0] == "ombud"}


def test_every_room_of_the_design_is_there() -> None:
    rooms = {room_of(path) for path in FILES} - {"__init__"}
    assert rooms == set(FLOOR)


@each_file
def test_imports_go_down_and_through_the_door(path: Path) -> None:
    here = room_of(path)
    if here == "__init__":
        assert not own_imports(path)
        return
    for name in own_imports(path):
        parts = name.split(".")
        assert len(parts) > 1, f"{path}: nothing imports the top-level package"
        there = parts[1]
        if there == here:
            continue
        down = FLOOR[there] < FLOOR[here]
        assert down, f"{here} (floor {FLOOR[here]}) may not import {there} (floor {FLOOR[there]})"
        assert len(parts) <= 2, f"{name}: come in by the door, `from ombud.{there} import …`"


@each_file
def test_modules_stay_small(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 520


@each_file
def test_functions_fit_a_screen(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 80, f"{node.name} is longer than a screen"


@each_file
def test_no_prompts_in_python(path: Path) -> None:
    tree = ast.parse(path.read_text())
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {
        id(n.body[0].value)  # type: ignore[attr-defined]
        for n in ast.walk(tree)
        if isinstance(n, documented) and ast.get_docstring(n)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            assert node.value.count("\n") < 4, (
                f"line {node.lineno}: long words belong in prompts/ or a template"
            )


@each_file
def test_no_room_is_called_by_a_name_that_says_nothing(path: Path) -> None:
    assert path.stem not in {"utils", "base", "common", "manager", "helpers", "misc"}


def test_inheritance_is_shallow() -> None:
    for cls in vars(errors).values():
        if isinstance(cls, type) and issubclass(cls, errors.OmbudError):
            ours = [c for c in cls.__mro__ if c.__module__.startswith("ombud")]
            assert len(ours) <= 3, cls


def test_every_error_is_in_the_map() -> None:
    for name, cls in vars(errors).items():
        if isinstance(cls, type) and issubclass(cls, errors.OmbudError):
            assert name in (errors.__doc__ or "")
