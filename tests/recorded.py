"""A workspace as commit 09380920 left it: its database, its settings and its list of commands."""

import gzip
from pathlib import Path

RECORDED = Path(__file__).parent / "data" / "workspace-09380920"
SETTINGS = RECORDED / "ombud.toml"
COMMANDS = (RECORDED / "commands.txt").read_text(encoding="utf-8").splitlines()


def lay_recorded_store(folder: Path) -> None:
    """Put the recorded database into the data folder of a workspace."""
    folder.mkdir(parents=True, exist_ok=True)
    packed = (RECORDED / "store.sqlite.gz").read_bytes()
    (folder / "store.sqlite").write_bytes(gzip.decompress(packed))
