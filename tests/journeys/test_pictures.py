"""The pictures of the documentation can be taken: what they show is there, as the pages are today."""

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from journeys.browsers import CHROMIUM

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "docs/screenshot.py"
NAMES = {"admin", "case", "chat", "desk", "document", "playground", "report"}
WIDTHS = {"desk": 1440}


def width_of(picture: Path) -> int:
    """Of a PNG: the first number behind the name of its first chunk (ISO/IEC 15948, 11.2.2)."""
    (width,) = struct.unpack(">I", picture.read_bytes()[16:20])
    return int(width)


@pytest.mark.slow
def test_every_picture_is_taken(tmp_path: Path) -> None:
    if not CHROMIUM.exists():
        pytest.skip("Chromium is not installed")
    home = tmp_path / "sample"
    not_shown = shutil.ignore_patterns(".ombud", "de", "fr", "us")
    shutil.copytree(ROOT / "sample", home, ignore=not_shown)
    ombud = [sys.executable, "-m", "ombud", "--home", str(home)]
    subprocess.run([*ombud, "sync"], check=True, capture_output=True)
    folder = tmp_path / "pictures"
    folder.mkdir()
    places = ["--home", str(home), "--out", str(folder), "--browser", str(CHROMIUM)]
    subprocess.run(
        [sys.executable, str(SCRIPT), *places, "--sample", "0.25"],
        check=True,
        capture_output=True,
    )
    assert {picture.stem for picture in folder.iterdir()} == NAMES
    for picture in folder.iterdir():
        assert width_of(picture) == WIDTHS.get(picture.stem, 1280)
        shown = (ROOT / "docs" / picture.name).stat().st_size
        # A page that failed to load is a few kilobytes of nothing.
        assert picture.stat().st_size > shown / 2


def test_the_documentation_shows_these() -> None:
    assert {picture.stem for picture in (ROOT / "docs").glob("*.png")} == NAMES
