"""Where what was made once lies for all processes of a user."""

import os
from pathlib import Path


def user_cache() -> Path:
    """A folder, there or not, for what can be made anew; raises OSError where a user has none."""
    named = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(named or Path.home() / ".cache") / "ombud"
    except RuntimeError as homeless:
        raise OSError("There is no home folder.") from homeless
