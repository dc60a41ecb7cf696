"""How plain is the code? Syntax nodes a line, comprehensions, complexity, names with two meanings.

Run: .venv/bin/python benchmarks/house.py [FOLDER …] [--detail] [--json]

Without folders: `src/ombud`, and beside it the installed starlette and httpx, counted alike. A
folder such as `src/ombud/text` counts that room alone; --detail lists every place that stands out.

* nodes a line: nodes of the syntax tree in the bodies of functions, docstrings left out, over their
  lines that are neither blank nor only a comment
* comprehensions: of every kind, a thousand of the same lines
* complexity: cyclomatic, by radon (https://radon.readthedocs.io), functions and methods
* parameters: those of position; options of a verb of the command line are none, and columns of a
  table are no positionals
"""

import argparse
import ast
import importlib.util
import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from radon.complexity import cc_visit

ROOT = Path(__file__).parents[1]
PEERS = ("starlette", "httpx")
COLUMNS = 100
COMPLEXITY = 12
PARAMETERS = 5
POSITIONALS = 5
OPERANDS = 4
FOLDER_MODULES = 15

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Counts:
    """Of one tree of files. `places`: kind of a thing that stands out -> `file:line what`."""

    lines: int = 0
    body_lines: int = 0
    nodes: int = 0
    comprehensions: int = 0
    function_lengths: list[int] = field(default_factory=list)
    places: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def as_record(self) -> dict[str, float]:
        """The figures of research/results/house.md."""
        body_lines = max(self.body_lines, 1)
        record = {
            "lines": self.lines,
            "median function": statistics.median(self.function_lengths or [0]),
            "nodes a line": round(self.nodes / body_lines, 1),
            "comprehensions a 1,000 lines": round(1000 * self.comprehensions / body_lines, 1),
        }
        for kind in KINDS:
            record[kind] = len(self.places[kind])
        return record


KINDS = (
    f"lines above {COLUMNS} columns",
    f"complexity above {COMPLEXITY}",
    f"more than {PARAMETERS} parameters",
    f"calls with more than {POSITIONALS} positionals",
    "comprehension in a comprehension",
    "chained ternaries",
    f"boolean chains of {OPERANDS}",
    "public class names defined twice",
    "modules named like what they define",
    f"folders above {FOLDER_MODULES} modules",
)


def count_folder(folder: Path) -> Counts:
    counts = Counts()
    classes: dict[str, list[str]] = defaultdict(list)
    modules_of: Counter[Path] = Counter()
    for path in sorted(folder.rglob("*.py")):
        name = str(path.relative_to(folder))
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        _count_lines(text, name, counts)
        _count_bodies(tree, text.splitlines(), counts)
        _count_places(tree, name, counts)
        _count_complexity(text, name, counts)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(name)
            if isinstance(node, FUNCTIONS) and node.name == path.stem:
                counts.places[KINDS[8]].append(name)
        if path.stem != "__init__":
            modules_of[path.parent] += 1
    for class_name, names in sorted(classes.items()):
        if len(names) > 1:
            counts.places[KINDS[7]].append(f"{class_name}: {', '.join(names)}")
    for parent, modules in modules_of.items():
        if modules > FOLDER_MODULES:
            counts.places[KINDS[9]].append(f"{parent.relative_to(folder)}: {modules}")
    return counts


def _count_lines(text: str, name: str, counts: Counts) -> None:
    lines = text.splitlines()
    counts.lines += len(lines)
    for number, line in enumerate(lines, start=1):
        if len(line) > COLUMNS:
            counts.places[KINDS[0]].append(f"{name}:{number}")


def _count_bodies(tree: ast.Module, source: list[str], counts: Counts) -> None:
    for node in ast.walk(tree):
        if isinstance(node, COMPREHENSIONS):
            counts.comprehensions += 1
    for function in _outermost(tree):
        statements = _statements(function)
        numbers: set[int] = set()
        for statement in statements:
            counts.nodes += sum(1 for _ in ast.walk(statement))
            last = statement.end_lineno or statement.lineno
            numbers.update(range(statement.lineno, last + 1))
        written = [n for n in numbers if _is_code(source[n - 1])]
        counts.body_lines += len(written)
        counts.function_lengths.append(len(written))


