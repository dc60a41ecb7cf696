"""Research: how the shipped weights are trained, and published studies on any corpus. Imports ombud;
nothing in ombud imports this."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Scripts here measure with the same modules as the benchmarks and replay what the tests recorded.
sys.path += [str(ROOT / folder) for folder in ("benchmarks/quality", "benchmarks/speed", "tests")]
