"""Passwords and tokens inside addresses, masked before anybody reads them.

Every error of ours masks its words, so what a shell, a browser, a log, a trace or a report shows of
one is masked too. What shows settings calls `mask_values`.
"""

import re
from typing import Any

MASK = "***"

_PORT = r"""\d{1,5}(?:[/?#\s"'`,;)\]}]|$)"""
_REST = r"""(?:[^\s"'`<>]*|\S*)"""
"""As far as the last @: one that should have been escaped may stand in a password, as may a slash
or a quote."""
_CREDENTIALS = re.compile(
    r"(?P<scheme>\b[a-z][a-z0-9+.-]*)://"
    r"""(?P<user>[^\s:/@\[\]"'`<>]*)"""
    rf"(?::(?!{_PORT}){_REST})?@",
    re.IGNORECASE,
)
_SERVER_CREDENTIALS = re.compile(
    r"(?P<scheme>\b(?!https?:|wss?:)[a-z][a-z0-9+.-]*)://"
    r"""(?P<user>[^\s:/@\[\]"'`<>]*)"""
    rf":{_REST}@",
    re.IGNORECASE,
)
"""Of a database and the like, whose paths hold no @: what looks like a port before one is the
beginning of a password."""
_WEB = {"http", "https", "ws", "wss"}
"""Where a name without a password is a token more often than a person."""

_PARAMETER = re.compile(
    r"(?P<name>[?&;#](?:"
    r"[\w.-]*(?:password|passwd|passphrase|secret|token|apikey|signature|credential)"
    r"|(?:[\w.-]*[_.-])?(?:pass|pwd|pw|key|sig|auth|code|jwt)"
    r""")=)[^&\s"'`<>]*""",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(
    r"""(?P<name>\b(?:password|passwd|pwd)\s*=\s*)(?:'[^']*'|"[^"]*"|[^\s&"']+)""",
    re.IGNORECASE,
)
"""As a connection string of PostgreSQL has it: host=db password='…'."""


def mask_secrets(text: str) -> str:
    """Mask every password and token in a text: `scheme://user:***@host`, `?api_key=***`.

    Where an address is not written as it should be, rather too much is masked than too little.
    """
    text = _SERVER_CREDENTIALS.sub(_without_credentials, text)
    text = _CREDENTIALS.sub(_without_credentials, text)
    text = _PARAMETER.sub(rf"\g<name>{MASK}", text)
    return _ASSIGNED.sub(rf"\g<name>{MASK}", text)


def mask_values(value: Any) -> Any:
    """Mask secrets in every text inside lists and maps."""
    if isinstance(value, str):
        return mask_secrets(value)
    if isinstance(value, dict):
        return {key: mask_values(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return list(map(mask_values, value))
    return value


def _without_credentials(found: re.Match[str]) -> str:
    scheme, user = found["scheme"], found["user"]
    if scheme.lower() in _WEB:
        return f"{scheme}://{MASK}@"
    if found[0] == f"{scheme}://{user}@":
        return found[0]
    return f"{scheme}://{user}:{MASK}@"
