"""Secrets from Azure Key Vault, and flags from Azure App Configuration: `[azure]`.

Both are read with the identity of the machine or of whoever has signed in there
(`DefaultAzureCredential`), so that no secret has to stand anywhere."""

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Any, NamedTuple

from pydantic import Field, field_validator

from ombud.errors import BadSetting, SetupError
from ombud.settings.secret_files import OWN, is_secret
from ombud.settings.sections import Section

ENDING = "_VAULT"
PREFIX = "ombud:"
REMOTE = ("plan", "country", "persona", "experiment")
"""What may stand in App Configuration: what counts in a running server."""
SECONDS = 10
"""For each request."""
REFRESH_SECONDS = 30
"""Between two looks at App Configuration."""


class AzureSettings(Section):
    key_vault: str = Field(
        "",
        description="Address of a key vault; the variable OPENAI_API_KEY_VAULT then names the "
        "secret in it that OPENAI_API_KEY is to be, and so on.",
    )
    app_configuration: str = Field(
        "",
        description="Address of an App Configuration store: its keys `ombud:plan:k`, "
        "`ombud:country:GB:plan:mode`… win over this file.",
    )
    label: str = Field("", description="Label of the keys that count; empty = those without one.")

    @field_validator("key_vault", "app_configuration")
    @classmethod
    def _encrypted(cls, url: str) -> str:
        if url and not url.startswith("https://"):
            raise ValueError("must be an https:// address")
        return url


def read_vault(settings: AzureSettings, environment: MutableMapping[str, str]) -> None:
    """Set each variable to the secret that its `_VAULT` names; what is set already wins. Raises
    BadSetting for a secret that cannot be read, SetupError without the extra."""
    if not settings.key_vault:
        return
    named = {name: environment[name] for name in sorted(environment) if names_secret(name)}
    for variable, secret in named.items():
        name = variable.removesuffix(ENDING)
        if name not in environment:
            environment[name] = read_secret(settings.key_vault, variable, secret)
        if name.upper().startswith(OWN):
            del environment[variable]  # it is no setting itself


def names_secret(variable: str) -> bool:
    return variable.endswith(ENDING) and is_secret(variable.removesuffix(ENDING))


def read_secret(vault: str, variable: str, name: str) -> str:
    try:
        from azure.core.exceptions import AzureError
        from azure.identity import DefaultAzureCredential
        from azure.keyvault.secrets import SecretClient
    except ModuleNotFoundError as missing:
        raise missing_packages() from missing
    try:
        with (
            DefaultAzureCredential() as credential,
            SecretClient(vault, credential, **_patience()) as client,
        ):
            value = client.get_secret(name).value
    except (AzureError, ValueError) as wrong:
        raise BadSetting(
            f"{variable} names a secret that cannot be read: {type(wrong).__name__}.",
            hint=f"Check its name, and whether this machine may read secrets of {vault}.",
        ) from wrong
    return value or ""


def read_remote(settings: AzureSettings) -> dict[str, Any]:
    """Read App Configuration, nested as in the file; empty if none is set. Raises BadSetting if it
    is unreadable or has keys other than flags, SetupError without the extra."""
    if not settings.app_configuration:
        return {}
    try:
        from azure.appconfiguration import AzureAppConfigurationClient
        from azure.core.exceptions import AzureError
        from azure.identity import DefaultAzureCredential
    except ModuleNotFoundError as missing:
        raise missing_packages() from missing
    place = settings.app_configuration
    try:
        with (
            DefaultAzureCredential() as credential,
            AzureAppConfigurationClient(place, credential, **_patience()) as client,
        ):
            rows = client.list_configuration_settings(
                key_filter=f"{PREFIX}*", label_filter=settings.label or "\0"
            )
            return nest_rows(
                (one.key or "", one.value or "", one.content_type or "") for one in rows
            )
    except (AzureError, ValueError) as wrong:
        raise BadSetting(
            f"App Configuration cannot be read: {type(wrong).__name__}.",
            hint=f"Check whether this machine may read {place}.",
        ) from wrong


def nest_rows(rows: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """Nest (key, value, content type) rows."""
    tree: dict[str, Any] = {}
    for key, value, media in rows:
        *above, last = key.removeprefix(PREFIX).split(":")
        if not above or above[0] not in REMOTE:
            raise BadSetting(
                f"App Configuration holds `{key}`, which is no flag.",
                hint=f"Only {', '.join(REMOTE)} may stand there.",
            )
        inner = tree
        for part in above:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                raise BadSetting(f"App Configuration holds `{key}` below a value.")
        inner[last] = _value(key, value, media)
    return tree


def _value(key: str, value: str, media: str) -> Any:
    if "json" not in media:
        return value
    try:
        return json.loads(value)
    except ValueError as wrong:
        raise BadSetting(f"`{key}` in App Configuration is not valid JSON.") from wrong


def _patience() -> dict[str, Any]:
    return {"connection_timeout": SECONDS, "read_timeout": SECONDS, "retry_total": 2}


def missing_packages() -> SetupError:
    return SetupError(
        "[azure] needs packages that are not installed.", hint="pip install 'ombud[azure]'"
    )


class RemoteState(NamedTuple):
    version: int
    """Counts changes."""
    flags: Mapping[str, Any]
    note: str
    """Why the last look failed; empty when it did not."""


class RemoteFlags:
    """App Configuration as it was at the last look. Looking happens in a thread of its own: nobody
    who asks waits for it."""

    def __init__(
        self,
        settings: AzureSettings,
        flags: Mapping[str, Any],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start from the flags that the settings were loaded with."""
        self._settings = settings
        self._clock = clock
        self._state = RemoteState(0, flags, "")
        self._next = clock() + REFRESH_SECONDS
        self._thread: threading.Thread | None = None

    def state(self) -> RemoteState:
        """Return the state, and begin a poll if one is due."""
        is_looking = self._thread is not None and self._thread.is_alive()
        if self._settings.app_configuration and self._clock() >= self._next and not is_looking:
            self._next = self._clock() + REFRESH_SECONDS
            self._thread = threading.Thread(target=self.look, daemon=True)
            self._thread.start()
        return self._state

    def look(self) -> None:
        """Poll now, on this thread."""
        before = self._state
        try:
            flags = read_remote(self._settings)
        except (BadSetting, SetupError) as failed:
            self._state = before._replace(note=f"{failed} The flags stay as they were.")
            return
        self._state = RemoteState(before.version + (flags != before.flags), flags, "")