def _outermost(node: ast.AST) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS):
            yield child
        else:
            yield from _outermost(child)


def _statements(function: Function) -> list[ast.stmt]:
    return function.body[1:] if ast.get_docstring(function) else function.body


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("#")


def _count_places(tree: ast.Module, name: str, counts: Counts) -> None:
    for node in ast.walk(tree):
        kind = _kind_of(node)
        if kind:
            line = getattr(node, "lineno", 0)
            what = getattr(node, "name", "")
            counts.places[kind].append(f"{name}:{line} {what}".strip())


def _kind_of(node: ast.AST) -> str:
    """What stands out about one node of the tree; empty for most."""
    if isinstance(node, FUNCTIONS) and _parameters(node) > PARAMETERS and not _is_verb(node):
        return KINDS[2]
    if isinstance(node, ast.Call) and len(node.args) > POSITIONALS and not _is_list(node):
        return KINDS[3]
    if isinstance(node, COMPREHENSIONS) and _holds(node, COMPREHENSIONS):
        return KINDS[4]
    if isinstance(node, ast.IfExp) and _holds(node, (ast.IfExp,)):
        return KINDS[5]
    if isinstance(node, ast.BoolOp) and len(node.values) >= OPERANDS:
        return KINDS[6]
    return ""


def _is_verb(function: Function) -> bool:
    """A verb of the command line: its parameters are its options, and nobody calls it by hand."""
    return any("typer." in ast.unparse(default) for default in function.args.defaults)


def _is_list(call: ast.Call) -> bool:
    """Columns of a table stand in a row, as the elements of a list do."""
    return ast.unparse(call.func).endswith(("Table", "create_table"))


def _parameters(function: Function) -> int:
    """Those of position: keywords after `*` are named by every caller."""
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    return len([name for name in names if name not in ("self", "cls")])


def _holds(node: ast.AST, kinds: tuple[type[ast.AST], ...]) -> bool:
    return any(isinstance(inner, kinds) for inner in ast.walk(node) if inner is not node)


def _count_complexity(text: str, name: str, counts: Counts) -> None:
    for block in cc_visit(text):
        parts = getattr(block, "methods", None) or [block]
        for part in parts:
            if part.complexity > COMPLEXITY:
                place = f"{name}:{part.lineno} {part.name} {part.complexity}"
                counts.places[KINDS[1]].append(place)


def _peer_folders() -> dict[str, Path]:
    folders = {}
    for peer in PEERS:
        spec = importlib.util.find_spec(peer)
        if spec and spec.origin:
            folders[peer] = Path(spec.origin).parent
    return folders


def main() -> None:
    parser = argparse.ArgumentParser(description="How plain is the code?")
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--detail", action="store_true", help="List every place.")
    parser.add_argument("--json", action="store_true", help="Print one JSON object.")
    chosen = parser.parse_args()
    folders = {str(folder): folder for folder in chosen.folders}
    folders = folders or {"ombud": ROOT / "src" / "ombud", **_peer_folders()}
    counted = {name: count_folder(folder) for name, folder in folders.items()}
    records = {name: counts.as_record() for name, counts in counted.items()}
    if chosen.json:
        print(json.dumps(records, indent=1))
        return
    for figure in next(iter(records.values())):
        cells = "  ".join(f"{record[figure]:>9g}" for record in records.values())
        print(f"{figure:<38} {cells}")
    print(f"{'':<38} {'  '.join(f'{Path(name).name:>9}' for name in records)}")
    for counts in counted.values() if chosen.detail else ():
        for kind in KINDS:
            for place in counts.places[kind]:
                print(f"{kind}: {place}")


if __name__ == "__main__":
    main()
