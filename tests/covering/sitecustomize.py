"""Which lines of src/ombud run, at next to no cost: each statement notes its own line.

Python imports this module first in every process where PYTHONPATH names this folder, as
`make test COVERAGE=yes` has it do: in those of pytest, and in all that tests start. Modules of
ombud are then compiled with `__lines__[…] = 1` before each statement and kept beside Python's own
bytecode; what a process has noted it writes to `.lines/` when it ends. `report.py` counts it.
They have a loader of their own: what Python's loads in a package with a plugin, as ombud is one,
pytest compiles itself.

coverage.py has the interpreter call it for every line and every call, of libraries too, which takes
the fast tests half as long again. Slipcover takes its marks out again, but puts them in anew in
each process: `ombud search` takes 2.9 s of the processor with it, .8 so, .7 without.
"""

import ast
import atexit
import builtins
import marshal
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import FileLoader, SourceLoader
from importlib.machinery import FileFinder
from importlib.util import cache_from_source
from pathlib import Path
from types import CodeType
from typing import NoReturn, TypeVar

ROOT = Path(__file__).resolve().parents[2]
FOLDER = str(ROOT / "src")
SOURCES = f"{ROOT / 'src' / 'ombud'}{os.sep}"
NOTED = ROOT / ".lines"
LINES = "__lines__"
HEADED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
Node = TypeVar("Node", bound=ast.AST)


def compiled(source: bytes, path: str) -> CodeType:
    """Code of a module that notes the lines it runs: 1 at their place in its list `__lines__`."""
    tree = ast.parse(source, path)
    _note_in(tree)
    lines = source.count(b"\n") + 2
    (fetch,) = ast.parse(f"{LINES} = __import__('builtins').lines_of({path!r}, {lines})").body
    tree.body.insert(_headings(tree.body), fetch)
    return compile(tree, path, "exec", dont_inherit=True)


def _note_in(node: ast.AST) -> None:
    """Puts notes into all bodies within."""
    for name, value in ast.iter_fields(node):
        if not isinstance(value, list) or not value:
            continue
        if isinstance(value[0], ast.stmt | ast.ExceptHandler | ast.match_case):
            for part in value:
                _note_in(part)
        if isinstance(value[0], ast.stmt):
            headings = _headings(value) if isinstance(node, HEADED) and name == "body" else 0
            setattr(node, name, list(_noted(value, headings)))
    if isinstance(node, ast.ExceptHandler):
        _note_handler(node)
    elif isinstance(node, ast.Match):
        _note_cases(node)


def _headings(body: Sequence[ast.stmt]) -> int:
    """How many statements must stay first: a docstring, imports of `__future__`."""
    for place, statement in enumerate(body):
        text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (text and place == 0) and not future:
            return place
    return len(body)


def _noted(body: Sequence[ast.stmt], headings: int) -> Iterator[ast.stmt]:
    """Every statement behind its note, headings before theirs."""
    yield from body[:headings]
    for place, statement in enumerate(body):
        for decorator in getattr(statement, "decorator_list", ()):
            yield _note(decorator.lineno, statement)
        yield _note(statement.lineno, statement)
        if place >= headings:
            yield statement


def _note_handler(handler: ast.ExceptHandler) -> None:
    """`except X:` runs where X is asked for, whether or not it takes the error."""
    if handler.type is None:
        handler.body.insert(0, _note(handler.lineno, handler))
        return
    noting = ast.parse(f"{LINES}.__setitem__({handler.lineno}, 1) or X", mode="eval").body
    assert isinstance(noting, ast.BoolOp)
    noting.values[1] = handler.type
    handler.type = _placed(noting, handler.type)


def _note_cases(match: ast.Match) -> None:
    """The case that is taken has run, and those before it."""
    for place, case in enumerate(match.cases):
        seen = match.cases[: place + 1]
        case.body[:0] = [_note(one.pattern.lineno, one.pattern) for one in seen]


def _note(line: int, at: ast.AST) -> ast.stmt:
    target = ast.Subscript(ast.Name(LINES, ast.Load()), ast.Constant(line), ast.Store())
    return _placed(ast.Assign([target], ast.Constant(1)), at)


def _placed(new: Node, at: ast.AST) -> Node:
    """At the place of `at`, which an error within names then as ever."""
    for node in ast.walk(new):
        if not hasattr(node, "lineno"):
            ast.copy_location(node, at)
    return new


# Processes ----------------------------------------------------------------------------------------

_run: dict[str, list[int]] = {}
"""Path of a module -> its `__lines__`."""


def _lines_of(path: str, count: int) -> list[int]:
    return _run.setdefault(path, [0] * count)


class NotingLoader(FileLoader, SourceLoader):  # type: ignore[misc]  # their stubs disagree
    """Loads a module that notes its lines."""

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        file = Path(path).stat()
        kept = Path(cache_from_source(path, optimization="lines"))
        try:
            state, code = marshal.loads(kept.read_bytes())
        except (OSError, ValueError, EOFError, TypeError):
            state = code = None
        if state != (file.st_mtime_ns, file.st_size):
            code = compiled(Path(path).read_bytes(), path)
            kept.parent.mkdir(exist_ok=True)
            own = kept.with_suffix(f".{os.getpid()}")
            own.write_bytes(marshal.dumps(((file.st_mtime_ns, file.st_size), code)))
            own.replace(kept)
        assert isinstance(code, CodeType)
        return code


def _finder(path: str) -> FileFinder:
    """Finds the modules of ombud in a folder. Raises ImportError for any other folder."""
    if path != FOLDER and not path.startswith(SOURCES.rstrip(os.sep)):
        raise ImportError
    return FileFinder(path, (NotingLoader, [".py"]))


def _write() -> None:
    if _run:
        NOTED.mkdir(exist_ok=True)
        noted = {path: bytes(lines) for path, lines in _run.items()}
        (NOTED / f"{os.getpid()}-{os.urandom(4).hex()}").write_bytes(marshal.dumps(noted))


def _end_at_once(code: int) -> NoReturn:
    """In place of `os._exit`, which ends a fork too, and asks nobody else."""
    _write()
    _exit(code)


if __name__ == "sitecustomize":
    _exit = os._exit
    vars(builtins)["lines_of"] = _lines_of
    vars(os)["_exit"] = _end_at_once
    sys.path_hooks.insert(0, _finder)
    sys.path_importer_cache.clear()
    atexit.register(_write)
