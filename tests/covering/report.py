"""What `sitecustomize.py` has noted, as data of coverage.py: `coverage report` tells the rest.

Run: PYTHONPATH=tests .venv/bin/python -m covering.report
"""

import marshal
from collections import defaultdict
from pathlib import Path

from coverage import CoverageData

from covering.sitecustomize import NOTED, ROOT, SOURCES


def run_lines(noted: Path) -> dict[str, set[int]]:
    """Path of a module -> its lines that any process has run."""
    run: dict[str, set[int]] = defaultdict(set)
    for file in noted.iterdir():
        for path, lines in marshal.loads(file.read_bytes()).items():
            run[path].update(line for line, ran in enumerate(lines) if ran)
    return run


def main() -> None:
    run = run_lines(NOTED)
    data = CoverageData(str(ROOT / ".coverage"))
    data.erase()
    data.add_lines(run)
    data.touch_files([str(path) for path in Path(SOURCES).rglob("*.py")])
    data.write()


if __name__ == "__main__":
    main()
