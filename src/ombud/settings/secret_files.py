"""Secrets that stand in files, as containers mount them: `NAME_FILE` names the file of `NAME`."""

from collections.abc import MutableMapping
from pathlib import Path

from ombud.errors import BadSetting

ENDING = "_FILE"
OWN = "OMBUD_"
SECRETS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
"""How variables of secrets end. Others that end in _FILE, such as SSL_CERT_FILE, mean a file."""
MOST_BYTES = 65_536


def read_secret_files(environment: MutableMapping[str, str]) -> None:
    """Set each variable to what its file holds, without the last line's end; what is set already
    wins. Raises BadSetting where a file cannot be read."""
    for named in sorted(environment):
        name = named.removesuffix(ENDING)
        if name == named or not is_secret(name):
            continue
        path = environment[named]
        if name not in environment:
            environment[name] = read_secret_file(named, path)
        if name.upper().startswith(OWN):
            del environment[named]  # it is no setting itself


def is_secret(name: str) -> bool:
    """Tell whether a variable of this name contains a secret or one of our settings."""
    return name.upper().startswith(OWN) or name.upper().endswith(SECRETS)


def read_secret_file(named: str, path: str) -> str:
    try:
        content = Path(path).read_bytes()
        if len(content) > MOST_BYTES:
            raise BadSetting(f"{named} names a file of more than {MOST_BYTES:,} bytes.")
        return content.decode("utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as wrong:
        raise BadSetting(
            f"{named} names a file that cannot be read.", hint="Check its path and permissions."
        ) from wrong
