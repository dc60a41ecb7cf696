"""How large and how plain the code is, and the ceilings that it must stay under.

Run: python tests/house_measures.py            print every measure beside its ceiling
     python tests/house_measures.py --lower    write today's figures where they are below a ceiling

`house_ceilings.toml` holds the ceilings. They only fall: nobody raises one to make a test pass.
"""

import argparse
import ast
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1] / "src" / "ombud"
CEILINGS = Path(__file__).with_name("house_ceilings.toml")
VAGUE = set(
    "said told heard asked found shown held kept given known meant spoken unheard unsaid leaning".split()  # noqa: SIM905
)
STANDARD = {"found_by", "held_out", "well_known"}
FRAGMENT = re.compile(r"The same|(Of|What|Who|Whom|Whether|Which|How|One|Those|That|As|Where) ")
MATCHERS = set(
    "compile match fullmatch search sub subn split findall finditer".split()  # noqa: SIM905
)
LARGEST_TABLE = 300_000
"""Bytes of a .txt or .toml file beyond which it is a corpus of words and not a table."""
SMALLEST_WEIGHTS = 50_000
"""Bytes of a .json file from which it holds weights."""
RATIOS = {"functions_per_1000_lines", "dialect_per_1000_lines"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Excess(NamedTuple):
    """A measure that is above its ceiling, or one whose ceiling is out of date."""

    measure: str
    ceiling: float
    today: float

    def __str__(self) -> str:
        return f"{self.measure}: the ceiling is {self.ceiling:g}, today's value is {self.today:g}"


def measure_package(root: Path = PACKAGE) -> dict[str, float]:
    """Count everything that has a ceiling in the files of a package."""
    counts: Counter[str] = Counter()
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = text.count("\n")
        counts["lines"] += lines
        if path.name == "__init__.py":
            counts["init_lines"] += lines
        tree = _parse(path)
        _count_module_level(tree, counts)
        for node in ast.walk(tree):
            _count_node(node, counts)
    thousands = max(counts["lines"], 1) / 1000
    return {
        "lines": counts["lines"],
        "functions_per_1000_lines": round(counts["functions"] / thousands, 1),
        "regexes": counts["regexes"],
        "constants": counts["constants"],
        "word_sets": counts["word_sets"],
        "table_rows": _count_table_rows(root),
        "weights_mb": round(_weigh_learned_files(root) / 1e6, 1),
        "dialect_per_1000_lines": round(counts["dialect"] / thousands, 1),
        "fragments": counts["fragments"],
        "init_lines": counts["init_lines"],
    }


@cache
def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _count_module_level(tree: ast.Module, counts: Counter[str]) -> None:
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            counts["word_sets"] += ast.unparse(statement.value).startswith("frozenset")
            counts["constants"] += _count_numbers(statement.value)


def _count_node(node: ast.AST, counts: Counter[str]) -> None:
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        counts["fragments"] += FRAGMENT.match(ast.get_docstring(node) or "") is not None
        counts["functions"] += not isinstance(node, ast.ClassDef)
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            if isinstance(part, ast.Assign | ast.AnnAssign):
                counts["constants"] += _count_numbers(part.value)
    elif isinstance(node, ast.arguments):
        counts["constants"] += sum(_count_numbers(d) for d in [*node.defaults, *node.kw_defaults])
    elif isinstance(node, ast.Call):
        counts["regexes"] += _is_regex(node)
    name = _defined_name(node)
    if name:
        counts["dialect"] += _is_vague(name)


def _defined_name(node: ast.AST) -> str:
    """Return the identifier that a node introduces; empty for nodes that introduce none."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return node.name
    return ""


def _is_vague(name: str) -> bool:
    words = name.strip("_").lower().split("_")
    return name not in STANDARD and not VAGUE.isdisjoint(words)


def _is_regex(call: ast.Call) -> bool:
    """Tell whether a call gives a pattern, written where it stands, to `re` or `regex`."""
    function = call.func
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return False
    if function.value.id not in {"re", "regex"} or function.attr not in MATCHERS:
        return False
    return bool(call.args) and isinstance(call.args[0], ast.Constant | ast.JoinedStr | ast.BinOp)


def _count_numbers(value: ast.expr | None) -> int:
    """Count the numbers of a literal, of its elements or values; 0 and 1 tune nothing."""
    try:
        literal = None if value is None else ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError):
        return 0
    if isinstance(literal, dict):
        parts = list(literal.values())
    elif isinstance(literal, tuple | list):
        parts = list(literal)
    else:
        parts = [literal]
    numbers = [part for part in parts if isinstance(part, int | float)]
    return sum(not isinstance(number, bool) and number not in (0, 1) for number in numbers)


def _count_table_rows(root: Path) -> int:
    rows = 0
    for path in root.rglob("*"):
        is_table = path.suffix in {".toml", ".txt"} and "prompts" not in path.parts
        if is_table and path.stat().st_size < LARGEST_TABLE:
            rows += path.read_text(encoding="utf-8").count("\n")
    return rows


def _weigh_learned_files(root: Path) -> int:
    """Add up the bytes of vectors, weights and training data."""
    weight = 0
    for path in root.rglob("*"):
        size = path.stat().st_size
        is_large_json = path.suffix in {".json", ".jsonl"} and size > SMALLEST_WEIGHTS
        if path.suffix in {".npz", ".npy"} or is_large_json:
            weight += size
    return weight


# Imports ------------------------------------------------------------------------------------------


class ImportGraph:
    """The imports between a package's own modules, those inside functions included and those for
    type checkers left out."""

    def __init__(self, root: Path = PACKAGE) -> None:
        self.doors: set[str] = set()
        files: dict[str, Path] = {}
        for path in sorted(root.rglob("*.py")):
            name = ".".join([root.name, *path.relative_to(root).with_suffix("").parts])
            if path.name == "__init__.py":
                name = name.removesuffix(".__init__")
                self.doors.add(name)
            files[name] = path
        self.imports = {name: self._imports_of(path, files) for name, path in files.items()}
        for name, imported in self.imports.items():
            imported.discard(name)

    def _imports_of(self, path: Path, files: Mapping[str, Path]) -> set[str]:
        imported: set[str] = set()
        for node in _run_imports(_parse(path)):
            if isinstance(node, ast.Import):
                imported.update(alias.name for alias in node.names)
                continue
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                imported.add(submodule if submodule in files else node.module or "")
        return imported & files.keys()

    def mutual_folders(self) -> set[str]:
        """Find pairs of folders of one room whose modules import each other; what a folder's
        `__init__` imports does not count."""
        directed: set[tuple[str, str]] = set()
        for module, imported in self.imports.items():
            if module in self.doors:
                continue
            directed.update((self._folder(module), self._folder(other)) for other in imported)
        pairs: set[str] = set()
        for first, second in directed:
            in_one_room = first.split(".")[1:2] == second.split(".")[1:2] != []
            if first < second and in_one_room and (second, first) in directed:
                pairs.add(f"{_as_path(first)} {_as_path(second)}")
        return pairs

    def _folder(self, module: str) -> str:
        return module if module in self.doors else module.rpartition(".")[0]

    def cycles(self) -> set[str]:
        """Find groups of modules that reach each other. Python runs such a cycle only because one of
        its imports stands in a function."""
        groups: set[str] = set()
        for module in self.imports:
            reached = self._reached_from(module)
            if module in reached:
                group = [other for other in reached if module in self._reached_from(other)]
                groups.add(" ".join(sorted(map(_as_path, group))))
        return groups

    def _reached_from(self, module: str) -> set[str]:
        reached: set[str] = set()
        waiting = list(self.imports[module])
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += self.imports[name]
        return reached


def _run_imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for alternative in child.orelse:
                yield from _run_imports(alternative)
        else:
            yield from _run_imports(child)


def _as_path(module: str) -> str:
    return module.partition(".")[2].replace(".", "/")


# Ceilings -----------------------------------------------------------------------------------------


def read_ceilings(file: Path = CEILINGS) -> dict[str, float]:
    """Read the ceiling of each measure."""
    return dict(tomllib.loads(file.read_text(encoding="utf-8"))["ceilings"])


def read_exceptions(name: str, file: Path = CEILINGS) -> set[str]:
    """Read the imports that broke a rule when it was made."""
    return set(tomllib.loads(file.read_text(encoding="utf-8"))["exceptions"][name])


def over_ceiling(measures: Mapping[str, float], ceilings: Mapping[str, float]) -> list[Excess]:
    return [
        Excess(name, ceiling, measures[name])
        for name, ceiling in ceilings.items()
        if measures[name] > ceiling
    ]


def far_below(
    measures: Mapping[str, float], ceilings: Mapping[str, float], share: float
) -> list[Excess]:
    """List the ceilings that lie further above today's value than a share of themselves."""
    return [
        Excess(name, ceiling, measures[name])
        for name, ceiling in ceilings.items()
        if measures[name] < ceiling * (1 - share) - 1
    ]


def lower_ceilings(
    measures: Mapping[str, float], exceptions: Mapping[str, set[str]], file: Path = CEILINGS
) -> None:
    """Write today's values where they are lower, and drop exceptions that no longer occur."""
    text = file.read_text(encoding="utf-8")
    written = [text.partition("[ceilings]")[0] + "[ceilings]"]
    for name, ceiling in read_ceilings(file).items():
        today = math.ceil(measures[name]) if name in RATIOS else measures[name]
        written.append(f"{name} = {min(ceiling, today)}")
    written.append("\n[exceptions]")
    for name, present in exceptions.items():
        written.append(f"{name} = [")
        written += [f'    "{one}",' for one in sorted(read_exceptions(name, file) & present)]
        written.append("]")
    file.write_text("\n".join(written) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the code beside its ceilings.")
    parser.add_argument("--lower", action="store_true", help="Lower ceilings to today's figures.")
    chosen = parser.parse_args()
    measures = measure_package()
    if chosen.lower:
        graph = ImportGraph()
        present = {"mutual_folders": graph.mutual_folders(), "cycles": graph.cycles()}
        lower_ceilings(measures, present)
    ceilings = read_ceilings()
    print(f"{'measure':<28}{'today':>10}{'ceiling':>10}")
    for name, today in measures.items():
        print(f"{name:<28}{today:>10g}{ceilings[name]:>10g}")


if __name__ == "__main__":
    main()
