"""What ran is what coverage.py says ran, in all processes, whichever way they begin and end."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from coverage import Coverage, CoverageData

from covering import sitecustomize
from covering.report import run_lines

STATEMENTS = '''"""A docstring."""
from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import (
    cache,
)


@cache
def doubled(number: int) -> int:
    """Of a number."""
    global calls
    calls = (
        number
        + 1
    )
    if number > 2:
        return 6
    elif number > 1:
        return 4
    else:
        return 2


class Shelf:
    """Of books."""

    books: list[str] = []
    color = "red"

    @property
    @staticmethod
    def size():
        return 3

    class Board:
        pass


def tried(fault):
    try:
        raise fault
    except KeyError:
        return "key"
    except (
        ValueError,
        IndexError,
    ) as error:
        return str(error)
    except TypeError:
        return "type"
    except:
        return "any"
    else:
        return "none"
    finally:
        print(end="")


def chosen(thing):
    match thing:
        case 1:
            return "one"
        case [first, *_] if first:
            return first
        case {"a": other}:
            return other
        case _:
            return None


def loops():
    for n in range(3):
        if n == 1:
            continue
        print(end="")
    else:
        n = 0
    while n < 2:
        n += 1
        break
    with suppress(ValueError), suppress(KeyError):
        raise KeyError
    return [
        one
        for one in range(3)
        if one
    ]


def never():
    """Called."""
    import os
    return lambda: os


async def waiting():
    async with asyncio.Lock():
        await asyncio.sleep(0)
    async for one in many():
        yield one


async def many():
    yield 1


async def gathered():
    return [one async for one in waiting()]


doubled(1); doubled(2)
assert [tried(ValueError("v")), tried(OSError())] == ["v", "any"]
assert [chosen(1), chosen([2])] == ["one", 2]
assert loops() == [1, 2]
assert asyncio.run(gathered()) == [1]
text = f"""{
    doubled(1)
}"""
if __name__ == "nobody":
    print("nobody")
del text
'''


def noted_by(module: Path) -> set[int]:
    """Lines that a run of it notes."""
    source = module.read_bytes()
    lines = [0] * (source.count(b"\n") + 2)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("builtins.lines_of", lambda path, count: lines, raising=False)
        exec(sitecustomize.compiled(source, str(module)), {"__name__": "statements"})
    return {line for line, ran in enumerate(lines) if ran}


def test_the_same_statements_have_run_as_for_coverage(tmp_path: Path) -> None:
    module = tmp_path / "statements.py"
    module.write_text(STATEMENTS)
    traced = Coverage(data_file=None, config_file=False, include=[str(module)])
    with traced.collect():
        runpy.run_path(str(module))
    data = CoverageData(str(tmp_path / "noted"))
    data.add_lines({str(module): noted_by(module)})
    data.write()
    noted = Coverage(data_file=data.data_filename(), config_file=False)
    noted.load()
    assert noted.analysis2(str(module)) == traced.analysis2(str(module))


def test_an_error_names_the_line_that_it_did(tmp_path: Path) -> None:
    module = tmp_path / "wrong.py"
    module.write_text(
        """def halved(number):\n    'A docstring.'\n\n    return number / 0\nhalved(1)\n"""
    )
    with pytest.raises(ZeroDivisionError) as raised:
        noted_by(module)
    assert [entry.lineno + 1 for entry in raised.traceback[-2:]] == [5, 4]


PROCESSES = """
import multiprocessing, os, subprocess, sys, threading
from ombud import work

def begun(kind):
    process = multiprocessing.get_context(kind).Process(target=getattr(work, kind))
    process.start()
    process.join()

if __name__ == "__main__":
    for kind in ("fork", "spawn", "forkserver"):
        begun(kind)
    thread = threading.Thread(target=work.thread)
    thread.start()
    thread.join()
    if not os.fork():
        work.forked()
        os._exit(0)
    os.wait()
    subprocess.run([sys.executable, "-m", "ombud.work"], check=True)
"""
WORK = """
def fork():
    return "fork"

def spawn():
    return "spawn"

def forkserver():
    return "forkserver"

def thread():
    return "thread"

def forked():
    return "forked"

def never():
    return "never"

if __name__ == "__main__":
    print("main")
"""


def test_all_processes_are_heard_whichever_way_they_begin_and_end(tmp_path: Path) -> None:
    hooked = Path(shutil.copytree(Path(__file__).parent, tmp_path / "tests" / "covering"))
    package = tmp_path / "src" / "ombud"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    module = package / "work.py"
    module.write_text(WORK)
    script = tmp_path / "script.py"
    script.write_text(PROCESSES)
    environment = {**os.environ, "PYTHONPATH": f"{hooked}{os.pathsep}{package.parent}"}
    for _ in range(2):  # the second time the code was kept
        shutil.rmtree(tmp_path / ".lines", ignore_errors=True)
        subprocess.run([sys.executable, script], env=environment, check=True, cwd=tmp_path)
        run = run_lines(tmp_path / ".lines")[str(module)]
        unseen = {n for n, line in enumerate(WORK.splitlines(), 1) if line and n not in run}
        assert [WORK.splitlines()[line - 1] for line in sorted(unseen)] == ['    return "never"']
    module.write_text("first = 1\nsecond = 2\n")
    command = [sys.executable, "-c", "import ombud.work"]
    subprocess.run(command, env=environment, check=True, cwd=tmp_path)
    assert run_lines(tmp_path / ".lines")[str(module)] >= {1, 2}
