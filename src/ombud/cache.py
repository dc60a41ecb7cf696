"""Where what was made once lies for all processes of a user."""

import os
from pathlib import Path


def user_cache() -> Path:
    """Return a folder, which may not exist yet, for what can be made again; raises OSError if a
    user has none."""
    named = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(named or Path.home() / ".cache") / "ombud"
    except RuntimeError as homeless:
        raise OSError("There is no home folder.") from homeless
