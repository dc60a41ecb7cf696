import subprocess
import sys

from ombud import lab


def test_every_public_name_is_there() -> None:
    assert len(set(lab.__all__)) == len(lab.__all__)
    assert all(getattr(lab, name) is not None for name in lab.__all__)


def test_the_door_does_not_import_numpy() -> None:
    seen = [sys.executable, "-c", "import ombud.lab, sys; print('numpy' in sys.modules)"]
    assert (
        subprocess.run(seen, capture_output=True, text=True, check=True).stdout.strip() == "False"
    )
