"""The house stands: imports go down, doors are doors, rooms stay small, words stay in prompts.

Each check looks at every module and names all places that break it, as `file:line: why`. A file is parsed once.
"""

import ast
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pytest

from house_measures import (
    ImportGraph,
    far_below,
    lower_ceilings,
    measure_package,
    over_ceiling,
    read_ceilings,
    read_exceptions,
)
from ombud import errors

ROOT = Path(__file__).parents[1] / "src" / "ombud"
FLOORS = [
    {"errors", "types"},
    {"settings", "prompts", "store"},
    {"models", "text"},
    {"sources", "documents", "index", "graph", "handoff", "lab"},
    {"retrieve", "ingest"},
    {"answer"},
    {"app"},
    {"channels"},
    {"web"},
    {"cli"},
    {"__main__"},
]
FLOOR: dict[str, float] = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
FLOOR["masking"] = -0.5
"""Below floor 0: no error repeats a password."""
FLOOR["messages"] = -0.5
"""It knows nothing but its catalogues."""
FLOOR["cache"] = -0.5
"""It knows nothing but the user's folders."""
FLOOR["private_files"] = -0.5
"""It knows nothing but permissions."""
FLOOR["cpu_time"] = -0.25
"""It knows only threads: models, the ask flow and channels count with it."""
FLOOR["deadlines"] = -0.25
"""It knows only the clock: models, search, the ask flow and the services wait by it."""
FLOOR["proxies"] = -0.25
"""It knows only masking: settings, models and sources ask it where requests go."""
FLOOR["registry"] = 0.5
"""Stairs between floors 0 and 1: it knows errors, and settings ask it which plugins there are."""
LINES = 500
"""Most lines of a module."""
SCREEN = 80
"""Most lines of a function."""
TOO_FAR = 0.1
"""Share of a ceiling by which a measure may lie below it before the ceiling has to follow."""
LOWER = "run `python tests/house_measures.py --lower` and commit tests/house_ceilings.toml"
PROMPT_LINES = 4
"""A string with so many line breaks is a prompt or a template."""
EMPTY_NAMES = {"utils", "base", "common", "manager", "helpers", "misc"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Module:
    """A file of the package, read and parsed once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path.relative_to(ROOT))
        self.room = path.relative_to(ROOT).with_suffix("").parts[0]

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(ast.parse(self.text, self.name)))

    def at(self, node: ast.stmt | ast.expr, why: str) -> str:
        return f"{self.name}:{node.lineno}: {why}"

    def own_imports(self) -> Iterator[tuple[ast.stmt, str]]:
        """Each import of this package with its full name."""
        for node in self.nodes:
            names = []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                if isinstance(node, ast.stmt) and name.split(".")[0] == "ombud":
                    yield node, name


MODULES = [Module(path) for path in sorted(ROOT.rglob("*.py"))]


def tell(faults: list[str]) -> None:
    """Fails with one line for each."""
    if faults:
        pytest.fail("\n".join(faults), pytrace=False)


def why_not(module: Module, name: str) -> str:
    """Empty where `module` may import `name`."""
    if module.room == "__init__":
        return "the top-level package imports nothing of itself"
    parts = name.split(".")
    if len(parts) == 1:
        return "nothing imports the top-level package"
    there, here = parts[1], module.room
    if there == here:
        return ""
    if FLOOR[there] >= FLOOR[here]:
        return f"{here} (floor {FLOOR[here]}) may not import {there} (floor {FLOOR[there]})"
    if len(parts) > 2:
        return f"{name}: come in by the door, `from ombud.{there} import …`"
    return ""


def test_every_room_of_the_design_is_there() -> None:
    rooms = {module.room for module in MODULES} - {"__init__"}
    assert rooms == set(FLOOR)


def test_imports_are_absolute() -> None:
    relative = [
        (module, node)
        for module in MODULES
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    tell([module.at(node, "relative import") for module, node in relative])


def test_imports_go_down_and_through_the_door() -> None:
    faults = []
    for module in MODULES:
        for node, name in module.own_imports():
            if why := why_not(module, name):
                faults.append(module.at(node, why))
    tell(faults)


def test_nothing_in_the_package_imports_research() -> None:
    """Training and studies stand beside `src/`, and no installation has them."""
    faults = []
    for module in MODULES:
        for node in module.nodes:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            if isinstance(node, ast.stmt) and "research" in {name.split(".")[0] for name in names}:
                faults.append(module.at(node, "ombud may not import research"))
    tell(faults)


def test_the_package_has_no_training_data() -> None:
    tell([f"{path}:1: belongs in research/" for path in sorted(ROOT.rglob("*.jsonl"))])


def test_modules_stay_small() -> None:
    lines = {module.name: len(module.text.splitlines()) for module in MODULES}
    tell(
        [
            f"{name}:{count}: {count} lines; the limit is {LINES}"
            for name, count in lines.items()
            if count > LINES
        ]
    )


def test_functions_fit_a_screen() -> None:
    faults = []
    for module in MODULES:
        for node in module.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                if length > SCREEN:
                    faults.append(
                        module.at(node, f"{node.name} has {length} lines; the limit is {SCREEN}")
                    )
    tell(faults)


def test_measures_stay_under_their_ceilings() -> None:
    """Ceilings only fall. Where a change is above one, simplify until it is not."""
    measures, ceilings = measure_package(), read_ceilings()
    assert measures.keys() == ceilings.keys()
    tell([str(excess) for excess in over_ceiling(measures, ceilings)])
    tell([f"{excess}: {LOWER}" for excess in far_below(measures, ceilings, TOO_FAR)])


def test_no_new_folders_of_a_room_import_each_other(graph: ImportGraph) -> None:
    check_exceptions("mutual_folders", graph.mutual_folders(), "import each other")


def test_no_import_in_a_function_hides_a_cycle(graph: ImportGraph) -> None:
    check_exceptions("cycles", graph.cycles(), "import each other, inside functions too")


@pytest.fixture(scope="module")
def graph() -> ImportGraph:
    return ImportGraph()


def check_exceptions(name: str, present: set[str], why: str) -> None:
    """Fail for every violation that is not listed and for every listed one that is gone."""
    listed = read_exceptions(name)
    tell([f"{violation}: {why}" for violation in sorted(present - listed)])
    tell([f"{gone}: no longer occurs; {LOWER}" for gone in sorted(listed - present)])


def test_no_prompts_in_python() -> None:
    faults = []
    for module in MODULES:
        documented = [
            node
            for node in module.nodes
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node)
        ]
        docstrings = {
            id(node.body[0].value) for node in documented if isinstance(node.body[0], ast.Expr)
        }
        for node in module.nodes:
            if not isinstance(node, ast.Constant) or id(node) in docstrings:
                continue
            if isinstance(node.value, str) and node.value.count("\n") >= PROMPT_LINES:
                faults.append(module.at(node, "long words belong in prompts/ or a template"))
    tell(faults)


def test_no_room_is_called_by_a_name_that_says_nothing() -> None:
    named = [module.name for module in MODULES if module.path.stem in EMPTY_NAMES]
    tell([f"{name}:1: a name that says nothing" for name in named])


def test_inheritance_is_shallow() -> None:
    for cls in vars(errors).values():
        if isinstance(cls, type) and issubclass(cls, errors.OmbudError):
            ours = [c for c in cls.__mro__ if c.__module__.startswith("ombud")]
            assert len(ours) <= 3, cls


def test_every_error_is_in_the_map() -> None:
    for name, cls in vars(errors).items():
        if isinstance(cls, type) and issubclass(cls, errors.OmbudError):
            assert name in (errors.__doc__ or "")


# The checks themselves ----------------------------------------------------------------------------


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Module:
    """The only module of a house: one of `models` that breaks every rule."""
    path = tmp_path / "models" / "utils.py"
    path.parent.mkdir()
    body = "    pass\n" * SCREEN
    path.write_text(
        "from . import line\nimport ombud\nfrom ombud.answer import ask\nfrom ombud.store.tables import Row\n"
        "from ombud.settings import Settings\nfrom ombud.models.line import Line\n"
        f'"""Docs\n\n\n\n\n"""\nWORDS = "a\\nb\\nc\\nd\\ne"\n\n\ndef long() -> None:\n{body}'
        + "X = 1\n"
        * LINES
    )
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    broken = Module(path)
    monkeypatch.setitem(globals(), "MODULES", [broken])
    return broken


CHECKS = {
    test_imports_are_absolute: ["models/utils.py:1: relative import"],
    test_imports_go_down_and_through_the_door: [
        "models/utils.py:2: nothing imports the top-level package",
        "models/utils.py:3: models (floor 2) may not import answer (floor 5)",
        "models/utils.py:4: ombud.store.tables: come in by the door, `from ombud.store import …`",
    ],
    test_functions_fit_a_screen: [
        f"models/utils.py:16: long has {SCREEN + 1} lines; the limit is {SCREEN}"
    ],
    test_no_prompts_in_python: [
        "models/utils.py:7: long words belong in prompts/ or a template",
        "models/utils.py:13: long words belong in prompts/ or a template",
    ],
    test_no_room_is_called_by_a_name_that_says_nothing: [
        "models/utils.py:1: a name that says nothing"
    ],
    test_modules_stay_small: [
        f"models/utils.py:{LINES + SCREEN + 16}: {LINES + SCREEN + 16} lines; the limit is {LINES}"
    ],
}


def test_each_check_names_file_and_line(module: Module) -> None:
    for check, told in CHECKS.items():
        with pytest.raises(pytest.fail.Exception) as wrong:
            check()
        assert str(wrong.value).splitlines() == told


MEASURED = '''import re
LIMITS = (2, 3, 1)
STOPS = frozenset({"a"})
def said(held: int = 5, found_by: int = 1) -> None:
    """Of nothing."""
    text_found = re.sub("a", "b", "c")
class Told:
    """What it is."""
    size: int = 7
'''


def test_measures_count_what_they_name(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(MEASURED)
    (tmp_path / "__init__.py").write_text('"""Door."""\n')
    (tmp_path / "table.toml").write_text("a = 1\nb = 2\n")
    (tmp_path / "vectors.npy").write_bytes(bytes(300_000))
    assert measure_package(tmp_path) == {
        "lines": 10,
        "functions_per_1000_lines": 100,
        "regexes": 1,
        "constants": 4,
        "word_sets": 1,
        "table_rows": 2,
        "weights_mb": 0.3,
        "dialect_per_1000_lines": 400,
        "fragments": 2,
        "init_lines": 1,
    }


def test_ceilings_fall_and_never_rise(tmp_path: Path) -> None:
    file = tmp_path / "ceilings.toml"
    file.write_text('[ceilings]\nlines = 20\nregexes = 5\n[exceptions]\ncycles = ["a b", "c d"]\n')
    ceilings = read_ceilings(file)
    today = {"lines": 10, "regexes": 6}
    assert list(map(str, over_ceiling(today, ceilings))) == [
        "regexes: the ceiling is 5, today's value is 6"
    ]
    assert [excess.measure for excess in far_below(today, ceilings, TOO_FAR)] == ["lines"]
    lower_ceilings(today, {"cycles": {"a b", "e f"}}, file)
    assert read_ceilings(file) == {"lines": 10, "regexes": 5}
    assert read_exceptions("cycles", file) == {"a b"}


def test_mutual_folders_and_cycles_name_what_imports_each_other(tmp_path: Path) -> None:
    root = tmp_path / "house"
    texts = {
        "room/__init__.py": "from house.room.inner.low import low\n",
        "room/high.py": "from house.room.inner import low\n",
        "room/inner/__init__.py": "",
        "room/inner/low.py": "def low():\n    from house.room.high import x\n",
        "room/inner/free.py": "if TYPE_CHECKING:\n    from house.room import high\n",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    graph = ImportGraph(root)
    assert graph.mutual_folders() == {"room room/inner"}
    assert graph.cycles() == {"room/high room/inner/low"}


def test_the_list_of_commands_waits_for_no_other_room() -> None:
    """`ombud --help` and shell completion load neither the index nor the models."""
    listed = (
        "import sys, ombud.cli.verbs; print(*[n for n in sys.modules if n.startswith('ombud.')])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", listed], capture_output=True, text=True, check=True
    ).stdout.split()
    rooms = {name.split(".")[1] for name in loaded}
    assert rooms <= {"cli", "errors", "masking", "messages", "settings", "types", "registry"}, rooms


def test_a_question_waits_for_no_client_of_what_it_does_not_call() -> None:
    """`ombud ask` without a chat model asks nobody over HTTP, and reads no document."""
    asked = "import sys, ombud.app, ombud.index.engines.lance; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    ).stdout.split()
    unneeded = {"httpx", "pandas", "fastapi", "pydantic_ai", "pdfplumber", "ombud.documents"}
    assert unneeded.isdisjoint(loaded), unneeded.intersection(loaded)


def test_the_map_of_the_house_names_what_is_there() -> None:
    """Paths of ARCHITECTURE.md, as far as they begin with a room."""
    words = re.findall(r"`([\w/.-]+/[\w.-]*)`", (ROOT.parents[1] / "ARCHITECTURE.md").read_text())
    paths = [word for word in words if word.split("/")[0] in FLOOR and "NAME" not in word]
    missing = [path for path in paths if not (ROOT / path).exists()]
    assert len(paths) > 50
    assert not missing


def test_the_glossary_names_what_the_code_calls_so() -> None:
    text = (ROOT.parents[1] / "docs" / "glossary.md").read_text()
    rows = re.findall(r"\(`([A-Z]\w+)`, (\w+)\)", text)
    assert len(rows) > 40
    for name, room in rows:
        defined = re.compile(rf"^(class {name}\b|{name}\b.* = )", re.MULTILINE)
        found = any(defined.search(module.text) for module in MODULES if module.room == room)
        assert found, f"{room} defines no {name}"


def test_the_code_is_plain() -> None:
    """What `benchmarks/house.py` counts beside its two figures, and lists with --detail."""
    specification = importlib.util.spec_from_file_location(
        "house", ROOT.parents[1] / "benchmarks" / "house.py"
    )
    assert specification is not None
    assert specification.loader is not None
    house = importlib.util.module_from_spec(specification)
    sys.modules["house"] = house  # dataclasses look their module up
    specification.loader.exec_module(house)
    counts = house.count_folder(ROOT)
    tell([f"{kind}: {place}" for kind in house.KINDS for place in counts.places[kind]])
